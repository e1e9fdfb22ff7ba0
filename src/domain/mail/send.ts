/**
 * Sends mails about notifications over SMTP, at least once: a mail is leased, sent and noted. After a crash in between it is sent
 * again, with the same Message-ID. Rights are judged when it is sent. Failed attempts are repeated with growing delays.
 */
import { readFileSync } from 'node:fs';
import { createTransport } from 'nodemailer';
import type { DkimKey, SmtpServer } from '../../lib/smtp-url.ts';
import { type Clock, instant } from '../../platform/clock.ts';
import type { Database } from '../../platform/database/pool.ts';
import { Queue } from '../../platform/jobs/queue.ts';
import { IDLE_MS } from '../../platform/moments.ts';
import type { Task } from '../../platform/tasks.ts';
import type { Actor, Caller } from '../../platform/unit-of-work/context.ts';
import type { Work } from '../../platform/unit-of-work/work.ts';
import { findUser } from '../identity/index.ts';
import { type Composed, composeMail } from './compose.ts';
import { storedLine } from './content.ts';
import { makeReplyToken, replyAddress } from './reply-token.ts';
import { isTooOld, type SendOutcome, verdictOf } from './smtp.ts';
import { makeThreads } from './store.ts';
import * as store from './store-outgoing.ts';
import { threadHeaders } from './threading.ts';

/** It is longer than an attempt can take. */
const LEASE_MS = 15 * 60_000;
const TAKEN_AT_ONCE = 1000;
/** Connections to the mail server, and mails that are leased at once: none must wait for a connection while its lease ends. */
const SENT_AT_ONCE = 5;
/** A reply says which mail it answers; its token is valid for 90 days. */
const KEPT_MS = 91 * 86_400_000;
const CONNECT_MS = 20_000;
/** RFC 5321 (4.5.3.2.6) gives servers ten minutes to accept a message: a mail that is given up before is sent twice. */
const SOCKET_MS = 10 * 60_000;
/** The limit of a whole attempt. */
const ATTEMPT_MS = 12 * 60_000;
/** What running attempts may take when the service stops. */
const STOP_MS = 20_000;

interface SenderParts {
  db: Database;
  work: Work;
  clock: Clock;
  publicUrl: string;
  /** Key of the reply tokens. */
  tokenKey: Uint8Array;
  system(): Promise<Caller>;
  actorOf(userId: string): Promise<Actor | undefined>;
}

/**
 * The connection to the mail server.
 *
 * @param limitMs of one attempt
 * @throws Error if the key file cannot be read
 */
export function deliverer(
  smtp: SmtpServer,
  dkim: DkimKey | undefined,
  limitMs = ATTEMPT_MS,
): { send(message: Message): Promise<void>; leave(): void; close(): void } {
  const transport = createTransport({
    ...smtp,
    ignoreTLS: !smtp.secure && !smtp.requireTLS,
    pool: true,
    maxConnections: SENT_AT_ONCE,
    connectionTimeout: CONNECT_MS,
    greetingTimeout: CONNECT_MS,
    socketTimeout: SOCKET_MS,
    tls: { minVersion: 'TLSv1.2' },
    // Read at the start, so that a wrong path is reported at once and not with the first mail.
    ...(dkim === undefined ? {} : { dkim: { ...dkim, privateKey: readFileSync(dkim.keyFile, 'utf8') } }),
  });
  const stopping = new AbortController();
  return {
    send: async (message) => {
      const signal = AbortSignal.any([stopping.signal, AbortSignal.timeout(limitMs)]);
      await transport.sendMail({ ...message, signal, disableFileAccess: true, disableUrlAccess: true });
    },
    leave: () => {
      setTimeout(() => stopping.abort(), STOP_MS).unref();
    },
    close: () => transport.close(),
  };
}

export interface MailSettings {
  smtp?: SmtpServer | undefined;
  /** Signs the mails. */
  dkim?: DkimKey | undefined;
  publicUrl?: string | undefined;
}

/** The background tasks of outgoing mail; none without a mail server. */
export function sendJobs({
  settings: { smtp, dkim, publicUrl },
  ...others
}: Omit<SenderParts, 'publicUrl'> & { settings: MailSettings }): Task[] {
  if (smtp === undefined || publicUrl === undefined) return [];
  const parts = { ...others, publicUrl };
  const { db, clock } = parts;
  const { send, leave, close } = deliverer(smtp, dkim);
  /** The first error of the current run. */
  let failure: unknown;
  const onError = (error: unknown): void => {
    failure ??= error;
  };
  const queue = new Queue<store.OutgoingRow, store.Sent>({
    clock,
    limits: { total: SENT_AT_ONCE, each: SENT_AT_ONCE, eachTroubled: SENT_AT_ONCE, leaseMs: LEASE_MS },
    claim: (request) => store.leaseOutgoing(db, request),
    groupOf: () => 'mails',
    attempt: async (mails, settle) => {
      await Promise.all(mails.map(async (mail) => settle(mail, await sendOne(parts, mail, send, onError))));
    },
    putOff: ({ id, attempts }, dueAt) => ({
      id,
      attempts,
      status: 'PENDING',
      ended_at: dueAt,
      due_at: dueAt,
      error: null,
    }),
    store: (results) => store.finishOutgoing(db, results),
    onError,
    onRoom: () => {},
  });
  return [
    {
      name: 'mails',
      everyMs: 1000,
      idleMs: IDLE_MS,
      run: async () => {
        await store.makeOutgoing(db, instant(clock.now()), TAKEN_AT_ONCE);
        const more = await queue.turn();
        await queue.settled();
        const failed = failure;
        failure = undefined;
        if (failed !== undefined) throw failed;
        return more;
      },
      leave: () => {
        queue.leave();
        leave();
      },
      stop: async () => {
        await queue.stop();
        close();
      },
    },
    { name: 'mail-log', everyMs: 600_000, run: () => store.purgeOutgoing(db, instant(clock.now() - KEPT_MS)) },
  ];
}

