/**
 * Read-your-writes on replicas (ADR 0011): the header `X-Docket-Position`, sent with each write and returned by the client
 * with later reads.
 */
import { ADMIN_SCOPE } from '../contract/scopes.ts';
import { faultAt } from '../lib/fault.ts';
import { readPosition, writePosition } from '../platform/database/readings.ts';
import type { ReadConsistency } from '../platform/database/replica.ts';
import type { RequestContext } from './request-context.ts';
import { singleHeader } from './headers.ts';
import type { Authenticated } from './types.ts';

const HEADER = 'X-Docket-Position';

/** @throws Fault INVALID_REQUEST */
export function readConsistencyOf(
  replicaSafe: boolean,
  context: RequestContext,
  found: Authenticated,
): ReadConsistency {
  const { callerId, keyId, scopes } = found;
  const given = context.request.headers['x-docket-position'];
  const seen = given === undefined ? undefined : readPosition(singleHeader(context.request, 'x-docket-position') ?? '');
  if (given !== undefined && seen === undefined) {
    throw faultAt('INVALID_REQUEST', `header.${HEADER}`, 'POSITION_FORMAT', { header: HEADER });
  }
  return {
    callerId,
    replicaSafe: replicaSafe,
    seen,
    mayHaveWritten: replicaSafe && writes(keyId, scopes),
    wrote: undefined,
  };
}

/** True if the caller may write: a session, or a key with a scope other than `:read`. */
function writes(keyId: string | null, scopes: ReadonlySet<string>): boolean {
  if (keyId === null || scopes.has(ADMIN_SCOPE)) return true;
  for (const scope of scopes) if (!scope.endsWith(':read')) return true;
  return false;
}

/** Sends the position that the caller's later reads must have reached. */
export function tellPosition(context: RequestContext, consistency: ReadConsistency | undefined): void {
  if (consistency?.wrote !== undefined) context.extra.push(HEADER, writePosition(consistency.wrote));
}
