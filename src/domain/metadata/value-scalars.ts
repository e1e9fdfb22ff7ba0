/**
 * Readers for a single value of each data type: from its API form to its stored form (docs/spec/records.md#values). Values are
 * not converted from other JSON types, except that a decimal may be an exact number.
 */
import { type DataType, ID_TYPES } from '../../lib/data-types.ts';
import { compareDecimals, decimalScale } from '../../lib/decimal.ts';
import { decimalOf, ExactNumber, isNumber } from '../../lib/exact-number.ts';
import type { FaultDetail } from '../../lib/fault.ts';
import {
  canonicalDate,
  canonicalDuration,
  canonicalInstant,
  canonicalTime,
  canonicalUuid,
} from '../../lib/filter-values.ts';
import type { FieldConstraints, FieldDefinition } from './definitions.ts';
import { isEmailAddress, isPhoneNumber, isWebAddress } from './value-addresses.ts';
import { readJson } from './value-json.ts';
import { prepare } from './value-pattern.ts';
import { codePoints, hasLineBreak, readText } from './value-text.ts';

/** Default maximum length of each text type in code points. */
export const TEXT_LENGTHS: ReadonlyMap<DataType, number> = new Map([
  ['string', 1000],
  ['text', 100_000],
  ['url', 2048],
  ['email', 254],
  ['phone', 60],
]);

/** A problem with one value. It reveals no more than the field's schema does. */
class Refusal {
  readonly detail: FaultDetail;

  constructor(path: string, code: string, message: string) {
    this.detail = { path, code, message };
  }
}

/** The stored form; undefined for empty text. */
type Read = string | number | boolean | object | null | undefined | Refusal;

type Reader = (input: unknown, constraints: FieldConstraints, path: string) => Read;

const wrongType = (path: string, expected: string): Refusal =>
  new Refusal(path, 'WRONG_TYPE', `The value must be ${expected}.`);

/** A reader of strings in a fixed format. `read` returns undefined if the format does not match. */
function formatted(
  read: (text: string) => string | undefined,
  expected: string,
): (input: unknown, path: string) => string | Refusal {
  return (input, path) => {
    if (typeof input !== 'string') return wrongType(path, `a JSON string: ${expected}`);
    return read(input) ?? new Refusal(path, 'INVALID_FORMAT', `The value must be ${expected}.`);
  };
}

function bounded<T extends string | number>(
  read: (input: unknown, path: string) => T | Refusal,
  compare: (a: T, b: T) => number,
): Reader {
  return (input, { min, max }, path) => {
    const value = read(input, path);
    if (value instanceof Refusal) return value;
    for (const [bound, sign] of [[min, -1] as const, [max, 1] as const]) {
      if (bound === undefined) continue;
      const limit = read(bound, path);
      if (!(limit instanceof Refusal) && compare(value, limit) * sign > 0) {
        return new Refusal(path, 'OUT_OF_RANGE', `The value must be ${sign < 0 ? 'at least' : 'at most'} ${bound}.`);
      }
    }
    return value;
  };
}

const byText = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

function textual(dataType: DataType, accepts: (text: string) => true | [code: string, message: string]): Reader {
  return (input, constraints, path) => {
    const text = readText(input, constraints.maxLength ?? TEXT_LENGTHS.get(dataType) ?? 0, path);
    if (typeof text !== 'string') return new Refusal(path, text.code, text.message);
    if (text === '' && (dataType === 'string' || dataType === 'text')) return undefined;
    const accepted = accepts(text);
    if (accepted !== true) return new Refusal(path, ...accepted);
    const { minLength } = constraints;
    if (minLength !== undefined && codePoints(text) < minLength) {
      return new Refusal(path, 'TOO_SHORT', `The value must have at least ${minLength} characters.`);
    }
    if (prepare(constraints).pattern?.testExact(text) === false) {
      return new Refusal(path, 'PATTERN_MISMATCH', 'The value does not match the pattern of the field.');
    }
    return text;
  };
}

