/** Background jobs of search. They take no input: they read the state and reconcile it. */
import type { Database } from '../../platform/database/pool.ts';
import type { Caller } from '../../platform/unit-of-work/context.ts';
import type { Work } from '../../platform/unit-of-work/work.ts';
import type { SearchParts } from './parts.ts';
import { remakeStale, stepRebuild } from './rebuild.ts';
import { learnWords } from './store-rebuild.ts';

const LEARNT_AT_ONCE = 500;

/** A job that runs on a timer. Returns true if there is more work. */
export interface SearchJob {
  name: string;
  everyMs: number;
  run(): Promise<boolean>;
}

export function searchJobs(db: Database, work: Work, system: () => Promise<Caller>, parts: SearchParts): SearchJob[] {
  return [
    {
      // Continues a rebuild, whichever process started it.
      name: 'search-rebuild',
      everyMs: 2000,
      run: async () => {
        const result = await work.write(await system(), (ctx) => stepRebuild(ctx, parts));
        return result.kind === 'done' && result.data !== undefined && !result.data.finished;
      },
    },
    {
      name: 'search-forms',
      everyMs: 1000,
      run: async () => {
        const result = await work.write(await system(), async (ctx) =>
          (await parts.upToDate.is(ctx)) ? 0 : remakeStale(ctx, parts),
        );
        return result.kind === 'done' && result.data > 0;
      },
    },
    { name: 'search-words', everyMs: 500, run: async () => (await learnWords(db, LEARNT_AT_ONCE)) === LEARNT_AT_ONCE },
  ];
}
