/** SQL of making notifications. One process does it at a time: it holds the row of the consumer. */
import { tables } from '../../platform/database/tables.ts';
import { insertInto, update } from '../../platform/unit-of-work/table-writes.ts';
import sql, { type Sql } from 'sql-template-tag';
import { commentOfFile } from '../attachments/index.ts';
import { changedNames, storedMember } from '../../platform/journal/journal.ts';
import { ADOPTED, isAdopted, marksForBackup, UNIT, unitOf } from '../../platform/journal/positions.ts';
import { type Batch, isHandled } from '../../platform/journal/consumers.ts';
import type { Queryable } from '../../platform/database/pool.ts';
import { CONSEQUENT, type ReadContext, type WriteContext } from '../../platform/unit-of-work/context.ts';
import type { Choices, Kind } from './rules.ts';

/** What decides whom an event concerns. */
/** The name of the consumer of the journal that makes notifications. */
export const NOTIFICATIONS = 'notifications';

export interface AudienceEvent {
  id: string;
  type: string;
  actorId: string | null;
  objectId: string;
  commentId: string | null;
  /** Ids of the users and groups whom a rule notifies, separated by commas, and of the template of the mail. */
  told: { users?: string; groups?: string; template?: string | null };
  /** The changed properties of a comment. */
  changed: string[];
  /** Stored codes of what changed in the record. */
  fields: string[];
  /** The changes of the fields that were asked for, by stored code. */
  changes: Record<string, [unknown, unknown]>;
}

export interface MadeEvent extends AudienceEvent {
  place: number;
  at: string;
  /** The origin of the call, also for what rules did in it. */
  via: string;
  correlationId: string | null;
}

const OF_OTHERS = sql`${[...CONSEQUENT]}::text[]`;

/**
 * The origin of the call of the row `j` of the journal, as `call.via`: rules and answers run in the transaction of the call. Its rows have near
 * numbers; in a journal from another cluster many others have the transaction, too.
 */
const CALL = sql`LATERAL (SELECT coalesce(CASE WHEN j.via = ANY(${OF_OTHERS}) THEN (SELECT k.via FROM journal k
  WHERE ${unitOf('k')} = ${unitOf('j')} AND k.correlation_id = j.correlation_id AND k.via <> ALL(${OF_OTHERS})
    AND k.seq BETWEEN j.seq - 10000 AND j.seq + 10000 ORDER BY k.seq LIMIT 1) END, j.via) AS via) AS call`;

/** Predicate on `j` and `call`: the event notifies users. Those of imports do so only if the import's definition says so. */
const NOTIFIES = sql`(call.via <> 'import' OR EXISTS (SELECT FROM notification_imports i
  WHERE ${unitOf('i')} = ${unitOf('j')} AND i.correlation_id = j.correlation_id))`;

/** Columns of `AudienceEvent` of the row `j`. Of the changes only the given fields are read: texts can be long. */
function eventColumns(fields: readonly string[]): Sql {
  return sql`j.id, j.type, j.actor_id AS "actorId", j.object_id AS "objectId", coalesce(j.data ->> 'commentId', ${commentOfFile('j.data')}::text) AS "commentId",
    CASE WHEN j.type = 'RuleNotified' THEN jsonb_build_object('users', ${storedMember('j', 'users')}, 'groups',
      ${storedMember('j', 'groups')}) ELSE '{}' END AS told,
    coalesce(j.data -> 'changed', '[]') AS changed, coalesce(${changedNames('j')}, '{}') AS fields,
    coalesce((SELECT jsonb_object_agg(f.code, j.changes -> f.code) FROM unnest(${[...fields]}::text[]) AS f (code)
      WHERE j.changes ? f.code), '{}') AS changes`;
}

/** Events that concern nobody but watchers, unless they assign the record or change its state. */
const FOR_WATCHERS = sql`('ObjectCreated', 'ObjectUpdated', 'ObjectArchived', 'ObjectRestored', 'AttachmentAdded')`;

/**
 * The events of records in the batch, in the order of their places, and of no others than these types. Events that can concern
 * nobody are left out: most changes are about records that nobody watches, and each event costs the load of its record.
 *
 * @param fields stored codes of the fields that assign a record
 */
