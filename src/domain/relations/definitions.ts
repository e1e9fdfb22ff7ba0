/** Relation definitions as stored (docs/spec/configuration.md#bundle) and in memory: one registry per snapshot. */
import { isActive } from '../../contract/state.ts';
import type { ReadContext } from '../../platform/unit-of-work/context.ts';
import type { ConfigSource, DerivedView } from '../../platform/unit-of-work/snapshot.ts';
import type { LocalizedText } from '../metadata/index.ts';

export type Cardinality = 'one-to-one' | 'one-to-many' | 'many-to-one' | 'many-to-many';

export interface RelationDefinition {
  code: string;
  name: LocalizedText;
  inverseName: LocalizedText;
  /** Type codes. */
  sourceTypes: string[];
  targetTypes: string[];
  cardinality: Cardinality;
  acyclic: boolean;
  active: boolean;
  /** Whether the source is a duplicate of the target. Search compares a question with the titles of duplicates, too. */
  duplicate?: boolean;
  /** A reference field of the source types. While it holds the target, the relation cannot be removed. */
  field?: string;
}

export interface KnownDefinition extends RelationDefinition {
  id: string;
}

export const relationView: DerivedView<ReadonlyMap<string, KnownDefinition>> = {
  name: 'relations',
  build: (source: ConfigSource) =>
    new Map(
      source.items
        .filter((item) => item.section === 'relationDefinitions')
        .map((item) => {
          const compiled = item.compiled as RelationDefinition;
          return [item.id, { ...compiled, id: item.id, active: compiled.active && isActive(item) }];
        }),
    ),
};

/** All definitions by id. Relations of inactive definitions remain, so these are included. */
export function definitions(ctx: ReadContext): ReadonlyMap<string, KnownDefinition> {
  return ctx.config.get(relationView);
}

/** The ends that may have only one active relation of the definition. */
export function onlyOne({ cardinality }: KnownDefinition): { source: boolean; target: boolean } {
  return {
    source: cardinality === 'one-to-one' || cardinality === 'many-to-one',
    target: cardinality === 'one-to-one' || cardinality === 'one-to-many',
  };
}
