/** SQL on watches, choices and the notifications of one user. Rights are part of the statements, before LIMIT and COUNT. */
import { columns, omit, type RowOf } from '../../platform/database/table.ts';
import { tables } from '../../platform/database/tables.ts';
import { deleteFrom, insertInto, update } from '../../platform/unit-of-work/table-writes.ts';
import sql, { empty, join, type Sql } from 'sql-template-tag';
import type { Moment } from '../../platform/moments.ts';
import { joinedUser, storedMember } from '../../platform/journal/journal.ts';
import type { Queryable } from '../../platform/database/pool.ts';
import type { ReadContext } from '../../platform/unit-of-work/context.ts';
import { commentOfFile } from '../attachments/index.ts';
import { visibleComments } from '../comments/index.ts';
import { type RecordType, registry, storedCodes } from '../metadata/index.ts';
import type { Kind } from './rules.ts';
import { NOTIFICATIONS } from './store-make.ts';

export async function isWatching(ctx: ReadContext, objectId: string, userId: string): Promise<boolean> {
  const rows = await ctx.query(sql`
    SELECT 1 FROM notification_watchers WHERE object_id = ${objectId}::uuid AND user_id = ${userId}::uuid`);
  return rows.length > 0;
}

export const insertWatch = insertInto(tables.notification_watchers, {
  name: 'insert_watch',
  guard: false,
  conflict: 'ignore',
});

export const removeWatch = deleteFrom(tables.notification_watchers, { name: 'remove_watch', guard: false });

const SETTINGS = omit(tables.notification_settings, ['userId', 'updatedAt']);

export async function findSettings(ctx: ReadContext, userId: string): Promise<RowOf<typeof SETTINGS>> {
  const [row] = await ctx.query<RowOf<typeof SETTINGS>>(sql`
    SELECT ${columns(SETTINGS, 's')} FROM notification_settings s
    WHERE user_id = ${userId}::uuid`);
  return row ?? { choices: {}, quietFrom: null, quietTo: null };
}

export const putChoices = insertInto(tables.notification_settings, {
  name: 'put_notification_choices',
  guard: false,
  defaults: ['quietFrom', 'quietTo'],
  conflict: 'replace',
});

export const putQuietHours = insertInto(tables.notification_settings, {
  name: 'put_notification_quiet_hours',
  guard: false,
  defaults: ['choices'],
  conflict: 'replace',
});

/** Marks notifications as read: those of `ids`, those of a record, or all of the user if both are null. */
export const markRead = update(tables.notifications, {
  name: 'mark_notifications_read',
  guard: false,
  key: ['userId'],
  set: ['readAt'],
  given: { ids: 'uuid[]', objectId: 'uuid' },
  where: sql`t.in_console AND t.read_at IS NULL AND (r.ids IS NULL OR t.id = ANY(r.ids))
    AND (r."objectId" IS NULL OR t.object_id = r."objectId")`,
});

export interface NotificationRow {
  id: string;
  kind: Kind;
  eventType: string;
  at: string;
  readAt: string | null;
  objectId: string;
  actorId: string | null;
  actorName: string | null;
  /** Stored codes of the changed fields. */
  fields: string[] | null;
  commentId: string | null;
  /** The beginning of the comment. */
  excerpt: string | null;
}

/** Characters of a comment in the list. */
const EXCERPT = 300;
const AUTHOR = joinedUser('n.actor_id', 'u');
/** A comment can take a file after its notification. */
const COMMENT = sql`coalesce(n.comment_id, CASE WHEN n.event_type = 'AttachmentAdded' THEN (
  SELECT ${commentOfFile('j.data')} FROM journal j WHERE j.object_id = n.object_id AND j.id = n.event_id) END)`;
const FROM = sql`notifications n JOIN objects o ON o.id = n.object_id LEFT JOIN comments c ON c.id = ${COMMENT}`;

/** The notifications of the caller that the caller may see now, newest first. */
export async function listNotifications(
  ctx: ReadContext,
  userId: string,
  page: { unread: boolean; limit: number; offset: number },
): Promise<NotificationRow[]> {
  const seen = visibleNotifications(ctx, userId);
  if (seen === null) return [];
  return await ctx.query<NotificationRow>(
    sql`
      SELECT n.id, n.kind, n.event_type AS "eventType", n.at, n.read_at AS "readAt", n.object_id AS "objectId",
        n.actor_id AS "actorId", ${AUTHOR.name} AS "actorName", n.fields, n.comment_id AS "commentId",
        left(c.body, ${EXCERPT}::int) AS excerpt
      FROM ${FROM} ${AUTHOR.join} WHERE ${inConsole(page.unread)} AND ${seen}
      ORDER BY n.place DESC, n.id LIMIT ${page.limit}::int OFFSET ${page.offset}::int`,
    { freshPlan: true },
  );
}

function inConsole(unread: boolean): Sql {
  return sql`n.in_console ${unread ? sql`AND n.read_at IS NULL` : empty}`;
}

/** A notification as a digest lists it. */
export type DigestedNotification = Pick<NotificationRow, 'id' | 'kind' | 'objectId'>;

