/** Queues: who sees and changes them. A queue is hidden from users who may not read a type or field that it names. */
import { checkedName, Fault, faultAt } from '../../lib/fault.ts';
import { type FieldResolver, parseCondition, SYSTEM_FIELDS } from '../../lib/filter.ts';
import type { ReadContext, WriteContext } from '../../platform/unit-of-work/context.ts';
import { findNames } from '../identity/index.ts';
import { fieldResolver, findType, named, type RecordType, registry } from '../metadata/index.ts';
import { requirePolicy } from '../sla/index.ts';
import * as store from './store.ts';
import type { QueueDefinition, QueueRow } from './store.ts';

const SHARE_RIGHT = 'config.manage';

export interface QueueAnswer {
  id: string;
  name: string;
  shared: boolean;
  /** The group whose members see the queue. */
  group: { id: string; name: string } | null;
  owner: { id: string; displayName: string };
  mayChange: boolean;
  definition: QueueDefinition;
  revision: number;
  updatedAt: string;
}

/** Resolves fields that the caller may read on some record of the type; without a type, fields of any readable type. */
function visibleFields(ctx: ReadContext, type: RecordType | undefined): FieldResolver {
  const types = type === undefined ? registry(ctx).active.filter((one) => ctx.actor.mayEver(one.id, 'read')) : [type];
  return (code) => {
    const own = types.find((one) => one.newest.fields.has(code));
    if (own === undefined) return SYSTEM_FIELDS.get(code);
    return ctx.actor.fieldAccess(own.id).canRead(code) ? fieldResolver(own)(code) : undefined;
  };
}

/** @throws Fault INVALID_REQUEST, INVALID_FILTER for missing types, fields and policies; hidden ones give the same errors */
function requireReadable(ctx: ReadContext, definition: QueueDefinition): void {
  const type = definition.type === undefined ? undefined : findType(registry(ctx), definition.type);
  if (definition.type !== undefined && (type === undefined || !ctx.actor.mayEver(type.id, 'read'))) {
    throw faultAt('INVALID_REQUEST', '/definition/type', 'NO_TYPE');
  }
  if (definition.slaPolicy !== undefined && definition.slaPolicy !== '-') {
    requirePolicy(ctx, definition.slaPolicy, '/definition/slaPolicy');
  }
  if (definition.filter === undefined) return;
  parseCondition(definition.filter, {
    resolve: visibleFields(ctx, type),
    variables: 'allowed',
    base: '/definition/filter',
  });
}

/** Whether type and fields of the queue exist and the caller may read them. */
export function isReadable(ctx: ReadContext, definition: QueueDefinition): boolean {
  try {
    requireReadable(ctx, definition);
    return true;
  } catch (error) {
    if (error instanceof Fault) return false;
    throw error;
  }
}

/** Names of the owners and groups of the queues, by id. */
async function namesOf(ctx: ReadContext, rows: readonly QueueRow[]): Promise<ReadonlyMap<string, string>> {
  const ids = new Set(rows.flatMap(({ ownerId, groupId }) => (groupId === null ? [ownerId] : [ownerId, groupId])));
  const found = ids.size === 0 ? [] : await findNames(ctx, [...ids]);
  return new Map(found.map(({ id, name }) => [id, named(ctx, name)]));
}

function answer(ctx: ReadContext, row: QueueRow, names: ReadonlyMap<string, string>): QueueAnswer {
  const { ownerId, groupId, ...rest } = row;
  return {
    ...rest,
    group: groupId === null ? null : { id: groupId, name: names.get(groupId) ?? '' },
    owner: { id: ownerId, displayName: names.get(ownerId) ?? '' },
    mayChange: mayChange(ctx, row),
  };
}

/** A queue of a group is changed by its owner; the other members only use it. */
function mayChange(ctx: ReadContext, row: QueueRow): boolean {
  if (row.shared) return ctx.actor.has(SHARE_RIGHT);
  return row.ownerId === ctx.actor.userId || (row.groupId !== null && ctx.actor.has(SHARE_RIGHT));
}

/**
 * Members may share a queue with their group. All other sharing needs the right.
 *
 * @throws Fault RIGHT_MISSING, INVALID_REQUEST (no such group)
 */
async function requireMayShare(
  ctx: ReadContext,
  { shared, groupId }: Pick<QueueRow, 'shared' | 'groupId'>,
): Promise<void> {
  const own = groupId === null || ctx.actor.variables.groups.includes(groupId);
  if (shared || !own) ctx.actor.require(SHARE_RIGHT);
  if (own) return;
  const found = await findNames(ctx, [groupId]);
  if (!found.some(({ kind }) => kind === 'group')) throw faultAt('INVALID_REQUEST', '/groupId', 'NO_GROUP');
}

