/** The bundle's section `importDefinitions` (docs/spec/configuration.md#bundle, docs/spec/import-export-bulk.md). */
import Type, { type Static } from 'typebox';
import { closed } from '../../contract/schemas.ts';
import { isTimeZone } from '../../configuration/checks.ts';
import { defineSection } from '../../configuration/define.ts';
import { fieldOf, type TypeShape } from '../../configuration/record-types.ts';
import { Code, type Localized } from '../../configuration/schemas.ts';
import type { ConfigView, ItemPath, Report } from '../../configuration/section.ts';
import { DEFINITION_PROPERTIES } from './contract.ts';
import type { ImportDefinition } from './registry.ts';
import { IDENTITY_FIELDS } from './targets.ts';
import { type Problem, problem } from '../../lib/problem.ts';

const ImportItem = closed({ ...DEFINITION_PROPERTIES, targetType: Type.Optional(Code) });

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
  for (const [index, { target, transform }] of definition.mapping.entries()) {
    const path = ['mapping', index];
    checkTarget(definition, view, target, [...path, 'target'], report);
    for (const [at, step] of transform.entries()) {
      const found = transformProblem(step, view);
      // A single transform may be given without a list; its path is resolved nevertheless.
      if (found !== undefined) report([...path, 'transform', at], found);
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

// ---------------------------------------------------------------- transforms

type Judge = (argument: string, view: ConfigView) => Problem | undefined;

const PLAIN: ReadonlySet<string> = new Set(['trim', 'lower', 'upper', 'integer', 'decimal', 'boolean']);

/** The property by which a user, group or unit is looked up. */
const LOOKED_UP: ReadonlyMap<string, string> = new Map([
  ['user', 'login'],
  ['group', 'code'],
  ['org-unit', 'code'],
]);

const WITH_ARGUMENT: ReadonlyMap<string, Judge> = new Map<string, Judge>([
  ['date', (format) => (format === '' ? problem('TRANSFORM_FORMAT', { example: 'date:DD.MM.YYYY' }) : undefined)],
  ['datetime', datetime],
  ['split', (separator) => (separator === '' ? problem('TRANSFORM_SEPARATOR', { example: 'split:;' }) : undefined)],
  ['map', map],
  ['default', () => undefined],
  ['lookup', lookup],
]);

function datetime(argument: string): Problem | undefined {
  const at = argument.lastIndexOf('@');
  const format = at === -1 ? argument : argument.slice(0, at);
  if (format === '') return problem('TRANSFORM_FORMAT', { example: 'datetime:YYYY-MM-DD HH:mm@Europe/Moscow' });
  const zone = at === -1 ? undefined : argument.slice(at + 1);
  return zone === undefined || isTimeZone(zone) ? undefined : problem('TRANSFORM_ZONE', { zone });
}

function map(argument: string): Problem | undefined {
  try {
    const value: unknown = JSON.parse(argument);
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return undefined;
  } catch {
    // The message below covers invalid JSON, too.
  }
  return problem('TRANSFORM_MAP', { example: 'map:{"1":"p1","2":"p2"}' });
}

function lookup(argument: string, view: ConfigView): Problem | undefined {
  const [typeCode = '', fieldCode = '', ...rest] = argument.split('.');
  if (typeCode === '' || fieldCode === '' || rest.length > 0)
    return problem('TRANSFORM_LOOKUP', { example: 'lookup:asset.serial' });
  const type = view.get<TypeShape>('types', typeCode);
  if (type === undefined)
    return view.has('types', typeCode) ? undefined : problem('TRANSFORM_TYPE', { code: typeCode });
  return fieldOf(type, fieldCode) === undefined
    ? problem('TRANSFORM_FIELD', { type: typeCode, field: fieldCode })
    : undefined;
}

/** The error in a transform; undefined if it is valid. */
function transformProblem(transform: string, view: ConfigView): Problem | undefined {
  if (PLAIN.has(transform)) return undefined;
  const colon = transform.indexOf(':');
  const name = colon === -1 ? transform : transform.slice(0, colon);
  const argument = colon === -1 ? '' : transform.slice(colon + 1);
  const property = LOOKED_UP.get(name);
  if (property !== undefined)
    return argument === property ? undefined : problem('TRANSFORM_ARGUMENT', { form: `${name}:${property}` });
  const judge = colon === -1 ? undefined : WITH_ARGUMENT.get(name);
  if (judge !== undefined) return judge(argument, view);
  const known = [
    ...PLAIN,
    ...[...WITH_ARGUMENT.keys()].map((one) => `${one}:…`),
    'user:login',
    'group:code',
    'org-unit:code',
  ];
  return problem('UNKNOWN_TRANSFORM', { name, known });
}
