/**
 * The transforms of a mapping (docs/spec/import-export-bulk.md). Each takes the result of the previous one. Transforms skip
 * empty values, except `default` and a `map` of the empty text, and apply to each element of a list.
 */
import { canonicalDecimal } from './decimal.ts';
import { isNumber } from './exact-number.ts';
import { type Problem, problem } from './problem.ts';
import { parseDateFormat, readDate, readInstant } from './date-format.ts';

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

function datetime(argument: string): Transform {
  const at = argument.lastIndexOf('@');
  const format = at === -1 ? argument : argument.slice(0, at);
  const zone = at === -1 ? 'UTC' : argument.slice(at + 1);
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
      throw new TransformProblem((source) => lookupProblem(found, kind, source, type));
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

function lookupProblem(found: 'none' | 'many', kind: Lookup['kind'], source: string, type: string): Problem {
  if (kind !== 'object') return problem(LOOKUP_PROBLEMS[found][kind], { source });
  return problem(found === 'none' ? 'NO_RECORD_FOUND' : 'SEVERAL_RECORDS_FOUND', { source, type });
}

type Maker = (argument: string) => Transform;

const MAKERS: ReadonlyMap<string, Maker> = new Map<string, Maker>([
  ['trim', () => onText((text) => text.trim())],
  ['lower', () => onText((text) => text.toLowerCase())],
  ['upper', () => onText((text) => text.toUpperCase())],
  ['integer', () => onText((text) => (text.trim() === '' ? '' : integer(text)))],
  ['decimal', () => onText((text) => (text.trim() === '' ? '' : decimal(text)))],
  ['boolean', () => each((value) => (typeof value === 'boolean' ? value : boolean(textOf(value))))],
  ['date', date],
  ['datetime', datetime],
  ['split', split],
  ['map', map],
  ['default', (argument) => ({ apply: (value) => (isEmptySource(value) ? argument : value) })],
  [
    'lookup',
    (argument) => {
      const [type = '', field = ''] = argument.split('.');
      return lookup('object', type, field);
    },
  ],
  ['user', () => lookup('user', '', 'login')],
  ['group', () => lookup('group', '', 'code')],
  ['org-unit', () => lookup('org-unit', '', 'code')],
]);

/** Parses a transform of a mapping. @throws Error for an unknown name, which validation of definitions already rejects */
export function parseTransform(text: string): Transform {
  const colon = text.indexOf(':');
  const name = colon === -1 ? text : text.slice(0, colon);
  const maker = MAKERS.get(name);
  if (maker === undefined) throw new Error(`there is no transform ${name}`);
  return maker(colon === -1 ? '' : text.slice(colon + 1));
}
