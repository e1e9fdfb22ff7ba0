/** Compares the search index with its source records and comments (`docket doctor`). */
import { Turns } from '../../lib/yielding.ts';
import type { ReadContext } from '../../platform/unit-of-work/context.ts';
import { profileView } from './index-profile.ts';
import type { SearchParts } from './parts.ts';
import { type Analyst, projectRecord, projectText } from './projection.ts';
import { countGaps, differingComments, type Made, differingRecords } from './store-compare.ts';
import { listComments, listNewest, listRecords, type StoredRecord } from './store-rebuild.ts';

const BATCH = 500;
/** Number of last updated records whose rows are compared word by word, unless all are compared. */
const LOOKED_AT = 2000;

export interface Comparison {
  compared: number;
  missing: number;
  stray: number;
  /** Ids of records and comments whose row differs. */
  different: string[];
}

/** @param deep compare every row word by word; otherwise only those of the last updated records */
export async function compareProjection(ctx: ReadContext, parts: SearchParts, deep: boolean): Promise<Comparison> {
  const { missing, stray } = await countGaps(ctx);
  const different: string[] = [];
  const turns = new Turns();
  const analyst: Analyst = { analysis: parts.analysis, caller: null };
  let compared = 0;
  const records = async (batch: readonly StoredRecord[]): Promise<void> => {
    compared += batch.length;
    different.push(...(await differing(ctx, parts, batch)));
  };
  if (!deep) await records(await listNewest(ctx, LOOKED_AT));
  else {
    for (let after: string | null = null; ; ) {
      const batch: StoredRecord[] = await listRecords(ctx, after, BATCH);
      await records(batch);
      after = batch.at(-1)?.id ?? null;
      if (batch.length < BATCH) break;
    }
  }
  for (let after: string | null = null; ; ) {
    const batch = await listComments(ctx, after, BATCH);
    compared += batch.length;
    const made: Made[] = [];
    for (const { id, revision, body } of batch) {
      await turns.next();
      made.push({ id, revision, ...(await projectText(analyst, [{ text: body, zone: 'C' }])) });
    }
    different.push(...(await differingComments(ctx, made)));
    after = batch.at(-1)?.id ?? null;
    if (batch.length < BATCH || !deep) break;
  }
  return { compared, missing, stray, different };
}

async function differing(ctx: ReadContext, parts: SearchParts, batch: readonly StoredRecord[]): Promise<string[]> {
  const profiles = ctx.config.get(profileView);
  const turns = new Turns();
  const analyst: Analyst = { analysis: parts.analysis, caller: null };
  const made: Parameters<typeof differingRecords>[1][number][] = [];
  for (const { id, typeId, typeVersion, revision, number, values } of batch) {
    await turns.next();
    made.push({ id, revision, ...(await projectRecord(analyst, profiles.of(typeId, typeVersion), values, number)) });
  }
  return await differingRecords(ctx, made);
}
