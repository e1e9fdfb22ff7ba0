/**
 * Results of rows are stored and shown later, also to others than the one who imported. What they say of a record is for those
 * who may read that record now: for anybody else the row is about nothing, word for word.
 */
import type { FaultDetail } from '../../lib/fault.ts';
import type { ReadContext } from '../../mechanisms/context.ts';
import { notFound, readableIds } from '../objects/door.ts';
import type { TargetKind } from './definition.ts';
import { faultErrors } from './rules.ts';

/** The right that every operation on people, groups and units needs. */
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

/** The errors of a row whose record the caller may not read: those of a record that is not there. */
export function hiddenErrors(status: string): FaultDetail[] {
  return status === 'FAILED' ? faultErrors(notFound()) : [];
}

/** The row as it is shown where its record may not be read. */
export function hidden<T extends { externalId: string | null; status: string; id: string | null; errors: unknown }>(
  row: T,
): T {
  return { ...row, externalId: null, id: null, errors: hiddenErrors(row.status) };
}
