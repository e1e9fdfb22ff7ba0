/**
 * SQL on the tables of counts: `report_cells`, `report_counted`, `report_counted_types`. A cell counts the
 * records of a type, a day of creation, a state and a value of one field. `report_counted` says in which cells a record is
 * counted and with which figures, so it can be taken out of them again when it changes.
 */
import sql, { empty, join, raw, type Sql } from 'sql-template-tag';
import type { Measure } from '../../lib/report-query.ts';
import { type Batch, committedAfter, consumerPlace, isOf } from '../../platform/journal/consumers.ts';
import type { Queryable, Transaction } from '../../platform/database/pool.ts';
import { isRebuilding } from '../../platform/jobs/rebuilds.ts';
import { outcomesOfStopped, runningBreaches } from '../sla/index.ts';
import { FACTS_REBUILD } from './store.ts';

/** A type of which cells are kept, with the stored codes of its fields that have cells, sorted. */
export interface CountedType {
  typeId: string;
  fields: readonly string[];
}

/** The figures of one record. `r` has the columns of `report_counted`. */
const FIGURES: Readonly<Record<string, string>> = {
  n: '1',
  reopened: 'r.reopened',
  replied: '(r.first_reply_at IS NOT NULL)::int',
  reply_ms: "coalesce(round(date_part('epoch', r.first_reply_at - r.created_at) * 1000)::bigint, 0)",
  done: '(r.done_at IS NOT NULL)::int',
  done_ms: "coalesce(round(date_part('epoch', r.done_at - r.created_at) * 1000)::bigint, 0)",
  undone_ms: "CASE WHEN r.done_at IS NULL THEN round(date_part('epoch', r.created_at) * 1000)::bigint ELSE 0 END",
  sla_ended: 'r.sla_ended',
  sla_met: 'r.sla_met',
};
const NAMES = Object.keys(FIGURES);
const columns = (form: (name: string, figure: string) => string): Sql =>
  raw(
    Object.entries(FIGURES)
      .map(([name, figure]) => form(name, figure))
      .join(', '),
  );

const FIGURES_OF_RECORD = columns((name, figure) => `(${figure})::bigint AS ${name}`);
const DAY = raw(`date_trunc('day', r.created_at, 'UTC')`);

/** What is read of records besides their facts. */
interface Read {
  values: boolean;
  sla: boolean;
}

/**
 * Facts and values are looked up for one row at a time, by index: OFFSET 0 keeps the planner from joining whole tables, because it
 * overestimates the number of rows.
 */
const VALUES = sql`CROSS JOIN LATERAL (SELECT o."values" FROM objects o WHERE o.id = f.id OFFSET 0) AS o`;
const factsOf = (condition: Sql): Sql =>
  sql`CROSS JOIN LATERAL (SELECT * FROM report_facts f WHERE ${condition} OFFSET 0) AS f`;

/** Active records as they are now, with their values and figures. `from` gives their facts as `f`. */
function liveRecords(from: Sql, { values, sla }: Read = { values: true, sla: true }): Sql {
  return sql`
    SELECT f.id, f.type_id, f.workflow_state_id, f.created_at, f.first_reply_at, f.done_at, f.reopened,
      ${raw(values ? 'o."values"' : `'{}'::jsonb AS "values"`)},
      ${raw(sla ? 's.ended AS sla_ended, s.met AS sla_met' : '0 AS sla_ended, 0 AS sla_met')}
    FROM ${from} ${values ? VALUES : empty} ${sla ? sql`CROSS JOIN LATERAL (${outcomesOfStopped('f')}) AS s` : empty}
    WHERE f.state = 'ACTIVE'`;
}

/**
 * The records of `live`, once for each field of their type that has cells, with the id of the cell. `types` gives `type_id` and
 * `fields`.
 */
function fieldParts(live: Sql, types: Sql): Sql {
  // Longer values occur only in versions of the type where the field had another data type.
  const value = raw(`CASE WHEN length(r."values"->>x.field) <= 64 THEN r."values"->x.field END`);
  const place = sql`SELECT r.*, ${DAY} AS day, concat_ws('/', r.type_id, date_part('epoch', ${DAY}), r.workflow_state_id) AS place FROM (${live}) AS r`;
  const parts = sql`SELECT r.id AS record, r.type_id, x.field, r.day AS created_at, r.workflow_state_id, r.place, ${value} AS value, ${FIGURES_OF_RECORD}
    FROM (${place}) AS r JOIN (${types}) AS t ON t.type_id = r.type_id CROSS JOIN LATERAL unnest(t.fields || '{""}') AS x (field)
    OFFSET 0`;
  return sql`SELECT p.*, CASE WHEN p.value IS NULL THEN '{}' ELSE jsonb_build_object(p.field, p.value) END AS "values",
      md5(p.place || '/' || p.field || '/' || coalesce(p.value::text, ''))::uuid AS id
    FROM (${parts}) AS p`;
}

