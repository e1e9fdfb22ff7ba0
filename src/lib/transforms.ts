/**
 * The transforms of a mapping (docs/spec/import-export-bulk.md). Each takes the result of the previous one. Transforms skip
 * empty values, except `default` and a `map` of the empty text, and apply to each element of a list.
 */
import { canonicalDecimal } from './decimal.ts';
import { isNumber } from './exact-number.ts';
import { isTimeZone, parseDateFormat, readDate, readInstant } from './date-format.ts';
import { type Problem, problem } from './problem.ts';
import { isObject } from './json.ts';

/** A lookup in the database: the id of the item with a given name. */
export interface Lookup {
  kind: 'object' | 'user' | 'group' | 'org-unit';
  /** For `object`: code of the type and of the field. */
  type: string;
  field: string;
  text: string;
}

/** Results of lookups: `none` or `many` if there is not exactly one match, undefined if the lookup is not resolved yet. */
export type Found = (lookup: Lookup) => { id: string } | 'none' | 'many' | undefined;

export interface TransformContext {
  found: Found;
  /** Collects the lookups that are not resolved yet. */
  wanted: Lookup[];
}

/** A value cannot be transformed. `problemOf` describes it without the value, given its source. */
export class TransformProblem extends Error {
  readonly problemOf: (source: string) => Problem;

  constructor(problemOf: (source: string) => Problem) {
    super('a value cannot be transformed');
    this.problemOf = problemOf;
  }
}

/** Returned by a transform if the chain cannot continue until a lookup is resolved. */
export const PENDING = Symbol('pending');

export interface Transform {
  apply(value: unknown, context: TransformContext): unknown;
  /** The lookup that the transform performs, without the text. */
  lookup?: Omit<Lookup, 'text'>;
}

/** Whether the value is empty. */
export function isEmptySource(value: unknown): boolean {
  return value === undefined || value === null || value === '' || (Array.isArray(value) && value.length === 0);
}

/** Applies to each element of a list; empty values stay unchanged. */
function each(apply: (value: unknown, context: TransformContext) => unknown): Transform {
  const one = (value: unknown, context: TransformContext): unknown =>
    isEmptySource(value) ? value : apply(value, context);
  return {
    apply: (value, context) =>
      Array.isArray(value) ? value.map((element) => one(element, context)) : one(value, context),
  };
}

function textOf(value: unknown): string {
  if (typeof value === 'string') return value;
  if (isNumber(value) || typeof value === 'boolean') return String(value);
  throw new TransformProblem((source) => problem('SOURCE_TYPE', { source }));
}

function onText(apply: (text: string, context: TransformContext) => unknown): Transform {
  return each((value, context) => apply(textOf(value), context));
}

const TRUE = new Set(['true', 'yes', 'y', 't', '1', 'on', 'да', 'истина']);
const FALSE = new Set(['false', 'no', 'n', 'f', '0', 'off', 'нет', 'ложь']);

function integer(text: string): number {
  const digits = text.trim();
  if (!/^[+-]?[0-9]{1,17}$/.test(digits))
    throw new TransformProblem((source) => problem('SOURCE_NOT_INTEGER', { source }));
  return Number(digits);
}

/**
 * Parses a decimal. A comma is only accepted as the decimal separator if it is unambiguous: `1,234` may mean a thousand and is
 * rejected. Spaces between groups of three digits are ignored.
 */
function decimal(text: string): string {
  const plain = text.trim().replace(/^\+/, '');
  const grouped = /^-?[0-9]{1,3}(?:[ \u00A0\u202F][0-9]{3})+(?:[.,][0-9]+)?$/.test(plain);
  const digits = grouped ? plain.replaceAll(/[ \u00A0\u202F]/g, '') : plain;
  const ambiguous = !grouped && /^-?[1-9][0-9]{0,2},[0-9]{3}$/.test(digits);
  const value = ambiguous ? undefined : canonicalDecimal(digits.replace(/^(-?[0-9]+),([0-9]+)$/, '$1.$2'));
  if (value === undefined) {
    const reason = ambiguous ? 'SOURCE_AMBIGUOUS_DECIMAL' : 'SOURCE_NOT_DECIMAL';
    throw new TransformProblem((source) => problem(reason, { source }));
  }
  return value;
}

function boolean(text: string): boolean {
  const word = text.trim().toLowerCase();
  if (TRUE.has(word)) return true;
  if (FALSE.has(word)) return false;
  throw new TransformProblem((source) => problem('SOURCE_NOT_BOOLEAN', { source }));
}

function date(format: string): Transform {
  const parts = parseDateFormat(format);
  return onText((text) => {
    const day = text.trim() === '' ? '' : readDate(parts, text);
    if (day === undefined) throw new TransformProblem((source) => problem('SOURCE_NOT_DATE', { source, form: format }));
    return day;
  });
}

