/** The import definitions of the configuration. Mappings are parsed once for each configuration snapshot. */
import { Fault } from '../../lib/fault.ts';
import { type Mapping, parseMapping } from '../../lib/mapping.ts';
import type { ReadContext } from '../../mechanisms/context.ts';
import type { Slice } from '../../mechanisms/snapshot.ts';
import type { ImportDefinition } from './definition.ts';

export interface KnownDefinition {
  id: string;
  definition: ImportDefinition;
  mapping: Mapping;
  active: boolean;
}

const slice: Slice<ReadonlyMap<string, KnownDefinition>> = {
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

/** @throws Fault NOT_FOUND */
export function requireDefinition(ctx: Pick<ReadContext, 'config'>, id: string): KnownDefinition {
  const known = definitions(ctx).get(id);
  if (known?.active !== true) throw new Fault('NOT_FOUND', 'There is no such import definition.');
  return known;
}

/** @throws Fault NOT_FOUND */
export function requireDefinitionByCode(ctx: Pick<ReadContext, 'config'>, code: string): KnownDefinition {
  for (const known of definitions(ctx).values()) if (known.active && known.definition.code === code) return known;
  throw new Fault('NOT_FOUND', `There is no import definition ${code}.`);
}
