/** SQL on the table `sla_instances`, on the calendar versions of instances, and on their events in the journal. */
import { allBut, columns } from '../../platform/database/table.ts';
import { tables } from '../../platform/database/tables.ts';
import { insertInto, update } from '../../platform/unit-of-work/table-writes.ts';
import { ACTOR, type Backlog, type LastChange, lastChanges, loadUserNames } from '../../platform/journal/journal.ts';
import { shuffled } from '../../configuration/store-impact.ts';
import sql, { raw, type Sql } from 'sql-template-tag';
import { dueBacklog, dueTimers, lockTimers, nextTimer, type TimerTable } from '../../platform/jobs/timers.ts';
import type { Queryable } from '../../platform/database/pool.ts';
import { jsonSize, type RowWindow, readWindows } from '../../platform/database/window.ts';
import { byId } from '../../platform/database/lookups.ts';
import type { ReadContext, WriteContext } from '../../platform/unit-of-work/context.ts';
import type { CalendarDefinition } from './registry.ts';
import type { Instance, Pause } from './rules.ts';

/** An instance with its stored calendar version, if it has stopped or its calendar was chosen by command. */
export interface StoredInstance extends Instance {
  storedCalendar: CalendarDefinition | null;
}

const COLUMNS = sql`${columns(tables.sla_instances, 'i')}, (SELECT v.compiled FROM calendar_versions v
  WHERE (i.pinned OR i.status = 'STOPPED') AND v.calendar_id = i.calendar_id AND v.version = i.calendar_version) AS "storedCalendar"`;

const instanceById = byId<StoredInstance>((id) => sql`SELECT ${COLUMNS} FROM sla_instances i WHERE i.id = ${id}`);

export async function findInstance(ctx: ReadContext, id: string): Promise<StoredInstance | undefined> {
  return await ctx.find(instanceById, { id });
}

/** Instances of a record, oldest first. */
export async function listInstances(ctx: ReadContext, objectId: string): Promise<StoredInstance[]> {
  return await ctx.query<StoredInstance>(sql`
    SELECT ${COLUMNS} FROM sla_instances i WHERE i.object_id = ${objectId}::uuid ORDER BY i.started_at, i.id`);
}

/** Whether the record with the id is one `o` for which `visible` is true; null for none, undefined for all. */
function ofRecord(id: Sql, visible: Sql | null | undefined): Sql {
  if (visible === undefined) return sql`true`;
  return sql`EXISTS (SELECT FROM objects o WHERE o.id = ${id} AND ${visible ?? sql`false`})`;
}

/** The running instances of a policy in a random order, of records for which `visible` is true (see `ofRecord`). */
export async function shuffledRunning(ctx: ReadContext, policyId: string, visible: Sql | null | undefined) {
  return await shuffled(
    ctx,
    sql`sla_instances x WHERE x.policy_id = ${policyId}::uuid AND x.status <> 'STOPPED'
      AND ${ofRecord(sql`x.object_id`, visible)}`,
  );
}

/** Those of the running instances that have the ids, of records for which `visible` is true (see `ofRecord`). */
export async function listRunning(
  ctx: ReadContext,
  ids: readonly string[],
  visible: Sql | null | undefined,
): Promise<StoredInstance[]> {
  return await ctx.query<StoredInstance>(sql`
    SELECT ${COLUMNS} FROM sla_instances i
    WHERE i.id = ANY(${[...ids]}::uuid[]) AND ${ofRecord(sql`i.object_id`, visible)}`);
}

/** The running instance of each record and policy, or else the last one. */
export async function listLatest(ctx: ReadContext, objectIds: readonly string[]): Promise<StoredInstance[]> {
  // Ids are ordered by the machine's clock, independently of the time of the unit of work.
  return await ctx.query<StoredInstance>(sql`
    SELECT DISTINCT ON (i.object_id, i.policy_id) ${COLUMNS} FROM sla_instances i
    WHERE ${objectIds.length === 1 ? sql`i.object_id = ${objectIds[0]}::uuid` : sql`i.object_id = ANY(${[...objectIds]}::uuid[])`}
    ORDER BY i.object_id, i.policy_id, i.status = 'STOPPED', i.id DESC`);
}

/** Time limits of the records: those of running instances, by record. `due_at` is null while all of them are paused. */
export const RUNNING_BY_RECORD = sql`(SELECT i.object_id, min(i.due_at) FILTER (WHERE i.status = 'ACTIVE') AS due_at
  FROM sla_instances i WHERE i.status <> 'STOPPED' GROUP BY i.object_id)`;

/** Predicate on the record id in `column`: a running instance is breached, or due after now and before `before`. */
export function hasSla(column: string, due: 'overdue' | { before: string }, now: string): Sql {
  const instances =
    due === 'overdue'
      ? overdueInstances(now)
      : sql`SELECT i.object_id FROM sla_instances i WHERE i.status <> 'STOPPED' AND i.status = 'ACTIVE'
          AND i.due_at > ${now}::timestamptz AND i.due_at < ${due.before}::timestamptz`;
  return sql`${raw(column)} IN (${instances})`;
}