const KEY = raw('id, type_id, field, created_at, workflow_state_id, "values"');
const SUMS = columns((name) => `sum(${name})::bigint AS ${name}`);
const FIGURE_NAMES = raw(NAMES.join(', '));

/**
 * Counts the records as they are now, whether they were counted before or not. One statement takes them out of their cells, one
 * puts them in; the caller must be the only one that counts.
 */
export async function countRecords(tx: Transaction, ids: readonly string[]): Promise<void> {
  const touched = await tx.query<{ id: string }>(sql`
    WITH gone AS (
      DELETE FROM report_counted r WHERE r.id = ANY(${[...ids]}::uuid[]) RETURNING r.cells, ${FIGURES_OF_RECORD}
    ), less AS (
      SELECT c.id, ${columns((name) => `sum(g.${name})::bigint AS ${name}`)} FROM gone g CROSS JOIN LATERAL unnest(g.cells) AS c (id) GROUP BY c.id
    )
    UPDATE report_cells c SET ${columns((name) => `${name} = c.${name} - l.${name}`)} FROM less l WHERE c.id = l.id RETURNING c.id`);
  const from = sql`unnest(${[...ids]}::uuid[]) AS u (id) ${factsOf(sql`f.id = u.id`)}`;
  await tx.query(
    sql`
    WITH live AS MATERIALIZED (${liveRecords(from)}),
    parts AS MATERIALIZED (${fieldParts(sql`SELECT * FROM live`, sql`SELECT type_id, fields FROM report_counted_types`)}),
    kept AS (
      INSERT INTO report_cells AS c (${KEY}, ${FIGURE_NAMES}) SELECT ${KEY}, ${SUMS} FROM parts GROUP BY ${KEY}
      ON CONFLICT (id) DO UPDATE SET ${columns((name) => `${name} = c.${name} + EXCLUDED.${name}`)}
    ), homes AS (
      SELECT record, array_agg(id) AS cells FROM parts GROUP BY record
    )
    INSERT INTO report_counted (id, type_id, cells, created_at, first_reply_at, done_at, reopened, sla_ended, sla_met)
    SELECT l.id, l.type_id, h.cells, l.created_at, l.first_reply_at, l.done_at, l.reopened, l.sla_ended, l.sla_met
    FROM live l JOIN homes h ON h.record = l.id ORDER BY l.id`,
    { freshPlan: true },
  );
  const cells = touched.map(({ id }) => id);
  await tx.query(sql`DELETE FROM report_cells WHERE id = ANY(${cells}::uuid[]) AND n = 0`);
}

/** The name of the consumer of the journal that counts. */
export const COUNTING = 'report-cells';

/**
 * Forgets what was counted if facts are rebuilt: a rebuild changes facts without the journal. A trigger does the same when one begins,
 * and waits for the process that counts.
 *
 * @returns whether facts are rebuilt
 */
export async function forgetDuringRebuild(tx: Transaction): Promise<boolean> {
  const [rebuild] = await tx.query(sql`SELECT WHERE ${isRebuilding(FACTS_REBUILD)}`);
  if (rebuild === undefined) return false;
  await tx.query(sql`DELETE FROM report_counted_types`);
  return true;
}

/**
 * Whether the event `j` can change the cells or the figures of its record. Most changes concern neither, and counting a record
 * again costs the database 30 to 60 µs. A comment changes at most the time of the first reply.
 */
const CHANGES_COUNTS = sql`CASE
  WHEN j.type IN ('AttachmentAdded', 'AttachmentArchived', 'RelationAdded', 'RelationArchived') THEN false
  WHEN j.type IN ('CommentAdded', 'CommentUpdated', 'CommentArchived') THEN EXISTS (
    SELECT FROM report_facts f LEFT JOIN report_counted r ON r.id = f.id
    WHERE f.id = j.object_id AND f.first_reply_at IS DISTINCT FROM r.first_reply_at)
  WHEN j.type = 'ObjectUpdated'
    THEN coalesce(j.changes ?| ARRAY(SELECT unnest(t.fields || '{workflowState}') FROM report_counted_types t), true)
  ELSE true END`;

