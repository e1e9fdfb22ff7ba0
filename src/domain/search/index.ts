/**
 * Search: the words of records, comments and articles, and the filter language over what is configured to be searched.
 *
 * Own tables: `search_records`, `search_comments`, `search_articles`, `search_words`, `search_pending_words`, `search_rebuild`.
 * Invariants: the projection is written in the statement of the change itself, by a follower; what a right hides from a caller
 * is hidden from matching, counting, order, facets and snippets alike; nothing unbounded is ranked or counted. How it works is
 * told in docs/explanation/search.md.
 */
export { type Comparison, compareProjection } from './compare.ts';
export { projectMoved, searchFollower } from './follow.ts';
export { searchJobs } from './jobs.ts';
export { wordMatch } from './lists.ts';
export { makeSearchParts, type SearchParts } from './parts.ts';
export { wordsTask } from './projection.ts';
export { beginRebuild, stepRebuild } from './rebuild.ts';
export { searchRoutes } from './routes.ts';
export type { ArticleSource, ServiceSource } from './store-articles.ts';
export { searchMetrics } from './health.ts';
