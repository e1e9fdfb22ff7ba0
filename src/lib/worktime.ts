/**
 * Working time: how long a calendar is open within a time span, and when a given amount of open time will have passed
 * (docs/spec/workflow-and-sla.md#sla-instances).
 *
 * An instant counts if the local time in the calendar's time zone is within the opening hours of that local day, and the
 * instant is not in a pause. Time is processed in periods of constant UTC offset (Temporal reports the transitions), so that
 * within a period, local days are plain arithmetic. Several cases therefore need no special handling: hours skipped by a clock
 * change do not exist, repeated hours count twice, a day that a zone skips (Pacific/Apia, 2011-12-30) never occurs, and
 * durations are real time. Times are milliseconds since the Unix epoch; spans are half open.
 */

/** Weekdays in the order of ISO 8601. */
export const WEEKDAYS = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'] as const;
export type Weekday = (typeof WEEKDAYS)[number];

/** Ranges are `HH:MM-HH:MM`, sorted and not overlapping; `24:00` is the end of the day. */
export interface CalendarHours {
  /** IANA time zone name. */
  timezone: string;
  week: Readonly<Record<Weekday, readonly string[]>>;
  /** Days whose hours replace those of the weekday; an empty list means closed. */
  exceptions: readonly { date: string; hours: readonly string[] }[];
}

export interface Span {
  from: number;
  to: number;
}

/** A part of a time span with the one reason why it counts or does not count. */
export interface Piece extends Span {
  kind: 'open' | 'closed' | 'paused';
  /** Index of the pause that contains the piece; only for paused pieces. */
  pause?: number;
  /** Index of the exception whose day contains the piece; never for paused pieces. */
  exception?: number;
}

/** A period with a constant UTC offset. */
interface Stretch extends Span {
  offset: number;
}

interface Day {
  hours: readonly Span[];
  exception?: number;
}

const MINUTE = 60_000;
const DAY = 86_400_000;
/** How far ahead `add` searches. A calendar that opens less often is treated as never open long enough. */
const HORIZON = 100 * 366 * DAY;
/** The first instant after the year 9999, the last year that the service writes. */
const END_OF_TIME = 253_402_300_800_000;

function hoursOf(ranges: readonly string[]): Span[] {
  return ranges.map((range) => {
    const minutes = (text: string): number => Number(text.slice(0, 2)) * 60 + Number(text.slice(3, 5));
    const [from = '', to = ''] = range.split('-');
    return { from: minutes(from) * MINUTE, to: minutes(to) * MINUTE };
  });
}

/** Days since 1970-01-01 of a calendar date. */
function dayNumber(date: string): number {
  return Math.round(Date.parse(`${date}T00:00:00Z`) / DAY);
}

function offsetAt(zoned: Temporal.ZonedDateTime): number {
  return zoned.offsetNanoseconds / 1_000_000;
}

/**
 * Computes with a calendar. It only caches the clock changes of its zone, so an instance may live for ever. Pauses passed to
 * its methods must be sorted and not overlap.
 */
export class WorkTime {
  readonly #timezone: string;
  readonly #week: readonly Day[];
  readonly #exceptions: ReadonlyMap<number, Day>;
  readonly #stretches: Stretch[] = [];

