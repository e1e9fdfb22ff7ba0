/**
 * What a data type declares. The server and the console share this folder, so its files use only what every browser has: no
 * Node modules, no `Temporal`, no `Buffer`. `test/console-rules.test.ts` checks the imports.
 */
import { type Phrase, type Problem, valueProblem } from '../problem-value.ts';

export const OPERATORS = [
  'equals',
  'not-equals',
  'in',
  'contains',
  'starts-with',
  'before',
  'after',
  'range',
  'is-empty',
] as const;
export type Operator = (typeof OPERATORS)[number];

/** Constraints on a value. A data type names the keys that fit it. `Name` is the type of an option's name. */
export interface Constraints<Name = unknown> {
  /** Code points. */
  minLength?: number;
  maxLength?: number;
  /** RE2 syntax, matched in linear time against the whole value. Only the server checks it. */
  pattern?: string;
  /** Bounds of integer and decimal (decimal as string), date, datetime and time. */
  min?: number | string;
  max?: number | string;
  /** Maximum number of digits after the decimal point. */
  scale?: number;
  /** Codes and names of an enum, in order. */
  options?: EnumOption<Name>[];
  /** Codes of the record types that a reference may point to; absent: any. */
  types?: string[];
  /** Maximum number of elements of a multiple field, at most 100. */
  maxItems?: number;
}

export interface EnumOption<Name = unknown> extends Renamed {
  code: string;
  name: Name;
}

/** What renames leave on a field, option, state or transition. Absent in definitions, and if it was never renamed. */
export interface Renamed {
  /** The code under which records store it: the first one that it had. */
  storedAs?: string;
  /** All codes that it had before, oldest first. None of them may be used again for something else. */
  former?: string[];
}

export type ConstraintKey = keyof Constraints;

/** The items that a value can name by id: records, or the items of a section of the configuration. */
export type Referent = 'records' | 'users' | 'groups' | 'orgUnits' | 'services';

declare const named: unique symbol;

/** An id that is to name an item of this kind. Ids of different kinds cannot be mixed: the compiler refuses it. */
export type IdOf<R extends Referent> = string & { readonly [named]: R };

/** Why a value is not accepted. It reveals no more than the field's schema does. */
export class Refusal {
  readonly problem: Problem;
  /** The violated limits, by constraint. */
  readonly limits: { readonly min?: number | string; readonly max?: number | string };

  constructor(found: Problem, limits: Refusal['limits'] = {}) {
    this.problem = found;
    this.limits = limits;
  }

  get code(): string {
    return this.problem.code;
  }
}

/** A value of a condition, in stored form. */
export type Literal = string | number | boolean;

/** The stored form of a value; undefined for an empty one. */
export type Parsed = Literal | object | undefined | Refusal;

/** How SQL compares and indexes values: as numbers, by their text, by their folded copy, or not at all. */
export type Comparison = 'number' | 'text' | 'folded' | 'none';

/** Reads strict JSON, in which numbers keep their digits; undefined if the text is not JSON. */
export type JsonReader = (text: string) => unknown;

export interface Descriptor {
  /** How the console asks for and shows a value. Several types may share one. */
  view: string;
  /** The value's TypeScript type for clients: when read, and when written if different. */
  declared: readonly [read: string, written?: string];
  /** What a value must be, for messages. */
  expected: Phrase;
  /** The operators of conditions, most common first. */
  operators: readonly Operator[];
  comparison: Comparison;
  /** The constraints that a field may have; `maxItems` is allowed for every multiple field. */
  constraints: readonly ConstraintKey[];
  /** Default maximum length in code points, for types with `maxLength`. */
  maxLength?: number;
  /** Values are documents: a field is never multiple, and a condition compares no whole value. */
  document?: boolean;
  /** An empty text is no value, and white space alone does not satisfy `required`. */
  blank?: boolean;
  /** May be the title field of a record type. */
  title?: boolean;
  /** Is searched by words unless the configuration says otherwise. */
  searched?: boolean;
  /** Weight of its words in search, from `B` to `D`; absent: `B`. The title has `A`. */
  searchZone?: 'C' | 'D';
  /** A stored value is the id of such an item. */
  refersTo?: Referent;
  /** A stored value is a text that other types can be converted from and to. */
  textual?: boolean;
  /**
   * The stored form of a value in a condition; undefined if it does not match the type. Equal values have equal forms. Absent
   * for types that conditions do not compare.
   */
  canonical?(value: unknown): Literal | undefined;
  /** Checks a value that is not null, or one element of a multiple field, and returns its stored form. */
  parse?(input: unknown, constraints: Constraints): Parsed;
  /** Compares two stored values: negative, zero, positive, or NaN if one has another type. Present if the type is ordered. */
  compare?(a: unknown, b: unknown): number;
  /** The form in which a stored element is compared for equality, where that is not the element itself. */
  comparable?(stored: unknown): unknown;
  /** A stored value as plain text; absent: `String`. */
  text?(stored: unknown): string;
  /** A stored value as the text of a CSV cell; absent: as `text`. */
  toCell?(stored: unknown): string;
  /** The value of a cell's text, or the text itself if it is not a value of the type. Absent: the text. */
  fromCell?(text: string, readJson: JsonReader): unknown;
  /** The value of a text of another type, undefined if there is none. Absent: the text. */
  fromText?(text: string): unknown;
}

export const EQUALITY = ['equals', 'not-equals', 'in', 'is-empty'] as const;
export const ORDER = ['equals', 'before', 'after', 'range', 'not-equals', 'in', 'is-empty'] as const;

export function wrongType(expected: Phrase): Refusal {
  return new Refusal(valueProblem('VALUE_TYPE', { expected }));
}

/** A parser of strings in a fixed format. `read` returns undefined if the format does not match. */
export function formatted(read: (text: string) => string | undefined, expected: Phrase) {
  return (input: unknown): string | Refusal => {
    if (typeof input !== 'string') return wrongType(expected);
    return read(input) ?? new Refusal(valueProblem('VALUE_FORMAT', { expected }));
  };
}

/** Adds the bounds `min` and `max` to a parser. */
export function bounded<T extends string | number>(
  read: (input: unknown) => T | Refusal,
  compare: (a: T, b: T) => number,
) {
  return (input: unknown, { min, max }: Constraints): T | Refusal => {
    const value = read(input);
    if (value instanceof Refusal) return value;
    const low = min === undefined ? undefined : read(min);
    if (low !== undefined && !(low instanceof Refusal) && compare(value, low) < 0) {
      return new Refusal(valueProblem('VALUE_BELOW_MIN', { min: min as T }), { min: min as T });
    }
    const high = max === undefined ? undefined : read(max);
    if (high !== undefined && !(high instanceof Refusal) && compare(value, high) > 0) {
      return new Refusal(valueProblem('VALUE_ABOVE_MAX', { max: max as T }), { max: max as T });
    }
    return value;
  };
}

/** Compares texts by code unit. Stored forms of ordered types are ASCII, so the order equals that of `COLLATE "C"`. */
export function compareText(a: string, b: string): number {
  return a === b ? 0 : a < b ? -1 : 1;
}