export async function listEvents(
  ctx: ReadContext,
  { after, upTo }: Batch,
  { types, fields }: { types: readonly string[]; fields: readonly string[] },
): Promise<MadeEvent[]> {
  const concerns = sql`(j.type NOT IN ${FOR_WATCHERS} OR j.changes ?| ${[...fields, 'workflowState']}::text[]
    OR EXISTS (SELECT FROM notification_watchers w WHERE w.object_id = j.object_id))`;
  return await ctx.query<MadeEvent>(
    sql`
      SELECT ${eventColumns(fields)}, p.place, j.at, call.via, j.correlation_id AS "correlationId"
      FROM journal_places p JOIN journal j ON j.seq = p.seq CROSS JOIN ${CALL}
      WHERE p.place > ${after}::bigint AND p.place <= ${upTo}::bigint
        AND j.object_id IS NOT NULL AND j.type = ANY(${[...types]}::text[]) AND ${concerns} AND ${NOTIFIES}
      ORDER BY p.place`,
    { freshPlan: true },
  );
}

/** An event of a record with what its notifications depend on. */
export interface PastEvent extends AudienceEvent {
  isImported: boolean;
  state: 'done' | 'pending' | 'old';
}

/** These events of one record. @param since instant from before which notifications may be deleted */
export async function listPastEvents(
  ctx: ReadContext,
  ids: readonly string[],
  objectId: string,
  { fields, since }: { fields: readonly string[]; since: string },
): Promise<PastEvent[]> {
  return await ctx.query<PastEvent>(sql`
    SELECT ${eventColumns(fields)}, NOT ${NOTIFIES} AS "isImported",
      CASE WHEN j.at < ${since}::timestamptz THEN 'old' WHEN ${isHandled('j', NOTIFICATIONS)} THEN 'done' ELSE 'pending' END AS state
    FROM journal j CROSS JOIN ${CALL}
    WHERE j.object_id = ${objectId}::uuid AND j.id = ANY(${[...ids]}::uuid[])`);
}

export interface MadeNotification {
  eventId: string;
  commentId: string | null;
  kind: Kind;
  inConsole: boolean;
  readAt: string | null;
  /** The mail that waits to be sent. */
  mail: { isDigest: boolean; dueAt: string } | null;
}

/** The notifications of a user about a record. */
export async function listMade(ctx: ReadContext, userId: string, objectId: string): Promise<MadeNotification[]> {
  const rows = await ctx.query<Omit<MadeNotification, 'mail'> & { isDigest: boolean | null; dueAt: string | null }>(sql`
    SELECT n.event_id AS "eventId", n.comment_id AS "commentId", n.kind, n.in_console AS "inConsole", n.read_at AS "readAt",
      m.is_digest AS "isDigest", m.due_at AS "dueAt"
    FROM notifications n LEFT JOIN notification_mails m ON m.notification_id = n.id
    WHERE n.user_id = ${userId}::uuid AND n.object_id = ${objectId}::uuid ORDER BY n.place DESC LIMIT 1000`);
  return rows.map(({ isDigest, dueAt, ...row }) => ({
    ...row,
    mail: isDigest === null || dueAt === null ? null : { isDigest, dueAt },
  }));
}

/** Planned in a unit of an import: its events notify users like those of other calls. */
export const insertNotifyingImport = insertInto(tables.notification_imports, {
  name: 'insert_notifying_import',
  guard: false,
  conflict: 'ignore',
});

/**
 * Gives the marks of imports from another cluster the transactions that `adoptJournal` gives their rows, in its transaction: 0 for
 * sealed ones, its own for others.
 */
export async function adoptImports(tx: Queryable): Promise<void> {
  await tx.query(sql`
    WITH gone AS (DELETE FROM notification_imports i WHERE ${isAdopted('i')} RETURNING correlation_id, at)
    INSERT INTO notification_imports (${UNIT}, correlation_id, at)
    SELECT t.unit, g.correlation_id, max(g.at) FROM gone g CROSS JOIN ${ADOPTED} AS t (unit)
    GROUP BY 1, 2 ON CONFLICT DO NOTHING`);
}

/** The query that backs up the marks of imports. */
export function importsForBackup(columns: readonly string[]): string {
  return marksForBackup('notification_imports', columns, 'correlation_id', 'at');
}

/** Which watchers are read: a record can have 100,000. */
export interface WatcherPart {
  /** The first of each record, in the order of their ids. */
  most: number;
  /** This user, too, if they watch a record. */
  also?: string | null;
}

