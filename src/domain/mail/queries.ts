/** Received and sent mails in the administration API. They need `integration.manage`. */
import type { ContractDetail } from '../../lib/fault.ts';
import { Fault, faultAt } from '../../lib/fault.ts';
import { problem } from '../../lib/problem.ts';
import { type Paging, pageOf, windowOf } from '../../contract/paging.ts';
import { isActive } from '../../contract/state.ts';
import type { BlobStore } from '../../platform/blobs/store.ts';
import type { Runner } from '../../platform/unit-of-work/binding.ts';
import type { ReadContext, WriteContext } from '../../platform/unit-of-work/context.ts';
import { hiddenComments, withoutHiddenIds } from '../comments/index.ts';
import { hidesPeople, notifiedRecords } from '../notifications/index.ts';
import { findVisible, preload, type VisibleObject } from '../objects/index.ts';
import { MOST_BYTES, type Received, type ReceiveParts, receiveMail } from './receive.ts';
import { mailboxes } from './registry.ts';
import * as store from './store.ts';
import { findMessage, type MessageRow } from './store.ts';
import * as outgoing from './store-outgoing.ts';

const RIGHT = 'integration.manage';

interface MessageAnswer extends Received {
  mailbox: string | null;
  at: string;
  sender: string | null;
  subject: string;
  size: number;
  sentMail: SentAnswer | null;
  error: { code: string; message: string; details: ContractDetail[] | Record<string, unknown> } | null;
}

async function answersOf(ctx: ReadContext, rows: readonly MessageRow[]): Promise<MessageAnswer[]> {
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

/**
 * Receives a message from a relay.
 *
 * @param raw the message in base64
 * @throws Fault NOT_FOUND (no such mailbox), INVALID_REQUEST (not base64), OVERLOADED
 */
export async function handIn(
  runner: Runner,
  parts: ReceiveParts,
  code: string,
  raw: string,
): Promise<Omit<Received, 'state'> & { state: Received['state'] | null }> {
  const { work, caller } = runner;
  const mailbox = [...mailboxes(caller).values()].find((one) => one.code === code && isActive(one));
  if (mailbox === undefined) throw new Fault('NOT_FOUND', 'There is no such mailbox.');
  const trusted = caller.actor.has(RIGHT);
  const received = await receiveMail(runner, parts, { mailbox, raw: decoded(raw), trusted });
  const [seen = received] = await work.read(caller, (ctx) => withoutHiddenIds(ctx, [received]));
  return trusted ? seen : { ...seen, state: null, reason: null };
}

/** @throws Fault INVALID_REQUEST */
function decoded(raw: string): Uint8Array {
  try {
    // The decoder accepts white space, which is not part of the alphabet.
    if (raw === '' || /[^A-Za-z0-9+/=]/.test(raw)) throw new SyntaxError('not the alphabet');
    return Uint8Array.fromBase64(raw, { alphabet: 'base64', lastChunkHandling: 'strict' });
  } catch {
    throw faultAt('INVALID_REQUEST', '/raw', 'BASE64');
  }
}

/**
 * Judges a listed message again.
 *
 * @throws Fault RIGHT_MISSING, NOT_FOUND
 */
export async function retryMessage(
  { work, caller }: Runner,
  parts: ReceiveParts & { blobs: BlobStore },
  id: string,
): Promise<MessageAnswer> {
  const read = async (): Promise<MessageRow> =>
    await work.read(caller, async (ctx) => {
      ctx.actor.require(RIGHT);
      const row = await findMessage(ctx, id);
      if (row === undefined) throw new Fault('NOT_FOUND', 'There is no such received mail.');
      return row;
    });
  let row = await read();
  const mailbox = mailboxes(caller).get(row.mailboxId);
  // Of a larger one only the start is stored.
  if (row.sha256 !== null && row.size <= MOST_BYTES && mailbox !== undefined) {
    const raw = await parts.blobs.bytes(row.sha256, row.size);
    const received = await receiveMail({ work, caller }, parts, { mailbox, raw, trusted: row.trusted, listedId: id });
    // A repetition of the message can have been used in the meantime.
    row = { ...row, ...received, detail: null };
    if (received.id === id) row = await read();
  }
  const [answer] = await work.read(caller, (ctx) => answersOf(ctx, [row]));
  return answer as MessageAnswer;
}

interface SentAnswer
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
async function sentAnswers(ctx: ReadContext, rows: readonly outgoing.SentRow[]): Promise<SentAnswer[]> {
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
      (object !== undefined && !hidesPeople(ctx, object, 'RuleNotified'));
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

/** @throws Fault RIGHT_MISSING */
export async function listSent(
  ctx: ReadContext,
  { state, ...paging }: Paging & { state?: outgoing.SendState | undefined },
): Promise<{ items: SentAnswer[]; page: number; pageSize: number; hasMore: boolean }> {
  ctx.actor.require(RIGHT);
  const window = windowOf(paging);
  const { rows, ...page } = pageOf(await outgoing.listSent(ctx, { state, ...window }), window);
  return { items: await sentAnswers(ctx, rows), ...page };
}

/** @throws Fault RIGHT_MISSING, NOT_FOUND, STATE_CONFLICT if the mail waits to be sent */
export async function sendAgain(ctx: WriteContext, id: string): Promise<SentAnswer> {
  ctx.actor.require(RIGHT);
  const [row] = await outgoing.findSent(ctx, [id]);
  if (row === undefined) throw new Fault('NOT_FOUND', 'There is no such mail.');
  ctx.markAuthorized();
  if (row.state === 'PENDING') throw new Fault('STATE_CONFLICT', problem('MAIL_WAITS'), { state: row.state });
  ctx.plan(outgoing.sendAgain, { id, at: ctx.now });
  ctx.emit({ type: 'MailSentAgain', subject: `mail:${id}` });
  const next = { state: 'PENDING', dueAt: ctx.now, nextAt: ctx.now, finishedAt: null, error: null } as const;
  const [answer] = await sentAnswers(ctx, [{ ...row, ...next }]);
  return answer as SentAnswer;
}
