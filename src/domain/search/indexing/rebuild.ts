/**
 * Rebuilds the search index while the service runs: in batches by id, each stored with its progress in one transaction. It can
 * be stopped at any time, and any process can continue it (docs/spec/configuration.md, `docket reindex`). Also compares the index
 * with its source (`docket doctor`), and runs the background jobs.
 */
import type { Analysis } from '../../../lib/words.ts';
import type { WriteContext, ReadContext, Caller } from '../../../platform/unit-of-work/context.ts';
import { Yielder } from '../../../lib/yielding.ts';
import { profileView } from './profile.ts';
import type { ObjectRow } from '../../objects/index.ts';
import type { SearchParts } from '../state.ts';
import { type Analyst, articleRow, type Projected, projectRecord, projectText } from './projection.ts';
import { putArticle, putRecord, pendingWords, rewritten } from './store.ts';
import {
  countToMake,
  dropStray,
  dropStrayRecords,
  listComments,
  listOfForm,
  listRecords,
  storedProfiles,
  remakeComment,
  remakeRecord,
  type StoredRecord,
  countGaps,
  type Made,
  differing,
  listNewest,
  SEARCH_REBUILD,
} from './store-rebuild.ts';
import { learnWords } from './store-dictionary.ts';
import type { Database } from '../../../platform/database/pool.ts';
import {
  findRebuild,
  type RebuildPart,
  type RebuildProgress,
  rebuildTask,
  startRebuild,
  stepRebuild as continueRebuild,
} from '../../../platform/jobs/rebuilds.ts';
import { IDLE_MS } from '../../../platform/moments.ts';
import type { Task } from '../../../platform/tasks.ts';
import type { Work } from '../../../platform/unit-of-work/work.ts';

const BATCH = 200;

/** Where a rebuild stands: the part of the index, and the id after which it continues. */
interface Position {
  part: 'records' | 'comments' | 'articles';
  after: string | null;
}

const NEXT_PART = { records: 'comments', comments: 'articles', articles: null } as const;

/** Starts a rebuild, or returns the running one. @returns the approximate number of rows, and how many are done */
export async function beginRebuild(ctx: WriteContext): Promise<{ total: number; done: number; resumed: boolean }> {
  const done = await findRebuild(ctx, SEARCH_REBUILD);
  ctx.plan(startRebuild, { name: SEARCH_REBUILD, at: ctx.now });
  return { total: await countToMake(ctx), done: done ?? 0, resumed: done !== undefined };
}

/** Runs one batch of the rebuild; undefined if none is running. Waits for the batch of another process. */
export async function stepRebuild(ctx: WriteContext, parts: SearchParts): Promise<RebuildProgress | undefined> {
  return await continueRebuild(ctx, SEARCH_REBUILD, partOf(parts), { waits: true });
}

function partOf(parts: SearchParts): RebuildPart<Position> {
  return async (ctx, position) => {
    const { part, after } = position ?? { part: 'records', after: null };
    const ids = await makePart(ctx, parts, part, after);
    const nextPart = NEXT_PART[part];
    if (ids.length === BATCH) return { made: BATCH, next: { part, after: ids.at(-1) ?? null } };
    if (nextPart !== null) return { made: ids.length, next: { part: nextPart, after: null } };
    ctx.plan(dropStrayRecords, {});
    ctx.plan(dropStray, {});
    return { made: ids.length, next: null };
  };
}