/** Id of a record → ids of some of those who watch it, in their order. @param after only watchers behind this id */
export async function listWatchers(
  ctx: ReadContext,
  objectIds: readonly string[],
  { most, also = null }: WatcherPart,
  after: string | null = null,
): Promise<ReadonlyMap<string, readonly string[]>> {
  const ids = sql`${[...objectIds]}::uuid[]`;
  const rows = await ctx.query<{ objectId: string; userId: string }>(sql`
    SELECT w.object_id AS "objectId", w.user_id AS "userId" FROM unnest(${ids}) AS o (id) CROSS JOIN LATERAL (
      SELECT n.object_id, n.user_id FROM notification_watchers n
      WHERE n.object_id = o.id AND (${after}::uuid IS NULL OR n.user_id > ${after}::uuid)
      ORDER BY n.user_id LIMIT ${most}::int) AS w
    UNION SELECT n.object_id, n.user_id FROM notification_watchers n
      WHERE n.object_id = ANY(${ids}) AND n.user_id = ${also}::uuid
    ORDER BY 1, 2`);
  const watchers = new Map<string, string[]>();
  for (const { objectId, userId } of rows) {
    const known = watchers.get(objectId);
    if (known === undefined) watchers.set(objectId, [userId]);
    else known.push(userId);
  }
  return watchers;
}

export interface Recipient {
  id: string;
  login: string;
  displayName: string;
  timezone: string | null;
  hasMail: boolean;
  choices: Partial<Choices> | null;
  quietFrom: string | null;
  quietTo: string | null;
}

/** These users, also archived ones, with their choices. */
export async function listRecipients(ctx: ReadContext, ids: readonly string[]): Promise<Recipient[]> {
  return await ctx.query<Recipient>(sql`
    SELECT u.id, u.login, u.display_name AS "displayName", u.timezone, u.email IS NOT NULL AS "hasMail", s.choices, s.quiet_from AS "quietFrom", s.quiet_to AS "quietTo"
    FROM users u LEFT JOIN notification_settings s ON s.user_id = u.id
    WHERE u.id = ANY(${[...ids]}::uuid[])`);
}

/** The unique indexes decide that a user has one notification of an event, and one of a comment. */
export const insertNotifications = insertInto(tables.notifications, {
  name: 'insert_notifications',
  guard: false,
  defaults: ['readAt'],
  conflict: 'ignore',
});

/** Planned after `insertNotifications`: a mail for each notification that it wrote. */
export const insertMails = insertInto(tables.notification_mails, {
  name: 'insert_notification_mails',
  guard: false,
  where: sql`r."notificationId" IN (SELECT id FROM insert_notifications)`,
});

interface WatchCheck {
  versions: string | null;
  target: string | null;
  afterUser: string | null;
  /** The versions of rights and configuration now. */
  current: string;
}

const VERSIONS = sql`concat_ws('/', v.rights, v.config)`;

/** Whether rights or configuration changed since all watches were judged. */
export async function isWatchCheckDue(ctx: ReadContext): Promise<boolean> {
  const [row] = await ctx.query<{ due: boolean }>(sql`
    SELECT c.versions IS DISTINCT FROM ${VERSIONS} AS due FROM notification_watch_check c, cache_versions v`);
  return row?.due === true;
}

/** The state of the check, locked until the unit of work ends; undefined if another process checks. */
export async function lockWatchCheck(ctx: WriteContext): Promise<WatchCheck | undefined> {
  const [row] = await ctx.lock<WatchCheck>(sql`
    SELECT c.versions, c.target, c.after_user AS "afterUser", ${VERSIONS} AS current
    FROM notification_watch_check c, cache_versions v FOR UPDATE OF c SKIP LOCKED`);
  return row;
}

export const moveWatchCheck = update(tables.notification_watch_check, {
  name: 'move_notification_watch_check',
  guard: false,
  key: [],
  set: ['versions', 'target', 'afterUser'],
});

/** The next users who watch something, by id. */
export async function listWatchingUsers(ctx: ReadContext, after: string | null, limit: number): Promise<string[]> {
  const rows = await ctx.query<{ id: string }>(sql`
    SELECT DISTINCT user_id AS id FROM notification_watchers WHERE ${after}::uuid IS NULL OR user_id > ${after}::uuid
    ORDER BY user_id LIMIT ${limit}::int`);
  return rows.map(({ id }) => id);
}

/** The watched records that the user may not read. @param visible predicate on `o` of records that the user may read; null for none */
export async function listLostWatches(ctx: ReadContext, userId: string, visible: Sql | null): Promise<string[]> {
  const rows = await ctx.query<{ id: string }>(sql`
    SELECT w.object_id AS id FROM notification_watchers w
    WHERE w.user_id = ${userId}::uuid
      AND NOT EXISTS (SELECT FROM objects o WHERE o.id = w.object_id AND ${visible ?? sql`false`})`);
  return rows.map(({ id }) => id);
}
