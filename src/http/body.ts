/**
 * Receives bodies as bytes, up to an exact limit, declared or chunked (api.md, "Limits"); and ends connections so that a
 * client that is still sending gets to read why it was refused.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { ClientGone, fault } from './errors.ts';
import type { Exchange } from './exchange.ts';
import { overloaded } from './gate.ts';
import { declaredLength } from './headers.ts';

/** 10 MiB; a body of this many bytes passes, one more does not. */
export const MOST_BODY = 10_485_760;

/** After a refusal this much more is read and thrown away, for this long. */
const DRAIN_BYTES = 128 * 1024 * 1024;
const DRAIN_MS = 20_000;
const LINGER_MS = 1000;

/** @throws Fault BODY_TOO_LARGE */
export function requireDeclaredSize(request: IncomingMessage): void {
  if ((declaredLength(request) ?? 0) > MOST_BODY) throw fault('BODY_TOO_LARGE');
}

/** Bytes of bodies that may be held at once, over all requests. */
export class BodyBudget {
  readonly most: number;
  held = 0;

  constructor(most: number) {
    this.most = most;
  }
}

/**
 * The whole body. The bytes count against the budget until `release`.
 *
 * @throws Fault BODY_TOO_LARGE, OVERLOADED; ClientGone
 */
export function receiveBody(exchange: Exchange, budget: BodyBudget): Promise<{ bytes: Buffer; release: () => void }> {
  const { request } = exchange;
  exchange.continueBody();
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let length = 0;
    const release = (): void => {
      budget.held -= length;
      length = 0;
    };
    const stop = (): void => {
      request.off('data', onData).off('end', onEnd).off('close', onClose).off('error', onClose);
    };
    const refuse = (error: Error): void => {
      stop();
      release();
      // Paused, so that the answer can be sent before the rest is thrown away.
      request.pause();
      reject(error);
    };
    const onData = (chunk: Buffer): void => {
      length += chunk.length;
      budget.held += chunk.length;
      if (length > MOST_BODY) refuse(fault('BODY_TOO_LARGE'));
      else if (budget.held > budget.most) refuse(overloaded());
      else chunks.push(chunk);
    };
    const onEnd = (): void => {
      stop();
      resolve({ bytes: chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks, length), release });
    };
    const onClose = (): void => refuse(new ClientGone());
    request.on('data', onData).on('end', onEnd).on('close', onClose).on('error', onClose);
  });
}

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
