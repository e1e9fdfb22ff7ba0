import { reconcileFieldIndexes } from '../../configuration/field-indexes.ts';
import { IDLE_MS } from '../../platform/moments.ts';
import { counter } from '../../platform/observability/gauges.ts';
import { ownFieldView } from '../access/index.ts';
import { typeView } from '../metadata/index.ts';
import { defineModule } from '../module.ts';
import { wordMatch } from '../objects/index.ts';
import { searchFollower } from './indexing/follow.ts';
import { searchJobs } from './indexing/rebuild.ts';
import { searchMetrics } from './indexing/store-rebuild.ts';
import { comparedCodes } from './memory/backend.ts';
import { searchMemory, searchState } from './state.ts';
import { wordMatchOf } from './queries.ts';
import { searchRoutes } from './routes.ts';
import { synonymsSection } from './synonyms.ts';

const ANSWERS = 'Steps of searches by what answered them: the index in memory, or a statement that it left them to.';

export const search = defineModule({
  name: 'search',
  // The titles of duplicates are part of the statement that reads the best hits. Articles and services are searched, too.
  dependsOn: ['objects', 'comments', 'relations', 'metadata', 'access', 'knowledge', 'catalog'],
  tables: {
    search_records: 'Derived from records; docket doctor --deep compares it (I11).',
    search_comments: 'Derived from comments; docket doctor --deep compares it (I11).',
    search_articles: 'Derived from articles; docket doctor --deep compares it (I11).',
    search_words: 'Vocabulary for matching words with typing errors.',
    search_pending_words: 'Pending work.',
    search_rewritten: 'Tells indexes in memory which records to read again.',
  },
  operations: searchRoutes,
  sections: [synonymsSection],
  followers: ({ get }) => {
    const { analysis, articles } = get(searchState);
    return [searchFollower(analysis, articles)];
  },
  tasks: ({ db, work, system, versions, get }) => [
    ...searchJobs(db, work, system, get(searchState)),
    {
      name: 'field-indexes',
      everyMs: 2000,
      idleMs: IDLE_MS,
      run: async () => {
        const snapshot = await versions.fresh();
        await reconcileFieldIndexes(db, snapshot.get(typeView), snapshot.get(ownFieldView));
        return false;
      },
    },
  ],
  metrics: searchMetrics,
  gauges: ({ get }) => {
    const memory = get(searchMemory);
    if (memory === undefined) return [];
    const { state, answers } = memory;
    return [
      {
        name: 'docket_search_memory_documents',
        help: 'Records in the search index in memory; 0 while it loads.',
        value: state.state === 'ready' ? state.documents : 0,
      },
      {
        name: 'docket_search_memory_bytes',
        help: 'Memory of the search index in memory, in bytes.',
        value: state.bytes,
      },
      ...Object.entries(answers).map(([by, value]) => ({
        ...counter('docket_search_memory_answers_total', ANSWERS, value),
        labels: { by },
      })),
    ];
  },
  provides: [wordMatch.by(({ get }) => wordMatchOf(get(searchState)))],
  start: async ({ get, versions }) => get(searchMemory)?.start(comparedCodes(await versions.fresh())),
  stop: async ({ get }) => await get(searchMemory)?.stop(),
});
