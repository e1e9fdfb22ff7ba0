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
const WORK_ACTIONS: readonly RecordAction[] = ['update', ...COMMENT_RIGHTS];
/** The same for users of the desk only: a requester closes or reopens an own record, which is no work on it. */
const DESK_WORK_ACTIONS: readonly RecordAction[] = ['transition'];

/** The field of the type whose user must be able to work on the record; undefined if anyone can be named. */
function judgedField(type: RecordType, version: TypeVersion): FieldDefinition | undefined {
  if (type.newest.definition.assignable === 'anyone') return undefined;
  return fieldsInRole(version, 'assignee').find(({ role }) => role === 'assignee');
}

function works(user: Actor, can: (action: RecordAction) => boolean): boolean {
  return can('read') && (WORK_ACTIONS.some(can) || (user.interfaces.includes('desk') && DESK_WORK_ACTIONS.some(can)));
}

/** Whether the user may work on the record. The rights are those on the row as given. */
function mayWorkOn(ctx: ReadContext, row: ObjectRow, user: Actor): boolean {
  const { right } = evaluateAccess(contextOnBehalfOf(ctx, user), row);
  return works(user, (action) => right.can(action));
}

/** Who can be offered as the assignee. */
export interface AssigneeOffer {
  type: RecordType;
  /** Whether the record is known: then a grant with a condition may admit it to any user. */
  onRecord: boolean;
  /** Only holders of roles that grant one of these on the type can pass `admits`; see `whoHolds` in access. */
  actions: { anybody: readonly RecordAction[]; desk: readonly RecordAction[] };
  admits(user: Actor): boolean;
}

/**
 * Who can be offered in the field of the record, as it is now with the user in the field: the judgement is that of
 * `requireAssignable`. Without a record, who works on records of the type: at the desk on some, others on all. Undefined: anyone.
 */
export function assigneeOffer(
  ctx: ReadContext,
  { type, version, row }: { type: RecordType; version: TypeVersion; row?: ObjectRow },
  code: string,
): AssigneeOffer | undefined {
  if (judgedField(type, version)?.code !== code) return undefined;
  const actions = { anybody: WORK_ACTIONS, desk: DESK_WORK_ACTIONS };
  if (row === undefined) {
    const admits = (user: Actor): boolean =>
      works(user, (action) =>
        user.interfaces.includes('desk') ? user.mayEver(type.id, action) : user.alwaysMay(type.id, action),
      );
    return { type, onRecord: false, actions, admits };
  }
  const { folded: _, ...unfolded } = row;
  const withUser = (id: string | null): ObjectRow => ({ ...unfolded, values: { ...row.values, [code]: id } });
  return { type, onRecord: true, actions, admits: (user) => mayWorkOn(ctx, withUser(user.userId), user) };
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
