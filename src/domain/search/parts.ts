/** State shared by all search requests of the process; created once by `app.ts`. */
import { type Analysis, makeAnalysis } from '../../lib/words.ts';
import { Directory } from './directory.ts';
import type { MemorySearcher } from './memory/searcher.ts';
import { IndexUpToDate } from './up-to-date.ts';
import type { ArticleSource, ServiceSource } from './store-articles.ts';

export interface SearchParts {
  analysis: Analysis;
  upToDate: IndexUpToDate;
  directory: Directory;
  articles: ArticleSource;
  services: ServiceSource;
  /** The index in memory; undefined if it is turned off. */
  memory: MemorySearcher | undefined;
}

export function makeSearchParts(
  articles: ArticleSource,
  services: ServiceSource,
  memory?: MemorySearcher,
): SearchParts {
  return {
    analysis: makeAnalysis(),
    upToDate: new IndexUpToDate(),
    directory: new Directory(),
    articles,
    services,
    memory,
  };
}
