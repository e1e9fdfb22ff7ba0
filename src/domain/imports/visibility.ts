/**
 * Visibility of row results. Results are stored and shown later, also to users other than the importer. Only users who may read
 * the record now see what a result says about it. For all others the row looks like one without a record.
 */
import type { FaultDetail } from '../../lib/fault.ts';
import type { ReadContext } from '../../platform/unit-of-work/context.ts';
import { notFound, readableIds } from '../objects/index.ts';
import type { TargetKind } from './definition.ts';
import { faultErrors } from './rules.ts';

/** The right that every operation on users, groups and units needs. */
const IDENTITY_RIGHT = 'user.administer';

/** Those of the targets that the caller may read now. */
export async function readableTargets(
  ctx: ReadContext,
  kind: TargetKind,
  ids: Iterable<string | null>,
): Promise<ReadonlySet<string>> {
  const named = [...new Set(ids)].filter((id) => id !== null);
  if (kind === 'object') return await readableIds(ctx, named);
  return new Set(ctx.actor.has(IDENTITY_RIGHT) ? named : []);
}

/** The errors of a row whose record the caller may not read: the same as for a missing record. */
export function hiddenErrors(status: string): FaultDetail[] {
  return status === 'FAILED' ? faultErrors(notFound()) : [];
}

/** The row as shown to a caller who may not read its record. */
export function hidden<T extends { externalId: string | null; status: string; id: string | null; errors: unknown }>(
  row: T,
): T {
  return { ...row, externalId: null, id: null, errors: hiddenErrors(row.status) };
}
