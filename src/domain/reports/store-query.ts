/**
 * The statement of a report. `o` is the record, `f` its facts. If nothing but columns of the facts is needed (no row conditions,
 * no values of fields), `o` and `f` are both the narrow table of facts; if no moment or count of the facts is needed, both are the
 * table of records. The predicates are the same, because columns of one meaning have one name.
 */
import sql, { empty, join, raw, type Sql } from 'sql-template-tag';
import type { DataType } from '../../lib/data-types/index.ts';
import { fieldsOf, type TypedCondition } from '../../lib/filter.ts';
import { jsonOf, keyOf } from '../../platform/database/filter-sql-fields.ts';
import { compileCondition } from '../../platform/database/filter-sql.ts';
import { allowParallel } from '../../platform/database/pool.ts';
import type { ReadContext } from '../../platform/unit-of-work/context.ts';
import {
  conditionEnvironment,
  type FieldDefinition,
  mismatchedVersions,
  registry,
  variables,
} from '../metadata/index.ts';
import { filterPredicate } from '../search/index.ts';
import { instanceOutcomes, policiesOfRecord } from '../sla/index.ts';
import { cellQuery } from './cells.ts';
import { policyCodes } from './names.ts';
import { allowed } from './store.ts';
import { cellAggregate, cellRows } from './store-cells.ts';
import type { Measure, Moment, MomentGroup, SYSTEM_GROUPS } from '../../lib/report-query.ts';
import type { GroupColumn, ReportPlan, Steps } from './rules.ts';

/** Processes of the database that may work on one report besides the session's own. They read large tables two to three times as fast. */
const WORKERS = 2;

interface ReportRow {
  group: unknown[];
  values: (number | null)[];
}

/** System fields that the table of facts has as columns. */
const FACT_FIELDS: ReadonlySet<string> = new Set([
  'id',
  'typeId',
  'typeCode',
  'state',
  'workflowState',
  'workflowCategory',
  'createdAt',
]);

function isOfFacts(condition: TypedCondition): boolean {
  return fieldsOf(condition).every(({ kind, code }) => kind === 'system' && FACT_FIELDS.has(code));
}

/** Whether the report needs more of the facts than the columns that records have too. */
function needsFacts({ groups, measures, span }: ReportPlan): boolean {
  return (
    measures.some((measure) => measure !== 'count' && measure !== 'slaMet') ||
    groups.some((group) => group.kind === 'moment' && group.of === 'doneAt') ||
    span?.of === 'doneAt'
  );
}

/** Whether rights, filter or groups need more of the records than the columns that facts have too. */
function needsRecords({ groups, filters }: ReportPlan, rights: readonly ('all' | 'none' | Sql)[]): boolean {
  const ofRecord = (group: GroupColumn): boolean =>
    group.kind === 'field' || (group.kind === 'system' && (group.code === 'createdBy' || group.code === 'updatedBy'));
  return (
    rights.some((right) => typeof right !== 'string') ||
    groups.some(ofRecord) ||
    (filters ?? []).some(({ condition }) => !isOfFacts(condition))
  );
}

/**
 * The parts of the filter that the facts can decide, on `f`. It is redundant beside the filter itself; it lets the planner start
 * at the few facts, for example of open records, before it reads records.
 */
function factsPredicate(ctx: ReadContext, { filters, typeIds }: ReportPlan): Sql {
  const [only, ...others] = filters ?? [];
  if (only === undefined || others.length > 0) return empty;
  const { condition } = only;
  const parts = 'logic' in condition && condition.logic === 'AND' ? condition.conditions : [condition];
  const environment = conditionEnvironment(registry(ctx), typeIds[0] as string, 'f', variables(ctx));
  const compiled = parts.filter(isOfFacts).map((part) => compileCondition(part, environment));
  return compiled.length === 0 ? empty : sql`AND ${join(compiled, ' AND ')}`;
}

