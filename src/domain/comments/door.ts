/**
 * Comments on a record: public ones for whoever reads the record, internal ones for holders of the right Private Comment.
 *
 * Own table: `comments`. Invariants: internal unless said otherwise; a change of visibility needs the right in both directions;
 * a comment's revision is its own; an archived comment stays and is listed nowhere.
 */
export { addComment } from './commands.ts';
export { addComment as addOperation } from './contract.ts';
export { commentEvents, findVisibleComments, PRIVATE, plannedComment, readComment, replayComment } from './queries.ts';
export { commentRoutes } from './routes.ts';
export { commentChecks, commentMissing } from './store-checks.ts';
