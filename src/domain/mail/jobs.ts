/**
 * The background tasks of mail: sending, and reading mailboxes over IMAP. One process reads a mailbox: it holds a lease in the
 * database and renews it. If two processes read it, each message would still have one effect.
 */
import { isActive } from '../../contract/state.ts';
import { IDLE_MS } from '../../platform/moments.ts';
import { instant, newId } from '../../platform/clock.ts';
import type { Service } from '../../platform/module.ts';
import type { Database } from '../../platform/database/pool.ts';
import { Outbound, type OutboundOptions } from '../../platform/outbound/outbound.ts';
import type { Task } from '../../platform/tasks.ts';
import type { Caller } from '../../platform/unit-of-work/context.ts';
import type { Work } from '../../platform/unit-of-work/work.ts';
import { secretText } from '../webhooks/index.ts';
import { readInbox } from './imap.ts';
import { mailParts, receiveMail, type ReceiveParts } from './receive.ts';
import { type ImapDefinition, mailboxes } from './registry.ts';
import { type MailSettings, sendJobs } from './send.ts';
import { leaseMailbox, noteReading, purgeMessages, releaseMailbox } from './store.ts';

const EVERY_MS = 2000;
const LEASE_MS = 30_000;
/** A third of the lease, so that two renewals may fail. */
const RENEWED_MS = LEASE_MS / 3;
const FIRST_PAUSE_MS = 10_000;
const LONGEST_PAUSE_MS = 600_000;

/** Retention of received mails that were not used, and of the notes of used ones, by which repeated mails are recognised. */
const LISTED_KEPT_MS = 30 * 86_400_000;
const USED_KEPT_MS = 365 * 86_400_000;

/** The background tasks of mail. */
export function mailTasks(service: Service): Task[] {
  const { db, clock, work, system, settings, secrets, outboundOptions, outages } = service;
  const parts = { ...service.get(mailParts), db, clock, work, system, settings, outboundOptions };
  return [
    ...sendJobs(parts),
    imapJob({
      ...parts,
      secretOf: (code) => secretText(db, secrets, code),
      onError: (mailboxId, error) => void outages.failed('imap', error, mailboxId),
      onRead: (mailboxId) => outages.succeeded('imap', mailboxId),
    }),
    {
      name: 'received-mails',
      everyMs: 600_000,
      run: () => purgeMessages(db, instant(clock.now() - LISTED_KEPT_MS), instant(clock.now() - USED_KEPT_MS)),
    },
  ];
}

interface ImapParts extends ReceiveParts {
  db: Database;
  work: Work;
  system(): Promise<Caller>;
  /** The current value of a stored secret; undefined if it has none. */
  secretOf(code: string): Promise<string | undefined>;
  settings: MailSettings & { imapAllowPrivate?: boolean | undefined };
  /** Overrides of the rules for connections, for tests. */
  outboundOptions?: Partial<OutboundOptions> | undefined;
  onError(mailboxId: string, error: unknown): void;
  /** The mailbox was read. */
  onRead(mailboxId: string): void;
}

interface Session {
  /** What it was started with. */
  key: string;
  stop: AbortController;
  done: Promise<void>;
  /** When the lease was renewed last. */
  leasedMs: number;
}

interface Failures {
  count: number;
  notBefore: number;
}

/** Mailbox id → messages that could not be taken. */
type Waiting = Map<string, Map<string, number>>;

