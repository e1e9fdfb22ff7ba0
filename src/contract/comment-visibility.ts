/**
 * The visibilities of comments and the rule who may see each. The server, the API contract and the console all use this file;
 * a test forbids comparisons with these names anywhere else.
 *
 * To add a visibility: add it here, to the console's `comment-visibility.tsx`, and to the CHECK constraint of `comments`. The
 * compiler and the tests name each place.
 */
import type { RecordAction } from './rights.ts';

/** The most restricted one is the last. */
export const COMMENT_VISIBILITIES = ['public', 'internal'] as const;
export type CommentVisibility = (typeof COMMENT_VISIBILITIES)[number];

/** Used if a request names no visibility, so that an omission never makes a comment public. */
export const DEFAULT_VISIBILITY: CommentVisibility = 'internal';

/** The right on the record that a reader or author needs in addition to the record's own rights; null for none. */
export function rightForVisibility(visibility: CommentVisibility): RecordAction | null {
  switch (visibility) {
    case 'public':
      return null;
    case 'internal':
      return 'Private Comment';
  }
}

/** The visibilities of comments that every reader of the record sees, its requester included. */
export const OPEN_VISIBILITIES: readonly CommentVisibility[] = COMMENT_VISIBILITIES.filter(
  (visibility) => rightForVisibility(visibility) === null,
);

/** The visibility of an answer to the requester. */
export const REPLY_VISIBILITY = 'public' satisfies CommentVisibility;

/** The most restricted visibility that a writer may use. @param can the writer's actions on the record */
export function mostRestrictedVisibility(can: (action: RecordAction) => boolean): CommentVisibility {
  return seenVisibilities(can).at(-1) ?? REPLY_VISIBILITY;
}

/** The rights that a reader needs to see every comment of a record. */
export const COMMENT_RIGHTS: readonly RecordAction[] = COMMENT_VISIBILITIES.flatMap(
  (visibility) => rightForVisibility(visibility) ?? [],
);

/** The visibilities of the comments that a reader of the record may see. @param can the reader's actions on the record */
export function seenVisibilities(can: (action: RecordAction) => boolean): CommentVisibility[] {
  return COMMENT_VISIBILITIES.filter((visibility) => {
    const right = rightForVisibility(visibility);
    return right === null || can(right);
  });
}
