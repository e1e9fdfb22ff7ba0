/** Who can be the assignee of a record (docs/spec/records.md#assignees). */
import { COMMENT_RIGHTS } from '../../contract/comment-visibility.ts';
import type { EventType } from '../../contract/events.ts';
import { canName, type RecordAction } from '../../contract/rights.ts';
import { invalidValues } from '../../lib/fault.ts';
import { pointer } from '../../lib/json.ts';
import { problemAt } from '../../lib/problem.ts';
import type { Actor, ReadContext, WriteContext } from '../../platform/unit-of-work/context.ts';
import { contextOnBehalfOf } from '../../platform/unit-of-work/unit-context.ts';
import { type FieldDefinition, fieldsInRole, type RecordType, type TypeVersion } from '../metadata/index.ts';
import { evaluateAccess, type VisibleObject } from './record.ts';
import type { ObjectRow } from './store.ts';

/** Who has one of these rights takes part in the work on a record. */
const WORK_ACTIONS: readonly RecordAction[] = ['update', 'transition', ...COMMENT_RIGHTS];

/** The field of the type whose user must be able to work on the record; undefined if anyone can be named. */
function judgedField(type: RecordType, version: TypeVersion): FieldDefinition | undefined {
  if (type.newest.definition.assignable === 'anyone') return undefined;
  return fieldsInRole(version, 'assignee').find(({ role }) => role === 'assignee');
}

function works(can: (action: RecordAction) => boolean): boolean {
  return can('read') && WORK_ACTIONS.some(can);
}

/** Whether the user may work on the record. The rights are those on the row as given. */
function mayWorkOn(ctx: ReadContext, row: ObjectRow, user: Actor): boolean {
  const { right } = evaluateAccess(contextOnBehalfOf(ctx, user), row);
  return works((action) => right.can(action));
}

/**
 * Refuses an assignee that this change sets and who may not work on the record as it will be. Every create and change of a record
 * passes it. A user who does not exist or is archived is refused as in every other field.
 *
 * @param object the record as it will be stored, with the caller's rights
 * @throws Fault INVALID_VALUES
 */
export async function requireAssignable(
  ctx: WriteContext,
  object: VisibleObject,
  changes: Record<string, unknown>,
  eventType: EventType,
): Promise<void> {
  const { row, type, version, right } = object;
  const field = judgedField(type, version);
  if (field === undefined || !Object.hasOwn(changes, field.code)) return;
  const userId = row.values[field.code];
  if (typeof userId !== 'string') return;
  const user = await ctx.actorOf(userId);
  if (user !== undefined && mayWorkOn(ctx, row, user)) return;
  const member = eventType === 'ObjectUpdated' ? 'changes' : 'values';
  const path = canName(right, field.code) ? pointer(member, field.code) : pointer(member);
  throw invalidValues([problemAt(path, user === undefined ? 'NO_MATCHING_RECORD' : 'NOT_ASSIGNABLE')]);
}