  constructor({ timezone, week, exceptions }: CalendarHours) {
    this.#timezone = timezone;
    this.#week = WEEKDAYS.map((day) => ({ hours: hoursOf(week[day]) }));
    this.#exceptions = new Map(
      exceptions.map(({ date, hours }, exception) => [dayNumber(date), { hours: hoursOf(hours), exception }]),
    );
  }

  /** Open time within the span, excluding pauses, in milliseconds; 0 if the span ends before it begins. */
  between(from: number, to: number, pauses: readonly Span[] = []): number {
    let sum = 0;
    for (const span of this.#counted(from, to, pauses)) sum += span.to - span.from;
    return sum;
  }

  /**
   * The earliest instant at which `ms` of open time have passed since `start`: `due = add(start, ms)` exactly when
   * `between(start, due) = ms` and no earlier instant satisfies this. Undefined if it is more than a century ahead.
   */
  add(start: number, ms: number, pauses: readonly Span[] = []): number | undefined {
    let left = ms;
    if (left <= 0) return start;
    for (const span of this.#counted(start, Math.min(start + HORIZON, END_OF_TIME), pauses)) {
      const length = span.to - span.from;
      if (length >= left) return span.from + left;
      left -= length;
    }
    return undefined;
  }

  /** The open spans within the span, in order; adjacent ones are joined. Their lengths sum to `between`. */
  openSpans(from: number, to: number): Span[] {
    const spans: Span[] = [];
    for (const span of this.#open(from, to)) {
      const last = spans.at(-1);
      if (last?.to === span.from) last.to = span.to;
      else spans.push({ ...span });
    }
    return spans;
  }

  /** The whole span as pieces, in order and without gaps. The open pieces sum to `between`. */
  pieces(from: number, to: number, pauses: readonly Span[] = []): Piece[] {
    const found: Piece[] = [];
    const add = (piece: Piece): void => {
      if (piece.from >= piece.to) return;
      const last = found.at(-1);
      const same =
        last !== undefined &&
        last.kind === piece.kind &&
        last.pause === piece.pause &&
        last.exception === piece.exception;
      if (same) last.to = piece.to;
      else found.push(piece);
    };
    for (const piece of this.#unpaused(from, to)) {
      let at = piece.from;
      for (const [pause, { from: held, to: released }] of pauses.entries()) {
        if (released <= at || held >= piece.to) continue;
        add({ ...piece, from: at, to: Math.max(at, held) });
        const until = Math.min(released, piece.to);
        add({ from: Math.max(at, held), to: until, kind: 'paused', pause });
        at = until;
      }
      add({ ...piece, from: at });
    }
    return found;
  }

  /** UTC offset at the instant, in milliseconds, and the local calendar day. */
  local(at: number): { offset: number; date: string } {
    const { offset } = this.#stretchAt(at);
    return { offset, date: new Date(at + offset).toISOString().slice(0, 10) };
  }

  *#counted(from: number, to: number, pauses: readonly Span[]): Generator<Span> {
    let next = 0;
    for (const span of this.#open(from, to)) {
      let at = span.from;
      while ((pauses[next]?.to ?? Number.POSITIVE_INFINITY) <= at) next++;
      for (let index = next; index < pauses.length; index++) {
        const pause = pauses[index] as Span;
        if (pause.from >= span.to) break;
        if (pause.from > at) yield { from: at, to: pause.from };
        at = Math.max(at, pause.to);
      }
      if (at < span.to) yield { from: at, to: span.to };
    }
  }

  *#open(from: number, to: number): Generator<Span> {
    for (const { midnight, start, end, day } of this.#days(from, to)) {
      for (const hours of day.hours) {
        const opens = Math.max(start, midnight + hours.from);
        const closes = Math.min(end, midnight + hours.to);
        if (opens < closes) yield { from: opens, to: closes };
      }
    }
  }

  *#unpaused(from: number, to: number): Generator<Piece> {
    for (const { midnight, start, end, day } of this.#days(from, to)) {
      const of = day.exception === undefined ? {} : { exception: day.exception };
      let at = start;
      for (const hours of day.hours) {
        const opens = Math.max(at, midnight + hours.from);
        const closes = Math.min(end, midnight + hours.to);
        if (opens >= closes) continue;
        if (at < opens) yield { from: at, to: opens, kind: 'closed', ...of };
        yield { from: opens, to: closes, kind: 'open', ...of };
        at = closes;
      }
      if (at < end) yield { from: at, to: end, kind: 'closed', ...of };
    }
  }

  /**
   * The local days within the span, once per offset period that they occur in. `midnight` is the computed start of the day at
   * that offset.
   */
  *#days(from: number, to: number): Generator<{ midnight: number; start: number; end: number; day: Day }> {
    let at = from;
    while (at < to) {
      const stretch = this.#stretchAt(at);
      const until = Math.min(to, stretch.to);
      const last = Math.floor((until - 1 + stretch.offset) / DAY);
      for (let number = Math.floor((at + stretch.offset) / DAY); number <= last; number++) {
        const midnight = number * DAY - stretch.offset;
        yield {
          midnight,
          start: Math.max(at, midnight),
          end: Math.min(until, midnight + DAY),
          day: this.#day(number),
        };
      }
      at = until;
    }
  }

  #day(number: number): Day {
    // 1970-01-01 was a Thursday.
    const weekday = (((number + 3) % 7) + 7) % 7;
    return this.#exceptions.get(number) ?? (this.#week[weekday] as Day);
  }

  #stretchAt(at: number): Stretch {
    const known = this.#stretches;
    // The most recent periods are needed most often.
    for (let index = known.length - 1; index >= 0; index--) {
      const stretch = known[index] as Stretch;
      if (stretch.from <= at && at < stretch.to) return stretch;
    }
    const stretch = this.#readStretch(at);
    known.push(stretch);
    return stretch;
  }

  #readStretch(at: number): Stretch {
    const zoned = Temporal.Instant.fromEpochMilliseconds(Math.floor(at)).toZonedDateTimeISO(this.#timezone);
    // Adds a millisecond because `previous` excludes a transition at this very instant, which starts the period.
    const from = zoned.add({ milliseconds: 1 }).getTimeZoneTransition('previous');
    const to = zoned.getTimeZoneTransition('next');
    return {
      from: from?.epochMilliseconds ?? Number.NEGATIVE_INFINITY,
      to: to?.epochMilliseconds ?? Number.POSITIVE_INFINITY,
      offset: offsetAt(zoned),
    };
  }
}
