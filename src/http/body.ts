/** Receives bodies as bytes, up to an exact limit, with declared length or chunked (docs/spec/conventions.md#limits). */
import type { IncomingMessage } from 'node:http';
import type { SharedBudget } from '../lib/shared-budget.ts';
import { ClientGone, fault } from './errors.ts';
import type { RequestContext } from './request-context.ts';
import { overloaded } from './admission.ts';
import { declaredLength } from './headers.ts';

/** 10 MiB; a body of exactly this many bytes is accepted. */
export const MAX_BODY = 10_485_760;

/** @throws Fault BODY_TOO_LARGE */
export function requireDeclaredSize(request: IncomingMessage, most = MAX_BODY): void {
  if ((declaredLength(request) ?? 0) > most) throw fault('BODY_TOO_LARGE');
}

export interface BodyLimits {
  /** Bytes of bodies that may be held at once, over all requests. */
  budget: SharedBudget;
  /** The key under which the bytes are counted in the budget. */
  owner: string;
  /** Maximum size of this body in bytes. */
  most: number;
}

/**
 * Receives the whole body. The bytes count against the budget until `release`.
 *
 * @throws Fault BODY_TOO_LARGE, OVERLOADED; ClientGone
 */
export function receiveBody(
  context: RequestContext,
  { budget, owner, most }: BodyLimits,
): Promise<{ bytes: Buffer; release: () => void }> {
  const { request } = context;
  context.continueBody();
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let length = 0;
    const release = (): void => {
      budget.release(owner, length);
      length = 0;
    };
    const stop = (): void => {
      request.off('data', onData).off('end', onEnd).off('close', onClose).off('error', onClose);
    };
    const refuse = (error: Error): void => {
      stop();
      release();
      // Paused, so that the answer is sent before the rest is discarded.
      request.pause();
      reject(error);
    };
    const onData = (chunk: Buffer): void => {
      if (length + chunk.length > most) {
        refuse(fault('BODY_TOO_LARGE'));
      } else if (budget.take(owner, chunk.length)) {
        length += chunk.length;
        chunks.push(chunk);
      } else {
        refuse(overloaded('Too many request bodies are being received. Retry after the time in Retry-After.'));
      }
    };
    const onEnd = (): void => {
      stop();
      resolve({ bytes: chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks, length), release });
    };
    const onClose = (): void => refuse(new ClientGone());
    request.on('data', onData).on('end', onEnd).on('close', onClose).on('error', onClose);
  });
}