export type MailedNotification = DigestedNotification &
  Pick<NotificationRow, 'actorName' | 'commentId'> & {
    /** Whole; null without a comment. */
    comment: string | null;
    /** Id of the template that the rule names. */
    templateId: string | null;
  };

/** The notification of the caller; undefined if the caller may not see it now. */
export async function readMailed(
  ctx: ReadContext,
  userId: string,
  id: string,
): Promise<MailedNotification | undefined> {
  const seen = visibleNotifications(ctx, userId);
  if (seen === null) return undefined;
  const [row] = await ctx.query<MailedNotification>(
    sql`
      SELECT n.id, n.kind, n.object_id AS "objectId", ${AUTHOR.name} AS "actorName", n.comment_id AS "commentId",
        c.body AS comment,
        (SELECT ${storedMember('j', 'template')} FROM journal j WHERE n.event_type = 'RuleNotified'
          AND j.object_id = n.object_id AND j.id = n.event_id) AS "templateId"
      FROM ${FROM} ${AUTHOR.join} WHERE n.id = ${id}::uuid AND ${seen}`,
    { freshPlan: true },
  );
  return row;
}

/** Those of the notifications of the caller that the caller may see now: their number, and the oldest `limit`, oldest first. */
export async function readDigested(
  ctx: ReadContext,
  userId: string,
  ids: readonly string[],
  limit: number,
): Promise<{ total: number; first: DigestedNotification[] }> {
  const seen = visibleNotifications(ctx, userId);
  if (seen === null) return { total: 0, first: [] };
  const rows = await ctx.query<DigestedNotification & { total: number }>(
    sql`
      SELECT n.id, n.kind, n.object_id AS "objectId", (count(*) OVER ())::int AS total
      FROM ${FROM} WHERE n.id = ANY(${[...ids]}::uuid[]) AND ${seen}
      ORDER BY n.place, n.id LIMIT ${limit}::int`,
    { freshPlan: true },
  );
  return { total: rows[0]?.total ?? 0, first: rows };
}

/** What a notification is about. Rights are not considered. */
interface NotifiedOf {
  id: string;
  objectId: string;
  commentId: string | null;
}

/** Notification id → the record and the comment that it is about. Rights are not considered. */
export async function notifiedRecords(
  ctx: ReadContext,
  ids: readonly string[],
): Promise<ReadonlyMap<string, NotifiedOf>> {
  if (ids.length === 0) return new Map();
  const rows = await ctx.query<NotifiedOf>(sql`
    SELECT n.id, n.object_id AS "objectId", n.comment_id AS "commentId" FROM notifications n
    WHERE n.id = ANY(${[...ids]}::uuid[])`);
  return new Map(rows.map((row) => [row.id, row]));
}

/** A batch that is still growing after this time is sent in several mails. */
const LONGEST_BATCH = sql`interval '10 minutes'`;
/** More than the delay of mails of a batch. */
const BATCH_GROWS = sql`interval '2 minutes'`;

/**
 * A statement part that takes due mails out of the queue: rows with `notification_id`, `user_id`, `due_at` and `mail`, which
 * is equal for the notifications of one mail. A user's due mails are taken together, and a batch when it has stopped growing, so
 * that one mail is made of them.
 *
 * @param limit number of mails whose users are served
 */
export function takeDueMails(now: string, limit: number): Sql {
  const due = sql`m.due_at <= ${now}::timestamptz AND (m.is_digest OR m.batch IS NULL
    OR m.due_at <= ${now}::timestamptz - ${LONGEST_BATCH} OR (m.user_id, m.batch) NOT IN (
      SELECT l.user_id, l.batch FROM notification_mails l WHERE l.due_at > ${now}::timestamptz
        AND l.due_at <= ${now}::timestamptz + ${BATCH_GROWS} AND NOT l.is_digest AND l.batch IS NOT NULL))`;
  // Processes that take them at the same time wait for each other: skipping locked rows would divide a mail.
  return sql`DELETE FROM notification_mails WHERE notification_id = ANY(ARRAY(
      SELECT m.notification_id FROM notification_mails m WHERE ${due} AND m.user_id = ANY(ARRAY(
        SELECT m.user_id FROM notification_mails m WHERE ${due} ORDER BY m.due_at, m.user_id LIMIT ${limit}::int))
      ORDER BY m.notification_id FOR UPDATE))
    RETURNING notification_id, user_id, due_at, CASE WHEN is_digest THEN 'digest ' || due_at::text
      WHEN batch IS NOT NULL THEN 'batch ' || batch ELSE notification_id::text END AS mail`;
}

/** Those of the records of which the caller has unread notifications that they may see now. */
export async function listUnreadRecords(
  ctx: ReadContext,
  userId: string,
  objectIds: readonly string[],
): Promise<string[]> {
  const seen = visibleNotifications(ctx, userId);
  if (seen === null || objectIds.length === 0) return [];
  const rows = await ctx.query<{ id: string }>(
    sql`
      SELECT DISTINCT n.object_id AS id FROM ${FROM}
      WHERE n.object_id = ANY(${[...objectIds]}::uuid[]) AND ${inConsole(true)} AND ${seen}`,
    { freshPlan: true },
  );
  return rows.map(({ id }) => id);
}

