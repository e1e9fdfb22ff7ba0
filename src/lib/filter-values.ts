/**
 * The stored form of single values, by data type. Equal values have equal stored forms. For ordered types other than numbers,
 * the code point order of the texts is the chronological order. Conditions convert their values to this form; code that stores
 * values must use the same form (docs/spec/records.md#values).
 */
import type { DataType } from './data-types.ts';
import { decimalOf } from './exact-number.ts';
import { hasLongMarkRun, isWellFormedText, nfc } from './text.ts';

/** Compares texts of ordered types in stored form. They are ASCII, so the order equals that of `COLLATE "C"`. */
export function compareText(a: string, b: string): number {
  return a === b ? 0 : a < b ? -1 : 1;
}

/** `YYYY-MM-DD` of an existing day, years 0001 to 9999; `undefined` otherwise. */
export function canonicalDate(value: unknown): string | undefined {
  if (typeof value !== 'string' || !/^[0-9]{4}-[0-9]{2}-[0-9]{2}$/.test(value) || value.startsWith('0000'))
    return undefined;
  try {
    return Temporal.PlainDate.from(value).toString();
  } catch {
    return undefined;
  }
}

const INSTANT =
  /^([0-9]{4}-[0-9]{2}-[0-9]{2})[Tt]([0-9]{2}:[0-9]{2}:[0-5][0-9])(?:\.([0-9]+))?([Zz]|[+-][0-9]{2}:[0-9]{2})$/;

/**
 * An RFC 3339 timestamp with any offset, as `YYYY-MM-DDTHH:MM:SS.mmmZ`, years 0001 to 9999 in UTC. Digits finer than a
 * millisecond are truncated. `undefined` if `value` is not a timestamp.
 */
export function canonicalInstant(value: unknown): string | undefined {
  if (typeof value !== 'string') return undefined;
  const [, date, time, fraction = '', offset] = INSTANT.exec(value) ?? [];
  if (date === undefined) return undefined;
  try {
    const instant = Temporal.Instant.from(`${date}T${time}.${fraction.slice(0, 3).padEnd(3, '0')}${offset}`);
    const text = instant.toString({ smallestUnit: 'millisecond' });
    return /^[0-9]/.test(text) && !text.startsWith('0000') ? text : undefined;
  } catch {
    return undefined;
  }
}

/** `HH:MM`, `HH:MM:SS` or `HH:MM:SS.mmm` as `HH:MM:SS`, with milliseconds only if they are not zero. */
export function canonicalTime(value: unknown): string | undefined {
  if (typeof value !== 'string') return undefined;
  const parts = /^((?:[01][0-9]|2[0-3]):[0-5][0-9])(?::([0-5][0-9])(?:\.([0-9]{1,3}))?)?$/.exec(value);
  if (parts === null) return undefined;
  const [, minute, second = '00', fraction = ''] = parts;
  const millis = fraction.padEnd(3, '0');
  return `${minute}:${second}${millis === '000' ? '' : `.${millis}`}`;
}

const DURATION =
  /^(-?)P(?=[0-9T])(?:([0-9]{1,9})Y)?(?:([0-9]{1,9})M)?(?:([0-9]{1,9})W)?(?:([0-9]{1,9})D)?(?:T(?=[0-9])(?:([0-9]{1,9})H)?(?:([0-9]{1,9})M)?(?:([0-9]{1,9})(?:\.([0-9]{1,9}))?S)?)?$/;

/**
 * An ISO 8601 duration in canonical form: months carry into years, weeks become days, seconds carry into minutes and hours.
 * Days and hours stay separate, and so do months and days, because their ratio depends on the calendar. A zero duration is
 * `PT0S`.
 */
export function canonicalDuration(value: unknown): string | undefined {
  if (typeof value !== 'string') return undefined;
  const parts = DURATION.exec(value);
  if (parts === null) return undefined;
  const part = (index: number): number => Number(parts[index] ?? 0);
  const months = part(2) * 12 + part(3);
  const days = part(4) * 7 + part(5);
  const seconds = part(6) * 3600 + part(7) * 60 + part(8);
  const fraction = (parts[9] ?? '').replace(/0+$/, '');
  const unit = (amount: number, letter: string): string => (amount === 0 ? '' : `${amount}${letter}`);
  const date = unit(Math.floor(months / 12), 'Y') + unit(months % 12, 'M') + unit(days, 'D');
  const rest = fraction === '' ? unit(seconds % 60, 'S') : `${seconds % 60}.${fraction}S`;
  const time = unit(Math.floor(seconds / 3600), 'H') + unit(Math.floor(seconds / 60) % 60, 'M') + rest;
  if (date === '' && time === '') return 'PT0S';
  return `${parts[1]}P${date}${time === '' ? '' : `T${time}`}`;
}

/** A UUID in lower case. */
export function canonicalUuid(value: unknown): string | undefined {
  if (typeof value !== 'string' || !/^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/i.test(value)) return undefined;
  return value.toLowerCase();
}

/** Text in normal form C, if it can be stored. */
export function canonicalText(value: unknown): string | undefined {
  if (typeof value !== 'string' || !isWellFormedText(value) || hasLongMarkRun(value)) return undefined;
  return nfc(value);
}

function canonicalInteger(value: unknown): number | undefined {
  return Number.isSafeInteger(value) ? (value as number) + 0 : undefined;
}

interface Form {
  read(value: unknown): string | number | boolean | undefined;
  /** Completes the phrase "must be …". */
  expected: string;
}

const TEXT: Form = {
  read: canonicalText,
  expected: 'a string without U+0000, lone surrogates and long runs of combining marks',
};
const ID: Form = { read: canonicalUuid, expected: 'an id (a UUID)' };

const FORMS: Readonly<Record<DataType, Form | undefined>> = {
  string: TEXT,
  text: TEXT,
  url: TEXT,
  email: TEXT,
  phone: TEXT,
  enum: TEXT,
  'rich-text': undefined,
  json: undefined,
  integer: { read: canonicalInteger, expected: 'an integer between -(2^53-1) and 2^53-1' },
  decimal: { read: decimalOf, expected: 'an exact decimal, best as a string such as "12.50"' },
  boolean: { read: (value) => (typeof value === 'boolean' ? value : undefined), expected: 'true or false' },
  date: { read: canonicalDate, expected: 'a date of the form YYYY-MM-DD' },
  datetime: { read: canonicalInstant, expected: 'an RFC 3339 instant such as 2026-11-21T09:15:00.000Z' },
  time: { read: canonicalTime, expected: 'a time of the form HH:MM:SS' },
  duration: { read: canonicalDuration, expected: 'an ISO 8601 duration such as PT4H' },
  reference: ID,
  user: ID,
  group: ID,
  'org-unit': ID,
  service: ID,
};

/** The stored form of one value; `undefined` if the value does not match the data type, and for `rich-text` and `json`. */
export function storedForm(dataType: DataType, value: unknown): string | number | boolean | undefined {
  return FORMS[dataType]?.read(value);
}

/** What a value of the data type must be; completes the phrase "must be …". */
export function expectedForm(dataType: DataType): string {
  return FORMS[dataType]?.expected ?? 'absent';
}