interface Message {
  from: string;
  to: string;
  replyTo?: string;
  subject: string;
  text: string;
  html: string;
  messageId: string;
  headers: Record<string, string>;
}

/** @param onError gets why the mail could not be composed; it is tried again and given up like one that cannot be delivered */
async function sendOne(
  parts: SenderParts,
  mail: store.OutgoingRow,
  deliver: (message: Message) => Promise<void>,
  onError: (error: unknown) => void,
): Promise<store.Sent> {
  const { id, attempts, dueAt } = mail;
  const result = (status: store.Sent['status'], error?: string, delayMs = 0): store.Sent => {
    const at = parts.clock.now();
    return { id, attempts, status, ended_at: instant(at), due_at: instant(at + delayMs), error: error ?? null };
  };
  const age = (): number => parts.clock.now() - Date.parse(dueAt);
  if (isTooOld(age())) return result('DROPPED', TOO_OLD);
  const judged = ({ outcome, error }: Attempt): store.Sent => {
    const verdict = verdictOf(outcome, attempts, age());
    return result(verdict.status, error, verdict.status === 'PENDING' ? verdict.delayMs : 0);
  };
  let message: Message | undefined;
  try {
    message = await messageOf(parts, mail);
  } catch (error) {
    onError(error);
    // The error may quote what the reader of the list may not see.
    return judged({ outcome: { kind: 'failed' }, error: 'The mail could not be composed.' });
  }
  return message === undefined ? result('DROPPED') : judged(await attempt(deliver, message));
}

/** After a long downtime, users must not get the mails of weeks at once. The notifications are still listed. */
const TOO_OLD = 'The mail could not be sent within two days.';

const LONGEST_ERROR = 500;

interface Attempt {
  outcome: SendOutcome;
  /** What the mail server answered, or why it could not be reached. */
  error?: string;
}

async function attempt(deliver: (message: Message) => Promise<void>, given: Message): Promise<Attempt> {
  try {
    await deliver(given);
    return { outcome: { kind: 'accepted' } };
  } catch (error) {
    const { responseCode, message } = error as { responseCode?: number; message: string };
    // A refused sign-in is a wrong setting, which can be corrected while the mail waits.
    const isFinal = responseCode !== undefined && (error as { code?: string }).code !== 'EAUTH';
    const outcome: SendOutcome = isFinal ? { kind: 'refused', replyCode: responseCode } : { kind: 'failed' };
    return { outcome, error: storedLine(message, LONGEST_ERROR) };
  }
}

/** The message as the recipient may see it now; undefined if there is nothing to send any more. */
async function messageOf(
  { db, work, clock, system, actorOf, publicUrl, tokenKey }: SenderParts,
  { id, userId, notificationIds }: store.OutgoingRow,
): Promise<Message | undefined> {
  // First, because it reads the current rights if those in the cache may be outdated.
  const service = await system();
  const actor = await actorOf(userId);
  if (actor === undefined) return undefined;
  const user = await work.read(service, (ctx) => findUser(ctx, userId));
  if (user === undefined || user.email === null) return undefined;
  const composed = await work.read({ ...service, actor, locale: user.locale ?? undefined }, (ctx) =>
    composeMail(ctx, { ids: notificationIds, userId, publicUrl }),
  );
  if (composed === undefined) return undefined;
  const { about, mailbox } = composed;
  await store.noteSending(db, id, {
    objectId: about?.objectId ?? null,
    commentId: about?.commentId ?? null,
    mailboxId: mailbox?.id ?? null,
    address: user.email,
  });
  const from = mailbox?.address ?? `docket@${new URL(publicUrl).hostname}`;
  const replyTo = about === null || mailbox === null ? undefined : await replyTarget(about.objectId, mailbox.address);
  return { ...assembled(id, composed, from, user.email), ...(replyTo === undefined ? {} : { replyTo }) };

  async function replyTarget(objectId: string, address: string): Promise<string | undefined> {
    const [thread] = await makeThreads(db, [{ objectId, userId }]);
    return thread === undefined ? undefined : replyAddress(address, makeReplyToken(tokenKey, thread, clock.now()));
  }
}

function assembled(mailId: string, { about, subject, text, html }: Composed, from: string, to: string): Message {
  const { 'Message-ID': messageId = '', ...headers } = threadHeaders({
    mailId,
    objectId: about?.objectId ?? null,
    typeCode: about?.typeCode ?? 'notifications',
    mailbox: from,
  });
  return { from, to, subject, text, html, messageId, headers };
}