/** The number of unread notifications that the caller may see now, counted up to `most`. */
export async function countUnread(ctx: ReadContext, userId: string, most: number): Promise<number> {
  const seen = visibleNotifications(ctx, userId);
  if (seen === null) return 0;
  const [row] = await ctx.query<{ unread: number }>(sql`
    SELECT count(*)::int AS unread FROM (SELECT FROM ${FROM} WHERE ${inConsole(true)} AND ${seen} LIMIT ${most}::int) AS found`);
  return row?.unread ?? 0;
}

/**
 * Predicate on `n`, its record `o` and its comment `c`; null if the user can see none. The user must be able to read the record,
 * the comment, and one of the changed fields. What watchers learn about fields is history.
 */
function visibleNotifications(ctx: ReadContext, userId: string): Sql | null {
  const { actor, now } = ctx;
  const read = actor.visible('o', 'read', now);
  if (read === null) return null;
  const history = actor.visible('o', 'history', now) ?? sql`false`;
  return sql`n.user_id = ${userId}::uuid AND ${read}
    AND (CASE WHEN c.id IS NULL THEN n.comment_id IS NULL ELSE c.state = 'ACTIVE' AND ${visibleComments(ctx, 'c', 'o')} END)
    AND (n.fields IS NULL OR ((n.kind <> 'watch' OR ${history}) AND ${readableFields(ctx)}))`;
}

/** The codes of all fields that records of the type have or had. */
function fieldCodes(type: RecordType): string[] {
  return [...new Set([...type.versions.values()].flatMap(({ fields }) => [...fields.keys()]))];
}

/** Predicate: one of the fields of `n` is readable on its record `o`, which the caller may read. */
function readableFields(ctx: ReadContext): Sql {
  const types = registry(ctx);
  const whole: string[] = [];
  const parts: Sql[] = [];
  for (const typeId of ctx.actor.typesFor('read')) {
    const type = types.byId.get(typeId);
    if (type === undefined) continue;
    const access = ctx.actor.fieldAccess(typeId);
    const codes = fieldCodes(type);
    const always = codes.filter((code) => access.canAlwaysRead(code));
    if (always.length === codes.length) {
      whole.push(typeId);
      continue;
    }
    const stored = (code: string): string => storedCode(ctx, typeId, code);
    const readable = [sql`n.fields && ${always.map(stored)}::text[]`];
    for (const code of codes) {
      if (always.includes(code) || !access.canRead(code)) continue;
      const where = access.whereReadable('o', code, ctx.now) ?? sql`true`;
      readable.push(sql`(${stored(code)} = ANY(n.fields) AND ${where})`);
    }
    parts.push(sql`(o.type_id = ${typeId}::uuid AND (${join(readable, ' OR ')}))`);
  }
  if (whole.length > 0) parts.push(sql`o.type_id = ANY(${whole}::uuid[])`);
  return parts.length === 0 ? sql`false` : sql`(${join(parts, ' OR ')})`;
}

/** The code under which the journal has the field. */
export function storedCode(ctx: Pick<ReadContext, 'config'>, typeId: string, code: string): string {
  return Object.keys(storedCodes(registry(ctx), typeId).encode({ [code]: null }))[0] ?? code;
}

/**
 * The users who got notifications for the console of places after `place`, and the last place that was examined.
 *
 * @param place null: only the last place is wanted
 */
export async function notifiedSince(
  db: Queryable,
  place: number | null,
): Promise<{ place: number | null; users: string[] }> {
  const [row] = await db.query<{ place: number; users: string[] }>(sql`
    SELECT m.place, ARRAY(SELECT DISTINCT n.user_id FROM notifications n
      WHERE n.place > coalesce(${place}::bigint, m.place) AND n.place <= m.place AND n.in_console) AS users
    FROM journal_consumers m WHERE m.name = ${NOTIFICATIONS}`);
  return row ?? { place, users: [] };
}

/** Deletes up to `limit` notifications from before `before`, with their mails, and the marks of imports. @returns how many */
export async function purgeNotifications(db: Queryable, before: string, limit: number): Promise<number> {
  const [row] = await db.query<{ n: number }>(sql`
    WITH gone AS (
      DELETE FROM notifications WHERE id IN (
        SELECT id FROM notifications WHERE at < ${before}::timestamptz ORDER BY at LIMIT ${limit}::int FOR UPDATE SKIP LOCKED)
      RETURNING id
    ), mails AS (DELETE FROM notification_mails m USING gone WHERE m.notification_id = gone.id
    ), imports AS (DELETE FROM notification_imports WHERE at < ${before}::timestamptz)
    SELECT count(*)::int AS n FROM gone`);
  return row?.n ?? 0;
}

/** When mails of notifications are due: the module of mail sends them. */
export const notificationMoment: Moment = {
  task: 'mails',
  next: (since) => sql`(SELECT min(due_at) FROM notification_mails WHERE due_at > ${since}::timestamptz)`,
};
