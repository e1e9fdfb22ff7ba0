/** Details of a revision conflict: what changed since the revision that the caller expected (docs/spec/conventions.md). */
import { Fault } from '../../lib/fault.ts';
import type { ReadContext } from '../../platform/unit-of-work/context.ts';
import type { VisibleObject } from './record.ts';
import { listEvents } from './store.ts';

const SYSTEM_CHANGES = new Set(['state', 'workflowState']);

interface ChangedField {
  field: string;
  at: string;
  actor: { id: string; displayName: string } | null;
}

/**
 * @throws Fault REVISION_CONFLICT when `expected` is not the record's revision; details hold `{changedSince: [{field, at,
 *   actor}]}` for the fields that the caller may read, never the current revision
 */
export async function requireRevision(ctx: ReadContext, object: VisibleObject, expected: number): Promise<void> {
  if (object.row.revision === expected) return;
  const readable = (field: string): boolean => SYSTEM_CHANGES.has(field) || object.right.reads(field);
  const events = await listEvents(ctx, object.row.id, expected);
  throw new Fault(
    'REVISION_CONFLICT',
    'The record was changed since the revision you expected; read it again and decide whether to repeat the change.',
    {
      changedSince: changedSince(
        events.map((event) => ({ ...event, fields: Object.keys(event.changes ?? {}).filter(readable) })),
      ),
    },
  );
}

/** Reduces changes, oldest first, to the last change of each field, for the details of a REVISION_CONFLICT. */
export function changedSince(
  changes: readonly { fields: readonly string[]; at: string; actorId: string | null; actorName: string | null }[],
): ChangedField[] {
  const last = new Map<string, ChangedField>();
  for (const { fields, at, actorId, actorName } of changes) {
    const actor = actorId === null ? null : { id: actorId, displayName: actorName ?? '' };
    for (const field of fields) last.set(field, { field, at, actor });
  }
  return [...last.values()];
}
