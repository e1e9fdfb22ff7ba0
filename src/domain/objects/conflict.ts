/** The honest conflict: what others changed since the revision that the caller expected (decisions, "Requests…"). */
import { Fault } from '../../lib/fault.ts';
import type { ReadContext } from '../../mechanisms/context.ts';
import type { VisibleObject } from './record.ts';
import { listEvents } from './store.ts';

const SYSTEM_CHANGES = new Set(['state', 'workflowState']);

/**
 * @throws Fault REVISION_CONFLICT when `expected` is not the revision that the decision is made on; details hold
 * `{changedSince: [{field, at, actor}]}` as far as the caller may read it, never the present revision
 */
export async function requireRevision(ctx: ReadContext, object: VisibleObject, expected: number): Promise<void> {
  if (object.row.revision === expected) return;
  const last = new Map<string, { field: string; at: string; actor: { id: string; displayName: string } | null }>();
  for (const event of await listEvents(ctx, object.row.id, expected)) {
    for (const field of Object.keys(event.changes ?? {})) {
      if (!SYSTEM_CHANGES.has(field) && !object.right.reads(field)) continue;
      const actor = event.actorId === null ? null : { id: event.actorId, displayName: event.actorName ?? '' };
      last.set(field, { field, at: event.at, actor });
    }
  }
  throw new Fault(
    'REVISION_CONFLICT',
    'The record was changed since the revision you expected; read it again and decide whether to repeat the change.',
    { changedSince: [...last.values()] },
  );
}
