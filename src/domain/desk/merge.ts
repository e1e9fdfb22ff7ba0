/** Merging a duplicate into another record: relation, transition and a comment, in one unit of work. */
import type { CommentVisibility } from '../../contract/comment-visibility.ts';
import { isActive } from '../../contract/state.ts';
import { Fault } from '../../lib/fault.ts';
import { problem } from '../../lib/problem.ts';
import type { ReadContext, WriteContext } from '../../platform/unit-of-work/context.ts';
import { addCommentWithFiles } from '../attachments/index.ts';
import { named } from '../metadata/index.ts';
import {
  holdRevision,
  liveRevision,
  requireAction,
  requireActive,
  requireRevision,
  requireVisible,
  type VisibleObject,
} from '../objects/index.ts';
import { addRelation, definitions, type KnownDefinition } from '../relations/index.ts';
import { findTransition, possibleTransitions, type TransitionAnswer, transitionObject } from '../workflow/index.ts';

/** Code of the relation definition from a duplicate to the record that continues it. */
const RELATION = 'duplicate-of';
/** Code of the transition that closes a duplicate. */
const TRANSITION = 'close-duplicate';

function definitionFor(ctx: ReadContext, { type }: VisibleObject): KnownDefinition | undefined {
  return [...definitions(ctx).values()].find(
    ({ code, active, sourceTypes }) => code === RELATION && active && sourceTypes.includes(type.code),
  );
}

interface MergeOffer {
  relation: { id: string; name: string; targetTypes: string[] } | null;
  transition: TransitionAnswer | null;
}

/**
 * What merging this record would do; the relation is null if the caller cannot merge it.
 *
 * @throws Fault NOT_FOUND
 */
export async function offerMerge(ctx: ReadContext, objectId: string): Promise<MergeOffer> {
  const object = await requireVisible(ctx, objectId);
  const definition = definitionFor(ctx, object);
  const may = isActive(object.row) && object.right.can('relation.create') && definition !== undefined;
  return {
    relation: may
      ? { id: definition.id, name: named(ctx, definition.name), targetTypes: definition.targetTypes }
      : null,
    transition: (may ? possibleTransitions(ctx, object).find(({ code }) => code === TRANSITION) : undefined) ?? null,
  };
}

export interface MergeInput {
  objectId: string;
  expectedRevision: number;
  targetObjectId: string;
  close: boolean;
  comment?: { body: string; visibility: CommentVisibility; attachmentIds?: readonly string[] };
}

/**
 * Merges the record into the target. The rights to all parts are checked before anything is planned.
 *
 * @throws Fault NOT_FOUND, RIGHT_MISSING, ARCHIVED, REVISION_CONFLICT, INVALID_REQUEST (no such relation or target),
 *   RELATION_CARDINALITY, RELATION_CYCLE and the faults of a transition and a comment
 */
export async function mergeObject(
  ctx: WriteContext,
  { objectId, expectedRevision, targetObjectId, close, comment }: MergeInput,
): Promise<{ object: { id: string; revision: number }; relation: { id: string; revision: number } }> {
  const object = requireAction(await requireVisible(ctx, objectId), 'relation.create');
  if (close) requireAction(object, 'transition');
  if (comment !== undefined) requireAction(object, 'comment.create');
  const definition = definitionFor(ctx, object);
  if (definition === undefined) {
    throw new Fault('INVALID_REQUEST', problem('MERGE_WITHOUT_RELATION', { code: RELATION }), []);
  }
  requireActive(object);
  await requireRevision(ctx, object, expectedRevision);
  // Closing requires the revision by its change of the record. Without it, the revision is held until the unit of work ends.
  if (!close) ctx.plan(holdRevision, { id: objectId, expected: expectedRevision });
  const { relation } = await addRelation(ctx, { objectId, definitionId: definition.id, targetObjectId });
  if (comment !== undefined) await addCommentWithFiles(ctx, { objectId, ...comment });
  if (close) {
    await transitionObject(ctx, {
      objectId,
      expectedRevision,
      transitionId: findTransition(ctx, object, TRANSITION)?.id ?? '',
      expectedStateId: object.row.workflowStateId ?? '',
    });
  }
  return { object: liveRevision(ctx, object), relation };
}
