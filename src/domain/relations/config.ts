/** The bundle's section `relationDefinitions` (docs/spec/configuration.md#bundle). */
import Type, { type Static } from 'typebox';
import { closed, Code, described, type Localized, Name, oneOf, optional } from '../../contract/schemas.ts';
import { defineSection } from '../../configuration/define.ts';
import { CodeOf, FieldOf } from '../../configuration/schemas.ts';
import type { ConfigView, Report } from '../../configuration/section.ts';
import { fieldOf, type TypeShape } from '../../configuration/record-types.ts';
import { problem } from '../../lib/problem.ts';
import type { RelationDefinition } from './definitions.ts';

const Types = Type.Array(CodeOf('types'), { minItems: 1, maxItems: 1000, uniqueItems: true });

const RelationItem = closed(
  {
    code: Code,
    name: Type.Optional(Name),
    inverseName: optional(
      'The name of the relation as seen from the target, such as Causes for Caused by. Default: the name.',
      Name,
    ),
    sourceTypes: described('Codes of the record types from which the relation can lead.', Types),
    targetTypes: described('Codes of the record types to which the relation can lead.', Types),
    cardinality: optional(
      'How many: with many-to-one a source has at most one target, with one-to-many a target at most one source. Default: many-to-many.',
      oneOf(['one-to-one', 'one-to-many', 'many-to-one', 'many-to-many']),
    ),
    acyclic: optional(
      'If true, a relation that would lead from a record back to itself is refused. Default: false.',
      Type.Boolean(),
    ),
    duplicate: optional(
      'If true, the source is a duplicate of the target: searches for its title find the target. Default: false.',
      Type.Boolean(),
    ),
    active: optional('If false, existing relations stay and no new one can be added. Default: true.', Type.Boolean()),
    field: optional(
      'Code of a reference field of the source types. While it holds the target, the relation cannot be removed.',
      FieldOf,
    ),
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
  compile,
});
