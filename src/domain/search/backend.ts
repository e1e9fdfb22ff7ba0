/** Which back end answers a question. The only place that chooses. */
import { isActive } from '../../contract/state.ts';
import type { ReadContext } from '../../platform/unit-of-work/context.ts';
import { IndexInMemory } from './memory/backend.ts';
import type { MemorySearcher } from './memory/searcher.ts';
import type { Scope, SearchBackend } from './query.ts';
import { Statements } from './sql/backend.ts';
import type { Estimates } from './sql/estimates.ts';

/**
 * The index in memory answers if it is turned on, has the records of the scope in its order, and can: a statement answers while
 * the index loads, when it lacks a column, and when its thread is late. Without words, indexes of the database are as good.
 */
export function backendOf(
  ctx: ReadContext,
  { memory, statistics }: { memory: MemorySearcher | undefined; statistics: Estimates },
  scope: Scope,
): SearchBackend {
  const statements = new Statements(ctx, scope, statistics);
  if (memory === undefined || scope.order !== 'updated_at' || !isActive(scope)) return statements;
  const index = new IndexInMemory(memory, ctx, scope);
  return {
    find: async (words, page) =>
      (words === null ? undefined : await index.find(words, page)) ?? (await statements.find(words, page)),
    best: async (question) => (await index.best(question)) ?? (await statements.best(question)),
    findInSteps: async (...asked) => (await index.findInSteps(...asked)) ?? (await statements.findInSteps(...asked)),
    ranks: async (...asked) => (await index.ranks(...asked)) ?? (await statements.ranks(...asked)),
    rerankHits: async (...asked) => (await index.rerankHits(...asked)) ?? (await statements.rerankHits(...asked)),
    sample: async (...asked) => (await index.sample(...asked)) ?? (await statements.sample(...asked)),
  };
}
