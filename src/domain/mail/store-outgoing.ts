/** SQL on the tables `mail_outgoing` and `mail_bounces`. */
import { tables } from '../../platform/database/tables.ts';
import { insertInto, update } from '../../platform/unit-of-work/table-writes.ts';
import sql, { empty, raw, type Sql } from 'sql-template-tag';
import { nextTimer, type TimerTable } from '../../platform/jobs/timers.ts';
import { joinedUser } from '../../platform/journal/journal.ts';
import {
  claimRows,
  type ClaimRequest,
  dueRows,
  finishRows,
  purgeRows,
  type QueueTable,
  type Result,
} from '../../platform/jobs/queue.ts';
import type { Queryable } from '../../platform/database/pool.ts';
import type { ReadContext } from '../../platform/unit-of-work/context.ts';
import { takeDueMails } from '../notifications/index.ts';

/** Waiting or retried; accepted by the server; given up; not sent, for example because the recipient may see nothing of it. */
type SendStatus = 'PENDING' | 'SENT' | 'FAILED' | 'DROPPED';

/** As the log shows them: BOUNCED was accepted by the server, and a bounce came back. */
export const SEND_STATES = ['PENDING', 'SENT', 'BOUNCED', 'FAILED', 'DROPPED'] as const;
export type SendState = (typeof SEND_STATES)[number];

/** A mail as the log shows it. */
export interface SentRow {
  id: string;
  state: SendState;
  userId: string;
  userName: string | null;
  objectId: string | null;
  commentId: string | null;
  /** Number of notifications in it. */
  notifications: number;
  attempts: number;
  dueAt: string;
  /** Of a running attempt: the end of its lease. */
  nextAt: string;
  finishedAt: string | null;
  error: string | null;
}

const RECIPIENT = joinedUser('m.user_id', 'u');
/** A mail that waits is not shown as bounced: its next attempt decides. */
const BOUNCED = sql`m.status = 'SENT' AND b.mail_id IS NOT NULL`;
const SENT = sql`SELECT m.id, CASE WHEN ${BOUNCED} THEN 'BOUNCED' ELSE m.status END AS state, m.user_id AS "userId",
    ${RECIPIENT.name} AS "userName", m.object_id AS "objectId", m.comment_id AS "commentId",
    cardinality(m.notification_ids) AS notifications, m.attempts, m.due_at AS "dueAt", m.next_at AS "nextAt", CASE WHEN ${BOUNCED} THEN b.at ELSE m.finished_at END AS "finishedAt",
    CASE WHEN ${BOUNCED} THEN b.error ELSE m.error END AS error
  FROM mail_outgoing m LEFT JOIN mail_bounces b ON b.mail_id = m.id ${RECIPIENT.join}`;

function inState(state: SendState): Sql {
  if (state === 'BOUNCED') return BOUNCED;
  if (state === 'SENT') return sql`m.status = 'SENT' AND b.mail_id IS NULL`;
  return sql`m.status = ${raw(`'${state}'`)}`;
}

/** Mails to users, newest first. */
export async function listSent(
  ctx: ReadContext,
  { state, limit, offset }: { state: SendState | undefined; limit: number; offset: number },
): Promise<SentRow[]> {
  const chosen = state === undefined ? empty : sql`WHERE ${inState(state)}`;
  return await ctx.query<SentRow>(sql`
    ${SENT} ${chosen} ORDER BY m.due_at DESC, m.id DESC LIMIT ${limit}::int OFFSET ${offset}::int`);
}

export async function findSent(ctx: ReadContext, ids: readonly string[]): Promise<SentRow[]> {
  if (ids.length === 0) return [];
  return await ctx.query<SentRow>(sql`${SENT} WHERE m.id = ANY(${[...ids]}::uuid[])`);
}

/** The address to which the mail was sent from this mailbox; undefined if it was not. */
export async function findSentAddress(ctx: ReadContext, id: string, mailboxId: string): Promise<string | undefined> {
  const [row] = await ctx.query<{ address: string }>(sql`
    SELECT m.address FROM mail_outgoing m
    WHERE m.id = ${id}::uuid AND m.mailbox_id = ${mailboxId}::uuid AND m.address IS NOT NULL`);
  return row?.address;
}

/** A bounce can arrive before the service has noted that the mail was sent. The first bounce of an attempt counts. */
export const insertBounce = insertInto(tables.mail_bounces, {
  name: 'insert_mail_bounces',
  guard: false,
  where: sql`EXISTS (SELECT FROM mail_outgoing m WHERE m.id = r."mailId" AND m.status IN ('PENDING', 'SENT'))`,
  conflict: 'ignore',
});

