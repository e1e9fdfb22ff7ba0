/** Commands on received and sent mails: handing in a message, and new attempts. */
import { Fault, faultAt } from '../../lib/fault.ts';
import { problem } from '../../lib/problem.ts';
import { isActive } from '../../contract/state.ts';
import type { BlobStore } from '../../platform/blobs/store.ts';
import type { Runner } from '../../platform/unit-of-work/binding.ts';
import type { WriteContext } from '../../platform/unit-of-work/context.ts';
import { withoutHiddenIds } from '../comments/index.ts';
import { answersOf, type MessageAnswer, RIGHT, type SentAnswer, sentAnswers } from './queries.ts';
import { MAX_BYTES, type Received, type ReceiveParts, receiveMail } from './receive.ts';
import { mailboxes } from './registry.ts';
import { findMessage, type MessageRow } from './store.ts';
import * as outgoing from './store-outgoing.ts';

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
  if (row.sha256 !== null && row.size <= MAX_BYTES && mailbox !== undefined) {
    const raw = await parts.blobs.bytes(row.sha256, row.size);
    const received = await receiveMail({ work, caller }, parts, { mailbox, raw, trusted: row.trusted, listedId: id });
    // A repetition of the message can have been used in the meantime.
    row = { ...row, ...received, detail: null };
    if (received.id === id) row = await read();
  }
  const [answer] = await work.read(caller, (ctx) => answersOf(ctx, [row]));
  return answer as MessageAnswer;
}

/** @throws Fault RIGHT_MISSING, NOT_FOUND, STATE_CONFLICT if the mail waits to be sent */
export async function sendAgain(ctx: WriteContext, id: string): Promise<SentAnswer> {
  ctx.actor.require(RIGHT);
  const [row] = await outgoing.findSent(ctx, [id]);
  if (row === undefined) throw new Fault('NOT_FOUND', 'There is no such mail.');
  ctx.markAuthorized();
  if (row.state === 'PENDING') throw new Fault('STATE_CONFLICT', problem('MAIL_WAITS'), { state: row.state });
  ctx.plan(outgoing.sendAgain, { id, dueAt: ctx.now });
  ctx.emit({ type: 'MailSentAgain', subject: `mail:${id}` });
  const next = { state: 'PENDING', dueAt: ctx.now, nextAt: ctx.now, finishedAt: null, error: null } as const;
  const [answer] = await sentAnswers(ctx, [{ ...row, ...next }]);
  return answer as SentAnswer;
}
