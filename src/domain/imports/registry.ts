/**
 * Import definitions (docs/spec/configuration.md#bundle): their stored shape, and the parsed definitions of a configuration
 * snapshot.
 */
import { isActive } from '../../contract/state.ts';
import { findByIdOrCode, type Localized } from '../../contract/schemas.ts';
import { Fault } from '../../lib/fault.ts';
import { type Mapping, type MappingItem, parseMapping } from '../../lib/mapping.ts';
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
  /** Rules react to what it writes; absent: they do not. */
  rules?: true;
  /** Users are notified of what it writes; absent: they are not. */
  notifications?: true;
}

export interface KnownDefinition {
  id: string;
  code: string;
  definition: ImportDefinition;
  mapping: Mapping;
  active: boolean;
}

const importView: DerivedView<ReadonlyMap<string, KnownDefinition>> = {
  name: 'imports',
  build: (source) => {
    const items = source.items.filter((item) => item.section === 'importDefinitions');
    return new Map(
      items.map((item) => {
        const definition = item.compiled as ImportDefinition;
        const mapping = parseMapping(definition.mapping);
        return [item.id, { id: item.id, code: item.code, definition, mapping, active: isActive(item) }];
      }),
    );
  },
};

/** Definition id → definition, including archived ones: their runs remain readable. */
export function definitions(ctx: Pick<ReadContext, 'config'>): ReadonlyMap<string, KnownDefinition> {
  return ctx.config.get(importView);
}

/**
 * The active definition with this id or code.
 *
 * @throws Fault NOT_FOUND
 */
export function requireDefinition(ctx: Pick<ReadContext, 'config'>, idOrCode: string): KnownDefinition {
  const known = findByIdOrCode(definitions(ctx).values(), idOrCode);
  if (known?.active === true) return known;
  throw new Fault('NOT_FOUND', `There is no import definition ${idOrCode}.`);
}
