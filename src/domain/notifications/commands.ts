/** Watches, choices, and what was read. All of it belongs to the caller. */
import { Fault } from '../../lib/fault.ts';
import type { ReadContext, WriteContext } from '../../platform/unit-of-work/context.ts';
import { requireVisible } from '../objects/index.ts';
import { type Choices, withDefaults } from './rules.ts';
import * as store from './store.ts';
import { insertNotifyingImport } from './store-make.ts';

/** @throws Fault NOT_FOUND for the system user, which has no notifications */
export function requireUser(ctx: ReadContext): string {
  if (ctx.actor.userId === null) throw new Fault('NOT_FOUND', 'The system user has no notifications.');
  return ctx.actor.userId;
}

/** Users are notified of the events of this unit, which is part of an import. Without it imports notify nobody. */
export function notifyOfImport(ctx: WriteContext): void {
  ctx.plan(insertNotifyingImport, { correlationId: ctx.correlationId, at: ctx.now });
}

/** @throws Fault NOT_FOUND */
export async function getWatch(ctx: ReadContext, objectId: string): Promise<{ watching: boolean }> {
  const userId = requireUser(ctx);
  await requireVisible(ctx, objectId);
  return { watching: await store.isWatching(ctx, objectId, userId) };
}

/** @throws Fault NOT_FOUND */
export async function setWatch(ctx: WriteContext, objectId: string, watching: boolean): Promise<{ watching: boolean }> {
  const userId = requireUser(ctx);
  await requireVisible(ctx, objectId);
  ctx.markAuthorized();
  const watch = { objectId, userId };
  if (watching) ctx.plan(store.insertWatch, { ...watch, createdAt: ctx.now });
  else ctx.plan(store.removeWatch, watch);
  return { watching };
}

export async function readNotifications(
  ctx: WriteContext,
  input: { ids: readonly string[] } | { objectId: string } | { all: true },
): Promise<{ read: true }> {
  const ids = 'ids' in input ? input.ids : null;
  const objectId = 'objectId' in input ? input.objectId : null;
  ctx.plan(store.markRead, { userId: requireUser(ctx), ids, objectId, readAt: ctx.now });
  return { read: true };
}

export async function getChoices(ctx: ReadContext): Promise<Choices> {
  return withDefaults((await store.findSettings(ctx, requireUser(ctx))).choices, isOnlyRequester(ctx));
}

export async function setChoices(ctx: WriteContext, choices: Partial<Choices>): Promise<Choices> {
  ctx.plan(store.putChoices, { userId: requireUser(ctx), choices, updatedAt: ctx.now });
  return withDefaults(choices, isOnlyRequester(ctx));
}

/** Users of the desk get comments by mail on their own requests only, so their default shows what holds at the desk. */
function isOnlyRequester({ actor }: ReadContext): boolean {
  return !actor.interfaces.includes('desk');
}

interface QuietHoursAnswer {
  from: string | null;
  to: string | null;
}

export async function getQuietHours(ctx: ReadContext): Promise<QuietHoursAnswer> {
  const { quietFrom, quietTo } = await store.findSettings(ctx, requireUser(ctx));
  return { from: quietFrom, to: quietTo };
}

export async function setQuietHours(ctx: WriteContext, { from, to }: QuietHoursAnswer): Promise<QuietHoursAnswer> {
  ctx.plan(store.putQuietHours, { userId: requireUser(ctx), quietFrom: from, quietTo: to, updatedAt: ctx.now });
  return { from, to };
}