/**
 * The records of breached running instances. The breach is the last threshold: until it is notified, `next_at` is not later than
 * the due time. The due time of a paused instance is out of date; whether it was breached before the pause is among its thresholds.
 * Each part has an index.
 */
function overdueInstances(now: string): Sql {
  return sql`SELECT i.object_id FROM sla_instances i WHERE i.status <> 'STOPPED' AND i.notified_thresholds @> '["breach"]'
    UNION ALL SELECT i.object_id FROM sla_instances i WHERE i.status <> 'STOPPED' AND i.next_at <= ${now}::timestamptz
      AND i.status = 'ACTIVE' AND i.due_at <= ${now}::timestamptz`;
}

/**
 * A subquery with the columns `object_id` and `met` (boolean): each instance that stopped, or that has exceeded its target. A
 * running instance within its target has no outcome yet.
 */
export function instanceOutcomes(now: string): Sql {
  return sql`SELECT i.object_id, i.policy_id, i.status = 'STOPPED' AND i.elapsed_ms < i.target_ms AS met FROM sla_instances i
    WHERE i.status = 'STOPPED' OR i.notified_thresholds ? 'breach' OR (i.status = 'ACTIVE' AND i.due_at <= ${now}::timestamptz)`;
}

/** Predicate on the record id in `column`: the record has an instance of the policy; null: it has no instance. */
export function hasPolicy(column: string, policyId: string | null): Sql {
  return policyId === null
    ? sql`NOT EXISTS (SELECT FROM sla_instances i WHERE i.object_id = ${raw(column)})`
    : sql`EXISTS (SELECT FROM sla_instances i WHERE i.object_id = ${raw(column)} AND i.policy_id = ${policyId}::uuid)`;
}

/** How many stopped instances the record of `alias` has (`ended`), and how many of them met their target (`met`). One row. */
export function outcomesOfStopped(alias: string): Sql {
  return sql`SELECT count(*)::int AS ended, (count(*) FILTER (WHERE i.elapsed_ms < i.target_ms))::int AS met
    FROM sla_instances i WHERE i.object_id = ${raw(alias)}.id AND i.status = 'STOPPED'`;
}

/**
 * The records of running instances that are breached, once for each such instance: those of `instanceOutcomes` that run. Each part
 * has an index, as in `overdueInstances`.
 */
export function runningBreaches(now: string): Sql {
  return sql`SELECT i.object_id FROM sla_instances i WHERE i.status <> 'STOPPED' AND i.notified_thresholds @> '["breach"]'
    UNION ALL SELECT i.object_id FROM sla_instances i WHERE i.status <> 'STOPPED' AND i.next_at <= ${now}::timestamptz
      AND i.status = 'ACTIVE' AND i.due_at <= ${now}::timestamptz AND NOT i.notified_thresholds @> '["breach"]'`;
}

/** The ids of the policies that have an instance on the record of `alias`, as one column. */
export function policiesOfRecord(alias: string): Sql {
  return sql`SELECT DISTINCT i.policy_id FROM sla_instances i WHERE i.object_id = ${raw(alias)}.id`;
}

const TIMERS: TimerTable = {
  name: 'sla_instances',
  alias: 'i',
  due: 'next_at',
  pending: sql`i.status <> 'STOPPED'`,
};

/** Ids of due instances, oldest first. */
export async function listDue(ctx: ReadContext, limit: number): Promise<string[]> {
  return (await ctx.query<{ id: string }>(dueTimers(TIMERS, sql`i.id`, ctx.now, limit))).map(({ id }) => id);
}

/**
 * Due instances that no other process has locked, locked until the unit of work ends.
 *
 * @param id only this one
 */
export async function lockDue(ctx: WriteContext, limit: number, id?: string): Promise<StoredInstance[]> {
  const only = id === undefined ? undefined : sql`JOIN (VALUES (${id}::uuid)) AS one (id) ON one.id = i.id`;
  return await lockTimers(ctx, TIMERS, dueTimers(TIMERS, COLUMNS, ctx.now, limit, only));
}

/** The current versions for a policy. Instances calculated with other versions are outdated. */
export interface InForce {
  policy_id: string;
  policy_version: number;
  calendar_id: string;
  calendar_version: number;
}

const STALE = sql`i.status <> 'STOPPED' AND (i.policy_version <> f.policy_version
  OR NOT i.pinned AND (i.calendar_id <> f.calendar_id OR i.calendar_version <> f.calendar_version))`;

function inForceRows(inForce: readonly InForce[]): Sql {
  return sql`jsonb_to_recordset(${JSON.stringify(inForce)}::jsonb) AS f (policy_id uuid, policy_version integer, calendar_id uuid,
    calendar_version integer)`;
}

