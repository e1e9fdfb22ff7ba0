/** Validation of the transforms in a mapping (docs/spec/import-export-bulk.md). */
import { isTimeZone } from '../../configuration/checks.ts';
import type { ConfigView } from '../../configuration/section.ts';
import { fieldOf, type TypeShape } from '../../configuration/record-types.ts';

type Judge = (argument: string, view: ConfigView) => string | undefined;

const PLAIN: ReadonlySet<string> = new Set(['trim', 'lower', 'upper', 'integer', 'decimal', 'boolean']);

/** The property by which a user, group or unit is looked up. */
const LOOKED_UP: ReadonlyMap<string, string> = new Map([
  ['user', 'login'],
  ['group', 'code'],
  ['org-unit', 'code'],
]);

const WITH_ARGUMENT: ReadonlyMap<string, Judge> = new Map<string, Judge>([
  ['date', (format) => (format === '' ? 'Name a format, such as date:DD.MM.YYYY.' : undefined)],
  ['datetime', datetime],
  ['split', (separator) => (separator === '' ? 'Name a separator, such as split:;' : undefined)],
  ['map', map],
  ['default', () => undefined],
  ['lookup', lookup],
]);

function datetime(argument: string): string | undefined {
  const at = argument.lastIndexOf('@');
  const format = at === -1 ? argument : argument.slice(0, at);
  if (format === '') return 'Name a format, such as datetime:YYYY-MM-DD HH:mm@Europe/Moscow.';
  const zone = at === -1 ? undefined : argument.slice(at + 1);
  return zone === undefined || isTimeZone(zone) ? undefined : `There is no time zone ${JSON.stringify(zone)}.`;
}

function map(argument: string): string | undefined {
  try {
    const value: unknown = JSON.parse(argument);
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return undefined;
  } catch {
    // The message below covers invalid JSON, too.
  }
  return 'Give the map as a JSON object, such as map:{"1":"p1","2":"p2"}.';
}

function lookup(argument: string, view: ConfigView): string | undefined {
  const [typeCode = '', fieldCode = '', ...rest] = argument.split('.');
  if (typeCode === '' || fieldCode === '' || rest.length > 0)
    return 'Name a type and a field, such as lookup:asset.serial.';
  const type = view.get<TypeShape>('types', typeCode);
  if (type === undefined) return view.has('types', typeCode) ? undefined : `There is no record type ${typeCode}.`;
  return fieldOf(type, fieldCode) === undefined ? `The type ${typeCode} has no field ${fieldCode}.` : undefined;
}

/** The error in a transform; undefined if it is valid. */
export function transformProblem(transform: string, view: ConfigView): string | undefined {
  if (PLAIN.has(transform)) return undefined;
  const colon = transform.indexOf(':');
  const name = colon === -1 ? transform : transform.slice(0, colon);
  const argument = colon === -1 ? '' : transform.slice(colon + 1);
  const property = LOOKED_UP.get(name);
  if (property !== undefined) return argument === property ? undefined : `Write ${name}:${property}.`;
  const judge = colon === -1 ? undefined : WITH_ARGUMENT.get(name);
  if (judge !== undefined) return judge(argument, view);
  const known = [
    ...PLAIN,
    ...[...WITH_ARGUMENT.keys()].map((one) => `${one}:…`),
    'user:login',
    'group:code',
    'org-unit:code',
  ];
  return `There is no transform ${JSON.stringify(name)}; known are ${known.join(', ')}.`;
}