/** The background task that keeps a session for each enabled mailbox with `imap` that no other process reads. */
function imapJob(parts: ImapParts): Task {
  const holder = newId();
  const hosts = new Outbound({ ...parts.outboundOptions, allowPrivate: parts.settings.imapAllowPrivate === true });
  const sessions = new Map<string, Session>();
  const failures = new Map<string, Failures>();
  const waiting: Waiting = new Map();

  const end = async (id: string): Promise<void> => {
    const session = sessions.get(id);
    if (session === undefined) return;
    session.stop.abort();
    await session.done;
  };
  const start = (id: string, key: string, imap: ImapDefinition): void => {
    const stop = new AbortController();
    const begun = performance.now();
    const done = readMailbox({ ...parts, hosts, waiting }, id, imap, stop.signal)
      .then(
        () => void failures.delete(id),
        async (error: unknown) => {
          parts.onError(id, error);
          // A connection that lasted longer than a pause does not count as a failed attempt.
          const before = performance.now() - begun > LONGEST_PAUSE_MS ? 0 : (failures.get(id)?.count ?? 0);
          const pause = Math.min(FIRST_PAUSE_MS * 2 ** before, LONGEST_PAUSE_MS);
          failures.set(id, { count: before + 1, notBefore: performance.now() + pause });
          await noteReading(parts.db, id, (error as Error).message).catch((again: unknown) => parts.onError(id, again));
        },
      )
      .finally(() => sessions.delete(id));
    sessions.set(id, { key, stop, done, leasedMs: begun });
  };

  return {
    name: 'imap',
    everyMs: EVERY_MS,
    idleMs: IDLE_MS,
    run: async () => {
      const wanted = new Map<string, { key: string; imap: ImapDefinition }>();
      for (const mailbox of mailboxes(await parts.system()).values()) {
        const { id, imap, enabled } = mailbox;
        if (imap !== undefined && enabled && isActive(mailbox)) wanted.set(id, { key: JSON.stringify(imap), imap });
      }
      for (const [id, { key }] of sessions) if (wanted.get(id)?.key !== key) await end(id);
      for (const [id, { key, imap }] of wanted) {
        const isWaiting = (failures.get(id)?.notBefore ?? 0) > performance.now();
        const session = sessions.get(id);
        if (session === undefined ? isWaiting : performance.now() - session.leasedMs < RENEWED_MS) continue;
        const leasedMs = performance.now();
        if (!(await leaseMailbox(parts.db, id, holder, LEASE_MS))) await end(id);
        else if (session === undefined) start(id, key, imap);
        // A session that ended during the renewal starts again in a later run, after its pause.
        else session.leasedMs = leasedMs;
      }
      for (const id of failures.keys()) {
        if (!wanted.has(id)) failures.delete(id);
        else if (!sessions.has(id)) await releaseMailbox(parts.db, holder, id);
      }
      // Leases are renewed, and mailboxes that failed are tried again.
      return wanted.size === 0 && sessions.size === 0 ? false : EVERY_MS;
    },
    stop: async () => {
      await Promise.all([...sessions.keys()].map(end));
      await releaseMailbox(parts.db, holder, null);
    },
  };
}

async function readMailbox(
  parts: ImapParts & { hosts: Outbound; waiting: Waiting },
  id: string,
  imap: ImapDefinition,
  signal: AbortSignal,
): Promise<void> {
  const { host, port, tls, user, secretRef } = imap;
  const password = await parts.secretOf(secretRef);
  if (password === undefined) throw new Error(`The secret ${secretRef} of a mailbox has no value.`);
  const account = { host, port, tls, user, password, ...(await parts.hosts.addressOf(host)) };
  let isNoted = false;
  const waiting = parts.waiting.get(id) ?? new Map<string, number>();
  parts.waiting.set(id, waiting);
  await readInbox(account, {
    signal,
    waiting,
    onProblem: (problem) => parts.onError(id, problem),
    onProgress: async () => {
      if (!isNoted) await noteReading(parts.db, id, null);
      isNoted = true;
      parts.onRead(id);
    },
    receive: async (raw, size) => {
      const caller = await parts.system();
      const mailbox = mailboxes(caller).get(id);
      if (mailbox === undefined) throw new Error('The mailbox does not exist any more.');
      // The mailbox's own server delivered it, so `authServer` may be trusted.
      await receiveMail({ work: parts.work, caller }, parts, { mailbox, raw, size, trusted: true });
    },
  });
}
