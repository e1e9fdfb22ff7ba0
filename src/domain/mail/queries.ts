/** Reads of received and sent mails in the administration API. They need `integration.manage`. */
import type { ContractDetail } from '../../lib/fault.ts';
import { type Paging, pageOf, windowOf } from '../../contract/paging.ts';
import type { ReadContext } from '../../platform/unit-of-work/context.ts';
import { hiddenComments, withoutHiddenIds } from '../comments/index.ts';
import { hidesPeople, notifiedRecords } from '../notifications/index.ts';
import { findVisible, preload, type VisibleObject } from '../objects/index.ts';
import type { Received } from './receive.ts';
import { mailboxes } from './registry.ts';
import * as store from './store.ts';
import type { MessageRow } from './store.ts';
import * as outgoing from './store-outgoing.ts';

export const RIGHT = 'integration.manage';

export interface MessageAnswer extends Received {
  mailbox: string | null;
  at: string;
  sender: string | null;
  subject: string;
  size: number;
  sentMail: SentAnswer | null;
  error: { code: string; message: string; details: ContractDetail[] | Record<string, unknown> } | null;
}

/** The messages without what the caller may not read. */
export async function answersOf(ctx: ReadContext, rows: readonly MessageRow[]): Promise<MessageAnswer[]> {
  const boxes = mailboxes(ctx);
  const mailIds = rows.flatMap(({ mailId }) => mailId ?? []);
  const sent = await sentAnswers(ctx, await outgoing.findSent(ctx, mailIds));
  const sentById = new Map(sent.map((one) => [one.id, one]));
  const answers: MessageAnswer[] = [];
  for (const row of await withoutHiddenIds(ctx, rows)) {
    const { id, state, reason, objectId, commentId, mailId, at, size, detail } = row;
    const mailbox = boxes.get(row.mailboxId)?.code ?? null;
    const sentMail = sentById.get(mailId ?? '') ?? null;
    // The sender and the subject of a used mail are values of its record. So are those of a bounce, which can repeat the subject
    // of the mail that it is about. Other listed mails have no record.
    const about = mailId === null ? objectId : (sentMail?.objectId ?? null);
    const object = about === null ? undefined : await findVisible(ctx, about);
    const isFree = mailId === null ? state === 'LISTED' : (sentMail?.notifications ?? 0) > 1;
    const mayKnow = mailId === null ? object !== undefined : (sentMail?.recipient ?? null) !== null;
    const sender = isFree || mayKnow ? row.sender : null;
    const subject = isFree || (mayKnow && object !== undefined && showsTitle(object)) ? row.subject : '';
    answers.push({
      id,
      state,
      reason,
      objectId,
      commentId,
      mailbox,
      at,
      sender,
      subject,
      size,
      sentMail,
      error: detail,
    });
  }
  return answers;
}

/** Whether the caller may read the title, which subjects repeat. */
function showsTitle({ version: { titleField }, right }: VisibleObject): boolean {
  return titleField === null || right.canRead(titleField);
}

/** @throws Fault RIGHT_MISSING */
export async function listMessages(
  ctx: ReadContext,
  { state, ...paging }: Paging & { state?: MessageRow['state'] | undefined },
): Promise<{
  items: MessageAnswer[];
  page: number;
  pageSize: number;
  hasMore: boolean;
  unreadable: store.Unreadable[];
}> {
  ctx.actor.require(RIGHT);
  const window = windowOf(paging);
  const { rows, ...page } = pageOf(await store.listMessages(ctx, { state, ...window }), window);
  return { items: await answersOf(ctx, rows), ...page, unreadable: await store.listUnreadable(ctx) };
}

export interface SentAnswer
  extends Pick<outgoing.SentRow, 'id' | 'state' | 'objectId' | 'notifications' | 'attempts' | 'dueAt'> {
  recipient: { id: string; displayName: string | null } | null;
  nextAttemptAt: string | null;
  finishedAt: string | null;
  error: string | null;
}

/**
 * Without what the caller may not read: to whom a mail about a record goes tells what fields of the record contain, and a mail about
 * a comment that there is one.
 */
export async function sentAnswers(ctx: ReadContext, rows: readonly outgoing.SentRow[]): Promise<SentAnswer[]> {
  // The record of a mail is noted when the mail is made.
  const unmade = rows.filter(({ objectId, notifications }) => objectId === null && notifications === 1);
  const notified = await notifiedRecords(
    ctx,
    unmade.map(({ id }) => id),
  );
  const about = ({ id, objectId, commentId }: outgoing.SentRow) => notified.get(id) ?? { objectId, commentId };
  const ids = [...new Set(rows.flatMap((row) => about(row).objectId ?? []))];
  await preload(ctx, ids);
  const objects = new Map<string, VisibleObject>();
  for (const id of ids) {
    const object = await findVisible(ctx, id);
    if (object !== undefined) objects.set(id, object);
  }
  const hidden = await hiddenComments(
    ctx,
    rows.flatMap((row) => about(row).commentId ?? []),
  );
  return rows.map((row) => {
    const { userId, userName, nextAt, error, commentId: _, ...rest } = row;
    const { objectId, commentId } = about(row);
    const object = hidden.has(commentId ?? '') ? undefined : objects.get(objectId ?? '');
    const isShown =
      userId === ctx.actor.userId ||
      row.notifications > 1 ||
      (object !== undefined && !hidesPeople(object, 'RuleNotified'));
    return {
      ...rest,
      recipient: isShown ? { id: userId, displayName: userName } : null,
      objectId: object?.row.id ?? null,
      nextAttemptAt: row.state === 'PENDING' ? nextAt : null,
      // Mail servers name the address of the recipient.
      error: isShown ? error : null,
    };
  });
}

/**
 * @param sendsMail whether the service has a mail server
 * @throws Fault RIGHT_MISSING
 */
export async function listSent(
  ctx: ReadContext,
  { state, ...paging }: Paging & { state?: outgoing.SendState | undefined },
  sendsMail: boolean,
): Promise<{ items: SentAnswer[]; page: number; pageSize: number; hasMore: boolean; hasMailServer: boolean }> {
  ctx.actor.require(RIGHT);
  const window = windowOf(paging);
  const { rows, ...page } = pageOf(await outgoing.listSent(ctx, { state, ...window }), window);
  return { items: await sentAnswers(ctx, rows), ...page, hasMailServer: sendsMail };
}
