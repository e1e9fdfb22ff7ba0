/** For tests: random calendars, and an oracle that computes working time minute by minute. */
import fc from 'fast-check';
import { type CalendarHours, type Span, WEEKDAYS, type Weekday } from '../../src/lib/worktime.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** Zones with all kinds of clock changes, and start dates near them. */
export const ZONES: readonly (readonly [string, readonly string[]])[] = [
  ['UTC', ['2026-06-01']],
  ['Europe/Berlin', ['2026-03-27', '2026-10-23', '1980-04-04']],
  ['America/New_York', ['2026-03-06', '2026-10-30', '2007-03-09']],
  ['Australia/Lord_Howe', ['2026-04-03', '2026-10-02']],
  ['Pacific/Apia', ['2011-12-28', '2010-09-24', '2026-06-01']],
  ['Africa/Cairo', ['2026-04-22', '2026-10-28', '2010-08-09']],
  ['Asia/Kathmandu', ['2026-06-19', '1985-12-30']],
  ['America/St_Johns', ['2010-03-12', '2010-11-05', '2026-03-06']],
  ['Africa/Casablanca', ['2026-02-13', '2026-03-20']],
  ['Asia/Tehran', ['2022-03-20', '2022-09-20']],
  ['America/Sao_Paulo', ['2018-11-02', '2018-02-16']],
  ['Antarctica/Troll', ['2026-03-27', '2026-10-23']],
];

/** Ranges with random bounds. */
const range = fc
  .uniqueArray(fc.integer({ min: 0, max: 96 }), { minLength: 2, maxLength: 6 })
  .map((quarters) => quarters.slice(0, Math.floor(quarters.length / 2) * 2).sort((a, b) => a - b))
  .map((quarters) => {
    // Includes odd minutes, since hours need not start on a quarter.
    const text = (at: number): string => {
      const minute = Math.min(at * 15 + (at % 3 === 1 ? 7 : 0), 1440);
      return `${String(Math.floor(minute / 60)).padStart(2, '0')}:${String(minute % 60).padStart(2, '0')}`;
    };
    const found: string[] = [];
    for (let i = 0; i < quarters.length; i += 2)
      found.push(`${text(quarters[i] as number)}-${text(quarters[i + 1] as number)}`);
    return found;
  });

export interface Case {
  calendar: CalendarHours;
  start: number;
  ms: number;
  pauses: Span[];
}

export const cases: fc.Arbitrary<Case> = fc
  .record({
    zone: fc.constantFrom(...ZONES.flatMap(([zone, days]) => days.map((day) => [zone, day] as const))),
    week: fc.array(fc.oneof({ weight: 3, arbitrary: range }, { weight: 1, arbitrary: fc.constant([]) }), {
      minLength: 7,
      maxLength: 7,
    }),
    exceptions: fc.dictionary(fc.integer({ min: -1, max: 9 }).map(String), fc.oneof(range, fc.constant<string[]>([])), {
      maxKeys: 3,
    }),
    offset: fc.integer({ min: 0, max: 3 * DAY }),
    ms: fc.integer({ min: 1, max: 30 * HOUR }),
    pauses: fc.array(fc.integer({ min: 0, max: 6 * DAY }), { maxLength: 6 }),
  })
  .map(({ zone: [timezone, day], week, exceptions, offset, ms, pauses }) => {
    const first = Date.parse(`${day}T00:00:00Z`);
    const start = first + offset;
    const bounds = [...new Set(pauses)].sort((a, b) => a - b);
    const spans: Span[] = [];
    for (let i = 0; i + 1 < bounds.length; i += 2)
      spans.push({ from: start + (bounds[i] as number), to: start + (bounds[i + 1] as number) });
    return {
      calendar: {
        timezone,
        week: Object.fromEntries(WEEKDAYS.map((name, index) => [name, week[index] ?? []])) as Record<Weekday, string[]>,
        exceptions: Object.entries(exceptions).map(([after, hoursOfDay]) => ({
          date: new Date(first + Number(after) * DAY).toISOString().slice(0, 10),
          hours: hoursOfDay,
        })),
      },
      start,
      ms,
      pauses: spans,
    };
  });

/**
 * Checks every minute of real time against the local time. Independent of offset periods: offsets come from `Intl`, as local
 * time minus UTC in minutes.
 */
export class Oracle {
  readonly #format: Intl.DateTimeFormat;
  readonly #offsets = new Map<number, number>();
  readonly #open = new Map<number, Uint8Array>();
  readonly #calendar: CalendarHours;

  constructor(calendar: CalendarHours, offsets: Map<number, number>) {
    this.#calendar = calendar;
    this.#offsets = offsets;
    this.#format = new Intl.DateTimeFormat('en-US', { timeZone: calendar.timezone, timeZoneName: 'longOffset' });
  }

  #read(minute: number): number {
    const name = this.#format.formatToParts(minute * MINUTE).find((part) => part.type === 'timeZoneName')?.value ?? '';
    const [, sign = '+', hour = '0', rest = '0'] = /GMT(?:([+-])(\d\d):(\d\d))?/.exec(name) ?? [];
    return (sign === '-' ? -1 : 1) * (Number(hour) * 60 + Number(rest));
  }

  #offset(minute: number): number {
    let offset = this.#offsets.get(minute);
    if (offset === undefined) {
      // St. John's changed its clocks at 00:01, so an hour has a constant offset only if its first and last minutes agree.
      const hour = minute - (((minute % 60) + 60) % 60);
      const [first, last] = [this.#read(hour), this.#read(hour + 59)];
      for (let at = hour; at < hour + 60; at++) this.#offsets.set(at, first === last ? first : this.#read(at));
      offset = this.#offsets.get(minute) as number;
    }
    return offset;
  }

  #minutesOf(day: number): Uint8Array {
    let minutes = this.#open.get(day);
    if (minutes === undefined) {
      const date = new Date(day * DAY).toISOString().slice(0, 10);
      const weekday = WEEKDAYS[(new Date(`${date}T12:00:00Z`).getUTCDay() + 6) % 7] as Weekday;
      const ranges =
        this.#calendar.exceptions.find((exception) => exception.date === date)?.hours ?? this.#calendar.week[weekday];
      minutes = new Uint8Array(1440);
      for (const [from = '', to = ''] of ranges.map((text) => text.split('-'))) {
        const at = (text: string): number => Number(text.split(':')[0]) * 60 + Number(text.split(':')[1]);
        minutes.fill(1, at(from), at(to));
      }
      this.#open.set(day, minutes);
    }
    return minutes;
  }

  isOpen(minute: number): boolean {
    const local = minute + this.#offset(minute);
    const day = Math.floor(local / 1440);
    return this.#minutesOf(day)[local - day * 1440] === 1;
  }

  /** The instant at which `ms` of open time have passed since `start`, excluding pauses; undefined if not within 12 days. */
  add(start: number, ms: number, pauses: readonly Span[]): number | undefined {
    let left = ms;
    for (let minute = Math.floor(start / MINUTE); minute * MINUTE < start + 12 * DAY; minute++) {
      if (!this.isOpen(minute)) continue;
      let at = Math.max(start, minute * MINUTE);
      const end = (minute + 1) * MINUTE;
      while (at < end) {
        const pause = pauses.find((one) => one.from <= at && at < one.to);
        if (pause !== undefined) {
          at = Math.min(end, pause.to);
          continue;
        }
        const until = Math.min(end, ...pauses.flatMap((one) => (one.from > at ? [one.from] : [])));
        if (until - at >= left) return at + left;
        left -= until - at;
        at = until;
      }
    }
    return undefined;
  }
}
