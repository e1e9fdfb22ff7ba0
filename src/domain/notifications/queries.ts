/** The list of a user's notifications and their number, judged with the user's rights at each reading. */
import { type Paging, pageOf, windowOf } from '../../contract/paging.ts';
import type { ReadContext } from '../../platform/unit-of-work/context.ts';
import { named, registry, storedCodes } from '../metadata/index.ts';
import { findVisible, preload, readableTitle, stateAnswer, type VisibleObject } from '../objects/index.ts';
import { requireUser } from './commands.ts';
import type { Kind } from './rules.ts';
import * as store from './store.ts';

/** A larger number is not counted exactly. */
const MAX_COUNTED = 1000;

interface NotificationAnswer {
  id: string;
  kind: Kind;
  eventType: string;
  at: string;
  readAt: string | null;
  actor: { id: string; displayName: string } | null;
  object: {
    id: string;
    number: string | null;
    title: string | null;
    typeCode: string;
    workflowState: ReturnType<typeof stateAnswer>;
  };
  fields: { code: string; name: string }[];
  comment: { id: string; excerpt: string } | null;
}

interface NotificationPage {
  rows: NotificationAnswer[];
  page: number;
  pageSize: number;
  hasMore: boolean;
}

/** @throws Fault INVALID_REQUEST */
export async function listNotifications(
  ctx: ReadContext,
  { unread = false, ...paging }: Paging & { unread?: boolean },
): Promise<NotificationPage> {
  const window = windowOf(paging);
  const { limit, offset } = window;
  const found = await store.listNotifications(ctx, requireUser(ctx), { unread, limit, offset });
  const { rows, ...page } = pageOf(found, window);
  await preload(ctx, [...new Set(rows.map(({ objectId }) => objectId))]);
  const answers: NotificationAnswer[] = [];
  for (const row of rows) {
    const object = await findVisible(ctx, row.objectId);
    if (object !== undefined) answers.push(answer(ctx, row, object));
  }
  return { ...page, rows: answers };
}

function answer(ctx: ReadContext, row: store.NotificationRow, object: VisibleObject): NotificationAnswer {
  const { id, kind, eventType, at, readAt, actorId, actorName, commentId, excerpt } = row;
  const changes = Object.fromEntries((row.fields ?? []).map((code) => [code, [null, null] as const]));
  const fields = Object.keys(storedCodes(registry(ctx), object.type.id).decodeChanges(changes));
  return {
    id,
    kind,
    eventType,
    at,
    readAt,
    actor: actorId === null ? null : { id: actorId, displayName: actorName ?? '' },
    object: {
      id: object.row.id,
      number: object.row.number,
      title: readableTitle(object),
      typeCode: object.type.code,
      workflowState: stateAnswer(ctx, object.state),
    },
    fields: fields
      .filter((code) => object.right.canRead(code))
      .map((code) => ({ code, name: named(ctx, object.type.newest.fields.get(code)?.name ?? code) })),
    comment: commentId === null ? null : { id: commentId, excerpt: excerpt ?? '' },
  };
}

export async function countNotifications(ctx: ReadContext): Promise<{ unread: number }> {
  return { unread: await store.countUnread(ctx, requireUser(ctx), MAX_COUNTED) };
}

/** Those of the records of which something is new to the caller: the same that the bell counts. */
export async function unreadRecords(ctx: ReadContext, objectIds: readonly string[]): Promise<ReadonlySet<string>> {
  const { userId } = ctx.actor;
  return new Set(userId === null ? [] : await store.listUnreadRecords(ctx, userId, objectIds));
}
