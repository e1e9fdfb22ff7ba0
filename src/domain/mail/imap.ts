/**
 * Reads a mailbox over IMAP. A message is marked as seen only after it was received, so a crash in between makes it be fetched
 * again; receiving it again has no second effect.
 */
import { isIP } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ImapFlow } from 'imapflow';
import { MOST_BYTES, START_BYTES } from './receive.ts';
import type { Tls } from './registry.ts';

const CONNECT_MS = 20_000;
/** How often the mailbox is searched if the server reports nothing. */
const SEARCH_MS = 60_000;
/** When a message is tried again that could not be received, for example under overload. */
const AGAIN_MS = 300_000;
/** The connection waits for news (IDLE) after this time without a command. */
const IDLE_AFTER_MS = 500;

export interface ImapAccount {
  host: string;
  port: number;
  tls: Tls;
  user: string;
  password: string;
  /** The address of the host that was checked. */
  address: string;
  /** Additional root certificates, PEM. */
  ca?: string | undefined;
}

export interface ImapReader {
  /**
   * Receives a message; returns after the commit.
   *
   * @param size in bytes; that of a message that is too large exceeds `raw`, which is its start then
   */
  receive(raw: Uint8Array, size: number): Promise<void>;
  /** After each message that was received, and each time when there is no other. */
  onProgress(): Promise<void>;
  /** A message that could not be received now. */
  onProblem(problem: Error): void;
  /** Aborted to end the reading. */
  signal: AbortSignal;
}

/**
 * Reads the unseen messages of the inbox, in the order of their arrival, and those that arrive, until `signal` is aborted. A
 * message that cannot be received does not stop the others; it is tried again after some minutes.
 *
 * @throws Error if the connection fails or is refused
 */
export async function readInbox(account: ImapAccount, reader: ImapReader): Promise<void> {
  const { signal } = reader;
  const client = await clientFor(account);
  const ended = Promise.withResolvers<never>();
  // Handled where it is awaited; it may be rejected while nothing waits.
  ended.promise.catch(() => undefined);
  client.on('error', (error) => ended.reject(error));
  client.on('close', () => ended.reject(new Error('The IMAP server closed the connection.')));
  const close = (): void => client.close();
  signal.addEventListener('abort', close);
  try {
    await client.connect();
    await client.mailboxOpen('INBOX');
    /** Messages that could not be received → when they are tried again. */
    const waiting = new Map<number, number>();
    let arrived = Promise.withResolvers<void>();
    client.on('exists', () => arrived.resolve());
    while (!signal.aborted) {
      arrived = Promise.withResolvers();
      for (const uid of await unseen(client)) {
        if ((waiting.get(uid) ?? 0) > performance.now()) continue;
        if (signal.aborted) return;
        if (await take(client, uid, reader)) {
          waiting.delete(uid);
          await reader.onProgress();
        } else waiting.set(uid, performance.now() + AGAIN_MS);
      }
      await reader.onProgress();
      await Promise.race([arrived.promise, sleep(SEARCH_MS, undefined, { signal, ref: false }), ended.promise]);
    }
  } catch (error) {
    if (!signal.aborted) throw plainError(error);
  } finally {
    signal.removeEventListener('abort', close);
    client.close();
  }
}

/** Without the properties of the library's errors, which hold commands. What the server answered is kept. */
function plainError(error: unknown): Error {
  const { message, code, responseText } = error as Error & { code?: unknown; responseText?: unknown };
  const said = [message, code, responseText].filter((one) => typeof one === 'string' && one !== '');
  return new Error(`The mailbox cannot be read: ${[...new Set(said)].join('; ')}`);
}

async function clientFor({ host, port, tls, user, password, address, ca }: ImapAccount): Promise<ImapFlow> {
  const { ImapFlow } = await import('imapflow');
  return new ImapFlow({
    host: address,
    port,
    // An address is checked as an address.
    ...(isIP(host) === 0 ? { servername: host } : {}),
    secure: tls === 'implicit',
    // Without it, a server or somebody between could do without encryption.
    ...(tls === 'starttls' ? { doSTARTTLS: true } : {}),
    tls: { rejectUnauthorized: true, minVersion: 'TLSv1.2', ...(ca === undefined ? {} : { ca: [ca] }) },
    auth: { user, pass: password },
    autoIdleDelay: IDLE_AFTER_MS,
    connectionTimeout: CONNECT_MS,
    greetingTimeout: CONNECT_MS,
    maxLiteralSize: MOST_BYTES + 1,
    maxResponseSize: MOST_BYTES + 1024 * 1024,
    maxLineLength: 16 * 1024 * 1024,
    logger: false,
  });
}

async function unseen(client: ImapFlow): Promise<number[]> {
  const found = await client.search({ seen: false }, { uid: true });
  // False: the server refused the command.
  if (!Array.isArray(found)) throw new Error('The IMAP server refused the search for new messages.');
  return found.toSorted((a, b) => a - b);
}

/** @returns whether the message is done with */
async function take(client: ImapFlow, uid: number, { receive, onProblem }: ImapReader): Promise<boolean> {
  const sized = await client.fetchOne(String(uid), { uid: true, size: true }, { uid: true });
  // Somebody deleted it.
  if (sized === false) return true;
  const size = sized.size ?? 0;
  const source = size > MOST_BYTES ? { start: 0, maxLength: START_BYTES } : true;
  const fetched = await client.fetchOne(String(uid), { uid: true, source }, { uid: true });
  if (fetched === false) return true;
  if (fetched.source === undefined) throw new Error('The IMAP server did not send the content of a message.');
  try {
    await receive(fetched.source, Math.max(size, fetched.source.byteLength));
  } catch (error) {
    onProblem(error as Error);
    return false;
  }
  await mark(client, uid, size > MOST_BYTES ? ['\\Seen', '\\Flagged'] : ['\\Seen']);
  return true;
}

async function mark(client: ImapFlow, uid: number, flags: string[]): Promise<void> {
  if (!(await client.messageFlagsAdd(String(uid), flags, { uid: true }))) {
    throw new Error('The IMAP server refused to mark a message as seen.');
  }
}
