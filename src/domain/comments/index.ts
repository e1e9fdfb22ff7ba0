/**
 * Comments on a record. Public ones are visible to all readers of the record, internal ones to holders of the right Private
 * Comment.
 *
 * Invariants: a comment is internal by default. A change of visibility needs the right in both
 * directions. A comment has its own revision. An archived comment is kept, but not listed.
 */
export { addComment, addWithFiles, type NewComment } from './commands.ts';
export { addComment as addOperation, AttachmentIds } from './contract.ts';
export {
  findVisibleComments,
  hiddenComments,
  plannedComment,
  type CommentAnswer,
  readComment,
  replayComment,
  requireComment,
  withoutHiddenIds,
} from './queries.ts';
export { canSeeComment, ofVisibleComment, visibleComments } from './visibility.ts';
export { commentMissing } from './health.ts';
