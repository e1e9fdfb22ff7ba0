/**
 * Search in the words of records, comments and articles, and filters on fields that are configured as filterable.
 *
 * Invariants: the index is written in the statement of the change, by a follower. Data that is hidden from a caller has no
 * effect on matches, counts, order, facets and snippets. All ranking and counting is bounded. docs/explanation/search.md
 * explains how it works.
 */
export { type FilterableType, filterableTypes, type TypedFilter, typeFilter } from './filter.ts';
export type { MemorySearcher, SearcherOptions } from './memory/searcher.ts';
export { runMemoryThread, type ThreadOptions } from './memory/thread.ts';
export { makeSearchParts, memoryOptions, searchMemory } from './state.ts';
export { filterOnRecords, type Suggest, suggestions, withinBudget } from './queries.ts';
export { beginRebuild, type Comparison, compareProjection, projectMoved, stepRebuild } from './indexing/rebuild.ts';
export { filterPredicate, whereTitlesReadable } from './sql/rules.ts';
export type { ArticleSource, ServiceSource } from './store-texts.ts';
