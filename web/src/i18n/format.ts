/** Formats dates, numbers and sizes in the console's language and the user's time zone. */
import { type Language, useLanguage } from './language.ts';
import { useZone } from './zone.ts';

export interface Formats {
  /** «21 нояб. 2026, 09:15». */
  instant(value: string | Date): string;
  /** With seconds and time zone, for tooltips. */
  exact(value: string | Date): string;
  date(value: string | Date): string;
  /** A calendar day, `2026-11-21`, which is the same in every time zone. */
  day(value: string): string;
  /** «5 минут назад», «через 2 часа»; after a week the date. */
  relative(value: string | Date, now?: number): string;
  number(value: number): string;
  /** «1,2 МБ». */
  bytes(value: number): string;
  /** «2 ч 5 мин», rounded down to the two largest units. */
  duration(ms: number): string;
}

const UNITS: readonly [Intl.RelativeTimeFormatUnit, number][] = [
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['minute', 60_000],
];
const SIZES = ['byte', 'kilobyte', 'megabyte', 'gigabyte'] as const;
const SPANS: readonly [string, number][] = [
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['minute', 60_000],
  ['second', 1000],
];

function build(language: Language, timeZone: string | undefined): Formats {
  const instant = new Intl.DateTimeFormat(language, { dateStyle: 'medium', timeStyle: 'short', timeZone });
  const exact = new Intl.DateTimeFormat(language, { dateStyle: 'full', timeStyle: 'long', timeZone });
  const date = new Intl.DateTimeFormat(language, { dateStyle: 'medium', timeZone });
  const calendarDay = new Intl.DateTimeFormat(language, { dateStyle: 'medium', timeZone: 'UTC' });
  const relative = new Intl.RelativeTimeFormat(language, { numeric: 'auto', style: 'short' });
  const number = new Intl.NumberFormat(language);
  const unit = (value: number, name: string, digits = 0): string =>
    new Intl.NumberFormat(language, {
      style: 'unit',
      unit: name,
      // `byte` has no short plural in English.
      unitDisplay: name === 'byte' ? 'long' : 'short',
      maximumFractionDigits: digits,
    }).format(value);
  const day = (value: string | Date): string => date.format(new Date(value));
  return {
    instant: (value) => instant.format(new Date(value)),
    exact: (value) => exact.format(new Date(value)),
    date: day,
    day: (value) => calendarDay.format(new Date(`${value}T00:00:00Z`)),
    relative: (value, now = Date.now()) => {
      const distance = new Date(value).getTime() - now;
      if (Math.abs(distance) > 7 * 86_400_000) return day(value);
      for (const [name, ms] of UNITS)
        if (Math.abs(distance) >= ms) return relative.format(Math.trunc(distance / ms), name);
      return relative.format(0, 'minute');
    },
    number: (value) => number.format(value),
    bytes: (value) => {
      const power = Math.min(SIZES.length - 1, Math.floor(Math.log(Math.max(value, 1)) / Math.log(1024)));
      return unit(value / 1024 ** power, SIZES[power] ?? 'byte', power === 0 ? 0 : 1);
    },
    duration: (ms) => {
      let rest = Math.abs(ms);
      const parts: string[] = [];
      for (const [name, size] of SPANS) {
        const count = Math.floor(rest / size);
        rest -= count * size;
        if (count > 0) parts.push(unit(count, name));
        if (parts.length === 2) break;
      }
      return parts.length === 0 ? unit(0, 'second') : parts.join(' ');
    },
  };
}

/** Building the formatters of `Intl` takes milliseconds, and a list shows a time in each row: all components share them. */
const built = new Map<string, Formats>();

function formatsOf(language: Language, zone: string | undefined): Formats {
  const key = `${language} ${zone}`;
  const formats = built.get(key) ?? build(language, zone);
  built.set(key, formats);
  return formats;
}

export function useFormats(): Formats {
  return formatsOf(useLanguage(), useZone());
}
