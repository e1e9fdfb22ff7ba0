/**
 * Rebuilds the search index while the service runs: in batches by id, each stored with its progress in one transaction. It can
 * be stopped at any time, and any process can continue it (docs/spec/configuration.md, `docket reindex`).
 */
import type { WriteContext } from '../../platform/unit-of-work/context.ts';
import { Turns } from '../../lib/yielding.ts';
import { profileView } from './index-profile.ts';
import type { SearchParts } from './parts.ts';
import { type Analyst, articleRow, projectRecord, projectText } from './projection.ts';
import { putArticle, pendingWords, rewritten } from './store.ts';
import {
  countToMake,
  dropStray,
  dropStrayRecords,
  endRebuild,
  findRebuild,
  listComments,
  listOfForm,
  listRecords,
  lockRebuild,
  moveRebuild,
  storedProfiles,
  type RebuildState,
  remakeComment,
  remakeRecord,
  startRebuild,
  type StoredRecord,
} from './store-rebuild.ts';

const BATCH = 200;

export interface RebuildProgress {
  done: number;
  finished: boolean;
}

/** Starts a rebuild, or returns the running one. @returns the approximate number of rows, and how many are done */
export async function beginRebuild(ctx: WriteContext): Promise<{ total: number; done: number; resumed: boolean }> {
  const state = await findRebuild(ctx);
  ctx.plan(startRebuild, { at: ctx.now });
  return { total: await countToMake(ctx), done: state?.done ?? 0, resumed: state !== undefined };
}

/** Runs one batch of the rebuild; undefined if none is running. */
export async function stepRebuild(ctx: WriteContext, parts: SearchParts): Promise<RebuildProgress | undefined> {
  const state = await lockRebuild(ctx);
  if (state === undefined) return undefined;
  const ids = await makePart(ctx, parts, state);
  const done = state.done + ids.length;
  const last = ids.at(-1);
  if (ids.length === BATCH && last !== undefined) {
    ctx.plan(moveRebuild, { part: state.part, after: last, done });
    return { done, finished: false };
  }
  if (state.part !== 'articles') {
    ctx.plan(moveRebuild, { part: state.part === 'records' ? 'comments' : 'articles', after: null, done });
    return { done, finished: false };
  }
  ctx.plan(dropStrayRecords, {});
  ctx.plan(dropStray, {});
  ctx.plan(endRebuild, {});
  return { done, finished: true };
}

/** @returns the ids of the batch, in order */
async function makePart(ctx: WriteContext, parts: SearchParts, state: RebuildState): Promise<string[]> {
  switch (state.part) {
    case 'records': {
      const records = await listRecords(ctx, state.after, BATCH);
      await planRecords(ctx, parts, records);
      return records.map(({ id }) => id);
    }
    case 'comments': {
      const comments = await listComments(ctx, state.after, BATCH);
      const turns = new Turns();
      for (const { id, objectId, visibility, updatedAt, body, revision } of comments) {
        await turns.next();
        const projected = await projectText(analystOf(parts), [{ text: body, zone: 'C' }]);
        ctx.plan(remakeComment, { id, object_id: objectId, visibility, at: updatedAt, revision, ...projected });
        ctx.plan(pendingWords, { id });
      }
      return comments.map(({ id }) => id);
    }
    case 'articles': {
      const ids = await parts.articles.activeIds(ctx, state.after, BATCH);
      for (const id of ids) {
        const text = await parts.articles.activeText(ctx, id);
        if (text === undefined) continue;
        ctx.plan(putArticle, await articleRow(analystOf(parts), id, text));
        ctx.plan(pendingWords, { id });
      }
      return ids;
    }
  }
}

/** All background work shares one queue. */
function analystOf({ analysis }: SearchParts): Analyst {
  return { analysis, caller: null };
}

async function planRecords(ctx: WriteContext, parts: SearchParts, records: readonly StoredRecord[]): Promise<void> {
  const profiles = ctx.config.get(profileView);
  const turns = new Turns();
  for (const { id, typeId, typeVersion, revision, number, values } of records) {
    const profile = profiles.of(typeId, typeVersion);
    await turns.next();
    const projected = await projectRecord(analystOf(parts), profile, values, number);
    ctx.plan(remakeRecord, { id, profile_id: profile.id, revision, type_version: typeVersion, ...projected });
    ctx.plan(pendingWords, { id });
    ctx.plan(rewritten, { id });
  }
}

/**
 * Rebuilds rows with an outdated profile, after a change of roles or types.
 *
 * @returns the number of rebuilt rows; fewer than a batch means that all rows are current
 */
export async function remakeStale(ctx: WriteContext, parts: SearchParts): Promise<number> {
  const known = new Set(ctx.config.get(profileView).ids);
  let made = 0;
  for (const profile of await storedProfiles(ctx)) {
    if (known.has(profile) || made >= BATCH) continue;
    const records = await listOfForm(ctx, profile, BATCH - made);
    await planRecords(ctx, parts, records);
    made += records.length;
  }
  return made;
}
