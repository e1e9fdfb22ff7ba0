/**
 * Checks of report queries, for requests and for dashboards. A caller passes what may be named: requests the types and fields that
 * the user may read, the configuration all of them. Pure.
 */
import type { DataType } from '../../lib/data-types/index.ts';
import { faultAt } from '../../lib/fault.ts';
import type { WorkTime } from '../../lib/worktime.ts';
import { type FilterableType, typeFilter, type TypedFilter } from '../search/index.ts';
import {
  GROUPED,
  type Measure,
  type Moment,
  type MomentGroup,
  momentGroup,
  SYSTEM_GROUPS,
} from '../../lib/report-query.ts';
import type { ReportBody } from './contract.ts';
import type { Tile } from './contract-dashboards.ts';

export type GroupColumn =
  | MomentGroup
  | { kind: 'system'; code: (typeof SYSTEM_GROUPS)[number] }
  | { kind: 'policy' }
  /** `typeIds`: the types that have the field and on which it may be named. */
  | { kind: 'field'; code: string; typeIds: readonly string[] };

/** A record type, as far as a query may name it. */
export interface ReportableType extends FilterableType {
  /** The data type of the type's field; undefined if it has none that may be named. */
  dataType(code: string): DataType | undefined;
}

export interface CheckedQuery {
  groups: GroupColumn[];
  filters: TypedFilter[] | null;
}

/** @throws Fault INVALID_REQUEST; a field that may not be named gives the same error as a missing one */
function groupOf(types: readonly ReportableType[], name: string, path: string): GroupColumn {
  const named = types.filter((type) => type.dataType(name) !== undefined);
  if (named.length > 0) {
    if (named.every((type) => GROUPED.has(type.dataType(name) as DataType))) {
      return { kind: 'field', code: name, typeIds: named.map(({ typeId }) => typeId) };
    }
    throw faultAt('INVALID_REQUEST', path, 'FIELD_NOT_GROUPABLE');
  }
  const moment = momentGroup(name);
  if (moment !== undefined) return moment;
  if (!types.some((type) => type.owns(name))) {
    if (name === 'slaPolicy') return { kind: 'policy' };
    const system = SYSTEM_GROUPS.find((code) => code === name);
    if (system !== undefined) return { kind: 'system', code: system };
  }
  throw faultAt('INVALID_REQUEST', path, 'UNKNOWN_FIELD');
}

/**
 * Checks groups and filter of a query on these types.
 *
 * @param base the path of the query in the request
 * @throws Fault INVALID_REQUEST, INVALID_FILTER
 */
export function checkQuery(
  query: Pick<ReportBody, 'groupBy' | 'filter'>,
  types: readonly ReportableType[],
  base = '',
): CheckedQuery {
  const groups = (query.groupBy ?? []).map((name, index) => groupOf(types, name, `${base}/groupBy/${index}`));
  const filters = query.filter === undefined ? null : typeFilter(query.filter, types, `${base}/filter`, 'allowed');
  return { groups, filters };
}

/** Charts need groups: lines and areas those of a moment. @throws Fault INVALID_REQUEST */
export function checkTile({ kind, query }: Pick<Tile, 'kind' | 'query'>, base = ''): void {
  const { groupBy = [], measures } = query;
  if (kind === 'table') return;
  if (kind === 'number') {
    if (groupBy.length > 0) throw faultAt('INVALID_REQUEST', `${base}/query/groupBy`, 'TILE_TAKES_NO_GROUPS');
    return;
  }
  if (groupBy.length === 0) throw faultAt('INVALID_REQUEST', `${base}/query`, 'TILE_NEEDS_GROUPS');
  if (kind !== 'bars' && momentGroup(groupBy[0] as string) === undefined) {
    throw faultAt('INVALID_REQUEST', `${base}/query/groupBy/0`, 'TILE_NEEDS_MOMENT');
  }
  if (groupBy.length > 1 && measures.length > 1) {
    throw faultAt('INVALID_REQUEST', `${base}/query/measures`, 'TILE_TAKES_ONE_MEASURE');
  }
}

/** Half-open: `from` is in the period, `until` is not. RFC 3339 UTC. */
export interface Span {
  of: Moment;
  from: string | null;
  until: string | null;
}

/** The zone under the name that PostgreSQL knows. @throws Fault INVALID_REQUEST */
export function checkedZone(zone: string, base = ''): string {
  try {
    // An offset such as +03:00 is no zone: PostgreSQL reads its sign the other way round.
    if (/^[A-Za-z]/.test(zone)) return new Intl.DateTimeFormat('en', { timeZone: zone }).resolvedOptions().timeZone;
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
  }
  throw faultAt('INVALID_REQUEST', `${base}/timeZone`, 'UNKNOWN_TIME_ZONE', { zone });
}

