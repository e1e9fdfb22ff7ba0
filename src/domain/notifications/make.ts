/** Makes notifications of committed events, and removes the watches of users who may no longer read a record. */
import { Yielder } from '../../lib/yielding.ts';
import { type Batch, moveConsumer, takeBatch } from '../../platform/journal/consumers.ts';
import type { WriteContext } from '../../platform/unit-of-work/context.ts';
import { registry } from '../metadata/index.ts';
import { type ActorsOf, assignmentCodes, Audience, type Concerned, fieldsOf } from './audience.ts';
import { type Choice, type Kind, mailDueAt, NOTIFYING } from './rules.ts';
import { removeWatch } from './store.ts';
import * as store from './store-make.ts';
import { type MadeEvent, NOTIFICATIONS, type Recipient } from './store-make.ts';

/** Places that one unit of work examines. Under load, an event of 500 costs about a fifth less than one of 200. */
const PLACES_AT_ONCE = 500;
/** An event can concern all users, so the rest of its recipients wait for the next unit of work. */
const RECIPIENTS_AT_ONCE = 2000;
/** Users whose watches one unit of work judges. */
const USERS_AT_ONCE = 100;

export interface MakerParts {
  actorsOf: ActorsOf;
  /** Whether mails are sent. Otherwise none are queued. */
  sendsMail: boolean;
  /** Recipients that one unit of work judges. Default: 2,000. */
  recipientsAtOnce?: number;
}

/** A recipient of an event. */
interface Judging {
  one: Concerned<MadeEvent>;
  userId: string;
  kinds: ReadonlySet<Kind>;
}

/** Makes the notifications of the next events. The consumer's place and the notifications are committed together. @returns whether there is more */
export async function makeNotifications(ctx: WriteContext, parts: MakerParts): Promise<boolean> {
  const batch = await takeBatch(ctx, NOTIFICATIONS, PLACES_AT_ONCE);
  if (batch === undefined) return false;
  const events = await store.listEvents(ctx, batch, { types: NOTIFYING, fields: assignmentCodes(ctx) });
  const audience = new Audience(ctx, parts.actorsOf);
  const most = parts.recipientsAtOnce ?? RECIPIENTS_AT_ONCE;
  const { after, within: afterUser } = batch;
  const event = events.find((one) => one.place === after + 1);
  const begun = event === undefined || afterUser === null ? undefined : { event, afterUser };
  // One of them can be the actor, and one more shows that there is a rest.
  const concerned = await audience.load(events, { most: most + 2 }, begun);
  const { judgings, rest } = await recipientsOf(audience, concerned, batch, most);
  await audience.loadUsers(judgings.map(({ userId }) => userId));
  const yielder = new Yielder();
  for (const judging of judgings) {
    await notify(ctx, audience, judging, parts);
    await yielder.next();
  }
  ctx.plan(moveConsumer, { name: NOTIFICATIONS, ...(rest ?? { place: batch.upTo, within: null }) });
  return rest !== undefined || batch.hasMore;
}

/**
 * The next recipients, in the order of events and ids.
 *
 * @returns rest: where the next unit continues; undefined if these are all
 */
async function recipientsOf(
  audience: Audience,
  events: readonly Concerned<MadeEvent>[],
  { after, within }: Batch,
  most: number,
): Promise<{ judgings: Judging[]; rest: { place: number; within: string } | undefined }> {
  const judgings: Judging[] = [];
  const yielder = new Yielder();
  for (const one of events) {
    await yielder.next();
    const kinds = audience.kindsOf(one);
    const isBegun = within !== null && one.event.place === after + 1;
    for (const userId of [...kinds.keys()].sort()) {
      if (isBegun && userId <= within) continue;
      const previous = judgings.at(-1);
      if (previous !== undefined && judgings.length === most) {
        return { judgings, rest: { place: previous.one.event.place - 1, within: previous.userId } };
      }
      judgings.push({ one, userId, kinds: kinds.get(userId) ?? new Set() });
    }
  }
  return { judgings, rest: undefined };
}

