/** What the room works with beside a context: made once by `app.ts`, shared by all requests of the process. */
import { type Analysis, makeAnalysis } from '../../lib/words.ts';
import { Directory } from './directory.ts';
import { Settled } from './settled.ts';
import type { ArticleSource, ServiceSource } from './store-articles.ts';
import { WordHints } from './store-hints.ts';

export interface SearchParts {
  analysis: Analysis;
  hints: WordHints;
  settled: Settled;
  directory: Directory;
  articles: ArticleSource;
  services: ServiceSource;
}

export function makeSearchParts(articles: ArticleSource, services: ServiceSource): SearchParts {
  return {
    analysis: makeAnalysis(),
    hints: new WordHints(),
    settled: new Settled(),
    directory: new Directory(),
    articles,
    services,
  };
}
