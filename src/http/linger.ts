/** Lingering close: a client that is still sending can read why its request was rejected. */
import type { IncomingMessage, ServerResponse } from 'node:http';

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