/** @returns the ids of the batch, in order */
async function makePart(
  ctx: WriteContext,
  parts: SearchParts,
  part: Position['part'],
  after: string | null,
): Promise<string[]> {
  switch (part) {
    case 'records': {
      const records = await listRecords(ctx, after, BATCH);
      await planRecords(ctx, parts, records);
      return records.map(({ id }) => id);
    }
    case 'comments': {
      const comments = await listComments(ctx, after, BATCH);
      const yielder = new Yielder();
      for (const { id, objectId, visibility, updatedAt, body, revision } of comments) {
        await yielder.next();
        const projected = await projectText(analystOf(parts), [{ text: body, zone: 'C' }]);
        ctx.plan(remakeComment, { id, object_id: objectId, visibility, at: updatedAt, revision, ...projected });
        ctx.plan(pendingWords, { id });
      }
      return comments.map(({ id }) => id);
    }
    case 'articles': {
      const ids = await parts.articles.activeIds(ctx, after, BATCH);
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
  const yielder = new Yielder();
  for (const { id, typeId, typeVersion, revision, number, values } of records) {
    const profile = profiles.of(typeId, typeVersion);
    await yielder.next();
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

const COMPARED_AT_ONCE = 500;
/** Number of last updated records whose rows are compared word by word, unless all are compared. */
const LOOKED_AT = 2000;

export interface Comparison {
  compared: number;
  missing: number;
  stray: number;
  /** Ids of records and comments whose row differs. */
  different: string[];
}

/** @param deep compare every row word by word; otherwise only those of the last updated records and of some comments */
export async function compareProjection(ctx: ReadContext, parts: SearchParts, deep: boolean): Promise<Comparison> {
  const { missing, stray } = await countGaps(ctx);
  const profiles = ctx.config.get(profileView);
  const analyst = analystOf(parts);
  const different: string[] = [];
  const yielder = new Yielder();
  let compared = 0;
  const compare = async <Row extends { id: string; revision: number }>(
    source: 'objects' | 'comments',
    list: (ctx: ReadContext, after: string | null, limit: number) => Promise<Row[]>,
    project: (row: Row) => Promise<Projected>,
  ): Promise<void> => {
    for (let after: string | null = null; ; ) {
      const batch: Row[] = await list(ctx, after, COMPARED_AT_ONCE);
      const made: Made[] = [];
      for (const row of batch) {
        await yielder.next();
        made.push({ id: row.id, revision: row.revision, ...(await project(row)) });
      }
      compared += batch.length;
      different.push(...(await differing(ctx, source, made)));
      after = batch.at(-1)?.id ?? null;
      if (batch.length < COMPARED_AT_ONCE || !deep) return;
    }
  };
  const newest = (): Promise<StoredRecord[]> => listNewest(ctx, LOOKED_AT);
  await compare('objects', deep ? listRecords : newest, ({ typeId, typeVersion, number, values }) =>
    projectRecord(analyst, profiles.of(typeId, typeVersion), values, number),
  );
  await compare('comments', listComments, ({ body }) => projectText(analyst, [{ text: body, zone: 'C' }]));
  return { compared, missing, stray, different };
}

const LEARNT_AT_ONCE = 500;

export function searchJobs(db: Database, work: Work, system: () => Promise<Caller>, parts: SearchParts): Task[] {
  return [
    rebuildTask({ name: SEARCH_REBUILD, task: 'search-rebuild', part: partOf(parts) }, work, system),
    {
      name: 'search-forms',
      everyMs: 1000,
      idleMs: IDLE_MS,
      run: async () => {
        const result = await work.write(await system(), async (ctx) =>
          (await parts.upToDate.is(ctx)) ? 0 : remakeStale(ctx, parts),
        );
        return result.kind === 'done' && result.data > 0;
      },
    },
    {
      name: 'search-words',
      everyMs: 500,
      idleMs: IDLE_MS,
      run: async () => (await learnWords(db, LEARNT_AT_ONCE)) === LEARNT_AT_ONCE,
    },
  ];
}

/** Updates the rows of records that moved to another version of their type. No event reports this. */
export async function projectMoved(
  ctx: WriteContext,
  analysis: Analysis,
  records: readonly Pick<ObjectRow, 'id' | 'typeId' | 'typeVersion' | 'number' | 'values'>[],
): Promise<void> {
  const profiles = ctx.config.get(profileView);
  const yielder = new Yielder();
  for (const { id, typeId, typeVersion, number, values } of records) {
    await yielder.next();
    const profile = profiles.of(typeId, typeVersion);
    const projected = await projectRecord({ analysis, caller: ctx.actor.userId }, profile, values, number);
    ctx.plan(putRecord, { id, profile_id: profile.id, ...projected });
    ctx.plan(pendingWords, { id });
    ctx.plan(rewritten, { id });
  }
}
