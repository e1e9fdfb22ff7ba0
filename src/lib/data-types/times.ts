/**
 * Dates, times, instants and durations (docs/spec/records.md#data-types). The code point order of stored dates, times and
 * instants is the chronological order. Durations have no order: whether P1M is longer than P30D depends on the calendar.
 */
import { bounded, compareText, type Descriptor, EQUALITY, formatted, ORDER } from './descriptor.ts';

const DATE = /^([0-9]{4})-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])$/;
const DAYS = [31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];

/** Whether the text is `YYYY-MM-DD` of an existing day, years 0000 to 9999. */
function isDay(text: string): boolean {
  const parts = DATE.exec(text);
  if (parts === null) return false;
  const year = Number(parts[1]);
  const day = Number(parts[3]);
  if (parts[2] === '02' && day === 29) return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0);
  return day <= (DAYS[Number(parts[2]) - 1] as number);
}

/** `YYYY-MM-DD` of an existing day, years 0001 to 9999; `undefined` otherwise. */
export function canonicalDate(value: unknown): string | undefined {
  return typeof value === 'string' && isDay(value) && !value.startsWith('0000') ? value : undefined;
}

const INSTANT =
  /^([0-9]{4}-[0-9]{2}-[0-9]{2})[Tt]((?:[01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9])(?:\.([0-9]+))?(?:[Zz]|([+-])([01][0-9]|2[0-3]):([0-5][0-9]))$/;

/**
 * An RFC 3339 timestamp with any offset, as `YYYY-MM-DDTHH:MM:SS.mmmZ`, years 0001 to 9999 in UTC. Digits finer than a
 * millisecond are truncated. `undefined` if `value` is not a timestamp.
 */
export function canonicalInstant(value: unknown): string | undefined {
  if (typeof value !== 'string') return undefined;
  const [, date, time, fraction = '', sign, hours, minutes] = INSTANT.exec(value) ?? [];
  if (date === undefined || !isDay(date)) return undefined;
  const local = `${date}T${time}.${fraction.slice(0, 3).padEnd(3, '0')}Z`;
  if (sign === undefined) return local.startsWith('0000') ? undefined : local;
  const offset = (Number(hours) * 60 + Number(minutes)) * (sign === '-' ? -60_000 : 60_000);
  const text = new Date(Date.parse(local) - offset).toISOString();
  // Years outside of 0 to 9999 have a sign.
  return /^[0-9]/.test(text) && !text.startsWith('0000') ? text : undefined;
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

/** A descriptor of a type whose stored texts are ordered. */
function ordered<const Own extends Pick<Descriptor, 'view' | 'declared' | 'expected' | 'title'>>(
  own: Own,
  canonical: (value: unknown) => string | undefined,
) {
  return {
    operators: ORDER,
    comparison: 'text',
    constraints: ['min', 'max'],
    canonical,
    parse: bounded(formatted(canonical, own.expected), compareText),
    compare: (a: unknown, b: unknown): number =>
      typeof a === 'string' && typeof b === 'string' ? compareText(a, b) : Number.NaN,
    ...own,
  } as const;
}

const DURATION_FORM = { phrase: 'DURATION' } as const;

export const TIMES = {
  date: ordered({ view: 'date', declared: ['DateText'], expected: { phrase: 'DATE' }, title: true }, canonicalDate),
  datetime: ordered({ view: 'datetime', declared: ['Instant'], expected: { phrase: 'INSTANT' } }, canonicalInstant),
  time: ordered({ view: 'time', declared: ['Time'], expected: { phrase: 'TIME' } }, canonicalTime),
  duration: {
    view: 'duration',
    declared: ['Duration'],
    expected: DURATION_FORM,
    operators: EQUALITY,
    comparison: 'text',
    constraints: [],
    canonical: canonicalDuration,
    parse: formatted(canonicalDuration, DURATION_FORM),
  },
} as const satisfies Record<string, Descriptor>;
