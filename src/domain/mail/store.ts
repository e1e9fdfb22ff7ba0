/** SQL on the tables `mail_threads`, `mail_messages` and `mailbox_readers`. */
import { columns, omit, type RowOf } from '../../platform/database/table.ts';
import { tables } from '../../platform/database/tables.ts';
import { deleteFrom, insertInto, update } from '../../platform/unit-of-work/table-writes.ts';
import sql, { empty, raw } from 'sql-template-tag';
import type { ContractDetail } from '../../lib/fault.ts';
import type { BlobUse } from '../../platform/blobs/register.ts';
import type { Queryable } from '../../platform/database/pool.ts';
import type { ReadContext } from '../../platform/unit-of-work/context.ts';
import { storedLine } from './content.ts';
import type { MailThread } from './reply-token.ts';

/**
 * The threads of records with users, made if they do not exist. Concurrent calls get the same ones.
 *
 * @param pairs without repetition
 */
export async function makeThreads(
  db: Queryable,
  pairs: readonly { objectId: string; userId: string }[],
): Promise<MailThread[]> {
  // In a fixed order, so that concurrent calls do not wait for each other in a cycle. A conflict updates the row, because only
  // then it is returned if another transaction has just made it.
  return await db.query<MailThread>(sql`
    INSERT INTO mail_threads AS t (object_id, user_id)
    SELECT "objectId", "userId" FROM jsonb_to_recordset(${JSON.stringify(pairs)}::jsonb) AS p ("objectId" uuid, "userId" uuid)
    ORDER BY 1, 2
    ON CONFLICT (object_id, user_id) DO UPDATE SET user_id = excluded.user_id
    RETURNING t.handle, t.object_id AS "objectId", t.user_id AS "userId"`);
}

export async function findThread(ctx: ReadContext, handle: number): Promise<MailThread | undefined> {
  const [thread] = await ctx.query<MailThread>(sql`
    SELECT t.handle, t.object_id AS "objectId", t.user_id AS "userId" FROM mail_threads t
    WHERE t.handle = ${handle}::bigint`);
  return thread;
}

const MESSAGE = omit(tables.mail_messages, ['messageKey']);
export type MessageRow = RowOf<typeof MESSAGE>;

/** Why a command refused a message. */
export interface MessageError {
  code: string;
  message: string;
  details: ContractDetail[] | Record<string, unknown>;
}

const COLUMNS = columns(MESSAGE, 'm');

/** The used message with this key, else the listed one with the same content; undefined if there is neither. */
export async function findKnown(
  ctx: ReadContext,
  { mailboxId, messageKey, sha256 }: { mailboxId: string; messageKey: string; sha256: string },
): Promise<MessageRow | undefined> {
  const [known] = await ctx.query<MessageRow>(sql`
    SELECT ${COLUMNS} FROM mail_messages m
    WHERE m.mailbox_id = ${mailboxId}::uuid AND m.message_key = ${messageKey}
      AND (m.state = 'USED' OR m.sha256 = ${sha256})
    ORDER BY m.state = 'USED' DESC LIMIT 1`);
  return known;
}

export async function findMessage(ctx: ReadContext, id: string): Promise<MessageRow | undefined> {
  const [row] = await ctx.query<MessageRow>(sql`SELECT ${COLUMNS} FROM mail_messages m WHERE m.id = ${id}::uuid`);
  return row;
}

/** Received messages, newest first. */
export async function listMessages(
  ctx: ReadContext,
  { state, limit, offset }: { state: MessageRow['state'] | undefined; limit: number; offset: number },
): Promise<MessageRow[]> {
  const chosen = state === undefined ? empty : sql`WHERE m.state = ${raw(`'${state}'`)}`;
  return await ctx.query<MessageRow>(sql`
    SELECT ${COLUMNS} FROM mail_messages m ${chosen} ORDER BY m.at DESC, m.id DESC
    LIMIT ${limit}::int OFFSET ${offset}::int`);
}

/** The senders of messages that were received since the instant; of many, some. */
export async function sendersSince(ctx: ReadContext, since: string): Promise<string[]> {
  const rows = await ctx.query<{ sender: string }>(sql`
    SELECT DISTINCT m.sender FROM mail_messages m
    WHERE m.at >= ${since}::timestamptz AND m.sender IS NOT NULL LIMIT 10000`);
  return rows.map(({ sender }) => sender);
}

/**
 * Planned in the unit of work of the message's effect. The guard undoes the unit if the message was used or listed already, by
 * this or another process; the retry finds what it became.
 */
export const insertMessage = insertInto(tables.mail_messages, {
  name: 'insert_mail_messages',
  records: ({ objectId }) => [objectId],
  conflict: 'ignore',
});