/** Ids of running instances that were calculated with outdated versions. */
export async function listStale(
  ctx: Pick<ReadContext, 'query'>,
  inForce: readonly InForce[],
  limit: number,
): Promise<string[]> {
  const rows = await ctx.query<{ id: string }>(sql`
    SELECT i.id FROM sla_instances i JOIN ${inForceRows(inForce)} ON f.policy_id = i.policy_id WHERE ${STALE}
    LIMIT ${limit}::int`);
  return rows.map((row) => row.id);
}

/** Those of the instances that are still outdated and not locked by another process, locked until the unit of work ends. */
export async function lockStale(
  ctx: WriteContext,
  inForce: readonly InForce[],
  ids: readonly string[],
): Promise<StoredInstance[]> {
  const stale = sql`SELECT ${COLUMNS} FROM sla_instances i JOIN ${inForceRows(inForce)} ON f.policy_id = i.policy_id
    WHERE i.id = ANY(${[...ids]}::uuid[]) AND ${STALE} ORDER BY i.id`;
  return await lockTimers(ctx, TIMERS, stale);
}

export async function findCalendarVersion(
  ctx: ReadContext,
  calendarId: string,
  version: number,
): Promise<CalendarDefinition | undefined> {
  const rows = await ctx.query<{ compiled: CalendarDefinition }>(sql`
    SELECT compiled FROM calendar_versions WHERE calendar_id = ${calendarId}::uuid AND version = ${version}::int`);
  return rows[0]?.compiled;
}

interface EventRow {
  id: string;
  type: string;
  at: string;
  actorId: string | null;
  actorName: string | null;
  via: string;
  data: Record<string, unknown>;
}

/** The events of an instance, oldest first, in windows. */
export function eventWindows(
  ctx: ReadContext,
  instance: Pick<Instance, 'id' | 'objectId'>,
): AsyncGenerator<RowWindow<EventRow & { key: string }>> {
  return readWindows<EventRow>(
    ctx,
    (after, limit) => sql`
      SELECT j.seq::text AS key, ${jsonSize('j.data')} AS "windowBytes", j.id, j.type, j.at, j.actor_id AS "actorId",
        ${ACTOR.name} AS "actorName", j.via, j.data
      FROM journal j ${ACTOR.join}
      WHERE j.object_id = ${instance.objectId}::uuid AND j.type LIKE 'Sla%' AND j.data->>'slaInstanceId' = ${instance.id}
        AND j.seq > ${after ?? '0'}::bigint
      ORDER BY j.seq LIMIT ${limit}::int`,
  );
}

/** Event type → members of the instance that it changes. */
const CHANGED_BY = [
  ['SlaPaused', ['status']],
  ['SlaResumed', ['status', 'dueAt']],
  ['SlaStopped', ['status']],
  ['SlaRecalculated', ['dueAt']],
  ['SlaBreached', ['breached']],
] as const;

/** The last change of each member after the revision `after` of the instance, oldest first. */
export async function listChanges(
  ctx: ReadContext,
  instance: Pick<Instance, 'id' | 'objectId'>,
  after: number,
): Promise<LastChange[]> {
  const members = CHANGED_BY.flatMap(([type, fields]) => fields.map((field) => [type, field] as const));
  return await lastChanges(
    ctx,
    sql`SELECT k.field, j.seq FROM journal j
      JOIN unnest(${members.map(([type]) => type)}::text[], ${members.map(([, field]) => field)}::text[]) AS k (type, field)
        ON k.type = j.type
      WHERE j.object_id = ${instance.objectId}::uuid AND j.data->>'slaInstanceId' = ${instance.id}
        AND (j.data->>'slaRevision')::bigint > ${after}::bigint`,
  );
}

/** User id → name, for the users who caused pauses. */
export async function namesOf(ctx: ReadContext, pauses: readonly Pause[]): Promise<ReadonlyMap<string, string>> {
  return await loadUserNames(ctx, [...new Set(pauses.flatMap(({ actorId }) => actorId ?? []))]);
}

export const insertInstance = insertInto(tables.sla_instances, {
  name: 'insert_sla_instance',
  records: ({ objectId }) => [objectId],
  frequent: true,
});

/** Requires the state that the decision was made on (the lock version); otherwise the unit of work is retried. */
export const changeInstance = update(tables.sla_instances, {
  name: 'change_sla_instance',
  records: ({ objectId }) => [objectId],
  frequent: true,
  key: ['id', 'objectId'],
  set: allBut(tables.sla_instances, ['policyId', 'startedAt']),
  next: 'lockVersion',
  ordered: true,
});

/** Due timers that are not reported yet, counted up to a limit. */
export function timerBacklog(db: Queryable, now: string, limit: number): Promise<Backlog> {
  return dueBacklog(db, TIMERS, now, limit);
}

export const insertCalendarVersion = insertInto(tables.calendar_versions, {
  name: 'insert_calendar_versions',
  conflict: sql`(calendar_id, version) DO NOTHING`,
});

export const slaMoment = nextTimer(TIMERS, 'sla-timers');
