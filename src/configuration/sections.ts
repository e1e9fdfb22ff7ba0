/** The sections and the sources of impact that modules declare. */
import { List, type Module, ServicePart, people } from '../platform/module.ts';
import type { AddressCheck } from '../platform/outbound/outbound.ts';
import type { ImpactParts, ImpactSource } from './impact.ts';
import { type ConfigSection, SECTION_KEYS } from './section.ts';

/** A section, or what makes it of the check of webhook addresses. */
export type SectionSource = ConfigSection | ((addresses: AddressCheck) => ConfigSection);

export const sectionSources = new List<SectionSource>('sections of the bundle');

/** What a plan can compute its impact from. */
export const impactSources = new List<ImpactSource>('sources of impact');

/** The sections of the bundle, in the order in which they are applied and exported. */
export function configSections(modules: readonly Module[], addresses: AddressCheck): readonly ConfigSection[] {
  const sections = sectionSources
    .of(modules)
    .map((source) => (typeof source === 'function' ? source(addresses) : source));
  return SECTION_KEYS.flatMap((key) => sections.filter((section) => section.key === key));
}

/** The sections of a service. */
export const bundleSections = new ServicePart('the sections of the bundle', ({ modules, outbound }) =>
  configSections(modules, outbound),
);

/** What plans compute their impact from. */
export const impactOfPlans = new ServicePart<ImpactParts>('the impact of plans', ({ modules, get }) => ({
  sources: impactSources.of(modules),
  systemActor: (config) => get(people).systemCaller(config).actor,
}));
