/**
 * Parses dates and times with a format such as `DD.MM.YYYY HH:mm` (docs/spec/import-export-bulk.md).
 *
 * | part | meaning |
 * |---|---|
 * | `YYYY`, `YY` | year; two digits from 70 on belong to the 1900s |
 * | `MM`, `M`, `MMM`, `MMMM` | month, as a number or by its English name |
 * | `DD`, `D` | day of the month |
 * | `HH`, `H` / `hh`, `h` with `A` | hour, 24-hour clock / 12-hour clock with AM or PM |
 * | `mm`, `m` / `ss`, `s` / `S` … `SSSSSSSSS` | minute / second / fraction of a second |
 * | `Z` | offset: `Z`, `+03`, `+0300` or `+03:00` |
 * | `[text]` and any other character | literal; a space matches one or more |
 *
 * Two-letter parts also accept one digit if no further digit follows.
 */

type FormatPart =
  | { kind: 'number'; unit: Unit; most: number; least: number }
  | { kind: 'month' | 'half' | 'offset' | 'blank' }
  | { kind: 'literal'; text: string };

type Unit = 'year' | 'shortYear' | 'month' | 'day' | 'hour' | 'hour12' | 'minute' | 'second' | 'fraction';

const TOKEN = /\[[^\]]*\]|YYYY|YY|MMMM|MMM|MM|M|DD|D|HH|H|hh|h|mm|m|ss|s|S{1,9}|A|a|Z|\s+|[^]/g;

const UNITS: ReadonlyMap<string, Unit> = new Map([
  ['M', 'month'],
  ['D', 'day'],
  ['H', 'hour'],
  ['h', 'hour12'],
  ['m', 'minute'],
  ['s', 'second'],
]);

const MONTHS = [
  'january',
  'february',
  'march',
  'april',
  'may',
  'june',
  'july',
  'august',
  'september',
  'october',
  'november',
  'december',
];

/** A parsed format. */
export type DateFormat = readonly FormatPart[];

export function parseDateFormat(format: string): DateFormat {
  return (format.match(TOKEN) ?? []).map((token): FormatPart => {
    if (token.startsWith('[') && token.endsWith(']') && token.length > 1) {
      return { kind: 'literal', text: token.slice(1, -1) };
    }
    if (token === 'YYYY') return { kind: 'number', unit: 'year', least: 4, most: 4 };
    if (token === 'YY') return { kind: 'number', unit: 'shortYear', least: 2, most: 2 };
    if (token === 'MMM' || token === 'MMMM') return { kind: 'month' };
    if (token === 'A' || token === 'a') return { kind: 'half' };
    if (token === 'Z') return { kind: 'offset' };
    if (/^S+$/.test(token)) return { kind: 'number', unit: 'fraction', least: 1, most: 9 };
    if (/^\s/.test(token)) return { kind: 'blank' };
    const unit = UNITS.get(token[0] ?? '');
    const isPart = unit !== undefined && (token.length === 1 || token[0] === token[1]);
    return isPart ? { kind: 'number', unit, least: 1, most: 2 } : { kind: 'literal', text: token };
  });
}

interface Read {
  numbers: Map<Unit, string>;
  month?: number;
  afternoon?: boolean;
  offset?: string;
}

