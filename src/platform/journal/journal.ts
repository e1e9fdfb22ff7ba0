/**
 * The journal: one append-only log, written in the transaction of the change. It serves as the history of a record, as the
 * audit log and as the source of all that is done after commit (`consumers.ts`). Table `journal`.
 *
 * `journal.seq` is the position of an event. It is drawn from one sequence while the transaction holds the locks on the rows
 * that it changes (`TableWrite.guard`). The positions of a record's events therefore increase with its revisions. Everything is
 * ordered by position. `at` is only displayed and never used for ordering: clocks may be set back, and clocks of two processes
 * differ.
 */
import { hash } from 'node:crypto';
import sql, { empty, raw, type Sql } from 'sql-template-tag';
import { canonicalJson } from '../../lib/json.ts';
import type { PlannedEvent, ReadContext, TableWrite } from '../unit-of-work/context.ts';
import type { Queryable } from '../database/pool.ts';

export interface JournalRow {
  id: string;
  at: string;
  type: string;
  object_id: string | null;
  subject: string | null;
  revision: number | null;
  actor_id: string | null;
  via: string;
  key_id: string | null;
  correlation_id: string | null;
  changes: Record<string, [unknown, unknown]> | null;
  data: Record<string, unknown> | null;
  hash: string;
}

/** Hex SHA-256 over all values of the row. Verification recomputes it from the stored row. */
export function journalHash(row: Omit<JournalRow, 'hash'>): string {
  const said = [
    row.id,
    row.at,
    row.type,
    row.object_id,
    row.subject,
    row.revision,
    row.actor_id,
    row.via,
    row.key_id,
    row.correlation_id,
    row.changes,
    row.data,
  ];
  return hash('sha256', canonicalJson(said));
}

/** Member of an event's data that is used for verification only. */
const STORED = '$stored';

/**
 * SQL for an event's data without internal members; the only form that may leave the service. `alias` is an alias of `journal`.
 */
export function shownData(alias: string): Sql {
  return raw(`(${alias}.data - '${STORED}')`);
}

/** SQL for one of the event's stored values as text; null if the event does not have it. */
export function storedMember(alias: string, name: string): Sql {
  return raw(`(${alias}.data -> '${STORED}' ->> '${name}')`);
}

/** SQL for whether the event has this stored value. */
export function saysStored(alias: string, name: string): Sql {
  return raw(`coalesce(${alias}.data -> '${STORED}' ? '${name}', false)`);
}

/** SQL for the names of the event's changes; null if it has none. */
export function changedNames(alias: string): Sql {
  return raw(`${alias}.fields`);
}

/** Builds the stored row of an event: the command's values plus actor, time and origin. The key is that of the caller alone. */
export function journalRow(ctx: ReadContext, event: PlannedEvent): JournalRow {
  const row = {
    id: ctx.newId(),
    at: ctx.now,
    type: event.type,
    object_id: event.objectId ?? null,
    subject: event.subject ?? null,
    revision: event.revision ?? null,
    actor_id: (event.origin?.actor ?? ctx.actor).userId,
    via: event.origin?.via ?? ctx.via,
    key_id: event.origin === undefined ? ctx.keyId : null,
    correlation_id: ctx.correlationId,
    changes: event.storedChanges ?? event.changes ?? null,
    data: event.stored === undefined ? (event.data ?? null) : { ...event.data, [STORED]: event.stored },
  };
  return { ...row, hash: journalHash(row) };
}

export const journalWrite: TableWrite<JournalRow> = {
  name: 'journal_rows',
  guard: 'awaited',
  records: ({ object_id }) => [object_id],
  frequent: true,
  columns: {
    id: 'uuid',
    at: 'timestamptz',
    type: 'text',
    object_id: 'uuid',
    subject: 'text',
    revision: 'integer',
    actor_id: 'uuid',
    via: 'text',
    key_id: 'uuid',
    correlation_id: 'text',
    changes: 'jsonb',
    data: 'jsonb',
    hash: 'text',
  },
  sql: (rows: Sql, _alone: boolean, ready: Sql) => sql`
    INSERT INTO journal
      (id, at, type, object_id, subject, revision, actor_id, via, key_id, correlation_id, changes, data, hash, fields)
    SELECT id, at, type, object_id, subject, revision, actor_id, via, key_id, correlation_id, changes, data, decode(hash, 'hex'),
      CASE WHEN changes IS NOT NULL THEN ARRAY(SELECT jsonb_object_keys(changes)) END
    FROM ${rows} WHERE ${ready}
    RETURNING seq`,
};

