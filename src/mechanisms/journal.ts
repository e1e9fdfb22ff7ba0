/**
 * The journal: one append-only log written in the change's own transaction, read three ways: a record's history, the
 * audit log, and (through the outbox row beside each event) the source of deliveries. Table `journal`, `outbox`.
 *
 * `journal.seq` is the place of an event. It is drawn from one sequence while the transaction holds the rows that it changes
 * (`afterGuards`), so the places of a record's events rise with its revisions. Everything is ordered by place. `at` is shown and
 * never decides an order: clocks are set back, and those of two processes differ.
 */
import { createHash } from 'node:crypto';
import sql, { empty, raw, type Sql } from 'sql-template-tag';
import { canonicalJson } from '../lib/json.ts';
import type { PlannedEvent, ReadContext, TableWrite } from './context.ts';
import type { Database, Queryable, Transaction } from './db/pool.ts';

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

/** Hex SHA-256 over all that the row says; recomputed from the stored row by whoever verifies the log. */
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
  return createHash('sha256').update(canonicalJson(said)).digest('hex');
}

/** Member of an event's data that is for verification alone. */
const STORED = '$stored';

/** An event's data as it may leave the service, of the column `data` of `journal` under an alias. */
export function shownData(alias: string): Sql {
  return raw(`(${alias}.data - '${STORED}')`);
}

/** A member of what the event says was stored, as text; null where it does not say. */
export function storedMember(alias: string, name: string): Sql {
  return raw(`(${alias}.data -> '${STORED}' ->> '${name}')`);
}

/** Whether the event says it. */
export function saysStored(alias: string, name: string): Sql {
  return raw(`coalesce(${alias}.data -> '${STORED}' ? '${name}', false)`);
}

/** The stored row of an event: what the command said, and who, when and where from. */
export function journalRow(ctx: ReadContext, event: PlannedEvent): JournalRow {
  const row = {
    id: ctx.newId(),
    at: ctx.now,
    type: event.type,
    object_id: event.objectId ?? null,
    subject: event.subject ?? null,
    revision: event.revision ?? null,
    actor_id: ctx.actor.userId,
    via: ctx.via,
    key_id: ctx.keyId,
    correlation_id: ctx.correlationId,
    changes: event.changes ?? null,
    data: event.stored === undefined ? (event.data ?? null) : { ...event.data, [STORED]: event.stored },
  };
  return { ...row, hash: journalHash(row) };
}

export const journalWrite: TableWrite<JournalRow> = {
  name: 'journal_rows',
  guard: false,
  afterGuards: true,
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
    INSERT INTO journal (id, at, type, object_id, subject, revision, actor_id, via, key_id, correlation_id, changes, data, hash)
    SELECT id, at, type, object_id, subject, revision, actor_id, via, key_id, correlation_id, changes, data, decode(hash, 'hex')
    FROM ${rows} WHERE ${ready}
    RETURNING seq, id, type, object_id, at`,
};

/** One outbox row for each row of `journalWrite`, planned once after it; it has no values of its own. */
export const outboxWrite: TableWrite<Record<string, never>> = {
  name: 'outbox_rows',
  guard: false,
  sql: () => sql`
    INSERT INTO outbox (event_id, type, object_id, at, place)
    SELECT id, type, object_id, at, seq FROM journal_rows`,
};

/** An outbox row as a consumer gets it. */
export interface OutboxRow {
  /** The event's place in the journal. */
  place: number;
  event_id: string;
  type: string;
  object_id: string | null;
  at: string;
}

/**
 * Claims up to `limit` outbox rows, hands them to `consume` and removes them, all in one transaction. Rows are claimed,
 * never read past: an event whose transaction commits late is taken when it is there, which a cursor over `seq` would
 * skip. Any number of processes may drain at once.
 *
 * @returns how many rows were taken; 0 when there is nothing to do
 */
export async function drainOutbox(
  db: Database,
  limit: number,
  consume: (rows: OutboxRow[], tx: Transaction) => Promise<void>,
): Promise<number> {
  return await db.transaction('BEGIN', async (tx) => {
    const rows = await tx.query<OutboxRow>(sql`
      DELETE FROM outbox x WHERE seq IN (SELECT seq FROM outbox ORDER BY seq LIMIT ${limit}::int FOR UPDATE SKIP LOCKED)
      RETURNING event_id, type, object_id, at, coalesce(place, (
        -- Written by a version that did not say the place; the newest are looked at first.
        SELECT j.seq FROM journal j WHERE j.id = x.event_id AND j.object_id IS NOT DISTINCT FROM x.object_id
        ORDER BY j.seq DESC LIMIT 1)) AS place`);
    if (rows.length > 0) {
      rows.sort((a, b) => a.place - b.place);
      await consume(rows, tx);
    }
    return rows.length;
  });
}

/** Puts the events at these places back into the outbox, from which a consumer takes them again. */
export async function returnToOutbox(tx: Transaction, places: readonly number[]): Promise<void> {
  await tx.query(sql`
    INSERT INTO outbox (event_id, type, object_id, at, place)
    SELECT id, type, object_id, at, seq FROM journal WHERE seq = ANY(${[...places]}::bigint[]) ORDER BY seq`);
}

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

/** The audit log, the last entry first. */
export async function auditRows(
  ctx: ReadContext,
  page: { type?: string; subject?: string; limit: number; offset: number },
): Promise<AuditRow[]> {
  return await ctx.query<AuditRow>(sql`
    SELECT j.id, j.at, j.type, j.subject, j.actor_id AS "actorId", u.display_name AS "actorName", j.via, j.key_id AS "keyId",
      j.correlation_id AS "correlationId", ${shownData('j')} AS data
    FROM journal j LEFT JOIN users u ON u.id = j.actor_id
    WHERE j.object_id IS NULL
      ${page.type === undefined ? empty : sql`AND j.type = ${page.type}`}
      ${page.subject === undefined ? empty : sql`AND j.subject = ${page.subject}`}
    ORDER BY j.seq DESC LIMIT ${page.limit}::int OFFSET ${page.offset}::int`);
}

/** Whether nothing ever happened here: every change of configuration, people or records leaves an event. */
export async function isUntouched(db: Queryable): Promise<boolean> {
  const rows = await db.query<{ untouched: boolean }>(sql`SELECT NOT EXISTS (SELECT 1 FROM journal) AS untouched`);
  return rows[0]?.untouched === true;
}

/** How much waits somewhere, counted no further than the limit that was given, and since when. */
export interface Backlog {
  waiting: number;
  oldestAt: string | null;
}

/** Events that wait for a consumer, the first of them up to a limit. */
export async function outboxBacklog(db: Queryable, limit: number): Promise<Backlog> {
  const rows = await db.query<Backlog>(sql`
    SELECT count(*)::int AS waiting, min(at) AS "oldestAt"
    FROM (SELECT at FROM outbox ORDER BY seq LIMIT ${limit}::int) o`);
  return rows[0] ?? { waiting: 0, oldestAt: null };
}

/** How many events wait for a consumer. */
export async function outboxSize(db: Queryable): Promise<number> {
  const rows = await db.query<{ waiting: number }>(sql`SELECT count(*) AS waiting FROM outbox`);
  return rows[0]?.waiting ?? 0;
}
