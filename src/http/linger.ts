/** Ends connections so that a client that is still sending gets to read why it was refused. */
import type { IncomingMessage, ServerResponse } from 'node:http';

/** After a refusal this much more is read and thrown away, for this long. */
const DRAIN_BYTES = 128 * 1024 * 1024;
const DRAIN_MS = 20_000;
const LINGER_MS = 1000;

/**
 * Ends an answer that was sent while the body is still coming. Closing at once would reset the connection, and the client
 * would see that in place of the answer: so the rest is read and thrown away, within bounds, and the connection half-closed.
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
    // Still reading for a moment, while the client sees that nothing more will be taken.
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
  // A request that broke off says so by an error, which nobody else listens for any more.
  request.on('error', () => {});
  request.on('data', onData).on('end', onEnd).on('close', stop);
  request.resume();
}
