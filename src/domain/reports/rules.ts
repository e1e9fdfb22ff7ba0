/** Reads the parts of a report query that need no rights: periods, time zones and groups by time. Pure. */
import { faultAt } from '../../lib/fault.ts';
import { MOMENTS, type Moment, type ReportBody } from './contract.ts';

export interface MomentGroup {
  kind: 'moment';
  of: Moment;
  by: 'day' | 'week' | 'month';
}

/** Half-open: `from` is in the period, `until` is not. RFC 3339 UTC. */
export interface Span {
  of: Moment;
  from: string | null;
  until: string | null;
}

/** For example `createdAt.day`; undefined for anything else. */
export function momentGroup(text: string): MomentGroup | undefined {
  const [of, by, rest] = text.split('.');
  const moment = MOMENTS.find((known) => known === of);
  if (moment === undefined || rest !== undefined) return undefined;
  return by === 'day' || by === 'week' || by === 'month' ? { kind: 'moment', of: moment, by } : undefined;
}

/** The zone under the name that PostgreSQL knows. @throws Fault INVALID_REQUEST */
export function checkedZone(zone: string): string {
  try {
    // An offset such as +03:00 is no zone: PostgreSQL reads its sign the other way round.
    if (/^[A-Za-z]/.test(zone)) return new Intl.DateTimeFormat('en', { timeZone: zone }).resolvedOptions().timeZone;
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
  }
  throw faultAt('INVALID_REQUEST', '/timeZone', 'UNKNOWN_TIME_ZONE', { zone });
}

function dateOf(text: string, path: string): Temporal.PlainDate {
  try {
    return Temporal.PlainDate.from(text);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw faultAt('INVALID_REQUEST', path, 'NOT_A_DATE', { example: '2027-01-31' });
  }
}

/** @throws Fault INVALID_REQUEST */
export function spanOf(period: ReportBody['period'], zone: string, now: string): Span | null {
  if (period === undefined) return null;
  const { of = 'createdAt', from, to, lastDays } = period;
  if (lastDays !== undefined && (from !== undefined || to !== undefined)) {
    throw faultAt('INVALID_REQUEST', '/period/lastDays', 'PERIOD_MIXED');
  }
  const start = (day: Temporal.PlainDate): string => day.toZonedDateTime(zone).toInstant().toString();
  if (lastDays !== undefined) {
    const today = Temporal.Instant.from(now).toZonedDateTimeISO(zone).toPlainDate();
    return { of, from: start(today.subtract({ days: lastDays - 1 })), until: null };
  }
  const first = from === undefined ? undefined : dateOf(from, '/period/from');
  const last = to === undefined ? undefined : dateOf(to, '/period/to');
  if (first !== undefined && last !== undefined && Temporal.PlainDate.compare(first, last) > 0) {
    throw faultAt('INVALID_REQUEST', '/period/to', 'PERIOD_REVERSED');
  }
  return {
    of,
    from: first === undefined ? null : start(first),
    until: last === undefined ? null : start(last.add({ days: 1 })),
  };
}