/** A listed message is tried again: it is used now, or listed for another reason. */
export const changeMessage = update(tables.mail_messages, {
  name: 'change_mail_messages',
  records: ({ objectId }) => [objectId],
  set: ['state', 'reason', 'detail', 'objectId', 'commentId', 'mailId'],
  also: { sha256: sql`CASE WHEN r.state = 'LISTED' THEN t.sha256 END` },
  where: sql`t.state = 'LISTED'`,
});

/** A listed message whose repetition was used. */
export const dropMessage = deleteFrom(tables.mail_messages, {
  name: 'drop_mail_messages',
  guard: false,
  where: sql`t.state = 'LISTED'`,
});

const BATCH = 5000;

/**
 * Deletes listed messages older than `listedBefore` and used ones older than `usedBefore`, in bounded batches.
 *
 * @returns whether there may be more to delete
 */
export async function purgeMessages(db: Queryable, listedBefore: string, usedBefore: string): Promise<boolean> {
  // One statement for each state, so that each reads its index. Listed messages are never kept longer than used ones.
  let mayBeMore = false;
  for (const old of [
    sql`m.state = 'LISTED' AND m.at < ${listedBefore}::timestamptz`,
    sql`m.at < ${usedBefore}::timestamptz`,
  ]) {
    const rows = await db.query<{ removed: number }>(sql`
      WITH gone AS (
        DELETE FROM mail_messages WHERE ctid = ANY (ARRAY(
          SELECT m.ctid FROM mail_messages m WHERE ${old} ORDER BY m.at LIMIT ${BATCH}::int)) RETURNING 1
      ) SELECT count(*) AS removed FROM gone`);
    if ((rows[0]?.removed ?? 0) >= BATCH) mayBeMore = true;
  }
  return mayBeMore;
}

/** Leases the mailbox to the holder, or renews the lease. While another one holds it, nothing is written. @returns false then */
export async function leaseMailbox(db: Queryable, id: string, holder: string, leaseMs: number): Promise<boolean> {
  const rows = await db.query(sql`
    INSERT INTO mailbox_readers AS r (mailbox_id, holder, until)
    SELECT ${id}::uuid, ${holder}::uuid, clock_timestamp() + make_interval(secs => ${leaseMs / 1000}::float8)
    WHERE NOT EXISTS (SELECT 1 FROM mailbox_readers l
      WHERE l.mailbox_id = ${id}::uuid AND l.holder <> ${holder}::uuid AND l.until > clock_timestamp())
    ON CONFLICT (mailbox_id) DO UPDATE SET holder = excluded.holder, until = excluded.until
    WHERE r.holder = excluded.holder OR r.until <= clock_timestamp() RETURNING 1`);
  return rows.length > 0;
}

/** Ends a lease of the holder, independently of the clock. @param id null: all of them */
export async function releaseMailbox(db: Queryable, holder: string, id: string | null): Promise<void> {
  await db.query(sql`
    UPDATE mailbox_readers SET until = '-infinity'
    WHERE holder = ${holder}::uuid AND until > clock_timestamp() AND (${id}::uuid IS NULL OR mailbox_id = ${id}::uuid)`);
}

const LONGEST_ERROR = 500;

/** Notes that the mailbox was read, or why it cannot be read. */
export async function noteReading(db: Queryable, id: string, error: string | null): Promise<void> {
  const text = error === null ? null : storedLine(error, LONGEST_ERROR);
  await db.query(sql`
    UPDATE mailbox_readers r SET error = ${text},
      failing_since = CASE WHEN ${text}::text IS NOT NULL THEN coalesce(r.failing_since, clock_timestamp()) END
    WHERE r.mailbox_id = ${id}::uuid AND r.error IS DISTINCT FROM ${text}`);
}

/** Of enabled mailboxes that cannot be read, as `r`, with their item of the configuration `i`. */
export const UNREADABLE = sql`mailbox_readers r JOIN config_items i ON i.id = r.mailbox_id
  WHERE r.failing_since IS NOT NULL AND i.state = 'ACTIVE' AND (i.definition ->> 'enabled')::boolean AND i.definition ? 'imap'`;

/** An enabled mailbox that cannot be read now. */
export interface Unreadable {
  /** Code of the mailbox. */
  mailbox: string;
  since: string;
  error: string;
}

export async function listUnreadable(db: Queryable): Promise<Unreadable[]> {
  return await db.query<Unreadable>(sql`
    SELECT i.code AS mailbox, r.failing_since AS since, coalesce(r.error, '') AS error FROM ${UNREADABLE} ORDER BY i.code`);
}

/** Messages that were not used keep their content. */
export const messageUse: BlobUse = (sha256) => sql`EXISTS (SELECT 1 FROM mail_messages m WHERE m.sha256 = ${sha256})`;