/** Parses the text with the format; undefined if it does not match. */
function read(format: DateFormat, text: string): Read | undefined {
  const found: Read = { numbers: new Map() };
  let at = 0;
  const take = (expression: RegExp): string | undefined => {
    expression.lastIndex = at;
    const match = expression.exec(text)?.[0];
    if (match !== undefined) at += match.length;
    return match;
  };
  for (const part of format) {
    switch (part.kind) {
      case 'number': {
        const digits = take(part.most === 9 ? /[0-9]{1,9}/y : part.most === 4 ? /[0-9]{4}/y : /[0-9]{1,2}/y);
        if (digits === undefined || digits.length < part.least) return undefined;
        found.numbers.set(part.unit, digits);
        break;
      }
      case 'month': {
        const word = take(/[a-z]{3,9}/iy)?.toLowerCase();
        const index = MONTHS.findIndex((name) => name === word || name.slice(0, 3) === word);
        if (index === -1) return undefined;
        found.month = index + 1;
        break;
      }
      case 'half': {
        const word = take(/[ap]\.?m\.?/iy);
        if (word === undefined) return undefined;
        found.afternoon = word[0]?.toLowerCase() === 'p';
        break;
      }
      case 'offset': {
        const offset = take(/Z|[+-][0-9]{2}(?::?[0-9]{2})?/iy);
        if (offset === undefined) return undefined;
        found.offset =
          offset.length === 1 ? '+00:00' : `${offset.slice(0, 3)}:${offset.slice(3).replace(':', '') || '00'}`;
        break;
      }
      case 'blank':
        if (take(/\s+/y) === undefined) return undefined;
        break;
      case 'literal':
        if (!text.startsWith(part.text, at)) return undefined;
        at += part.text.length;
    }
  }
  return at === text.length ? found : undefined;
}

function yearOf(numbers: ReadonlyMap<Unit, string>): number | undefined {
  const year = numbers.get('year');
  if (year !== undefined) return Number(year);
  const short = numbers.get('shortYear');
  return short === undefined ? undefined : Number(short) + (Number(short) < 70 ? 2000 : 1900);
}

/** Undefined if the hour of a 12-hour clock is out of range. */
function hourOf({ numbers, afternoon }: Read): number | undefined {
  const hour12 = numbers.get('hour12');
  if (hour12 === undefined) return Number(numbers.get('hour') ?? 0);
  const hour = Number(hour12);
  if (hour < 1 || hour > 12) return undefined;
  return (hour % 12) + (afternoon === true ? 12 : 0);
}

/** The calendar day, `YYYY-MM-DD`; undefined if the text is not a valid date. */
export function readDate(format: DateFormat, text: string): string | undefined {
  const found = read(format, text.trim());
  return found === undefined ? undefined : dayOf(found)?.toString();
}

function dayOf({ numbers, month }: Read): Temporal.PlainDate | undefined {
  const year = yearOf(numbers);
  if (year === undefined || year < 1) return undefined;
  const fields = { year, month: month ?? Number(numbers.get('month') ?? 1), day: Number(numbers.get('day') ?? 1) };
  return attempt(() => Temporal.PlainDate.from(fields, { overflow: 'reject' }));
}

/**
 * The instant, RFC 3339 UTC with milliseconds; undefined if the text is not a valid time. An offset in the text takes
 * precedence over the zone. A local time that a clock change skips or repeats is resolved with Temporal's `compatible` rule.
 */
export function readInstant(format: DateFormat, text: string, zone: string): string | undefined {
  const found = read(format, text.trim());
  const day = found === undefined ? undefined : dayOf(found);
  const hour = found === undefined ? undefined : hourOf(found);
  if (found === undefined || day === undefined || hour === undefined) return undefined;
  const number = (unit: Unit): number => Number(found.numbers.get(unit) ?? 0);
  const fraction = (found.numbers.get('fraction') ?? '').padEnd(3, '0').slice(0, 3);
  const fields = { hour, minute: number('minute'), second: number('second'), millisecond: Number(fraction) };
  return attempt(() => {
    const local = day.toPlainDateTime(Temporal.PlainTime.from(fields, { overflow: 'reject' }));
    const instant = local.toZonedDateTime(found.offset ?? zone, { disambiguation: 'compatible' }).toInstant();
    return instant.toString({ fractionalSecondDigits: 3 });
  });
}

function attempt<T>(make: () => T): T | undefined {
  try {
    return make();
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

/**
 * Whether it is the name of a time zone of the IANA database. Offsets are not accepted, since they do not observe daylight
 * saving time.
 */
export function isTimeZone(name: string): boolean {
  if (!/^[A-Za-z]/.test(name)) return false;
  try {
    new Intl.DateTimeFormat('en', { timeZone: name });
    return true;
  } catch {
    return false;
  }
}
