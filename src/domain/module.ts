/** What a domain module declares beside what every module may: sections of the bundle, and additions that several domain modules make. */
import { impactSources, type SectionSource, sectionSources } from '../configuration/sections.ts';
import type { ImpactSource } from '../configuration/impact.ts';
import type { Module } from '../platform/module.ts';
import { type EffectSource, effectSources, type EventFilter, historyFilters } from './objects/index.ts';

interface DomainModule extends Module {
  /** The domain modules whose `index.ts` it imports. */
  readonly dependsOn: readonly string[];
  /** Sections of the configuration bundle. */
  readonly sections?: readonly SectionSource[];
  /** What a plan counts as its impact. */
  readonly impact?: readonly ImpactSource[];
  /** Which events about its items are hidden, for everything that shows events. */
  readonly historyFilters?: readonly EventFilter[];
  /** What a dry run would have done. */
  readonly effects?: readonly EffectSource[];
}

/** Declares a module. `src/modules.ts` lists it. */
export function defineModule({
  sections = [],
  impact = [],
  historyFilters: filters = [],
  effects = [],
  ...module
}: DomainModule): Module {
  return {
    ...module,
    adds: [
      sectionSources.with(sections),
      impactSources.with(impact),
      historyFilters.with(filters),
      effectSources.with(effects),
      ...(module.adds ?? []),
    ],
  };
}