/** The ids of records that the events change. */
export async function readChanged(tx: Transaction, batch: Batch): Promise<string[]> {
  const rows = await tx.query<{ id: string }>(
    sql`SELECT DISTINCT j.object_id AS id FROM journal j WHERE ${isOf('j', batch)} AND j.object_id IS NOT NULL AND ${CHANGES_COUNTS} ORDER BY 1`,
    { freshPlan: true },
  );
  return rows.map(({ id }) => id);
}

/** The ids of records with changes that are not counted. @param place that of the consumer */
function changedRecords(place: number): Sql {
  const where = sql`j.object_id IS NOT NULL AND ${CHANGES_COUNTS}`;
  return sql`SELECT DISTINCT c.id FROM (${committedAfter(place, { columns: sql`j.object_id AS id`, where })}) AS c`;
}

/** Those of the types that are counted with these fields, and whether their first count is complete. */
export async function readCountedTypes(db: Queryable, types: readonly CountedType[]): Promise<Map<string, boolean>> {
  const rows = await db.query<{ typeId: string; isWhole: boolean }>(sql`
    SELECT c.type_id AS "typeId", c.is_whole AS "isWhole" FROM report_counted_types c
    JOIN jsonb_to_recordset(${JSON.stringify(types)}::jsonb) AS t ("typeId" uuid, fields text[])
      ON t."typeId" = c.type_id AND t.fields = c.fields`);
  return new Map(rows.map(({ typeId, isWhole }) => [typeId, isWhole]));
}

/** Whether the type has at least so many records. */
export async function isLarge(tx: Queryable, typeId: string, least: number): Promise<boolean> {
  const [row] = await tx.query<{ large: boolean }>(sql`
    SELECT count(*) >= ${least}::int AS large FROM (SELECT FROM report_facts f WHERE f.type_id = ${typeId}::uuid LIMIT ${least}::int) AS f`);
  return row?.large === true;
}

/** Begins the first count of a type. Removes what was counted with other fields, in batches. @returns whether it has begun */
export async function beginType(tx: Transaction, { typeId, fields }: CountedType, limit: number): Promise<boolean> {
  const gone = await tx.query(sql`DELETE FROM report_counted_types WHERE type_id = ${typeId}::uuid RETURNING type_id`);
  const removed = await tx.query(sql`
    DELETE FROM report_counted WHERE id IN (SELECT id FROM report_counted WHERE type_id = ${typeId}::uuid LIMIT ${limit}::int) RETURNING id`);
  if (gone.length > 0 || removed.length > 0) return false;
  await tx.query(sql`DELETE FROM report_cells WHERE type_id = ${typeId}::uuid`);
  await tx.query(sql`
    INSERT INTO report_counted_types (type_id, fields, after_at, after_id, is_whole)
    VALUES (${typeId}::uuid, ${[...fields]}::text[], '-infinity', '00000000-0000-0000-0000-000000000000', false)`);
  return true;
}

/** The next records of the first count of the type, in the order of their creation. */
export async function nextOfType(tx: Transaction, typeId: string, limit: number): Promise<string[]> {
  const rows = await tx.query<{ id: string }>(sql`
    SELECT f.id FROM report_counted_types c CROSS JOIN LATERAL (
      SELECT f.id, f.created_at FROM report_facts f WHERE f.type_id = c.type_id AND f.created_at >= c.after_at
        AND (f.created_at, f.id) > (c.after_at, c.after_id) ORDER BY f.created_at, f.id LIMIT ${limit}::int) AS f
    WHERE c.type_id = ${typeId}::uuid ORDER BY f.created_at, f.id`);
  return rows.map(({ id }) => id);
}

/** Notes that the first count of the type has come to the record; null: it is complete. */
export async function moveType(tx: Transaction, typeId: string, last: string | null): Promise<void> {
  await tx.query(
    last === null
      ? sql`UPDATE report_counted_types SET is_whole = true WHERE type_id = ${typeId}::uuid`
      : sql`UPDATE report_counted_types c SET after_at = f.created_at, after_id = f.id FROM report_facts f
          WHERE c.type_id = ${typeId}::uuid AND f.id = ${last}::uuid`,
  );
}

/** A report reads the records itself if more have changed. The background task counts them within seconds. */
const MAX_CHANGED = 10_000;

