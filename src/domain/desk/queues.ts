/** Queues: who sees and changes them. A queue is hidden from users who may not read a type or field that it names. */
import { Fault, faultAt } from '../../lib/fault.ts';
import { type FieldResolver, parseCondition, SYSTEM_FIELDS } from '../../lib/filter.ts';
import type { ReadContext, WriteContext } from '../../platform/unit-of-work/context.ts';
import { findNames } from '../identity/index.ts';
import { fieldResolver, findType, type RecordType, registry } from '../metadata/index.ts';
import * as store from './store.ts';
import type { QueueDefinition, QueueRow } from './store.ts';

const SHARE_RIGHT = 'config.manage';

export interface QueueAnswer {
  id: string;
  name: string;
  shared: boolean;
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

/** @throws Fault INVALID_REQUEST, INVALID_FILTER for missing types and fields; hidden ones give the same errors */
function requireReadable(ctx: ReadContext, definition: QueueDefinition): void {
  const type = definition.type === undefined ? undefined : findType(registry(ctx), definition.type);
  if (definition.type !== undefined && (type === undefined || !ctx.actor.mayEver(type.id, 'read'))) {
    throw faultAt('INVALID_REQUEST', '/definition/type', 'NO_TYPE');
  }
  if (definition.filter === undefined) return;
  parseCondition(definition.filter, {
    resolve: visibleFields(ctx, type),
    variables: 'allowed',
    base: '/definition/filter',
  });
}

function isReadable(ctx: ReadContext, definition: QueueDefinition): boolean {
  try {
    requireReadable(ctx, definition);
    return true;
  } catch (error) {
    if (error instanceof Fault) return false;
    throw error;
  }
}

function answer(ctx: ReadContext, row: QueueRow, ownerName: string): QueueAnswer {
  const { ownerId, ...rest } = row;
  return { ...rest, owner: { id: ownerId, displayName: ownerName }, mayChange: mayChange(ctx, row) };
}

function mayChange(ctx: ReadContext, row: QueueRow): boolean {
  return row.shared ? ctx.actor.has(SHARE_RIGHT) : row.ownerId === ctx.actor.userId;
}

/** @throws Fault NOT_FOUND for the system user, which has no queues */
function requireUser(ctx: ReadContext): string {
  if (ctx.actor.userId === null) throw new Fault('NOT_FOUND', 'The system user has no queues.');
  return ctx.actor.userId;
}

export async function listQueues(ctx: ReadContext): Promise<QueueAnswer[]> {
  const userId = requireUser(ctx);
  const rows = (await store.listQueues(ctx, userId)).filter(
    (row) => row.ownerId === userId || isReadable(ctx, row.definition),
  );
  const owners = rows.length === 0 ? [] : await findNames(ctx, [...new Set(rows.map((row) => row.ownerId))]);
  const names = new Map(owners.map((owner) => [owner.id, owner.name as string]));
  return rows.map((row) => answer(ctx, row, names.get(row.ownerId) ?? ''));
}

export interface QueueInput {
  name: string;
  shared: boolean;
  definition: QueueDefinition;
}

function checkedName(name: string): string {
  const trimmed = name.normalize('NFC').trim();
  if (trimmed !== '' && trimmed.isWellFormed() && !/\p{Cc}/u.test(trimmed)) return trimmed;
  throw faultAt('INVALID_REQUEST', '/name', 'NAME_TEXT');
}

/** @throws Fault RIGHT_MISSING, INVALID_REQUEST, INVALID_FILTER */
export async function createQueue(ctx: WriteContext, input: QueueInput): Promise<QueueAnswer> {
  const ownerId = requireUser(ctx);
  if (input.shared) ctx.actor.require(SHARE_RIGHT);
  requireReadable(ctx, input.definition);
  const row: QueueRow = {
    ...input,
    name: checkedName(input.name),
    id: ctx.newId(),
    ownerId,
    revision: 1,
    updatedAt: ctx.now,
  };
  planWrite(ctx, store.insertQueue, row, 0);
  return answer(ctx, row, ctx.actor.displayName);
}

function planWrite(ctx: WriteContext, write: typeof store.insertQueue, row: QueueRow, expected: number): void {
  const { id, ownerId, name, shared, definition } = row;
  ctx.plan(write, { id, owner_id: ownerId, name, shared, definition, expected, at: ctx.now });
  if (shared) ctx.emit({ type: 'QueueShared', subject: `queue:${id}`, data: { name } });
}

/** The queue if the caller may change it. @throws Fault NOT_FOUND, RIGHT_MISSING, REVISION_CONFLICT */
async function requireChangeable(ctx: WriteContext, id: string, expectedRevision: number): Promise<QueueRow> {
  const row = await store.findQueue(ctx, id, requireUser(ctx));
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
  if (changes.shared === true) ctx.actor.require(SHARE_RIGHT);
  if (changes.definition !== undefined) requireReadable(ctx, changes.definition);
  const name = changes.name === undefined ? row.name : checkedName(changes.name);
  const next: QueueRow = { ...row, ...changes, name, revision: row.revision + 1, updatedAt: ctx.now };
  planWrite(ctx, store.updateQueue, next, expectedRevision);
  const [owner] = await findNames(ctx, [row.ownerId]);
  return answer(ctx, next, (owner?.name as string | undefined) ?? '');
}

export async function deleteQueue(ctx: WriteContext, id: string, expectedRevision: number): Promise<{ id: string }> {
  const row = await requireChangeable(ctx, id, expectedRevision);
  ctx.plan(store.removeQueue, { id, expected: expectedRevision });
  if (row.shared) ctx.emit({ type: 'QueueRemoved', subject: `queue:${id}`, data: { name: row.name } });
  return { id };
}
