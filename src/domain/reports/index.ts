/**
 * Reports: counts, times and rates of the records that a caller may read, in groups (docs/reference/reports.md).
 *
 * Invariants:
 * - The facts of a record are written in the statement of the change that causes them, by a follower.
 * - Counts are made by a consumer of the journal. A report corrects them by the changes since, so it is exact at any time.
 * - A record or field that the caller may not read changes no figure. Moments and counts that come from the history count only
 *   on records whose history the caller may read.
 * - Every report has a time budget and a limit on its groups.
 */
export { doneWithin } from './queries.ts';
export { startFactsRebuild } from './rebuild.ts';
