/** Seals the whole journal. */
import { setTimeout as sleep } from 'node:timers/promises';
import sql from 'sql-template-tag';
import { sealJournal } from '../../src/platform/journal/seals.ts';
import type { Database } from '../../src/platform/database/pool.ts';

/**
 * Seals every committed row. A seal ends before the oldest running transaction of the server, which may be one of a test in
 * another database: the rest is sealed when that has ended.
 *
 * @returns the number of new seals
 */
export async function sealAll(db: Database): Promise<number> {
  let sealed = 0;
  for (;;) {
    while ((await sealJournal(db, Date.now())) !== undefined) sealed++;
    const [row] = await db.query<{ rest: number }>(sql`
      SELECT count(*)::int AS rest FROM journal j, journal_sealing s WHERE (j.txid, j.seq) > (s.txid, s.seq)`);
    if (row?.rest === 0) return sealed;
    await sleep(20);
  }
}