/** The format and the time zone of `FORMAT` or `FORMAT@ZONE`. */
function formatAndZone(argument: string): [format: string, zone: string | undefined] {
  const at = argument.lastIndexOf('@');
  return at === -1 ? [argument, undefined] : [argument.slice(0, at), argument.slice(at + 1)];
}

function datetimeProblem(argument: string): Problem | undefined {
  const [format, zone] = formatAndZone(argument);
  if (format === '') return problem('TRANSFORM_FORMAT', { example: 'datetime:YYYY-MM-DD HH:mm@Europe/Moscow' });
  return zone === undefined || isTimeZone(zone) ? undefined : problem('TRANSFORM_ZONE', { zone });
}

function datetime(argument: string): Transform {
  const [format, zone = 'UTC'] = formatAndZone(argument);
  const parts = parseDateFormat(format);
  return onText((text) => {
    const instant = text.trim() === '' ? '' : readInstant(parts, text, zone);
    if (instant === undefined)
      throw new TransformProblem((source) => problem('SOURCE_NOT_DATETIME', { source, form: format }));
    return instant;
  });
}

function split(separator: string): Transform {
  const part = (value: unknown): unknown => {
    if (isEmptySource(value)) return value;
    const parts = textOf(value).split(separator);
    return parts.map((element) => element.trim()).filter((element) => element !== '');
  };
  return { apply: (value) => (Array.isArray(value) ? value.flatMap((element) => part(element) ?? []) : part(value)) };
}

function mapProblem(argument: string): Problem | undefined {
  try {
    if (isObject(JSON.parse(argument))) return undefined;
  } catch {
    // The problem below covers invalid JSON, too.
  }
  return problem('TRANSFORM_MAP', { example: 'map:{"1":"p1","2":"p2"}' });
}

/** Values that the map does not contain stay unchanged. */
function map(argument: string): Transform {
  const named = new Map(Object.entries(JSON.parse(argument) as Record<string, unknown>));
  const one = (value: unknown): unknown => {
    const key = isEmptySource(value) ? '' : typeof value === 'object' && !isNumber(value) ? undefined : String(value);
    return key !== undefined && named.has(key) ? named.get(key) : value;
  };
  return { apply: (value) => (Array.isArray(value) && value.length > 0 ? value.map(one) : one(value)) };
}

function lookup(kind: Lookup['kind'], type: string, field: string): Transform {
  const transform = onText((text, context) => {
    const trimmed = text.trim();
    if (trimmed === '') return '';
    const asked = { kind, type, field, text: trimmed };
    const found = context.found(asked);
    if (found === undefined) {
      context.wanted.push(asked);
      return null;
    }
    if (found === 'none' || found === 'many')
      throw new TransformProblem((source) => foundProblem(found, kind, source, type));
    return found.id;
  });
  return {
    lookup: { kind, type, field },
    apply: (value, context) => {
      const before = context.wanted.length;
      const result = transform.apply(value, context);
      return context.wanted.length > before ? PENDING : result;
    },
  };
}

const LOOKUP_PROBLEMS = {
  none: { user: 'NO_USER_FOUND', group: 'NO_GROUP_FOUND', 'org-unit': 'NO_UNIT_FOUND' },
  many: { user: 'SEVERAL_USERS_FOUND', group: 'SEVERAL_GROUPS_FOUND', 'org-unit': 'SEVERAL_UNITS_FOUND' },
} as const;

function foundProblem(found: 'none' | 'many', kind: Lookup['kind'], source: string, type: string): Problem {
  if (kind !== 'object') return problem(LOOKUP_PROBLEMS[found][kind], { source });
  return problem(found === 'none' ? 'NO_RECORD_FOUND' : 'SEVERAL_RECORDS_FOUND', { source, type });
}

/** The codes in the argument of `lookup`, `TYPE.FIELD`; undefined if it has another form. */
function typeAndField(argument: string): { type: string; field: string } | undefined {
  const [type = '', field = '', ...rest] = argument.split('.');
  return type === '' || field === '' || rest.length > 0 ? undefined : { type, field };
}

/** A kind of transform: how it is written, and what it does. */
interface Kind {
  /** Its spelling for messages: `trim`, `user:login` or `date:…`. */
  form: string;
  /** The only argument that it takes. Undefined with `check` undefined: it takes none. */
  fixed?: string;
  /** The error in its argument; undefined if it is valid. */
  check?(argument: string, lookupProblem: LookupProblem): Problem | undefined;
  make(argument: string): Transform;
}

/** The error in a lookup by a field of a type, such as an unknown type; undefined if it is valid. */
export type LookupProblem = (type: string, field: string) => Problem | undefined;

const plain = (name: string, make: () => Transform): [string, Kind] => [name, { form: name, make }];

