/** The bundle's section `importDefinitions` (docs/spec/configuration.md#bundle, docs/spec/import-export-bulk.md). */
import type { Static } from 'typebox';
import { closed, type Localized, optional } from '../../contract/schemas.ts';
import { defineSection } from '../../configuration/define.ts';
import { fieldOf, type TypeShape } from '../../configuration/record-types.ts';
import { CodeOf, FieldOf } from '../../configuration/schemas.ts';
import type { ConfigView, ItemPath, Report } from '../../configuration/section.ts';
import { DEFINITION_PROPERTIES, mappingOf, Transforms } from './contract.ts';
import type { ImportDefinition } from './registry.ts';
import { IDENTITY_FIELDS } from './targets.ts';
import { planNote, type Problem, problem } from '../../lib/problem.ts';
import { transformProblem } from '../../lib/transforms.ts';

const ImportItem = closed(
  {
    ...DEFINITION_PROPERTIES,
    mapping: mappingOf(FieldOf, { ...Transforms, names: { kind: 'transforms' } }),
    targetType: optional(
      'Code of the record type; required if targetKind is object, and refused otherwise.',
      CodeOf('types'),
    ),
  },
  // Users, groups and units have no fields of record types.
  { typesAt: 'targetType', typesNeeded: true },
);

type Item = Static<typeof ImportItem>;

const PROBLEMS = {
  user: { target: 'USER_TARGETS', type: 'USER_HAS_NO_TYPE' },
  group: { target: 'GROUP_TARGETS', type: 'GROUP_HAS_NO_TYPE' },
  organization: { target: 'UNIT_TARGETS', type: 'UNIT_HAS_NO_TYPE' },
} as const;

function normalise(item: Item): ImportDefinition {
  return {
    code: item.code,
    name: (item.name as Localized | undefined) ?? item.code,
    targetKind: item.targetKind,
    ...(item.targetType === undefined ? {} : { targetType: item.targetType }),
    format: item.format,
    mode: item.mode,
    sourceCode: item.sourceCode,
    resolver: item.resolver,
    mapping: item.mapping.map(({ source, target, transform = [], precedence }) => ({
      source,
      target,
      transform: typeof transform === 'string' ? [transform] : transform,
      precedence: precedence ?? 100,
    })),
    ...(item.rules === true ? { rules: true } : {}),
    ...(item.notifications === true ? { notifications: true } : {}),
  };
}

function checkTarget(
  definition: ImportDefinition,
  view: ConfigView,
  target: string,
  path: ItemPath,
  report: Report,
): void {
  const { targetKind, targetType } = definition;
  if (targetKind === 'object') {
    const type = targetType === undefined ? undefined : view.get<TypeShape>('types', targetType);
    if (type !== undefined && fieldOf(type, target) === undefined) {
      report(path, problem('TYPE_HAS_NO_FIELD', { type: targetType ?? '', field: target }));
    }
  } else if (!IDENTITY_FIELDS[targetKind].includes(target)) {
    report(path, problem(PROBLEMS[targetKind].target, { fields: IDENTITY_FIELDS[targetKind] }));
  }
}

function compile(definition: ImportDefinition, view: ConfigView, report: Report): ImportDefinition {
  const { targetKind, targetType } = definition;
  if (targetKind === 'object' && targetType === undefined) {
    report(['targetType'], problem('RECORD_TYPE_REQUIRED'));
  }
  if (targetKind !== 'object' && targetType !== undefined) {
    report(['targetType'], problem(PROBLEMS[targetKind].type));
  }
  const lookupProblem = (type: string, field: string) => unknownLookup(type, field, view);
  for (const [index, { target, transform }] of definition.mapping.entries()) {
    const path = ['mapping', index];
    checkTarget(definition, view, target, [...path, 'target'], report);
    for (const [at, step] of transform.entries()) {
      const found = transformProblem(step, lookupProblem);
      // A single transform may be given without a list; its path is resolved nevertheless.
      if (found !== undefined) report([...path, 'transform', at], found);
    }
  }
  return definition;
}

/** The error in a lookup by a field of a type, if one of the two is unknown. */
function unknownLookup(typeCode: string, fieldCode: string, view: ConfigView): Problem | undefined {
  const type = view.get<TypeShape>('types', typeCode);
  if (type === undefined)
    return view.has('types', typeCode) ? undefined : problem('TRANSFORM_TYPE', { code: typeCode });
  return fieldOf(type, fieldCode) === undefined
    ? problem('TRANSFORM_FIELD', { type: typeCode, field: fieldCode })
    : undefined;
}

export const importDefinitionsSection = defineSection<Item, ImportDefinition>({
  key: 'importDefinitions',
  summary: 'How rows of a file become records, users, groups or units.',
  right: 'import.manage',
  schema: ImportItem,
  normalise,
  compile,
  notes: ({ action }) => {
    if (action === 'archive') return [planNote('IMPORT_ARCHIVED')];
    return action === 'change' ? [planNote('IMPORT_CHANGED')] : [];
  },
});
