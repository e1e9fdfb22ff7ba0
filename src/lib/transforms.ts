/**
 * The transforms of a mapping (decisions, "Import, export, bulk"): each takes what the one before it left. They pass over what
 * is empty, `default` and a `map` of the empty text apart, and work on each element of a list.
 */
import { canonicalDecimal } from './decimal.ts';
import { isNumber } from './exact-number.ts';
import { parseDateFormat, readDate, readInstant } from './date-format.ts';

/** Something that only the database knows: the id of what bears a name. */
export interface Lookup {
  kind: 'object' | 'user' | 'group' | 'org-unit';
  /** For `object`: code of the type and of the field. */
  type: string;
  field: string;
  text: string;
}

/** What look-ups found; `none` and `many` where there is not exactly one, undefined for what was not looked for yet. */
export type Found = (lookup: Lookup) => { id: string } | 'none' | 'many' | undefined;

export interface TransformContext {
  found: Found;
  /** Gets what was asked for and is not known yet. */
  wanted: Lookup[];
}

/** A value cannot be transformed; `message` says why, without the value. */
export class TransformProblem extends Error {
  readonly code: string;
  constructor(code: string, message: string) {
    super(message);
    this.code = code;
  }
}

/** What a transform gives when the chain cannot go on before a look-up is answered. */
export const PENDING = Symbol('pending');

export interface Transform {
  apply(value: unknown, context: TransformContext): unknown;
  /** What it looks up, without the text. */
  lookup?: Omit<Lookup, 'text'>;
}

/** Whether nothing stands there. */
export function isEmptySource(value: unknown): boolean {
  return value === undefined || value === null || value === '' || (Array.isArray(value) && value.length === 0);
}

/** On each element of a list; what is empty stays as it is. */
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
  throw new TransformProblem('WRONG_TYPE', 'it is neither text nor a number');
}

function onText(apply: (text: string, context: TransformContext) => unknown): Transform {
  return each((value, context) => apply(textOf(value), context));
}

const TRUE = new Set(['true', 'yes', 'y', 't', '1', 'on', 'да', 'истина']);
const FALSE = new Set(['false', 'no', 'n', 'f', '0', 'off', 'нет', 'ложь']);

function integer(text: string): number {
  const digits = text.trim();
  if (!/^[+-]?[0-9]{1,17}$/.test(digits)) throw new TransformProblem('NOT_AN_INTEGER', 'it is no whole number');
  return Number(digits);
}

/**
 * A comma is a decimal sign where it can be nothing else: `1,234` may be meant as a thousand and is refused. Blanks between
 * groups of three digits are passed over.
 */
function decimal(text: string): string {
  const plain = text.trim().replace(/^\+/, '');
  const grouped = /^-?[0-9]{1,3}(?:[ \u00A0\u202F][0-9]{3})+(?:[.,][0-9]+)?$/.test(plain);
  const digits = grouped ? plain.replaceAll(/[ \u00A0\u202F]/g, '') : plain;
  const ambiguous = !grouped && /^-?[1-9][0-9]{0,2},[0-9]{3}$/.test(digits);
  const value = ambiguous ? undefined : canonicalDecimal(digits.replace(/^(-?[0-9]+),([0-9]+)$/, '$1.$2'));
  if (value === undefined) {
    const why = ambiguous ? 'its comma could part thousands; use a point' : 'it is no decimal number';
    throw new TransformProblem('NOT_A_DECIMAL', why);
  }
  return value;
}

function boolean(text: string): boolean {
  const word = text.trim().toLowerCase();
  if (TRUE.has(word)) return true;
  if (FALSE.has(word)) return false;
  throw new TransformProblem('NOT_A_BOOLEAN', 'it is none of true, false, yes, no, 1, 0');
}

function date(format: string): Transform {
  const parts = parseDateFormat(format);
  return onText((text) => {
    const day = text.trim() === '' ? '' : readDate(parts, text);
    if (day === undefined) throw new TransformProblem('NOT_A_DATE', `it is no date of the form ${format}`);
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
    if (instant === undefined) throw new TransformProblem('NOT_A_DATETIME', `it is no time of the form ${format}`);
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

/** What the map does not name stays as it is. */
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
    if (found === 'none') throw new TransformProblem('LOOKUP_NOT_FOUND', `it names no ${kindName(kind, type)}`);
    if (found === 'many')
      throw new TransformProblem('LOOKUP_AMBIGUOUS', `it names more than one ${kindName(kind, type)}`);
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

function kindName(kind: Lookup['kind'], type: string): string {
  return kind === 'object' ? `readable record of type ${type}` : kind === 'org-unit' ? 'organisation unit' : kind;
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

/** A transform as a mapping writes it. @throws Error for one that the check of definitions lets nobody write */
export function parseTransform(text: string): Transform {
  const colon = text.indexOf(':');
  const name = colon === -1 ? text : text.slice(0, colon);
  const maker = MAKERS.get(name);
  if (maker === undefined) throw new Error(`there is no transform ${name}`);
  return maker(colon === -1 ? '' : text.slice(colon + 1));
}
