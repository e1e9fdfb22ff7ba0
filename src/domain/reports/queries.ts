/** Answers report queries: checks what the caller may name, then runs one statement with a time limit. */
import { faultAt, isFault } from '../../lib/fault.ts';
import type { ReadContext } from '../../platform/unit-of-work/context.ts';
import { findType, named, type RecordType, registry } from '../metadata/index.ts';
import { filterableTypes } from '../search/index.ts';
import { activeCalendars, findCalendar } from '../sla/index.ts';
import { MAX_GROUPS, type ReportBody } from './contract.ts';
import {
  checkedZone,
  type CheckedQuery,
  checkQuery,
  type ReportableType,
  spanOf,
  type GroupColumn,
  type Span,
  type Steps,
  stepsBetween,
  type WorkingHours,
  workingHours,
} from './rules.ts';
import { momentRange, readHead, whereDone } from './store.ts';
import { configuredNames } from './names.ts';
import { runReport } from './store-query.ts';
import { limitTime } from '../../platform/database/pool.ts';

const BUDGET_MS = 3000;
/** SQLSTATE of a cancelled statement. */
const CANCELLED = '57014';

export interface ReportAnswer {
  groupBy: string[];
  measures: string[];
  timeZone: string;
  rows: { group: unknown[]; values: (number | null)[] }[];
  names: Record<string, string>[];
  truncated: boolean;
  complete: boolean;
}

/** The types as far as the caller may name them. */
function reportable(ctx: ReadContext, types: readonly RecordType[]): ReportableType[] {
  const { byId } = registry(ctx);
  const typeIds = types.map(({ id }) => id);
  return filterableTypes(ctx, typeIds).map((filterable) => {
    const fields = byId.get(filterable.typeId)?.newest.fields;
    const { canRead } = ctx.actor.fieldAccess(filterable.typeId);
    return { ...filterable, dataType: (code) => (canRead(code) ? fields?.get(code)?.dataType : undefined) };
  });
}

/** @throws Fault INVALID_REQUEST; a type that the caller may never read gives the same error as a missing one */
function typesOf(ctx: ReadContext, names: readonly string[], base: string): RecordType[] {
  const known = new Set<RecordType>();
  for (const [index, name] of names.entries()) {
    const type = findType(registry(ctx), name);
    if (type === undefined || !ctx.actor.mayEver(type.id, 'read')) {
      throw faultAt('INVALID_REQUEST', `${base}/types/${index}`, 'NO_TYPE');
    }
    known.add(type);
  }
  return [...known];
}

/**
 * Checks that the caller may name everything in the query, and that its period is valid.
 *
 * @throws Fault INVALID_REQUEST, INVALID_FILTER
 */
export function requireReadableQuery(
  ctx: ReadContext,
  body: ReportBody,
  base = '',
): CheckedQuery & { typeIds: string[] } {
  const types = typesOf(ctx, body.types, base);
  const zone = body.timeZone === undefined ? 'UTC' : checkedZone(body.timeZone, base);
  spanOf(body.period, zone, ctx.now, base);
  if (body.calendar !== undefined && findCalendar(ctx, body.calendar) === undefined) {
    throw faultAt('INVALID_REQUEST', `${base}/calendar`, 'NO_CALENDAR');
  }
  return { ...checkQuery(body, reportable(ctx, types), base), typeIds: types.map(({ id }) => id) };
}

/**
 * `POST /reports/query` (docs/reference/reports.md).
 *
 * @throws Fault INVALID_REQUEST, INVALID_FILTER, FILTER_TOO_EXPENSIVE
 */