/** @throws Fault INVALID_REQUEST, also for the first and last years: in some zones their days start outside the years 1 to 9999 */
function dateOf(text: string, path: string): Temporal.PlainDate {
  try {
    const day = Temporal.PlainDate.from(text);
    if (day.year >= 2 && day.year < 9999) return day;
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
  }
  throw faultAt('INVALID_REQUEST', path, 'NOT_A_DATE', { example: '2027-01-31' });
}

/** @throws Fault INVALID_REQUEST */
export function spanOf(period: ReportBody['period'], zone: string, now: string, base = ''): Span | null {
  if (period === undefined) return null;
  const { of = 'createdAt', from, to, lastDays } = period;
  if (lastDays !== undefined && (from !== undefined || to !== undefined)) {
    throw faultAt('INVALID_REQUEST', `${base}/period/lastDays`, 'PERIOD_MIXED');
  }
  const start = (day: Temporal.PlainDate): string => day.toZonedDateTime(zone).toInstant().toString();
  if (lastDays !== undefined) {
    const today = Temporal.Instant.from(now).toZonedDateTimeISO(zone).toPlainDate();
    return { of, from: start(today.subtract({ days: lastDays - 1 })), until: null };
  }
  const first = from === undefined ? undefined : dateOf(from, `${base}/period/from`);
  const last = to === undefined ? undefined : dateOf(to, `${base}/period/to`);
  if (first !== undefined && last !== undefined && Temporal.PlainDate.compare(first, last) > 0) {
    throw faultAt('INVALID_REQUEST', `${base}/period/to`, 'PERIOD_REVERSED');
  }
  return {
    of,
    from: first === undefined ? null : start(first),
    until: last === undefined ? null : start(last.add({ days: 1 })),
  };
}

/** More steps than these are computed by the database, row by row. */
const MAX_STEPS = 1200;

/** Consecutive days, weeks or months: the first instant and the first day of each. */
export interface Steps {
  starts: string[];
  days: string[];
}

/** The steps from that of the instant `from` to that of `to`; undefined if there are too many. */
export function stepsBetween(from: string, to: string, by: MomentGroup['by'], zone: string): Steps | undefined {
  const dayOf = (at: string): Temporal.PlainDate => Temporal.Instant.from(at).toZonedDateTimeISO(zone).toPlainDate();
  const last = dayOf(to);
  let day = dayOf(from);
  if (by === 'week') day = day.subtract({ days: day.dayOfWeek - 1 });
  if (by === 'month') day = day.with({ day: 1 });
  const step = { day: { days: 1 }, week: { weeks: 1 }, month: { months: 1 } }[by];
  const steps: Steps = { starts: [], days: [] };
  while (Temporal.PlainDate.compare(day, last) <= 0) {
    if (steps.days.length === MAX_STEPS) return undefined;
    steps.starts.push(day.toZonedDateTime(zone).toInstant().toString());
    steps.days.push(day.toString());
    day = day.add(step);
  }
  return steps;
}

/**
 * Opening hours as an increasing function of time: the working time from `starts[0]` to an instant in the span that begins at
 * `starts[i]` is the smaller of (instant - `closed[i]`) and `open[i]`. Milliseconds since 1970.
 */
export interface WorkingHours {
  starts: number[];
  closed: number[];
  open: number[];
}

/** The working time between two instants from `from` to `to` is the difference of their values, as `WorkTime.between` computes it. */
export function workingHours(time: WorkTime, from: number, to: number): WorkingHours {
  // An empty span at the beginning, so that every instant is in a span or after one.
  const hours: WorkingHours = { starts: [from], closed: [from], open: [0] };
  let sum = 0;
  for (const span of time.openSpans(from, to)) {
    hours.starts.push(span.from);
    hours.closed.push(span.from - sum);
    sum += span.to - span.from;
    hours.open.push(sum);
  }
  return hours;
}

/** A checked report. */
export interface ReportPlan {
  typeIds: readonly string[];
  filters: readonly TypedFilter[] | null;
  groups: readonly GroupColumn[];
  measures: readonly Measure[];
  span: Span | null;
  zone: string;
  /** For each group by time its steps, if they are few enough to be sent. */
  steps: readonly (Steps | undefined)[];
  /** Durations count these hours only; undefined: elapsed time. */
  hours: WorkingHours | undefined;
  limit: number;
}
