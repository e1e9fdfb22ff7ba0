/** Loads records for a caller, checks rights on them and the expected revision. A hidden record is reported as not found. */
import { isArchived } from '../../contract/state.ts';
import type { RecordAction } from '../../contract/rights.ts';
import { Fault } from '../../lib/fault.ts';
import { problem } from '../../lib/problem.ts';
import type { ReadContext, WriteContext } from '../../platform/unit-of-work/context.ts';
import { type Authorized, evaluateAccess, type RecordView, viewOf, type VisibleObject } from './record.ts';
import {
  type GuardedWrite,
  findObject,
  findObjects,
  holdActive,
  holdRevision,
  listAdmitted,
  type ObjectRow,
} from './store.ts';
import type { LastChange } from '../../platform/journal/journal.ts';
import { listChangedFields } from './store-history.ts';

function memoKey(id: string): string {
  return `objects:${id}`;
}

/** Caches a row for the rest of the unit of work, so that later reads see what was planned for the record. */
export function rememberRow(ctx: ReadContext, row: ObjectRow): void {
  ctx.memo.set(memoKey(row.id), row);
}

/** The cached row of the record, including the changes planned in this unit of work; undefined if it was not loaded. */
export function plannedRow(ctx: ReadContext, id: string): ObjectRow | undefined {
  return (ctx.memo.get(memoKey(id)) as ObjectRow | null | undefined) ?? undefined;
}

/** Loads many records in one query, so that later single-record commands find them in the cache. */
export async function preload(ctx: ReadContext, ids: readonly string[]): Promise<void> {
  const missing = ids.filter((id) => !ctx.memo.has(memoKey(id)));
  if (missing.length === 0) return;
  for (const id of missing) ctx.memo.set(memoKey(id), null);
  for (const row of await findObjects(ctx, missing)) rememberRow(ctx, row);
}

/** Frees the memory of records that a long read is done with. */
export function forget(ctx: ReadContext, ids: readonly string[]): void {
  for (const id of ids) ctx.memo.delete(memoKey(id));
}

export function notFound(): Fault {
  return new Fault('NOT_FOUND', 'There is no such record, or you may not see it.');
}

async function rowOf(ctx: ReadContext, id: string): Promise<ObjectRow | null> {
  const key = memoKey(id);
  let row = ctx.memo.get(key) as ObjectRow | null | undefined;
  if (row === undefined) {
    row = (await findObject(ctx, id)) ?? null;
    ctx.memo.set(key, row);
  }
  return row;
}

/** The record, or undefined if it does not exist or the caller may not read it. */
export async function findVisible(ctx: ReadContext, id: string): Promise<VisibleObject | undefined> {
  const row = await rowOf(ctx, id);
  if (row === null) return undefined;
  const object = evaluateAccess(ctx, row);
  return object.right.can('read') ? object : undefined;
}

/** The ids of records that the caller may read now, including archived ones. */
export async function visibleIds(ctx: ReadContext, ids: readonly string[]): Promise<ReadonlySet<string>> {
  const visible = ids.length === 0 ? null : ctx.actor.visible('o', 'read', ctx.now);
  return new Set(visible === null ? [] : await listAdmitted(ctx, ids, visible));
}

/**
 * The record as seen in this unit of work, including planned changes, without a check of read access. It serves modules
 * that keep data beside records by rules of the configuration. Check access before you return any of it.
 */
export async function recordOf(ctx: ReadContext, id: string): Promise<RecordView | undefined> {
  const row = await rowOf(ctx, id);
  return row === null ? undefined : viewOf(ctx, row);
}

/** @throws Fault NOT_FOUND if the record does not exist or the caller may not read it */
export async function requireVisible(ctx: ReadContext, id: string): Promise<VisibleObject> {
  const object = await findVisible(ctx, id);
  if (object === undefined) throw notFound();
  return object;
}

/** @throws Fault NOT_FOUND, RIGHT_MISSING */
export async function requireGranted<Action extends RecordAction>(
  ctx: ReadContext,
  id: string,
  action: Action,
): Promise<Authorized<Action>> {
  return requireAction(await requireVisible(ctx, id), action);
}

/** @throws Fault RIGHT_MISSING with `{right}` */
export function requireAction<Action extends RecordAction>(object: VisibleObject, action: Action): Authorized<Action> {
  if (!object.right.can(action)) {
    throw new Fault('RIGHT_MISSING', problem('ACTION_NOT_ALLOWED', { action }), {
      right: action,
    });
  }
  return object as Authorized<Action>;
}

