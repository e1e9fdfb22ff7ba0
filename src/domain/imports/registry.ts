/**
 * Import definitions (docs/spec/configuration.md#bundle): their stored shape, and the parsed definitions of a configuration
 * snapshot.
 */
import { Fault } from '../../lib/fault.ts';
import { type Mapping, type MappingItem, parseMapping } from '../../lib/mapping.ts';
import type { Localized } from '../../configuration/schemas.ts';
import type { ReadContext } from '../../platform/unit-of-work/context.ts';
import type { DerivedView } from '../../platform/unit-of-work/snapshot.ts';

export type TargetKind = 'object' | 'user' | 'group' | 'organization';

export interface ImportDefinition {
  code: string;
  name: Localized;
  targetKind: TargetKind;
  /** Code of the record type, for `object`. */
  targetType?: string;
  format: 'CSV' | 'JSON';
  mode: 'CREATE_ONLY' | 'UPDATE_ONLY' | 'UPSERT';
  sourceCode: string;
  resolver: { externalIdField: string };
  mapping: MappingItem[];
}

export interface KnownDefinition {
  id: string;
  definition: ImportDefinition;
  mapping: Mapping;
  active: boolean;
}

const slice: DerivedView<ReadonlyMap<string, KnownDefinition>> = {
  name: 'imports',
  build: (source) => {
    const items = source.items.filter((item) => item.section === 'importDefinitions');
    return new Map(
      items.map((item) => {
        const definition = item.compiled as ImportDefinition;
        const mapping = parseMapping(definition.mapping);
        return [item.id, { id: item.id, definition, mapping, active: item.state === 'ACTIVE' }];
      }),
    );
  },
};

/** Definition id → definition, including archived ones: their runs remain readable. */
export function definitions(ctx: Pick<ReadContext, 'config'>): ReadonlyMap<string, KnownDefinition> {
  return ctx.config.get(slice);
}

/**
 * The active definition of that id or code. Where a code is also another definition's id, the id wins.
 *
 * @throws Fault NOT_FOUND
 */
export function requireDefinition(ctx: Pick<ReadContext, 'config'>, idOrCode: string): KnownDefinition {
  const all = definitions(ctx);
  const known = all.get(idOrCode) ?? [...all.values()].find(({ definition }) => definition.code === idOrCode);
  if (known?.active === true) return known;
  throw new Fault('NOT_FOUND', `There is no import definition ${idOrCode}.`);
}
