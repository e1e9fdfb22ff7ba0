/** Sends large answers and gives up readers who take too little of them. */
import type { ServerResponse } from 'node:http';
import { pipeline, Readable } from 'node:stream';

/** An answer that is larger is sent in pieces of this size. */
export const PIECE = 65_536;

/** Why an answer was broken off. */
export class SlowReader extends Error {
  constructor(ms: number) {
    super(`the reader did not take ${PIECE} bytes within ${ms} ms`);
    this.name = 'SlowReader';
  }
}

type Source = Readable | Iterable<Uint8Array>;

/**
 * Sends what the source gives and ends the answer. Each piece has to be taken within `stalledMs`, whatever else the client
 * sends meanwhile, so that nobody decides how long an answer stays in memory.
 *
 * @param announced bytes that the answer must have, if that was said
 * @param done called once, with the reason if the answer was not sent whole
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
        // Goes on when the answer takes more.
        yield bytes.subarray(at, at + PIECE);
        clearTimeout(timer);
      }
    }
    // A file shorter than announced must never look whole.
    if (announced !== undefined && sent < announced) throw new Error('the content is shorter than announced');
    // What is left lies in the buffers of the connection.
    wait();
  }
  // The pipeline would notice only with the next bytes of the source that nobody takes any more.
  if (source instanceof Readable) response.once('close', () => source.destroy());
  pipeline(source, watched, response, (error) => {
    clearTimeout(timer);
    done(slow ?? error ?? undefined);
  });
}
