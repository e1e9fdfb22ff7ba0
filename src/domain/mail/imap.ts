/**
 * Reads a mailbox over IMAP. A message is marked as seen only after it was received, so a crash in between makes it be fetched
 * again; receiving it again has no second effect.
 */
import { isIP } from 'node:net';
import type { ImapFlow } from 'imapflow';
import { MAX_BYTES, START_BYTES } from './receive.ts';
import type { Tls } from './registry.ts';

const CONNECT_MS = 20_000;
/** How often the mailbox is searched if the server reports nothing. */
const SEARCH_MS = 60_000;
/** Pause before a message that could not be received, for example under overload, is tried again. */
const AGAIN_MS = 300_000;
/** Number of messages among which new ones are searched at once. */
const SEARCHED_AT_ONCE = 10_000;
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
  /** Called after each received message, and whenever no other message waits. */
  onProgress(): Promise<void>;
  /** A message that could not be received now. */
  onProblem(problem: Error): void;
  /** Aborted to end the reading. */
  signal: AbortSignal;
  /** Messages that could not be taken → when they are tried again. It is kept from session to session. */
  waiting: Map<string, number>;
}

/**
 * Reads the unseen messages of the inbox, in the order of their arrival, and those that arrive, until `signal` is aborted. A
 * message that cannot be received does not stop the others; it is tried again after some minutes.
 *
 * @throws Error if the connection fails or is refused
 */
export async function readInbox(account: ImapAccount, reader: ImapReader): Promise<void> {
  const { signal, waiting } = reader;
  const client = await clientFor(account);
  let failure: Error | undefined;
  let news = Promise.withResolvers<void>();
  const wake = (): void => news.resolve();
  const fail = (error: Error): void => {
    failure ??= error;
    wake();
  };
  client.on('error', fail);
  client.on('close', () => fail(new Error('The IMAP server closed the connection.')));
  client.on('exists', wake);
  const close = (): void => client.close();
  signal.addEventListener('abort', close);
  try {
    if (signal.aborted) return;
    await client.connect();
    const { uidValidity } = await client.mailboxOpen('INBOX');
    while (!signal.aborted) {
      news = Promise.withResolvers();
      const before = new Set(waiting.keys());
      for await (const uid of unseen(client)) {
        const key = `${uidValidity} ${uid}`;
        before.delete(key);
        if ((waiting.get(key) ?? 0) > performance.now()) continue;
        if (signal.aborted) return;
        // Set before the fetch: it can end the session, and the next session must not begin with the same message.
        waiting.set(key, performance.now() + AGAIN_MS);
        if (!(await take(client, uid, reader))) continue;
        waiting.delete(key);
        await reader.onProgress();
      }
      // They are not in the mailbox any more, or were read elsewhere.
      for (const key of before) waiting.delete(key);
      await reader.onProgress();
      const timer = setTimeout(wake, SEARCH_MS).unref();
      await news.promise;
      clearTimeout(timer);
      if (failure !== undefined) throw failure;
    }
  } catch (error) {
    if (!signal.aborted) throw plainError(error);
    waiting.clear();
  } finally {
    signal.removeEventListener('abort', close);
    client.close();
  }
}

/** Removes the properties of the library's errors, because they contain commands. The answer of the server is kept. */
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
    // A server name must not be an address (RFC 6066).
    ...(isIP(host) === 0 ? { servername: host } : {}),
    secure: tls === 'implicit',
    // Otherwise the server, or an attacker between, could leave out encryption.
    ...(tls === 'starttls' ? { doSTARTTLS: true } : {}),
    tls: { rejectUnauthorized: true, minVersion: 'TLSv1.2', ...(ca === undefined ? {} : { ca: [ca] }) },
    auth: { user, pass: password },
    autoIdleDelay: IDLE_AFTER_MS,
    connectionTimeout: CONNECT_MS,
    greetingTimeout: CONNECT_MS,
    maxLiteralSize: MAX_BYTES + 1,
    maxResponseSize: MAX_BYTES + 1024 * 1024,
    maxLineLength: 16 * 1024 * 1024,
    logger: false,
  });
}

/**
 * The UIDs of the messages that are not marked as seen. An inbox can have millions of messages, and an answer is parsed at once,
 * so only a part of the inbox is searched at a time. A message that moves to a part that was searched already, because others
 * were deleted, is found the next time.
 */
async function* unseen(client: ImapFlow): AsyncGenerator<number> {
  for (let from = 1; client.mailbox !== false && from <= client.mailbox.exists; from += SEARCHED_AT_ONCE) {
    const to = Math.min(from + SEARCHED_AT_ONCE - 1, client.mailbox.exists);
    const found = await client.search({ seq: `${from}:${to}`, seen: false }, { uid: true });
    // False: the server refused the command.
    if (!Array.isArray(found)) throw new Error('The IMAP server refused the search for new messages.');
    yield* found.toSorted((a, b) => a - b);
  }
}

/** @returns true if the message need not be fetched again */
async function take(client: ImapFlow, uid: number, { receive, onProblem }: ImapReader): Promise<boolean> {
  const sized = await client.fetchOne(String(uid), { uid: true, size: true }, { uid: true });
  // The message was deleted meanwhile.
  if (sized === false) return true;
  const size = sized.size ?? 0;
  const source = size > MAX_BYTES ? { start: 0, maxLength: START_BYTES } : true;
  const fetched = await client.fetchOne(String(uid), { uid: true, source }, { uid: true });
  if (fetched === false) return true;
  if (fetched.source === undefined) throw new Error('The IMAP server did not send the content of a message.');
  try {
    await receive(fetched.source, Math.max(size, fetched.source.byteLength));
  } catch (error) {
    onProblem(error as Error);
    return false;
  }
  const flags = size > MAX_BYTES ? ['\\Seen', '\\Flagged'] : ['\\Seen'];
  if (await client.messageFlagsAdd(String(uid), flags, { uid: true })) return true;
  if (!client.usable) throw new Error('The connection ended before a message was marked as seen.');
  onProblem(new Error('The IMAP server refused to mark a message as seen.'));
  return false;
}