/** The value to group by, and the join that it needs. */
function groupValue(
  ctx: ReadContext,
  group: GroupColumn,
  index: number,
  plan: ReportPlan,
  moment: (of: Moment) => Sql,
): [Sql, Sql] {
  switch (group.kind) {
    case 'field':
      return fieldGroup(ctx, group.code, group.typeIds, index, plan.typeIds.length === group.typeIds.length);
    case 'system':
      return [systemGroup(ctx, group.code), empty];
    case 'moment':
      return [startOf(moment(group.of), group.by, plan.zone, plan.steps[index]), empty];
    case 'policy': {
      const alias = raw(`e${index}`);
      const codes = JSON.stringify(Object.fromEntries(policyCodes(ctx)));
      const policies = sql`LEFT JOIN LATERAL (${policiesOfRecord('o')}) AS ${alias} (v) ON true`;
      return [sql`${codes}::jsonb->>${alias}.v::text`, policies];
    }
  }
}

/** Data types whose values are short texts, equal to the key of the field's index. */
const KEYED: ReadonlySet<DataType> = new Set(['enum', 'date', 'user', 'group', 'org-unit', 'service', 'reference']);

/** @param isOnly whether all records of the report are of these types */
function fieldGroup(
  ctx: ReadContext,
  code: string,
  typeIds: readonly string[],
  index: number,
  isOnly: boolean,
): [Sql, Sql] {
  const types = typeIds.flatMap((typeId) => registry(ctx).byId.get(typeId) ?? []);
  const [only] = types;
  if (only !== undefined && isOnly && types.length === 1) {
    const field = only.newest.fields.get(code);
    const isWhole =
      ctx.actor.fieldAccess(only.id).whereReadable('o', code, ctx.now) === null &&
      mismatchedVersions(only, code).length === 0;
    const isRenamed = field?.constraints.options?.some(({ storedAs }) => storedAs !== undefined) === true;
    // The key of the field's index equals such a value. The planner has statistics on it, and texts are grouped faster than JSON.
    if (field !== undefined && isWhole && !isRenamed && !field.multiple && KEYED.has(field.dataType)) {
      return [keyOf(field, 'o'), empty];
    }
  }
  const cases = types.map((type) => {
    const field = type.newest.fields.get(code);
    if (field === undefined) throw new Error(`type ${type.code} has no field ${code}`);
    const visible = ctx.actor.fieldAccess(type.id).whereReadable('o', code, ctx.now);
    const mismatched = mismatchedVersions(type, code);
    const readable = visible === null ? empty : sql`AND ${visible}`;
    const fits = mismatched.length === 0 ? empty : sql`AND NOT o.type_version = ANY(${mismatched}::int[])`;
    return sql`WHEN o.type_id = ${type.id}::uuid ${readable} ${fits} THEN ${currentOptions(field, jsonOf(field, 'o'))}`;
  });
  const value = sql`CASE ${join(cases, ' ')} END`;
  if (types.every((type) => type.newest.fields.get(code)?.multiple !== true)) return [value, empty];
  const alias = raw(`e${index}`);
  const list = sql`CASE jsonb_typeof(${value}) WHEN 'array' THEN ${value} WHEN 'null' THEN '[]' ELSE coalesce(jsonb_build_array(${value}), '[]') END`;
  const elements = sql`LEFT JOIN LATERAL (SELECT DISTINCT v FROM jsonb_array_elements(${list}) AS a (v)) AS ${alias} (v) ON true`;
  return [sql`${alias}.v`, elements];
}

/** The value with the current codes of its options. */
function currentOptions({ constraints, multiple }: FieldDefinition, value: Sql): Sql {
  const renamed = (constraints.options ?? []).flatMap(({ code, storedAs }) =>
    storedAs === undefined ? [] : [[storedAs, code]],
  );
  if (renamed.length === 0) return value;
  const codes = JSON.stringify(Object.fromEntries(renamed));
  if (!multiple) return sql`coalesce(${codes}::jsonb -> (${value} #>> '{}'), ${value})`;
  return sql`CASE jsonb_typeof(${value}) WHEN 'array' THEN
    (SELECT jsonb_agg(coalesce(${codes}::jsonb -> (v #>> '{}'), v)) FROM jsonb_array_elements(${value}) AS a (v)) ELSE ${value} END`;
}

function codesOfStates(ctx: ReadContext, of: 'code' | 'category'): string {
  return JSON.stringify(Object.fromEntries([...registry(ctx).states].map(([id, state]) => [id, state[of]])));
}

