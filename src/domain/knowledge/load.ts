/** Loads versions for authors. Versions of a base that is no longer active are reported as not found. */
import { Fault } from '../../lib/fault.ts';
import type { ReadContext } from '../../platform/unit-of-work/context.ts';
import { type Base, bases } from './registry.ts';
import { findVersion, type VersionRow, type VersionText } from './store.ts';

export type LoadedVersion = VersionRow & VersionText;

export function noVersion(): Fault {
  return new Fault('NOT_FOUND', 'There is no such version of an article.');
}

export function noArticle(): Fault {
  return new Fault('NOT_FOUND', 'There is no such article, or you may not see it.');
}

/** @throws Fault NOT_FOUND */
export async function requireVersion(ctx: ReadContext, id: string): Promise<{ version: LoadedVersion; base: Base }> {
  const version = await findVersion(ctx, id);
  const base = bases(ctx).find((one) => one.id === version?.baseId);
  if (version === undefined || base === undefined) throw noVersion();
  return { version, base };
}

function memoKey(id: string): string {
  return `knowledge:${id}`;
}

/** Caches a version as planned for the rest of the unit of work, for code that reacts to the change. */
export function rememberVersion(ctx: ReadContext, version: LoadedVersion): void {
  ctx.memo.set(memoKey(version.id), version);
}

/** The version as it will be after this unit of work, without a check of read access. */
export async function plannedVersion(ctx: ReadContext, id: string): Promise<LoadedVersion | undefined> {
  return (ctx.memo.get(memoKey(id)) as LoadedVersion | undefined) ?? (await findVersion(ctx, id));
}
