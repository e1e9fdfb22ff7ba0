/** The sweeper: content that nothing refers to goes after a day (decisions, "Comments, attachments, relations"). */
import type { BlobStore } from '../../mechanisms/blobs/store.ts';
import type { Database } from '../../mechanisms/db/pool.ts';
import { forgetOne, listKept } from './store.ts';

const DAY_MS = 24 * 60 * 60 * 1000;

/**
 * Removes content without a reference, then content that not even a row knows (left by a crash before its row).
 *
 * @returns how many pieces were removed
 */
export async function sweepBlobs(db: Database, blobs: BlobStore, now: number): Promise<number> {
  let removed = 0;
  const before = new Date(now - DAY_MS).toISOString();
  while (await forgetOne(db, before, (sha256) => blobs.remove(sha256))) removed++;
  for await (const keys of blobs.list(DAY_MS, now)) {
    const kept = await listKept(db, keys);
    for (const key of keys) {
      if (kept.has(key)) continue;
      await blobs.remove(key);
      removed++;
    }
  }
  return removed;
}
