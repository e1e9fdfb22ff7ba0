/**
 * Answers of requesters (docs/spec/workflow-and-sla.md#answers-of-requesters): a public comment of the requester or of a
 * participant fires the transition that the record's state names, in the unit of work of the comment.
 */
import { COMMENT_RIGHTS } from '../../contract/comment-visibility.ts';
import { isFault } from '../../lib/fault.ts';
import type { ReadContext, WriteContext } from '../../platform/unit-of-work/context.ts';
import { writeContextAs } from '../../platform/unit-of-work/unit-context.ts';
import { systemActor } from '../access/index.ts';
import { fieldsInRole, typeView } from '../metadata/index.ts';
import { stateTimes, type VisibleObject } from '../objects/index.ts';
import { transitionObject } from './commands.ts';
import { findTransition } from './queries.ts';

/** Why a transition is not made by an answer: its condition does not hold, or it needs values. The comment stays. */
const NOT_MADE: ReadonlySet<string> = new Set(['TRANSITION_CONDITION_NOT_MET', 'INVALID_VALUES']);

/** Fires the transition after a public comment of the caller. @param object the record with the rights of the caller */
export async function fireOnReply(ctx: WriteContext, object: VisibleObject): Promise<void> {
  const transition = findTransition(ctx, object, object.state?.onRequesterReply);
  const { id: objectId, revision: expectedRevision, workflowStateId } = object.row;
  if (transition === undefined || workflowStateId === null || !isReply(ctx, object)) return;
  if (!(await isInTime(ctx, object))) return;
  const own = writeContextAs(ctx, { actor: configurationFor(ctx), via: 'workflow', data: {}, onEmit: () => {} });
  const input = { objectId, transitionId: transition.id, expectedRevision, expectedStateId: workflowStateId };
  try {
    await ctx.attempt(() => transitionObject(own, input));
  } catch (error) {
    if (!isFault(error) || !NOT_MADE.has(error.code)) throw error;
  }
}

/**
 * Whether the caller answers as who waits for help. Who may also work on the record does so only in the portal or by mail: with
 * the same words elsewhere they do their work.
 */
function isReply(ctx: ReadContext, { row, version, right }: VisibleObject): boolean {
  const fields = (['requester', 'participants'] as const).flatMap((role) => fieldsInRole(version, role));
  const { userId } = ctx.actor;
  if (userId === null || !fields.some(({ code }) => [row.values[code]].flat().includes(userId))) return false;
  const works = right.can('update') || COMMENT_RIGHTS.some((one) => right.can(one));
  return !works || ctx.interface === 'portal' || ctx.via === 'mail';
}

/** The period counts from the moment when the record came to its state. */
async function isInTime(ctx: ReadContext, { row, state }: VisibleObject): Promise<boolean> {
  if (state?.reopenWithin === undefined) return true;
  const since = (await stateTimes(ctx, [row.id])).get(row.id);
  if (since === undefined) return false;
  const end = Temporal.Instant.from(since).toZonedDateTimeISO('UTC').add(Temporal.Duration.from(state.reopenWithin));
  return Date.parse(ctx.now) <= end.epochMilliseconds;
}

/** The rights of the configuration, in the name of the caller. */
function configurationFor({ actor, config }: ReadContext): WriteContext['actor'] {
  const { userId, displayName, roles, interfaces, variables, unitsAbove, names } = actor;
  return {
    ...systemActor(config.get(typeView)),
    userId,
    displayName,
    roles,
    interfaces,
    variables,
    unitsAbove,
    names,
  };
}
