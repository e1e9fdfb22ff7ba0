/** State shared by all search requests of the process. */
import { makeAnalysis } from '../../lib/words.ts';
import { ServicePart } from '../../platform/module.ts';
import { serviceSource } from '../catalog/index.ts';
import { articleSource } from '../knowledge/index.ts';
import { IndexUpToDate } from './indexing/profile.ts';
import { MemorySearcher, type SearcherOptions } from './memory/searcher.ts';
import { Directory, type OtherSources } from './other-hits.ts';
import { SearchStatistics } from './sql/estimates.ts';

export interface SearchParts extends OtherSources {
  upToDate: IndexUpToDate;
  statistics: SearchStatistics;
  /** The index in memory; undefined if it is turned off. */
  memory: MemorySearcher | undefined;
}

export function makeSearchParts(memory?: MemorySearcher): SearchParts {
  return {
    analysis: makeAnalysis(),
    upToDate: new IndexUpToDate(),
    statistics: new SearchStatistics(),
    directory: new Directory(),
    articles: articleSource,
    services: serviceSource,
    memory,
  };
}

/** What the search index in memory is made of. The composition provides it where the index is turned on. */
export const memoryOptions = new ServicePart<Omit<SearcherOptions, 'onChange'> | undefined>(
  'the settings of the search index in memory',
  () => undefined,
);

/** The search index in memory; undefined if it is turned off. */
export const searchMemory = new ServicePart('the search index in memory', ({ get, log }) => {
  const options = get(memoryOptions);
  return options && new MemorySearcher({ ...options, onChange: (what, details) => log.info(details, what) });
});

export const searchState = new ServicePart('the state of search', (service) =>
  makeSearchParts(service.get(searchMemory)),
);