/** @throws Fault NOT_FOUND for the system user, which has no queues */
function requireUser(ctx: ReadContext): string {
  if (ctx.actor.userId === null) throw new Fault('NOT_FOUND', 'The system user has no queues.');
  return ctx.actor.userId;
}

export async function listQueues(ctx: ReadContext): Promise<QueueAnswer[]> {
  const userId = requireUser(ctx);
  const rows = (await store.listQueues(ctx, userId, ctx.actor.variables.groups)).filter(
    (row) => row.ownerId === userId || isReadable(ctx, row.definition),
  );
  const names = await namesOf(ctx, rows);
  return rows.map((row) => answer(ctx, row, names));
}

export interface QueueInput {
  name: string;
  shared: boolean;
  /** A shared queue has no group. */
  groupId?: string | null;
  definition: QueueDefinition;
}

/** @throws Fault RIGHT_MISSING, INVALID_REQUEST, INVALID_FILTER */
export async function createQueue(ctx: WriteContext, input: QueueInput): Promise<QueueAnswer> {
  const ownerId = requireUser(ctx);
  const groupId = input.shared ? null : (input.groupId ?? null);
  await requireMayShare(ctx, { shared: input.shared, groupId });
  requireReadable(ctx, input.definition);
  const row: QueueRow = {
    ...input,
    groupId,
    name: checkedName(input.name),
    id: ctx.newId(),
    ownerId,
    revision: 1,
    updatedAt: ctx.now,
  };
  planWrite(ctx, row);
  return answer(ctx, row, await namesOf(ctx, [row]));
}

function planWrite(ctx: WriteContext, row: QueueRow): void {
  const { id, name, shared, groupId } = row;
  if (row.revision === 1) ctx.plan(store.insertQueue, row);
  else ctx.plan(store.updateQueue, row);
  if (shared || groupId !== null) ctx.emit({ type: 'QueueShared', subject: `queue:${id}`, data: { name } });
}

/** The queue if the caller may change it. @throws Fault NOT_FOUND, RIGHT_MISSING, REVISION_CONFLICT */
async function requireChangeable(ctx: WriteContext, id: string, expectedRevision: number): Promise<QueueRow> {
  const row = await store.findQueue(ctx, id, requireUser(ctx), ctx.actor.variables.groups);
  if (row === undefined || (row.ownerId !== ctx.actor.userId && !isReadable(ctx, row.definition))) {
    throw new Fault('NOT_FOUND', 'There is no such queue, or you may not see it.');
  }
  if (!mayChange(ctx, row)) ctx.actor.require(SHARE_RIGHT);
  ctx.markAuthorized();
  if (row.revision !== expectedRevision) {
    const message = 'The queue was changed after the expected revision. Read it again.';
    throw new Fault('REVISION_CONFLICT', message, { changedSince: [] });
  }
  return row;
}

export async function changeQueue(
  ctx: WriteContext,
  id: string,
  input: { expectedRevision: number } & Partial<QueueInput>,
): Promise<QueueAnswer> {
  const { expectedRevision, ...changes } = input;
  const row = await requireChangeable(ctx, id, expectedRevision);
  const shared = changes.shared ?? row.shared;
  const groupId = shared ? null : changes.groupId === undefined ? row.groupId : changes.groupId;
  // An owner who has left the group may still rename the queue.
  if (shared || groupId !== row.groupId) await requireMayShare(ctx, { shared, groupId });
  if (changes.definition !== undefined) requireReadable(ctx, changes.definition);
  const name = changes.name === undefined ? row.name : checkedName(changes.name);
  const next: QueueRow = {
    ...row,
    ...changes,
    name,
    shared,
    groupId,
    revision: row.revision + 1,
    updatedAt: ctx.now,
  };
  planWrite(ctx, next);
  return answer(ctx, next, await namesOf(ctx, [next]));
}

export async function deleteQueue(ctx: WriteContext, id: string, expectedRevision: number): Promise<{ id: string }> {
  const row = await requireChangeable(ctx, id, expectedRevision);
  ctx.plan(store.removeQueue, { id, revision: expectedRevision });
  if (row.shared || row.groupId !== null)
    ctx.emit({ type: 'QueueRemoved', subject: `queue:${id}`, data: { name: row.name } });
  return { id };
}