function systemGroup(ctx: ReadContext, code: (typeof SYSTEM_GROUPS)[number]): Sql {
  switch (code) {
    case 'typeId':
      return sql`o.type_id::text`;
    case 'typeCode': {
      const codes = Object.fromEntries([...registry(ctx).byId].map(([id, type]) => [id, type.code]));
      return sql`${JSON.stringify(codes)}::jsonb->>o.type_id::text`;
    }
    case 'workflowState':
      return sql`${codesOfStates(ctx, 'code')}::jsonb->>o.workflow_state_id::text`;
    case 'workflowCategory':
      return sql`${codesOfStates(ctx, 'category')}::jsonb->>o.workflow_state_id::text`;
    case 'createdBy':
      return sql`o.created_by::text`;
    case 'updatedBy':
      return sql`o.updated_by::text`;
  }
}

/**
 * The start of the day, week or month in the zone, as a date. A binary search in the known steps takes less than half
 * of the time of the conversion to the time zone.
 */
function startOf(moment: Sql, by: MomentGroup['by'], zone: string, steps: Steps | undefined): Sql {
  if (steps !== undefined) {
    return sql`(${steps.days}::date[])[width_bucket(${moment}, ${steps.starts}::timestamptz[])]`;
  }
  const local = sql`${moment} AT TIME ZONE ${zone}::text`;
  return by === 'day' ? sql`(${local})::date` : sql`date_trunc(${raw(`'${by}'`)}, ${local})::date`;
}

/** One aggregate per measure, on the rows of `picked`. Times are in milliseconds. */
function aggregate(measure: Measure): Sql {
  if (measure === 'count') return sql`count(*)`;
  if (measure === 'reopened') return sql`coalesce(sum(p.reopened), 0)`;
  const [time, statistic] = measure.split('.') as [keyof typeof SPAN_COLUMNS, string];
  const column = raw(`p.${SPAN_COLUMNS[time]}`);
  switch (statistic) {
    case 'p50':
      return sql`percentile_cont(0.5) WITHIN GROUP (ORDER BY ${column})`;
    case 'p90':
      return sql`percentile_cont(0.9) WITHIN GROUP (ORDER BY ${column})`;
    case 'avg':
      return sql`avg(${column})`;
    default:
      return sql`sum(${column})`;
  }
}

const SPAN_COLUMNS = { age: 'age', timeToFirstReply: 'reply', timeToDone: 'resolution' } as const;

/** The working time until the instant, by the opening hours `w`. Null for null: least() alone would ignore it. */
function worked(at: Sql): Sql {
  const ms = sql`round(date_part('epoch', ${at}) * 1000)`;
  const index = sql`width_bucket(${ms}, w.starts)`;
  return sql`CASE WHEN ${at} IS NOT NULL THEN least(${ms} - w.closed[${index}], w.open[${index}]) END`;
}

/**
 * The columns of `picked` that the measures need. Unlike extract(), date_part() returns a float, which is several times as fast
 * to aggregate as numeric.
 */
function measuredColumns({ measures, hours }: ReportPlan, f: Sql, doneAt: Sql, reopened: Sql, now: string): Sql[] {
  const needs = (name: string): boolean => measures.some((measure) => measure.startsWith(name));
  const created = sql`${f}.created_at`;
  const since = (to: Sql): Sql =>
    hours === undefined
      ? sql`round(date_part('epoch', ${to} - ${created}) * 1000)`
      : sql`${worked(to)} - ${worked(created)}`;
  const columns: Sql[] = [];
  if (needs('age')) {
    columns.push(sql`CASE WHEN ${f}.done_at IS NULL THEN ${since(sql`${now}::timestamptz`)} END AS age`);
  }
  if (needs('timeToFirstReply')) columns.push(sql`${since(sql`${f}.first_reply_at`)} AS reply`);
  if (needs('timeToDone')) columns.push(sql`${since(doneAt)} AS resolution`);
  if (needs('reopened')) columns.push(sql`${reopened} AS reopened`);
  return columns;
}

/** The opening hours as a row `w`. The planner replaces its columns by the arrays, so they are sent once. */
function hoursJoin({ hours }: ReportPlan): Sql {
  if (hours === undefined) return empty;
  return sql`CROSS JOIN (SELECT ${hours.starts}::float8[] AS starts, ${hours.closed}::float8[] AS closed, ${hours.open}::float8[] AS open) AS w`;
}