/** The mail is due again. It counts as new, so that it is tried for as long as a new one. A waiting one could be running now. */
export const sendAgain = update(tables.mail_outgoing, {
  name: 'send_mail_again',
  set: ['dueAt'],
  also: { nextAt: sql`r."dueAt"`, status: sql`'PENDING'`, finishedAt: sql`NULL`, error: sql`NULL` },
  where: sql`t.status <> 'PENDING'`,
});

export interface OutgoingRow {
  id: string;
  userId: string;
  notificationIds: string[];
  attempts: number;
  dueAt: string;
}

/** Makes mails of due notifications: one for each, for each digest, and for each bulk change. */
export async function makeOutgoing(db: Queryable, now: string, limit: number): Promise<number> {
  const [row] = await db.query<{ n: number }>(sql`
    WITH due AS (${takeDueMails(now, limit)}), made AS (
      INSERT INTO mail_outgoing (id, user_id, notification_ids, status, due_at, next_at)
      SELECT (array_agg(notification_id ORDER BY notification_id))[1], user_id, array_agg(notification_id ORDER BY notification_id),
        'PENDING', min(due_at), ${now}::timestamptz
      FROM due GROUP BY user_id, mail RETURNING 1
    ) SELECT count(*)::int AS n FROM made`);
  return row?.n ?? 0;
}

/** The number of the attempt identifies the claim. */
const MAILS: QueueTable = { name: 'mail_outgoing', due: 'next_at', claim: 'attempts', order: sql`x.next_at` };

/** Leases mails that are due. Bounces of earlier attempts are forgotten. */
export async function leaseOutgoing(db: Queryable, { now, until, total }: ClaimRequest): Promise<OutgoingRow[]> {
  const ids = dueRows(MAILS, sql`true`, now, sql`${total}::int`);
  return await db.query<OutgoingRow>(sql`
    ${claimRows(MAILS, ids, sql`d.attempts + 1`, until)},
    forgotten AS (DELETE FROM mail_bounces b USING claimed c WHERE b.mail_id = c.id)
    SELECT id, user_id AS "userId", notification_ids AS "notificationIds", attempts, due_at AS "dueAt" FROM claimed`);
}

/** What is noted of a mail before it is sent. */
interface Sending {
  /** What it is about: its answers are judged by it. */
  objectId: string | null;
  commentId: string | null;
  /** From which mailbox, if any, and to whom it is sent: a bounce must name both. */
  mailboxId: string | null;
  address: string;
}

export async function noteSending(
  db: Queryable,
  id: string,
  { objectId, commentId, mailboxId, address }: Sending,
): Promise<void> {
  await db.query(sql`
    UPDATE mail_outgoing SET object_id = ${objectId}::uuid, comment_id = ${commentId}::uuid, mailbox_id = ${mailboxId}::uuid,
      address = ${address} WHERE id = ${id}::uuid`);
}

export interface Sent extends Result {
  attempts: number;
  status: SendStatus;
}

/** Notes the results of attempts, unless the lease ended and another process made the next one. */
export async function finishOutgoing(db: Queryable, results: readonly Sent[]): Promise<void> {
  await db.query(sql`${finishRows(MAILS, results, empty, sql`error = r.error`)} SELECT FROM done`);
}

/**
 * The comment that the first of the mails was about that was sent to the user about the record; null if it was about none, undefined
 * if there is no such mail.
 */
export async function findAnswered(
  ctx: ReadContext,
  userId: string,
  objectId: string,
  mailIds: readonly string[],
): Promise<string | null | undefined> {
  const rows = await ctx.query<{ id: string; commentId: string | null }>(sql`
    SELECT m.id, m.comment_id AS "commentId" FROM mail_outgoing m
    WHERE m.id = ANY(${[...mailIds]}::uuid[]) AND m.user_id = ${userId}::uuid AND m.object_id = ${objectId}::uuid`);
  const found = mailIds.map((id) => rows.find((row) => row.id === id)).find((row) => row !== undefined);
  return found?.commentId;
}

const BATCH = 5000;

/**
 * Deletes mails whose last attempt was before this instant. It can be days after they were due, and their answers are judged by
 * them as long as the tokens of that attempt are valid.
 *
 * @returns whether there may be more to delete
 */
export async function purgeOutgoing(db: Queryable, before: string): Promise<boolean> {
  const old = sql`SELECT m.ctid FROM mail_outgoing m
    WHERE m.due_at < ${before}::timestamptz AND coalesce(m.finished_at, m.next_at) < ${before}::timestamptz LIMIT ${BATCH}::int`;
  const rows = await db.query<{ removed: number }>(sql`
    WITH gone AS (${purgeRows(MAILS, old, before)}) SELECT count(*) AS removed FROM gone`);
  return (rows[0]?.removed ?? 0) >= BATCH;
}

const PENDING: TimerTable = { name: 'mail_outgoing', alias: 'm', due: 'next_at', pending: sql`m.status = 'PENDING'` };

export const mailMoment = nextTimer(PENDING, 'mails');
