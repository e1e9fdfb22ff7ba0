/** Clients that read or send slowly: large answers are sent in chunks with a time limit, and rejected senders can read why. */
import type { ServerResponse, IncomingMessage } from 'node:http';
import { pipeline, Readable } from 'node:stream';

/** Chunk size in bytes. Larger answers are sent in chunks of this size. */
export const PIECE = 65_536;

/** The client read too slowly; the answer was aborted. */
export class SlowReader extends Error {
  constructor(ms: number) {
    super(`the reader did not take ${PIECE} bytes within ${ms} ms`);
    this.name = 'SlowReader';
  }
}

type Source = Readable | Iterable<Uint8Array>;

/**
 * Sends the source and ends the answer. The client must read each chunk within `stalledMs`, regardless of other traffic on the
 * connection. This bounds how long an answer stays in memory.
 *
 * @param announced content length in bytes, if it was sent
 * @param done called once, with the error if the answer was not sent completely
 */
export function sendPieces(
  source: Source,
  response: ServerResponse,
  { stalledMs, announced }: { stalledMs: number; announced?: number | undefined },
  done: (error: Error | undefined) => void,
): void {
  let slow: SlowReader | undefined;
  let timer: NodeJS.Timeout | undefined;
  const wait = (): void => {
    timer = setTimeout(() => {
      slow = new SlowReader(stalledMs);
      response.destroy();
    }, stalledMs);
    timer.unref();
  };
  async function* watched(all: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    let sent = 0;
    for await (const bytes of all) {
      sent += bytes.length;
      if (announced !== undefined && sent > announced) throw new Error('the content is longer than announced');
      for (let at = 0; at < bytes.length; at += PIECE) {
        wait();
        // Resumes when the response accepts more.
        yield bytes.subarray(at, at + PIECE);
        clearTimeout(timer);
      }
    }
    // A truncated file must not look complete.
    if (announced !== undefined && sent < announced) throw new Error('the content is shorter than announced');
    // The last bytes are still in the buffers of the connection.
    wait();
  }
  // `pipeline` would notice the closed response only with the next bytes of the source.
  if (source instanceof Readable) response.once('close', () => source.destroy());
  pipeline(source, watched, response, (error) => {
    clearTimeout(timer);
    done(slow ?? error ?? undefined);
  });
}

/** After a rejection, at most this many bytes are read and discarded, for at most this time. */
const DRAIN_BYTES = 128 * 1024 * 1024;
const DRAIN_MS = 20_000;
const LINGER_MS = 1000;

/**
 * Ends an answer that was sent while the body is still arriving. Closing immediately would reset the connection, and the client
 * would see the reset instead of the answer. So the rest is read and discarded, within limits, and the connection is
 * half-closed.
 */
export function lingeringEnd(request: IncomingMessage, response: ServerResponse, bodyMayNotCome: boolean): void {
  const { socket } = request;
  if (bodyMayNotCome) {
    response.end();
    return;
  }
  let dropped = 0;
  const stop = (): void => {
    clearTimeout(timer);
    request.off('data', onData).off('end', onEnd).off('close', stop);
  };
  const onEnd = (): void => {
    stop();
    response.end();
  };
  const giveUp = (): void => {
    stop();
    // Keeps reading briefly while the client sees the half-close.
    request.on('data', () => {});
    socket.end();
    setTimeout(() => socket.destroy(), LINGER_MS).unref();
  };
  const onData = (chunk: Buffer): void => {
    dropped += chunk.length;
    if (dropped > DRAIN_BYTES) giveUp();
  };
  const timer = setTimeout(giveUp, DRAIN_MS);
  timer.unref();
  // An aborted request emits an error; the other listeners are removed by now.
  request.on('error', () => {});
  request.on('data', onData).on('end', onEnd).on('close', stop);
  request.resume();
}