/** The records that changed after the last pass; undefined if counts cannot be used: types not counted, or too many changes. */
export async function uncounted(db: Queryable, types: readonly CountedType[]): Promise<string[] | undefined> {
  const place = await consumerPlace(db, COUNTING);
  const [rebuild] = await db.query(sql`SELECT WHERE ${isRebuilding(FACTS_REBUILD)}`);
  if (place === undefined || rebuild !== undefined) return undefined;
  const counted = await readCountedTypes(db, types);
  if (types.some(({ typeId }) => counted.get(typeId) !== true)) return undefined;
  const rows = await db.query<{ id: string }>(
    sql`SELECT c.id FROM (${changedRecords(place)}) AS c LIMIT ${MAX_CHANGED + 1}::int`,
    { freshPlan: true },
  );
  return rows.length > MAX_CHANGED ? undefined : rows.map(({ id }) => id);
}

export interface CellQuery {
  /** Type id → the stored code of the field whose values the report uses, '' for none. */
  fields: ReadonlyMap<string, string>;
  changed: readonly string[];
  /** Starts of days (UTC) in which a step or the period of the report begins or ends. Their records are counted one by one. */
  splitDays: readonly string[];
  from: string | null;
  until: string | null;
  /** Set if the report measures SLA: instances that still run can be breached without a change of their record. */
  slaAt: string | null;
}

/**
 * The rows that a report on whole types sums up: cells, minus changed records as they were counted, plus changed records and those
 * of split days as they are. Has the columns of records that groups and conditions use, and the figures.
 */
export function cellRows({ fields, changed, splitDays, from, until, slaAt }: CellQuery): Sql {
  const ofFields = (alias: string): Sql => {
    const pairs = [...fields].map(
      ([typeId, field]) => sql`(${raw(alias)}.type_id = ${typeId}::uuid AND ${raw(alias)}.field = ${field})`,
    );
    return sql`(${join(pairs, ' OR ')})`;
  };
  const typeIds = sql`${[...fields.keys()]}::uuid[]`;
  const read = { values: [...fields.values()].some((field) => field !== ''), sla: slaAt !== null };
  const days = sql`${[...splitDays]}::timestamptz[]`;
  const isWhole = (day: Sql): Sql => (splitDays.length === 0 ? sql`true` : sql`${day} <> ALL(${days})`);
  const within = (
    alias: string,
  ): Sql => sql`${from === null ? empty : sql`AND ${raw(alias)}.created_at >= ${from}::timestamptz`}
    ${until === null ? empty : sql`AND ${raw(alias)}.created_at < ${until}::timestamptz`}`;
  const of = (alias: string): Sql =>
    raw(`${alias}.type_id, 'ACTIVE' AS state, ${alias}.workflow_state_id, ${alias}.created_at, ${alias}."values"`);
  const parts = [
    sql`SELECT ${of('c')}, ${columns((name) => `c.${name}`)} FROM report_cells c WHERE ${ofFields('c')} ${within('c')} AND ${isWhole(sql`c.created_at`)}`,
  ];
  if (changed.length > 0) {
    const ids = sql`${[...changed]}::uuid[]`;
    parts.push(sql`SELECT ${of('c')}, ${columns((name, figure) => `-(${figure})::bigint AS ${name}`)}
      FROM report_counted r CROSS JOIN LATERAL (SELECT * FROM report_cells c WHERE c.id = ANY(r.cells) OFFSET 0) AS c
      WHERE r.id = ANY(${ids}) AND ${ofFields('c')} ${within('c')} AND ${isWhole(sql`c.created_at`)}`);
    parts.push(sql`SELECT ${of('r')}, ${FIGURES_OF_RECORD}
      FROM (${liveRecords(sql`unnest(${ids}) AS u (id) ${factsOf(sql`f.id = u.id`)}`, read)} AND f.type_id = ANY(${typeIds})) AS r
      WHERE ${isWhole(DAY)} ${within('r')}`);
  }
  if (splitDays.length > 0) {
    const ofDay = sql`f.type_id = ANY(${typeIds}) AND f.created_at >= d.day AND f.created_at < d.day + interval '1 day'`;
    parts.push(sql`SELECT ${of('r')}, ${FIGURES_OF_RECORD}
      FROM (${liveRecords(sql`unnest(${days}) AS d (day) ${factsOf(ofDay)}`, read)}) AS r
      WHERE true ${within('r')}`);
  }
  if (slaAt !== null) {
    parts.push(sql`SELECT f.type_id, f.state, f.workflow_state_id, f.created_at, ${raw(read.values ? 'o."values"' : `'{}'::jsonb`)},
        ${columns((name) => `${name === 'sla_ended' ? '1' : '0'}::bigint AS ${name}`)}
      FROM (${runningBreaches(slaAt)}) AS i ${factsOf(sql`f.id = i.object_id`)} ${read.values ? VALUES : empty}
      WHERE f.state = 'ACTIVE' AND f.type_id = ANY(${typeIds}) ${within('f')}`);
  }
  return join(parts, ' UNION ALL ');
}