/** An event that is about no record: configuration, keys, rights, identity, sign-ins. */
export interface AuditRow {
  id: string;
  at: string;
  type: string;
  subject: string | null;
  actorId: string | null;
  actorName: string | null;
  via: string;
  keyId: string | null;
  correlationId: string | null;
  data: Record<string, unknown> | null;
}

/** SQL: the name of the user whose id is in the column, by primary key. For single rows. */
export function userName(column: string): Sql {
  return sql`(SELECT display_name FROM users WHERE id = ${raw(column)})`;
}

/** The same for lists. A list names few users, and with a join the planner can cache the rows that it read. */
export function joinedUser(column: string, alias: string): { name: Sql; join: Sql } {
  return {
    name: raw(`${alias}.display_name`),
    join: sql`LEFT JOIN users ${raw(alias)} ON ${raw(`${alias}.id`)} = ${raw(column)}`,
  };
}

/** User id → name, for ids that no statement can join. */
export async function loadUserNames(ctx: ReadContext, ids: readonly string[]): Promise<ReadonlyMap<string, string>> {
  if (ids.length === 0) return new Map();
  const rows = await ctx.query<{ id: string; name: string }>(
    sql`SELECT id, display_name AS name FROM users WHERE id = ANY(${[...ids]}::uuid[])`,
  );
  return new Map(rows.map(({ id, name }) => [id, name]));
}

/** The user who caused an event `j`. */
export const ACTOR = joinedUser('j.actor_id', 'u');

/** The last change of something by its name, for the details of a REVISION_CONFLICT. */
export interface LastChange {
  field: string;
  at: string;
  actorId: string | null;
  actorName: string | null;
}

/**
 * The last change of each field, oldest first.
 *
 * @param changes SQL that selects `field` and `seq` of events in the journal, never their values
 */
export async function lastChanges(ctx: ReadContext, changes: Sql): Promise<LastChange[]> {
  return await ctx.query<LastChange>(sql`
    SELECT c.field, j.at, j.actor_id AS "actorId", ${ACTOR.name} AS "actorName"
    FROM (SELECT field, max(seq) AS seq FROM (${changes}) AS x GROUP BY field) AS c
    JOIN journal j ON j.seq = c.seq ${ACTOR.join}
    ORDER BY j.seq, c.field`);
}

/** The audit log, newest entry first. */
export async function auditRows(
  ctx: ReadContext,
  page: { type?: string; subject?: string; limit: number; offset: number },
): Promise<AuditRow[]> {
  return await ctx.query<AuditRow>(sql`
    SELECT j.id, j.at, j.type, j.subject, j.actor_id AS "actorId", ${ACTOR.name} AS "actorName", j.via, j.key_id AS "keyId",
      j.correlation_id AS "correlationId", ${shownData('j')} AS data
    FROM journal j ${ACTOR.join}
    WHERE j.object_id IS NULL
      ${page.type === undefined ? empty : sql`AND j.type = ${page.type}`}
      ${page.subject === undefined ? empty : sql`AND j.subject = ${page.subject}`}
    ORDER BY j.seq DESC LIMIT ${page.limit}::int OFFSET ${page.offset}::int`);
}

/** True if the journal is empty: every change of configuration, users or records leaves an event. */
export async function isUntouched(db: Queryable): Promise<boolean> {
  const rows = await db.query<{ untouched: boolean }>(sql`SELECT NOT EXISTS (SELECT 1 FROM journal) AS untouched`);
  return rows[0]?.untouched === true;
}

/** Size of a queue, counted up to the given limit, and the time of its oldest entry. */
export interface Backlog {
  waiting: number;
  oldestAt: string | null;
}
