/** Sends large answers in chunks and closes the connection of clients that read too slowly. */
import type { ServerResponse } from 'node:http';
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
