/**
 * Server-sent events, one stream per browser. The tab that holds a lock keeps the stream and passes the events on to the others;
 * when it is closed, another tab takes over. Browsers have locks only with HTTPS or on localhost; without them each tab keeps a
 * stream of its own.
 */
import { address } from './client.ts';

/** Milliseconds after which a refused stream is tried again. */
const RETRY_MS = 30_000;

export interface LiveListener {
  /** Gets the data of each event, and the data sent last if other tabs already follow. */
  onData(data: unknown): void;
  /** Whether the stream is open. If not, read the data by calls. */
  onLive(isLive: boolean): void;
}

interface Message {
  isLive: boolean;
  /** The JSON text of the event sent last. */
  data?: string;
}

/** Asks the tab with the stream for its state. */
const HELLO = 'hello';

/**
 * Follows one kind of event of an operation.
 *
 * @returns ends the following
 */
export function follow(path: string, event: string, listener: LiveListener): () => void {
  const ended = new AbortController();
  const take = ({ isLive, data }: Message): void => {
    if (ended.signal.aborted) return;
    if (data !== undefined) listener.onData(JSON.parse(data));
    listener.onLive(isLive);
  };
  const { locks } = navigator as { locks?: LockManager };
  if (locks === undefined || typeof BroadcastChannel === 'undefined') {
    const stop = openStream(path, event, take);
    ended.signal.addEventListener('abort', stop);
    return () => ended.abort();
  }
  const name = `docket ${path}`;
  const channel = new BroadcastChannel(name);
  const post = (message: Message | typeof HELLO): void => {
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a channel has one origin
    channel.postMessage(message);
  };
  channel.addEventListener('message', ({ data }: MessageEvent<Message | typeof HELLO>) => {
    if (data !== HELLO) take(data);
  });
  post(HELLO);
  const lead = async (): Promise<void> => {
    let last: Message = { isLive: false };
    const stop = openStream(path, event, (message) => {
      last = { ...last, ...message };
      take(message);
      post(message);
    });
    channel.addEventListener('message', ({ data }: MessageEvent<Message | typeof HELLO>) => {
      if (data === HELLO) post(last);
    });
    await new Promise((resolve) => ended.signal.addEventListener('abort', resolve));
    stop();
  };
  // Rejected if this tab stops following while it waits for the lock.
  locks.request(name, { signal: ended.signal }, lead).catch(() => {});
  return () => {
    ended.abort();
    // After the lock is released, so that the new holder tells the others.
    setTimeout(() => channel.close());
  };
}

/** Keeps a stream open. @returns closes it */
function openStream(path: string, event: string, tell: (message: Message) => void): () => void {
  let source: EventSource;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const open = (): void => {
    source = new EventSource(address(path));
    source.addEventListener(event, ({ data }: MessageEvent<string>) => tell({ isLive: true, data }));
    source.addEventListener('error', () => {
      tell({ isLive: false });
      // The browser itself reopens a stream that ended, but not one that was refused.
      if (source.readyState === EventSource.CLOSED) timer = setTimeout(open, RETRY_MS);
    });
  };
  open();
  return () => {
    clearTimeout(timer);
    source.close();
  };
}
