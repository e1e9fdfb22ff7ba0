/** The bundle's section `importDefinitions` (docs/spec/configuration.md#bundle, docs/spec/import-export-bulk.md). */
import Type, { type Static } from 'typebox';
import { closed } from '../../contract/schemas.ts';
import { defineSection } from '../../configuration/define.ts';
import { Code, FieldCode, type Localized, Name, oneOf } from '../../configuration/schemas.ts';
import type { ConfigView, ItemPath, Report } from '../../configuration/section.ts';
import { fieldOf, type TypeShape } from '../../configuration/record-types.ts';
import { transformProblem } from './config-transforms.ts';
import type { ImportDefinition } from './definition.ts';

const Column = Type.String({ minLength: 1, maxLength: 255 });
const Transform = Type.String({ minLength: 1, maxLength: 10_000 });

const ImportItem = closed({
  code: Code,
  name: Type.Optional(Name),
  targetKind: oneOf(['object', 'user', 'group', 'organization']),
  targetType: Type.Optional(Code),
  format: oneOf(['CSV', 'JSON']),
  mode: oneOf(['CREATE_ONLY', 'UPDATE_ONLY', 'UPSERT']),
  sourceCode: Code,
  resolver: closed({ externalIdField: Column }),
  mapping: Type.Array(
    closed({
      source: Column,
      target: FieldCode,
      transform: Type.Optional(Type.Union([Transform, Type.Array(Transform, { maxItems: 20 })])),
      precedence: Type.Optional(Type.Integer({ minimum: 0, maximum: 1_000_000 })),
    }),
    { minItems: 1, maxItems: 1000 },
  ),
});

type Item = Static<typeof ImportItem>;

/** Import targets for users, groups and units, with the property names of the identity API. */
const TARGETS: Readonly<Record<'user' | 'group' | 'organization', readonly string[]>> = {
  user: ['login', 'displayName', 'email', 'locale', 'timezone', 'employeeId', 'externalId'],
  group: ['code', 'name'],
  organization: ['code', 'name', 'parentId', 'managerUserId', 'location'],
};

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
      report(path, 'UNKNOWN_FIELD', `The type ${targetType} has no field ${target}.`);
    }
  } else if (!TARGETS[targetKind].includes(target)) {
    report(path, 'UNKNOWN_FIELD', `Of a ${targetKind} an import fills ${TARGETS[targetKind].join(', ')}.`);
  }
}

function compile(definition: ImportDefinition, view: ConfigView, report: Report): ImportDefinition {
  const { targetKind, targetType } = definition;
  if (targetKind === 'object' && targetType === undefined) {
    report(['targetType'], 'REQUIRED', 'Say of which type the records are.');
  }
  if (targetKind !== 'object' && targetType !== undefined) {
    report(['targetType'], 'NOT_ALLOWED', `A ${targetKind} has no record type; take this out.`);
  }
  for (const [index, { target, transform }] of definition.mapping.entries()) {
    const path = ['mapping', index];
    checkTarget(definition, view, target, [...path, 'target'], report);
    for (const [at, step] of transform.entries()) {
      const problem = transformProblem(step, view);
      // A single transform may be given without a list; its path is resolved nevertheless.
      if (problem !== undefined) report([...path, 'transform', at], 'INVALID_TRANSFORM', problem);
    }
  }
  return definition;
}

export const importDefinitionsSection = defineSection<Item, ImportDefinition>({
  key: 'importDefinitions',
  right: 'import.manage',
  schema: ImportItem,
  normalise,
  references: ({ targetType }) =>
    targetType === undefined ? [] : [{ section: 'types', code: targetType, path: ['targetType'] }],
  compile,
});