/**
 * Runs the report. Rights are predicates of the statement, before groups and limit; a field has no value on records where the
 * caller may not read it.
 *
 * @returns at most `limit` groups
 */
export async function runReport(ctx: ReadContext, plan: ReportPlan): Promise<ReportRow[]> {
  const { typeIds, groups, measures, span } = plan;
  const readable = allowed(ctx, 'read', typeIds);
  const history = allowed(ctx, 'history', typeIds);
  const filter = plan.filters === null ? empty : filterPredicate(ctx, plan.filters);
  if (readable === 'none' || filter === null) return groups.length === 0 ? [noRecords(measures)] : [];
  if (readable === 'all' && (history === 'all' || !needsFacts(plan))) {
    const cells = await cellQuery(ctx, plan);
    if (cells !== undefined) return await runOnCells(ctx, plan, cellRows(cells), filter);
  }
  const ofFacts = needsFacts(plan);
  const ofRecords = needsRecords(plan, ofFacts ? [readable, history] : [readable]);
  const joined = ofFacts && ofRecords;
  const f = raw(joined ? 'f' : 'o');
  const onHistory = (value: Sql, none: Sql): Sql =>
    history === 'all' ? value : history === 'none' ? none : sql`CASE WHEN ${history} THEN ${value} ELSE ${none} END`;
  const doneAt = onHistory(sql`${f}.done_at`, sql`NULL::timestamptz`);
  const momentOf = (of: Moment): Sql => (of === 'createdAt' ? sql`${f}.created_at` : doneAt);
  const columns: Sql[] = [];
  const joins: Sql[] = [];
  for (const [index, group] of groups.entries()) {
    const [value, more] = groupValue(ctx, group, index, plan, momentOf);
    columns.push(sql`${value} AS ${raw(`g${index}`)}`);
    joins.push(more);
    if (group.kind === 'policy' && groups.findIndex(({ kind }) => kind === 'policy') === index) {
      columns.push(raw(`e${index}.v AS policy`));
    }
  }
  columns.push(...measuredColumns(plan, f, doneAt, onHistory(sql`${f}.reopened`, sql`0`), ctx.now));
  joins.push(hoursJoin(plan));
  columns.push(sql`o.id`);
  const within: Sql[] = [];
  if (span !== null) {
    const moment = momentOf(span.of);
    if (span.from !== null) within.push(sql`AND ${moment} >= ${span.from}::timestamptz`);
    if (span.until !== null) within.push(sql`AND ${moment} < ${span.until}::timestamptz`);
  }
  const picked = sql`
    SELECT ${join(columns, ', ')}
    FROM ${raw(joined ? 'report_facts f JOIN objects o ON o.id = f.id' : ofRecords ? 'objects o' : 'report_facts o')} ${joins.length === 0 ? empty : join(joins, ' ')}
    WHERE ${f}.type_id = ANY(${[...typeIds]}::uuid[]) AND ${f}.state = 'ACTIVE' ${joined ? sql`AND o.state = 'ACTIVE'` : empty}
      ${within.length === 0 ? empty : join(within, ' ')}
      ${readable === 'all' ? empty : sql`AND ${readable}`}
      ${filter === empty ? empty : sql`AND ${filter}`} ${joined ? factsPredicate(ctx, plan) : empty}`;
  // Percentiles need all rows in one process, so workers only help to read wide records. SLA instances are found by an index.
  const isSorted = measures.some((measure) => measure.endsWith('.p50') || measure.endsWith('.p90'));
  if (!measures.includes('slaMet') && (ofRecords || !isSorted)) await allowParallel(ctx, WORKERS);
  return await figuresOf(ctx, plan, grouped(ctx, plan, picked));
}

