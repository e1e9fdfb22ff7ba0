/** Writes the facts of records in the statement of the change that causes them. */
import { OPEN_VISIBILITIES } from '../../contract/comment-visibility.ts';
import type { EventType } from '../../contract/events.ts';
import type { Follower, PlannedEvent, WriteContext } from '../../platform/unit-of-work/context.ts';
import { plannedComment } from '../comments/index.ts';
import { registry } from '../metadata/index.ts';
import { type ObjectRow, plannedRow } from '../objects/index.ts';
import { requesterOf } from './requesters.ts';
import { type FactsRow, putFacts, putReply } from './store.ts';

const STATE_EVENTS: ReadonlySet<EventType> = new Set(['ObjectCreated', 'ObjectArchived', 'ObjectRestored']);

/** Whether the event creates or archives the record, or changes its workflow state. */
function changesState({ type, changes }: PlannedEvent): boolean {
  return STATE_EVENTS.has(type) || Object.hasOwn(changes ?? {}, 'workflowState');
}

/** Whether a comment by another user than the requester became public. */
function isReply(ctx: WriteContext, row: ObjectRow, { type, data }: PlannedEvent): boolean {
  if (type !== 'CommentAdded' && type !== 'CommentUpdated') return false;
  const changed: unknown = data?.changed;
  if (type === 'CommentUpdated' && !(Array.isArray(changed) && changed.includes('visibility'))) return false;
  const comment = plannedComment(ctx, String(data?.commentId));
  return (
    comment !== undefined &&
    OPEN_VISIBILITIES.includes(comment.visibility) &&
    comment.authorId !== requesterOf(ctx, row)
  );
}

function factsOf(ctx: WriteContext, row: ObjectRow, replied: boolean): FactsRow {
  const { states } = registry(ctx);
  const state = row.workflowStateId === null ? undefined : states.get(row.workflowStateId);
  return {
    id: row.id,
    typeId: row.typeId,
    state: row.state,
    workflowStateId: row.workflowStateId,
    createdAt: row.createdAt,
    firstReplyAt: replied ? ctx.now : null,
    doneAt: state?.category === 'done' ? ctx.now : null,
  };
}

export const reportFollower: Follower = {
  name: 'reports',
  follow: async (ctx, events) => {
    const changed = new Set<string>();
    const replied = new Set<string>();
    for (const event of events) {
      const row = event.objectId === undefined ? undefined : plannedRow(ctx, event.objectId);
      if (row === undefined) continue;
      if (changesState(event)) changed.add(row.id);
      if (isReply(ctx, row, event)) replied.add(row.id);
    }
    for (const id of new Set([...changed, ...replied])) {
      const row = plannedRow(ctx, id) as ObjectRow;
      ctx.plan(changed.has(id) ? putFacts : putReply, factsOf(ctx, row, replied.has(id)));
    }
  },
};
