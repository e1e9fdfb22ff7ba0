/** Answers report queries: checks what the caller may name, then runs one statement with a time limit. */
import type { DataType } from '../../lib/data-types/index.ts';
import { faultAt, isFault } from '../../lib/fault.ts';
import type { ReadContext } from '../../platform/unit-of-work/context.ts';
import { findType, type RecordType, registry } from '../metadata/index.ts';
import { filterableTypes, typeFilter, type TypedFilter } from '../search/index.ts';
import { MOST_GROUPS, type ReportBody } from './contract.ts';
import { checkedZone, momentGroup, spanOf } from './rules.ts';
import { limitTime, readHead } from './store.ts';
import { type GroupColumn, runReport, SYSTEM_GROUPS } from './store-query.ts';

const BUDGET_MS = 3000;
/** SQLSTATE of a cancelled statement. */
const CANCELLED = '57014';

/** Data types whose values make sensible groups. */
const GROUPED: ReadonlySet<DataType> = new Set([
  'boolean',
  'enum',
  'string',
  'integer',
  'date',
  'user',
  'group',
  'org-unit',
  'service',
  'reference',
]);

export interface ReportAnswer {
  groupBy: string[];
  measures: string[];
  timeZone: string;
  rows: { group: unknown[]; values: (number | null)[] }[];
  truncated: boolean;
  complete: boolean;
}

/** @throws Fault INVALID_REQUEST; a type that the caller may never read gives the same error as a missing one */
function typesOf(ctx: ReadContext, names: readonly string[]): RecordType[] {
  const known = new Set<RecordType>();
  for (const [index, name] of names.entries()) {
    const type = findType(registry(ctx), name);
    if (type === undefined || !ctx.actor.mayEver(type.id, 'read')) {
      throw faultAt('INVALID_REQUEST', `/types/${index}`, 'NO_TYPE');
    }
    known.add(type);
  }
  return [...known];
}

/** @throws Fault INVALID_REQUEST; a field that the caller may never read gives the same error as a missing one */
function groupOf(ctx: ReadContext, types: readonly RecordType[], name: string, path: string): GroupColumn {
  const own = types.filter(({ newest }) => newest.fields.has(name));
  const readable = own.filter((type) => ctx.actor.fieldAccess(type.id).canRead(name));
  if (readable.length > 0) {
    const fits = readable.every(({ newest }) => GROUPED.has(newest.fields.get(name)?.dataType as DataType));
    if (fits) return { kind: 'field', code: name, types: readable };
    throw faultAt('INVALID_REQUEST', path, 'FIELD_NOT_GROUPABLE');
  }
  const moment = momentGroup(name);
  if (moment !== undefined) return moment;
  const system = own.length > 0 ? undefined : SYSTEM_GROUPS.find((code) => code === name);
  if (system !== undefined) return { kind: 'system', code: system };
  throw faultAt('INVALID_REQUEST', path, 'UNKNOWN_FIELD');
}

/**
 * `POST /reports/query` (docs/reference/reports.md).
 *
 * @throws Fault INVALID_REQUEST, INVALID_FILTER, FILTER_TOO_EXPENSIVE
 */
export async function queryReport(ctx: ReadContext, body: ReportBody): Promise<ReportAnswer> {
  const types = typesOf(ctx, body.types);
  const typeIds = types.map(({ id }) => id);
  const groupBy = body.groupBy ?? [];
  const groups = groupBy.map((name, index) => groupOf(ctx, types, name, `/groupBy/${index}`));
  const filters: TypedFilter[] | null =
    body.filter === undefined ? null : typeFilter(body.filter, filterableTypes(ctx, typeIds), '/filter', 'allowed');
  const asked = body.timeZone === undefined ? undefined : checkedZone(body.timeZone);
  const head = await readHead(ctx);
  const zone = asked ?? checkedZone(head.zone ?? registry(ctx).settings.timezone);
  const span = spanOf(body.period, zone, ctx.now);
  await limitTime(ctx, BUDGET_MS);
  const rows = await orTooExpensive(() =>
    runReport(ctx, { typeIds, filters, groups, measures: body.measures, span, zone, limit: MOST_GROUPS + 1 }),
  );
  return {
    groupBy,
    measures: body.measures,
    timeZone: zone,
    rows: rows.slice(0, MOST_GROUPS),
    truncated: rows.length > MOST_GROUPS,
    complete: head.complete,
  };
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