/** Runs the report of a reader of whole types on the rows of cells, which have the columns of records and sums. */
async function runOnCells(ctx: ReadContext, plan: ReportPlan, rows: Sql, filter: Sql): Promise<ReportRow[]> {
  const values = plan.groups.map((group, index) => {
    const [value] = groupValue(ctx, group, index, plan, () => sql`o.created_at`);
    return sql`${value} AS ${raw(`g${index}`)}`;
  });
  const matching = filter === empty ? empty : sql`WHERE ${filter}`;
  const picked = sql`SELECT ${join([...values, sql`o.*`], ', ')} FROM (${rows}) AS o ${matching}`;
  const form = { n: sql`sum(p.n)`, aggregate: (measure: Measure) => cellAggregate(measure, ctx.now) };
  return await figuresOf(ctx, plan, grouped(ctx, plan, picked, form));
}

async function figuresOf(ctx: ReadContext, { groups, measures }: ReportPlan, report: Sql): Promise<ReportRow[]> {
  const rows = await ctx.query<Record<string, unknown>>(report, { freshPlan: true });
  return rows.map((row) => ({
    group: groups.map((_, index) => row[`g${index}`] ?? null),
    values: measures.map((measure, index) => figure(measure, row[`m${index}`])),
  }));
}

/** How rows of `picked` become figures: each row is a record, or it has sums. */
interface Form {
  n: Sql;
  aggregate(measure: Measure): Sql;
}

/** The groups of `picked` with their figures, in order. */
function grouped(ctx: ReadContext, { groups, measures, limit }: ReportPlan, picked: Sql, sums?: Form): Sql {
  const keys = groups.map((_, index) => raw(`p.g${index}`));
  const shown = groups.map((group, index) =>
    group.kind === 'moment' ? raw(`p.g${index}::text AS g${index}`) : raw(`p.g${index}`),
  );
  const by = keys.length === 0 ? empty : sql`GROUP BY ${join(keys, ', ')}`;
  const largestFirst = groups[0]?.kind === 'moment' ? empty : sql`p.n DESC, `;
  const order = keys.length === 0 ? empty : sql`ORDER BY ${largestFirst}${join(keys, ', ')}`;
  const aggregates = measures.flatMap((measure, index) =>
    sums === undefined && measure === 'slaMet'
      ? []
      : [sql`${sums === undefined ? aggregate(measure) : sums.aggregate(measure)} AS ${raw(`m${index}`)}`],
  );
  // Sums of records that were counted in a group before and are in another one now are zero.
  const having = sums === undefined || keys.length === 0 ? empty : sql`HAVING ${sums.n} > 0`;
  const n = sums?.n ?? sql`count(*)`;
  const figures = sql`SELECT ${join([...keys, sql`${n} AS n`, ...aggregates], ', ')} FROM picked p ${by} ${having}`;
  const limited = sql`SELECT * FROM (${figures}) AS p ${order} LIMIT ${limit}::int`;
  const rate = sums === undefined ? measures.indexOf('slaMet') : -1;
  if (rate === -1) {
    const values = measures.map((_, index) => raw(`p.m${index}`));
    return sql`WITH picked AS (${picked}) SELECT ${join([...shown, ...values], ', ')} FROM (${limited}) AS p ${order}`;
  }
  const values = measures.map((measure, index) => raw(measure === 'slaMet' ? `s.met AS m${index}` : `p.m${index}`));
  // With a group by policy, an instance counts only in the group of its own policy.
  const own = groups.some(({ kind }) => kind === 'policy') ? sql`AND i.policy_id = p.policy` : empty;
  const same = groups.map((_, index) => raw(`s.g${index} IS NOT DISTINCT FROM p.g${index}`));
  const on = same.length === 0 ? sql`true` : join(same, ' AND ');
  return sql`WITH picked AS (${picked}),
    sla AS (
      SELECT ${join([...keys, sql`avg(i.met::int)::float8 AS met`], ', ')}
      FROM picked p JOIN (${instanceOutcomes(ctx.now)}) AS i ON i.object_id = p.id ${own} ${by}
    )
    SELECT ${join([...shown, ...values], ', ')} FROM (${limited}) AS p LEFT JOIN sla s ON ${on} ${order}`;
}

function figure(measure: Measure, value: unknown): number | null {
  if (value === null || value === undefined) return null;
  const number = Number(value);
  return measure === 'slaMet' ? Math.round(number * 10_000) / 10_000 : Math.round(number);
}

function noRecords(measures: readonly Measure[]): ReportRow {
  return { group: [], values: measures.map((measure) => (measure === 'count' || measure === 'reopened' ? 0 : null)) };
}