/** Plans a row of a write that needs a right on the record. */
export function planOn<Row, Action extends RecordAction>(
  ctx: WriteContext,
  _object: Authorized<NoInfer<Action>>,
  { write }: GuardedWrite<Row, Action>,
  row: NoInfer<Row>,
): void {
  ctx.plan(write, row);
}

/** @throws Fault ARCHIVED: archived records take no change of any kind */
export function requireActive(object: VisibleObject): void {
  if (isArchived(object.row)) {
    throw new Fault('ARCHIVED', 'The record is archived and cannot be changed. Ask an administrator to restore it.');
  }
}

/**
 * Refuses a create whose id is in use before its statement, which would undo those of its group. The unique index decides races.
 *
 * @throws Fault ALREADY_EXISTS
 */
export async function requireUnused(ctx: ReadContext, objectId: string): Promise<void> {
  if ((await rowOf(ctx, objectId)) !== null) {
    throw new Fault('ALREADY_EXISTS', problem('ANYTHING_TAKEN'), { field: 'objectId' });
  }
}

function writeKey(id: string): string {
  return `objects:written:${id}`;
}

function storedKey(id: string): string {
  return `objects:stored:${id}`;
}

/** The row as it was loaded, of a record that the unit of work changes; undefined for all others. */
export function storedRow(ctx: ReadContext, id: string): ObjectRow | undefined {
  return ctx.memo.get(storedKey(id)) as ObjectRow | undefined;
}

/** How the unit of work writes the record so far; undefined if it does not. */
export function plannedWrite(ctx: ReadContext, id: string): 'insert' | 'change' | undefined {
  return ctx.memo.get(writeKey(id)) as 'insert' | 'change' | undefined;
}

/**
 * Notes that the unit of work inserts or changes the record. Locks planned for it are dropped: the change requires the revision,
 * and one statement cannot lock and change the same row.
 */
export function rememberWrite(ctx: WriteContext, id: string, write: 'insert' | 'change'): void {
  ctx.memo.set(writeKey(id), write);
  if (write === 'insert') return;
  ctx.memo.set(storedKey(id), plannedRow(ctx, id));
  ctx.replan(holdActive, (row) => (row.id === id ? undefined : row));
  ctx.replan(holdRevision, (row) => (row.id === id ? undefined : row));
}

/**
 * Locks the record as active until the unit of work ends, so that it is not archived while something is added to it. A record
 * that the unit inserts or changes needs no lock.
 */
export function planHold(ctx: WriteContext, id: string): void {
  if (plannedWrite(ctx, id) === undefined) ctx.plan(holdActive, { id });
}

/** Changes that every reader of a record may see, because they concern no field. */
export const RECORD_CHANGES = new Set(['state', 'workflowState']);

interface ChangedField {
  field: string;
  at: string;
  actor: { id: string; displayName: string } | null;
}

/** What a REVISION_CONFLICT tells: the last change of each field. `complete` is there only if some were left out. */
interface ConflictDetails {
  [name: string]: unknown;
  changedSince: ChangedField[];
  complete?: false;
}

/**
 * @throws Fault REVISION_CONFLICT when `expected` is not the record's revision; details hold `{changedSince: [{field, at,
 *   actor}]}` for the fields that the caller may read, never the current revision
 */
export async function requireRevision(ctx: ReadContext, object: VisibleObject, expected: number): Promise<void> {
  if (object.row.revision === expected) return;
  const readable = (field: string): boolean => RECORD_CHANGES.has(field) || object.right.canRead(field);
  const changes = await listChangedFields(ctx, object.row, expected);
  throw new Fault(
    'REVISION_CONFLICT',
    'The record was changed after the expected revision. Read it again and decide whether to repeat the change.',
    changedSince(changes.filter(({ field }) => readable(field))),
  );
}

/** Limits of `changedSince`: fields, and bytes of their JSON. */
const MAX_CHANGED = { fields: 1000, bytes: 1024 * 1024 };

/**
 * The details of a REVISION_CONFLICT.
 *
 * @param changes the last change of each field, oldest first; beyond the limits, the oldest are left out
 */
export function changedSince(changes: readonly LastChange[]): ConflictDetails {
  const shown: ChangedField[] = [];
  let bytes = 0;
  for (const { field, at, actorId, actorName } of changes.toReversed()) {
    const changed = { field, at, actor: actorId === null ? null : { id: actorId, displayName: actorName ?? '' } };
    bytes += Buffer.byteLength(JSON.stringify(changed)) + 1;
    if (shown.length >= MAX_CHANGED.fields || bytes > MAX_CHANGED.bytes) break;
    shown.push(changed);
  }
  const isAll = shown.length === changes.length;
  return { changedSince: shown.reverse(), ...(isAll ? {} : { complete: false }) };
}
