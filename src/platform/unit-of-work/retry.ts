/** Errors that retry the transaction or replay a stored response. */
import { Fault } from '../../lib/fault.ts';

const GUARD_STATE = 'DK001';

/** A fault thrown after existence and rights were checked. A stored response for the same idempotency key replaces it. */
export class AuthorizedFault extends Error {
  readonly fault: Fault;
  constructor(fault: Fault) {
    super(fault.message);
    this.fault = fault;
  }
}

export function isAuthorizedFault(error: unknown): boolean {
  // A unique violation means that the row exists; the first call with this key may have created it.
  return (
    (error instanceof AuthorizedFault && error.fault.code !== 'RIGHT_MISSING' && error.fault.code !== 'NOT_FOUND') ||
    (error as { code?: unknown }).code === '23505'
  );
}

export function unwrapAuthorizedFault(error: unknown): unknown {
  return error instanceof AuthorizedFault ? error.fault : error;
}

export function guardOf(error: unknown): string | undefined {
  const { code, detail } = error as { code?: unknown; detail?: unknown };
  return code === GUARD_STATE && typeof detail === 'string' ? detail : undefined;
}

export function contended(): Fault {
  return new Fault('OVERLOADED', 'Too many changes of the same thing at once; retry shortly.', [], {
    headers: { 'Retry-After': '1' },
  });
}

export function pause(ms: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms);
  });
}
