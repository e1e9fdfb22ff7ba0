/** The bundle's section `relationDefinitions` (docs/spec/configuration.md#bundle). */
import Type, { type Static } from 'typebox';
import { closed } from '../../contract/schemas.ts';
import { defineSection } from '../../configuration/define.ts';
import { Code, CodeOf, FieldOf, type Localized, Name, oneOf } from '../../configuration/schemas.ts';
import type { ConfigView, Report } from '../../configuration/section.ts';
import { fieldOf, type TypeShape } from '../../configuration/record-types.ts';
import { problem } from '../../lib/problem.ts';
import type { RelationDefinition } from './definitions.ts';

const Types = Type.Array(CodeOf('types'), { minItems: 1, maxItems: 1000, uniqueItems: true });

const RelationItem = closed(
  {
    code: Code,
    name: Type.Optional(Name),
    inverseName: Type.Optional(Name),
    sourceTypes: Types,
    targetTypes: Types,
    cardinality: Type.Optional(oneOf(['one-to-one', 'one-to-many', 'many-to-one', 'many-to-many'])),
    acyclic: Type.Optional(Type.Boolean()),
    duplicate: Type.Optional(
      Type.Boolean({ description: 'The source is a duplicate of the target: searches for its title find the target.' }),
    ),
    active: Type.Optional(Type.Boolean()),
    field: Type.Optional(FieldOf),
  },
  { typesAt: 'sourceTypes' },
);

type Item = Static<typeof RelationItem>;

function normalise(item: Item): RelationDefinition {
  const name = (item.name as Localized | undefined) ?? item.code;
  return {
    code: item.code,
    name,
    inverseName: (item.inverseName as Localized | undefined) ?? name,
    sourceTypes: item.sourceTypes,
    targetTypes: item.targetTypes,
    cardinality: item.cardinality ?? 'many-to-many',
    acyclic: item.acyclic ?? false,
    active: item.active ?? true,
    ...(item.duplicate === true ? { duplicate: true } : {}),
    ...(item.field === undefined ? {} : { field: item.field }),
  };
}

/** The field that protects a relation from removal must be a reference on every source type. */
function compile(relation: RelationDefinition, view: ConfigView, report: Report): RelationDefinition {
  const { field: code } = relation;
  if (code === undefined) return relation;
  for (const source of relation.sourceTypes) {
    const type = view.get<TypeShape>('types', source);
    if (type === undefined) continue;
    const field = fieldOf(type, code);
    if (field === undefined) report(['field'], problem('TYPE_HAS_NO_FIELD', { type: source, field: code }));
    else if (field.dataType !== 'reference') {
      report(['field'], problem('NOT_A_REFERENCE', { code, type: source, is: field.dataType }));
    }
  }
  return relation;
}

export const relationDefinitionsSection = defineSection<Item, RelationDefinition>({
  key: 'relationDefinitions',
  summary: 'Kinds of relations between records.',
  schema: RelationItem,
  normalise,
  references: (relation) =>
    (['sourceTypes', 'targetTypes'] as const).flatMap((key) =>
      relation[key].map((code, index) => ({ section: 'types', code, path: [key, index] })),
    ),
  compile,
});