async function notify(
  ctx: WriteContext,
  audience: Audience,
  { one, userId, kinds }: Judging,
  { sendsMail }: MakerParts,
): Promise<void> {
  const { event, concern } = one;
  const verdict = await audience.judge(one, userId, kinds);
  if (verdict.kind === null) {
    const isLost = verdict.reason === 'RECORD_HIDDEN' || verdict.reason === 'USER_ARCHIVED';
    if (isLost && concern.watchers.includes(userId)) {
      ctx.plan(removeWatch, { objectId: event.objectId, userId });
    }
    return;
  }
  const recipient = audience.recipient(userId);
  if (recipient === undefined) return;
  const id = planNotification(ctx, event, userId, verdict);
  const { mail } = verdict.choice;
  if (sendsMail && mail !== 'never' && recipient.hasMail)
    planMail(ctx, event, recipient, { id, kind: verdict.kind, mail });
}

function planNotification(
  ctx: WriteContext,
  event: MadeEvent,
  userId: string,
  { kind, choice }: { kind: Kind; choice: Choice },
): string {
  const id = ctx.newId();
  ctx.plan(store.insertNotifications, {
    id,
    userId,
    eventId: event.id,
    eventType: event.type,
    place: event.place,
    kind,
    objectId: event.objectId,
    commentId: event.commentId,
    actorId: event.actorId,
    fields: fieldsOf(event, kind),
    inConsole: choice.console,
    at: event.at,
  });
  return id;
}

function planMail(
  ctx: WriteContext,
  event: MadeEvent,
  recipient: Recipient,
  { id, kind, mail }: { id: string; kind: Kind; mail: 'now' | 'digest' },
): void {
  // A bulk call or an import sends each recipient one mail.
  const isBatch = event.via === 'bulk' || event.via === 'import';
  ctx.plan(store.insertMails, {
    notificationId: id,
    userId: recipient.id,
    kind,
    isDigest: mail === 'digest',
    batch: isBatch ? event.correlationId : null,
    dueAt: mailDueAt(ctx.now, mail, { ...timesOf(ctx, recipient), isBatch }),
  });
}

/** Time zone and quiet hours of a recipient. */
export function timesOf(
  ctx: Pick<WriteContext, 'config'>,
  { quietFrom: from, quietTo: to, timezone }: Recipient,
): { timezone: string; quiet: { from: string; to: string } | null } {
  return {
    timezone: timezone ?? registry(ctx).settings.timezone,
    quiet: from === null || to === null ? null : { from, to },
  };
}

/**
 * Judges the watches of all users again after a change of rights or configuration, some users at a time. Changes of a record are
 * judged with its next event.
 *
 * @param refresh reads the current rights and configuration, so that nobody is judged by older ones
 * @returns whether there is more
 */
export async function checkWatches(
  ctx: WriteContext,
  { actorsOf }: Pick<MakerParts, 'actorsOf'>,
  refresh: () => Promise<void>,
): Promise<boolean> {
  const check = await store.lockWatchCheck(ctx);
  if (check === undefined) return false;
  const target = check.target ?? check.current;
  await refresh();
  const users = await store.listWatchingUsers(ctx, check.afterUser, USERS_AT_ONCE);
  const actors = await actorsOf(users);
  for (const userId of users) {
    const visible = actors.get(userId)?.visible('o', 'read', ctx.now) ?? null;
    for (const id of await store.listLostWatches(ctx, userId, visible)) {
      ctx.plan(removeWatch, { objectId: id, userId });
    }
  }
  const isWhole = users.length < USERS_AT_ONCE;
  ctx.plan(
    store.moveWatchCheck,
    isWhole
      ? { versions: target, target: null, afterUser: null }
      : { versions: check.versions, target, afterUser: users.at(-1) ?? null },
  );
  return !isWhole || target !== check.current;
}
