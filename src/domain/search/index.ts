/**
 * Search in the words of records, comments and articles, and filters on fields that are configured as filterable.
 *
 * Own tables: `search_records`, `search_comments`, `search_articles`, `search_words`, `search_pending_words`, `search_rebuild`, `search_rewritten`.
 * Invariants: the index is written in the statement of the change, by a follower. Data that is hidden from a caller has no
 * effect on matches, counts, order, facets and snippets. All ranking and counting is bounded. docs/explanation/search.md
 * explains how it works.
 */
export { type Comparison, compareProjection } from './compare.ts';
export { projectMoved, searchFollower } from './follow.ts';
export { searchJobs } from './jobs.ts';
export { type Suggest, suggestions, wordMatch } from './lists.ts';
export { comparedCodes } from './memory-scope.ts';
export { MemorySearcher, type SearcherOptions } from './memory/searcher.ts';
export { runMemoryThread, type ThreadOptions } from './memory/thread.ts';
export { makeSearchParts, type SearchParts } from './parts.ts';
export { wordsTask } from './projection.ts';
export { type FilterableType, filterableTypes, type TypedFilter, typeFilter } from './filter.ts';
export { filterPredicate } from './store-filter.ts';
export { beginRebuild, stepRebuild } from './rebuild.ts';
export { filterOnRecords, withinBudget } from './queries.ts';
export { searchRoutes } from './routes.ts';
export type { ArticleSource, ServiceSource } from './store-articles.ts';
export { searchMetrics } from './health.ts';
export { whereTitlesReadable } from './store-access-filter.ts';
