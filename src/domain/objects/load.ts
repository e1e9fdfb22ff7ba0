/** Loads records for a caller: what may not be read is not there. */
import type { RecordAction } from '../../contract/rights.ts';
import { Fault } from '../../lib/fault.ts';
import type { ReadContext } from '../../mechanisms/context.ts';
import { type Authorized, judge, type RecordView, viewOf, type VisibleObject } from './record.ts';
import { findObject, findObjects, listAdmitted, type ObjectRow } from './store.ts';

function memoKey(id: string): string {
  return `objects:${id}`;
}

/** Keeps a row for the rest of the unit: a later look at the record sees what was planned for it. */
export function rememberRow(ctx: ReadContext, row: ObjectRow): void {
  ctx.memo.set(memoKey(row.id), row);
}

/** The record as it will stand after what this unit has planned; undefined where the unit plans nothing for it. */
export function plannedRow(ctx: ReadContext, id: string): ObjectRow | undefined {
  return (ctx.memo.get(memoKey(id)) as ObjectRow | null | undefined) ?? undefined;
}

/** Loads many records at once, so that the single-item commands after it need not ask one by one. */
export async function preload(ctx: ReadContext, ids: readonly string[]): Promise<void> {
  const missing = ids.filter((id) => !ctx.memo.has(memoKey(id)));
  if (missing.length === 0) return;
  for (const id of missing) ctx.memo.set(memoKey(id), null);
  for (const row of await findObjects(ctx, missing)) rememberRow(ctx, row);
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

/** The record, or undefined when it is absent or hidden, alike. */
export async function findVisible(ctx: ReadContext, id: string): Promise<VisibleObject | undefined> {
  const row = await rowOf(ctx, id);
  if (row === null) return undefined;
  const object = judge(ctx, row);
  return object.right.can('read') ? object : undefined;
}

/** Those of the ids that name a record which the caller may read now, archived ones too. */
export async function readableIds(ctx: ReadContext, ids: readonly string[]): Promise<ReadonlySet<string>> {
  const visible = ids.length === 0 ? null : ctx.actor.visible('o', 'read', ctx.now);
  return new Set(visible === null ? [] : await listAdmitted(ctx, ids, visible));
}

/**
 * The record as it stands in this unit, with what was planned for it, whoever may read it: for rooms that keep something beside
 * records by the configuration's own rules. Nothing of it may leave unjudged.
 */
export async function recordOf(ctx: ReadContext, id: string): Promise<RecordView | undefined> {
  const row = await rowOf(ctx, id);
  return row === null ? undefined : viewOf(ctx, row);
}

/** @throws Fault NOT_FOUND when the record is absent or hidden, alike */
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
    throw new Fault('RIGHT_MISSING', `You lack the right "${action}" on this record; ask an administrator.`, {
      right: action,
    });
  }
  return object as Authorized<Action>;
}

/** @throws Fault ARCHIVED: archived records take no change of any kind */
export function requireActive(object: VisibleObject): void {
  if (object.row.state === 'ARCHIVED') {
    throw new Fault('ARCHIVED', 'The record is archived and takes no change; an administrator can restore it.');
  }
}