/** The aggregate of a measure on the rows `p` of `cellRows`. `now` is the instant for ages. */
export function cellAggregate(measure: Measure, now: string): Sql {
  if (measure === 'count') return sql`coalesce(sum(p.n), 0)::float8`;
  if (measure === 'reopened') return sql`coalesce(sum(p.reopened), 0)::float8`;
  if (measure === 'slaMet') return sql`(sum(p.sla_met) / nullif(sum(p.sla_ended), 0))::float8`;
  const [time, statistic] = measure.split('.');
  const [sum, count] =
    time === 'age'
      ? [sql`(sum(p.n) - sum(p.done)) * ${Date.parse(now)}::bigint - sum(p.undone_ms)`, sql`sum(p.n) - sum(p.done)`]
      : time === 'timeToDone'
        ? [sql`sum(p.done_ms)`, sql`sum(p.done)`]
        : [sql`sum(p.reply_ms)`, sql`sum(p.replied)`];
  const number = sql`nullif(${count}, 0)`;
  return statistic === 'avg'
    ? sql`((${sum}) / ${number})::float8`
    : sql`CASE WHEN ${number} IS NOT NULL THEN (${sum})::float8 END`;
}

/** Measures that can be computed from sums. Percentiles need each record. */
export function isSum(measure: Measure): boolean {
  return !measure.endsWith('.p50') && !measure.endsWith('.p90');
}

/** The first day and the day after the last one of all cells; undefined without counts that can be checked. */
export async function countedDays(db: Queryable): Promise<{ place: number; from: number; until: number } | undefined> {
  const place = await consumerPlace(db, COUNTING);
  if (place === undefined) return undefined;
  const [range] = await db.query<{ from: string | null; until: string | null }>(sql`
    SELECT date_trunc('day', min(created_at), 'UTC') AS from, max(created_at) + interval '1 day' AS until FROM (
      SELECT created_at FROM report_cells UNION ALL
      SELECT f.created_at FROM report_facts f JOIN report_counted_types t ON t.type_id = f.type_id WHERE t.is_whole) AS c`);
  const { from = null, until = null } = range ?? {};
  return from === null || until === null ? undefined : { place, from: Date.parse(from), until: Date.parse(until) };
}

/**
 * Cells of the days that differ from their records: what is counted, corrected by the changes since, is compared with the records.
 * The bounds are starts of days (UTC).
 */
export function differingCells(place: number, from: string, until: string): Sql {
  const changed = changedRecords(place);
  const types = sql`SELECT type_id, fields FROM report_counted_types WHERE is_whole`;
  const within = (alias: string): Sql =>
    sql`${raw(alias)}.created_at >= ${from}::timestamptz AND ${raw(alias)}.created_at < ${until}::timestamptz`;
  const sums = (sign: string, rows: Sql): Sql =>
    sql`SELECT ${KEY}, ${columns((name) => `${sign}${name} AS ${name}`)} FROM (${rows}) AS s`;
  const counted = sql`SELECT c.* FROM report_cells c JOIN (${types}) AS t ON t.type_id = c.type_id WHERE ${within('c')}`;
  const before = sql`SELECT c.id, c.type_id, c.field, c.created_at, c.workflow_state_id, c."values", ${FIGURES_OF_RECORD}
    FROM report_counted r JOIN report_cells c ON c.id = ANY(r.cells) JOIN (${types}) AS t ON t.type_id = c.type_id
    WHERE r.id IN (${changed}) AND ${within('c')}`;
  const unchanged = sql`${liveRecords(sql`report_facts f`)} AND ${within('f')} AND f.id NOT IN (${changed})`;
  const parts = [sums('', counted), sums('-', before), sums('-', fieldParts(unchanged, types))];
  return sql`SELECT 'type ' || d.type_id || ', ' || d.created_at::date || ', field "' || d.field || '", ' || d."values"::text AS what
    FROM (${join(parts, ' UNION ALL ')}) AS d GROUP BY ${KEY}
    HAVING ${raw(NAMES.map((name) => `sum(d.${name}) <> 0`).join(' OR '))}`;
}