export async function queryReport(ctx: ReadContext, body: ReportBody): Promise<ReportAnswer> {
  const { typeIds, groups, filters } = requireReadableQuery(ctx, body);
  const groupBy = body.groupBy ?? [];
  const asked = body.timeZone === undefined ? undefined : checkedZone(body.timeZone);
  const head = await readHead(ctx);
  const zone = asked ?? checkedZone(head.zone ?? registry(ctx).settings.timezone);
  const span = spanOf(body.period, zone, ctx.now);
  await limitTime(ctx, BUDGET_MS);
  const steps = await stepsOf(ctx, typeIds, groups, span, zone);
  const hours = await hoursOf(ctx, typeIds, body);
  const { measures } = body;
  const rows = await orTooExpensive(() =>
    runReport(ctx, { typeIds, filters, groups, measures, span, zone, steps, hours, limit: MAX_GROUPS + 1 }),
  );
  const shown = rows.slice(0, MAX_GROUPS);
  return {
    groupBy,
    measures: body.measures,
    timeZone: zone,
    rows: shown,
    names: groups.map((group, index) => configuredNames(ctx, group, new Set(shown.map((row) => row.group[index])))),
    truncated: rows.length > MAX_GROUPS,
    complete: head.complete,
  };
}

/** The opening hours of the report's calendar since the first record of the types; undefined if no measure needs them. */
async function hoursOf(
  ctx: ReadContext,
  typeIds: readonly string[],
  { calendar, measures }: ReportBody,
): Promise<WorkingHours | undefined> {
  const found = calendar === undefined ? undefined : findCalendar(ctx, calendar);
  if (found === undefined || !measures.some((measure) => measure.includes('.'))) return undefined;
  const range = await momentRange(ctx, typeIds, 'createdAt');
  return workingHours(found.time, Date.parse(range?.first ?? ctx.now), Date.parse(ctx.now));
}

/**
 * Predicate on records `o` of the types for `FROM..UNTIL` (RFC 3339 UTC, each optional) or `-`, the records that are not done.
 *
 * @throws Fault INVALID_REQUEST
 */
export function doneWithin(
  ctx: ReadContext,
  typeIds: readonly string[],
  text: string,
  path: string,
): ReturnType<typeof whereDone> {
  if (text === '-') return whereDone(ctx, typeIds, null);
  const [from, until] = text.split('..').map((at) => {
    if (at === '') return null;
    const ms = Date.parse(at);
    if (Number.isNaN(ms)) throw faultAt('INVALID_REQUEST', path, 'NOT_AN_INSTANT');
    return new Date(ms).toISOString();
  });
  return whereDone(ctx, typeIds, { from: from ?? null, until: until ?? null });
}

/** `GET /reports/calendars`. Sorted by name; none for callers who may read no records, and so have no reports. */
export async function listCalendars(ctx: ReadContext): Promise<{ id: string; code: string; name: string }[]> {
  if (ctx.actor.typesFor('read').length === 0) return [];
  const calendars = activeCalendars(ctx).map(({ id, code, name }) => ({ id, code, name: named(ctx, name) }));
  return calendars.sort((one, other) => one.name.localeCompare(other.name));
}

/** The days, weeks or months of each group by time; undefined for other groups and where there are too many. */
async function stepsOf(
  ctx: ReadContext,
  typeIds: readonly string[],
  groups: readonly GroupColumn[],
  span: Span | null,
  zone: string,
): Promise<(Steps | undefined)[]> {
  const steps: (Steps | undefined)[] = [];
  for (const group of groups) {
    const range = group.kind === 'moment' ? await momentRange(ctx, typeIds, group.of) : undefined;
    if (group.kind !== 'moment' || range === undefined) {
      steps.push(undefined);
      continue;
    }
    const within = span?.of === group.of ? span : null;
    const first =
      within?.from !== undefined && within.from !== null && within.from > range.first ? within.from : range.first;
    steps.push(stepsBetween(first, range.last, group.by, zone));
  }
  return steps;
}

/** Reports a cancelled statement as a report that is too expensive. @throws Fault FILTER_TOO_EXPENSIVE */
async function orTooExpensive<T>(run: () => Promise<T>): Promise<T> {
  try {
    return await run();
  } catch (error) {
    if (isFault(error) || (error as { code?: unknown }).code !== CANCELLED) throw error;
    throw faultAt('FILTER_TOO_EXPENSIVE', '/filter', 'REPORT_TOO_EXPENSIVE');
  }
}
