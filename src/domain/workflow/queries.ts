/** The workflow of a record: its state and the transitions that the caller can make now. */
import { isActive } from '../../contract/state.ts';
import { evaluate } from '../../lib/filter.ts';
import type { ReadContext } from '../../platform/unit-of-work/context.ts';
import { canName } from '../../contract/rights.ts';
import { fieldSchema, named, registry, variables } from '../metadata/index.ts';
import { recordOf, requireVisible, stateAnswer, type VisibleObject } from '../objects/index.ts';
import { leaves, type Transition, transitionsOf } from './registry.ts';

/** Values of a transition that are stored with its event, not in the record, with their keys in the event's data. */
export const REMARKS: ReadonlyMap<string, { key: string; dataType: 'text' | 'rich-text' }> = new Map([
  ['$reason', { key: 'reason', dataType: 'text' }],
  ['$decisionReport', { key: 'decisionReport', dataType: 'rich-text' }],
]);

/**
 * Whether the transition's condition holds on the record now. The condition may use all fields, including those hidden from the
 * caller.
 */
export function conditionHolds(ctx: ReadContext, object: VisibleObject, transition: Transition): boolean {
  return transition.condition === null || evaluate(transition.condition, object.facts, variables(ctx));
}

export function holds(object: VisibleObject, transition: Transition): boolean {
  return object.right.can('transition') && object.right.canTransition(transition.code);
}

/** The form of a transition: the fields that the caller may read or write, and the two that are stored with the event. */
function form(ctx: ReadContext, object: VisibleObject, transition: Transition): unknown[] {
  return transition.fields.flatMap((part): object | [] => {
    const remark = REMARKS.get(part.code);
    const { required } = part;
    if (remark !== undefined) return { code: part.code, name: remark.key, dataType: remark.dataType, required };
    const field = object.version.fields.get(part.code);
    if (field === undefined || !canName(object.right, part.code)) return [];
    const schema = fieldSchema(ctx, field);
    return { ...schema, required, readOnly: schema.readOnly || !object.right.canWrite(part.code) };
  });
}

/** The transition of the record's workflow with this code, whether or not it can be made now. */
export function findTransition(
  ctx: ReadContext,
  { type, version }: VisibleObject,
  code: string | undefined,
): Transition | undefined {
  return [...transitionsOf(ctx, type, version).values()].find((transition) => transition.code === code);
}

/**
 * What decides about a transition of the record apart from rights; undefined if there is no such record or transition. Read
 * access is not checked.
 */
export async function transitionOf(ctx: ReadContext, objectId: string, transitionId: string) {
  const record = await recordOf(ctx, objectId);
  if (record === undefined) return undefined;
  const transition = transitionsOf(ctx, record.type, record.version).get(transitionId);
  if (transition === undefined) return undefined;
  const { code, condition } = transition;
  const { facts, type, state } = record;
  const starts = leaves(transition, record.row.workflowStateId);
  return { code, condition, facts, typeId: type.id, state: state?.code ?? null, leaves: starts };
}

/** A transition that the caller can make now, in API answers. */
export interface TransitionAnswer {
  id: string;
  code: string;
  name: string;
  to: { id: string; code: string; name: string };
  fields: unknown[];
}

/** The transitions that the caller can make on the record now. */
export function possibleTransitions(ctx: ReadContext, object: VisibleObject): TransitionAnswer[] {
  const { states } = registry(ctx);
  if (!isActive(object.row)) return [];
  const possible = [...transitionsOf(ctx, object.type, object.version).values()].filter(
    (transition) =>
      leaves(transition, object.row.workflowStateId) &&
      holds(object, transition) &&
      conditionHolds(ctx, object, transition),
  );
  return possible.map((transition) => {
    const to = states.get(transition.toId);
    return {
      id: transition.id,
      code: transition.code,
      name: named(ctx, transition.name),
      to: { id: transition.toId, code: to?.code ?? '', name: to === undefined ? '' : named(ctx, to.name) },
      fields: form(ctx, object, transition),
    };
  });
}

/** @throws Fault NOT_FOUND */
export async function getWorkflow(ctx: ReadContext, objectId: string): Promise<unknown> {
  const object = await requireVisible(ctx, objectId);
  return {
    object: { id: object.row.id, revision: object.row.revision },
    state: stateAnswer(ctx, object.state),
    transitions: possibleTransitions(ctx, object),
    permission: { transition: isActive(object.row) && object.right.can('transition') },
  };
}