/** The user, group or unit with that property. */
const named = (kind: Exclude<Lookup['kind'], 'object'>, property: string): [string, Kind] => [
  kind,
  { form: `${kind}:${property}`, fixed: property, make: () => lookup(kind, '', property) },
];

const withArgument = (
  name: string,
  make: (argument: string) => Transform,
  check: NonNullable<Kind['check']>,
): [string, Kind] => [name, { form: `${name}:…`, check, make }];

/** All transforms. Checks of definitions, messages and imports use this table. */
const KINDS: ReadonlyMap<string, Kind> = new Map([
  plain('trim', () => onText((text) => text.trim())),
  plain('lower', () => onText((text) => text.toLowerCase())),
  plain('upper', () => onText((text) => text.toUpperCase())),
  plain('integer', () => onText((text) => (text.trim() === '' ? '' : integer(text)))),
  plain('decimal', () => onText((text) => (text.trim() === '' ? '' : decimal(text)))),
  plain('boolean', () => each((value) => (typeof value === 'boolean' ? value : boolean(textOf(value))))),
  withArgument('date', date, (format) =>
    format === '' ? problem('TRANSFORM_FORMAT', { example: 'date:DD.MM.YYYY' }) : undefined,
  ),
  withArgument('datetime', datetime, datetimeProblem),
  withArgument('split', split, (separator) =>
    separator === '' ? problem('TRANSFORM_SEPARATOR', { example: 'split:;' }) : undefined,
  ),
  withArgument('map', map, mapProblem),
  withArgument(
    'default',
    (argument) => ({ apply: (value) => (isEmptySource(value) ? argument : value) }),
    () => undefined,
  ),
  withArgument(
    'lookup',
    (argument) => {
      const { type, field } = typeAndField(argument) ?? { type: '', field: '' };
      return lookup('object', type, field);
    },
    (argument, lookupProblem) => {
      const codes = typeAndField(argument);
      if (codes === undefined) return problem('TRANSFORM_LOOKUP', { example: 'lookup:asset.serial' });
      return lookupProblem(codes.type, codes.field);
    },
  ),
  named('user', 'login'),
  named('group', 'code'),
  named('org-unit', 'code'),
]);

/** The name of a transform and its argument; undefined without a colon. */
function parts(text: string): [name: string, argument: string | undefined] {
  const colon = text.indexOf(':');
  return colon === -1 ? [text, undefined] : [text.slice(0, colon), text.slice(colon + 1)];
}

/** The error in a transform of a mapping; undefined if it is valid. */
export function transformProblem(text: string, lookupProblem: LookupProblem): Problem | undefined {
  const [name, argument] = parts(text);
  const kind = KINDS.get(name);
  if (kind?.fixed !== undefined)
    return argument === kind.fixed ? undefined : problem('TRANSFORM_ARGUMENT', { form: kind.form });
  if (kind === undefined || (argument === undefined) !== (kind.check === undefined))
    return problem('UNKNOWN_TRANSFORM', { name, known: [...KINDS.values()].map(({ form }) => form) });
  return kind.check?.(argument ?? '', lookupProblem);
}

/** The codes that a valid `lookup` names; undefined for all other transforms. */
export function lookedUpField(text: string): { type: string; field: string } | undefined {
  const [name, argument = ''] = parts(text);
  return name === 'lookup' ? typeAndField(argument) : undefined;
}

/** Other codes for the type and field that a `lookup` names, and for the texts that `map` and `default` give. */
export interface TransformNames {
  lookup(type: string, field: string): [type: string, field: string];
  result(text: string): string;
}

/** The transform with other codes. A transform that is not valid stays as it is. */
export function mapTransform(text: string, names: TransformNames): string {
  const [name, argument] = parts(text);
  if (argument === undefined) return text;
  if (name === 'lookup') {
    const codes = typeAndField(argument);
    return codes === undefined ? text : `${name}:${names.lookup(codes.type, codes.field).join('.')}`;
  }
  if (name === 'default') return `${name}:${names.result(argument)}`;
  if (name !== 'map') return text;
  try {
    const map: unknown = JSON.parse(argument);
    if (!isObject(map)) return text;
    const entries = Object.entries(map).map(([from, to]) => [from, typeof to === 'string' ? names.result(to) : to]);
    const mapped = JSON.stringify(Object.fromEntries(entries));
    return mapped === JSON.stringify(map) ? text : `${name}:${mapped}`;
  } catch {
    return text;
  }
}

/** Parses a transform of a mapping. @throws Error for an unknown name, which validation of definitions already rejects */
export function parseTransform(text: string): Transform {
  const [name, argument = ''] = parts(text);
  const kind = KINDS.get(name);
  if (kind === undefined) throw new Error(`there is no transform ${name}`);
  return kind.make(argument);
}