const integer = bounded<number>(
  (input, path) => {
    const whole = input instanceof ExactNumber ? input.isInteger : Number.isInteger(input);
    if (!whole) return wrongType(path, 'a JSON integer');
    // Adding 0 turns -0 into 0.
    if (Number.isSafeInteger(input)) return (input as number) + 0;
    return new Refusal(path, 'OUT_OF_RANGE', 'The value must lie between -(2^53-1) and 2^53-1.');
  },
  (a, b) => a - b,
);

const DECIMAL = 'an exact decimal as a JSON string such as "12.50", of at most 130 digits';
const unscaledDecimal = bounded<string>((input, path) => {
  if (typeof input !== 'string' && !isNumber(input)) return wrongType(path, DECIMAL);
  return decimalOf(input) ?? new Refusal(path, 'INVALID_FORMAT', `The value must be ${DECIMAL}.`);
}, compareDecimals);

const decimal: Reader = (input, constraints, path) => {
  const value = unscaledDecimal(input, constraints, path);
  const { scale } = constraints;
  if (typeof value !== 'string' || scale === undefined || decimalScale(value) <= scale) return value;
  return new Refusal(path, 'TOO_PRECISE', `The value may have at most ${scale} digits behind the point.`);
};

const option: Reader = (input, constraints, path) => {
  if (typeof input !== 'string') return wrongType(path, 'a JSON string: the code of an option');
  if (prepare(constraints).options?.has(input) === true) return input;
  return new Refusal(path, 'NOT_AN_OPTION', 'The value is not the code of an option of this field.');
};

const duration = formatted(canonicalDuration, 'an ISO 8601 duration such as PT4H or P1DT30M');

const id = formatted((text) => canonicalUuid(text), 'an id, a UUID');

const READERS: ReadonlyMap<DataType, Reader> = new Map<DataType, Reader>([
  ['string', textual('string', (text) => !hasLineBreak(text) || ['NOT_ONE_LINE', 'The value must be one line.'])],
  ['text', textual('text', () => true)],
  [
    'url',
    textual(
      'url',
      (text) => isWebAddress(text) || ['INVALID_FORMAT', 'The value must be an absolute http or https address.'],
    ),
  ],
  [
    'email',
    textual('email', (text) => isEmailAddress(text) || ['INVALID_FORMAT', 'The value must be an e-mail address.']),
  ],
  [
    'phone',
    textual('phone', (text) => isPhoneNumber(text) || ['INVALID_FORMAT', 'The value must be a telephone number.']),
  ],
  ['integer', integer],
  ['decimal', decimal],
  ['boolean', (input, _, path) => (typeof input === 'boolean' ? input : wrongType(path, 'true or false'))],
  ['date', bounded(formatted(canonicalDate, 'a date of the form YYYY-MM-DD'), byText)],
  ['datetime', bounded(formatted(canonicalInstant, 'an RFC 3339 instant such as 2026-11-21T09:15:00.000Z'), byText)],
  ['time', bounded(formatted(canonicalTime, 'a time of the form HH:MM or HH:MM:SS'), byText)],
  ['duration', (input, _, path) => duration(input, path)],
  ['enum', option],
  [
    'json',
    (input, _, path) => {
      const read = readJson(input, path);
      return read.ok ? (read.value as Read) : new Refusal(path, read.problem.code, read.problem.message);
    },
  ],
  ...[...ID_TYPES].map((dataType): [DataType, Reader] => [dataType, (input, _, path) => id(input, path)]),
]);

export type ScalarCheck = { ok: true; stored: unknown } | { ok: false; problem: FaultDetail };

/**
 * Checks one value that is not null; for a multiple field, one element. `stored` is null for an empty string in `string` and
 * `text`, which counts as no value. Not for `rich-text`.
 */
export function checkScalar(field: FieldDefinition, input: unknown, path: string): ScalarCheck {
  const reader = READERS.get(field.dataType);
  if (reader === undefined) throw new Error(`no reader for values of ${field.dataType}`);
  const read = reader(input, field.constraints, path);
  return read instanceof Refusal ? { ok: false, problem: read.detail } : { ok: true, stored: read ?? null };
}
