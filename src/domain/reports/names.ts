/** Names of group values that the configuration defines. Users, groups, units and records are looked up by their ids. */
import type { ReadContext } from '../../platform/unit-of-work/context.ts';
import type { ConfigSource, DerivedView } from '../../platform/unit-of-work/snapshot.ts';
import { type LocalizedText, named, registry } from '../metadata/index.ts';
import type { GroupColumn } from './rules.ts';

interface NamedItem {
  id: string;
  code: string;
  name: LocalizedText;
}

/** Services and SLA policies, including archived ones that old records refer to. */
const namedItems: DerivedView<{ services: NamedItem[]; policies: NamedItem[] }> = {
  name: 'reports.names',
  build: (source: ConfigSource) => {
    const of = (section: string): NamedItem[] =>
      source.items.flatMap(({ id, section: own, code, compiled }) =>
        own === section ? [{ id, code, name: (compiled as { name?: LocalizedText }).name ?? code }] : [],
      );
    return { services: of('services'), policies: of('slaPolicies') };
  },
};

/** Id → code of the SLA policies. */
export function policyCodes(ctx: Pick<ReadContext, 'config'>): Map<string, string> {
  return new Map(ctx.config.get(namedItems).policies.map(({ id, code }) => [id, code]));
}

/** Value → name, in the language of the caller, for those of the values that the configuration names. */
export function configuredNames(
  ctx: ReadContext,
  group: GroupColumn,
  values: ReadonlySet<unknown>,
): Record<string, string> {
  const names: Record<string, string> = {};
  for (const [value, name] of namesOf(ctx, group)) {
    if (values.has(value) && !Object.hasOwn(names, value)) names[value] = named(ctx, name);
  }
  return names;
}

function* namesOf(ctx: ReadContext, group: GroupColumn): Generator<[string, LocalizedText]> {
  const { byId, states } = registry(ctx);
  const items = ctx.config.get(namedItems);
  if (group.kind === 'policy') for (const { code, name } of items.policies) yield [code, name];
  else if (group.kind === 'field') {
    for (const typeId of group.typeIds) {
      const field = byId.get(typeId)?.newest.fields.get(group.code);
      for (const { code, name } of field?.constraints.options ?? []) yield [code, name];
      if (field?.dataType === 'service') for (const { id, name } of items.services) yield [id, name];
    }
  } else if (group.kind === 'system') {
    if (group.code === 'workflowState') for (const { code, name } of states.values()) yield [code, name];
    if (group.code === 'typeId') for (const [id, type] of byId) yield [id, type.newest.definition.name];
    if (group.code === 'typeCode') for (const type of byId.values()) yield [type.code, type.newest.definition.name];
  }
}
