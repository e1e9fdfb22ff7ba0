/** The API contract of comments (docs/spec/around-records.md). */
import { RULE_FAULTS } from '../../lib/fault-codes.ts';
import Type from 'typebox';
import { COMMENT_VISIBILITIES } from '../../contract/comment-visibility.ts';
import { afterQuery, ListMetaSchema } from '../../contract/paging.ts';
import { defineOperation } from '../../contract/operation.ts';
import { closed, Id, Instant, nullable, oneOf, Revision } from '../../contract/schemas.ts';

const VisibilitySchema = oneOf(COMMENT_VISIBILITIES);
const Body = Type.String({ minLength: 1, maxLength: 100_000, description: 'Plain text or Markdown.' });

/** At most as many as a mail can bring. */
export const AttachmentIds = Type.Optional(
  Type.Array(Id, {
    maxItems: 50,
    description: 'Files that the caller uploaded to the record and that are in no comment. Needs `attachment.add`.',
  }),
);

const CommentSchema = Type.Object(
  {
    id: Id,
    objectId: Id,
    revision: Revision,
    body: Type.String(),
    visibility: VisibilitySchema,
    state: Type.Union([Type.Literal('ACTIVE'), Type.Literal('ARCHIVED')]),
    author: nullable(Type.Object({ id: Id, displayName: Type.String() })),
    createdAt: Instant,
    updatedAt: Instant,
  },
  { $id: 'Comment' },
);

const ofObject = closed({ objectId: Id });
const params = closed({ commentId: Id });
const tag = 'Comments';

export const listComments = defineOperation({
  id: 'comments.list',
  paged: true,
  replicaSafe: true,
  method: 'GET',
  path: '/objects/{objectId}/comments',
  access: 'comments:read',
  right: 'read',
  unit: 'read',
  long: true,
  status: 200,
  tag,
  summary: 'List the comments of a record, oldest first',
  description:
    'Internal comments are listed for callers with the right Private Comment only. Archived comments are left out.',
  params: ofObject,
  query: closed(afterQuery),
  answer: Type.Array(CommentSchema),
  meta: ListMetaSchema,
  faults: ['NOT_FOUND'],
});

export const addComment = defineOperation({
  id: 'comments.add',
  method: 'POST',
  path: '/objects/{objectId}/comments',
  access: 'comments:write',
  right: 'comment.create',
  unit: 'write',
  idempotent: true,
  status: 201,
  tag,
  summary: 'Add a comment',
  description:
    'Without `visibility` the comment is internal. An internal comment also needs the right Private Comment. A public comment by the requester or a participant of the record can fire a transition (`onRequesterReply` in the workflow). The files in `attachmentIds` belong to the comment then and are seen by those who see it.',
  params: ofObject,
  body: closed({ body: Body, visibility: Type.Optional(VisibilitySchema), attachmentIds: AttachmentIds }),
  answer: CommentSchema,
  faults: ['NOT_FOUND', 'RIGHT_MISSING', 'ARCHIVED', 'INVALID_VALUES', ...RULE_FAULTS],
});

export const editComment = defineOperation({
  id: 'comments.edit',
  method: 'PATCH',
  path: '/comments/{commentId}',
  access: 'comments:write',
  right: 'comment.edit',
  unit: 'write',
  status: 200,
  tag,
  summary: 'Change a comment',
  description:
    'Omitted properties keep their values. If the comment is internal before or after the change, the right Private Comment is also needed.',
  params,
  body: closed({ expectedRevision: Revision, body: Type.Optional(Body), visibility: Type.Optional(VisibilitySchema) }),
  answer: CommentSchema,
  faults: ['NOT_FOUND', 'RIGHT_MISSING', 'ARCHIVED', 'REVISION_CONFLICT', 'INVALID_VALUES', ...RULE_FAULTS],
});

export const archiveComment = defineOperation({
  id: 'comments.archive',
  method: 'DELETE',
  path: '/comments/{commentId}',
  access: 'comments:write',
  right: 'comment.edit',
  unit: 'write',
  status: 200,
  tag,
  summary: 'Archive a comment',
  description:
    'An archived comment is not listed any more. An internal comment also needs the right Private Comment. The expected revision comes in the JSON body or in If-Match.',
  params,
  body: closed({ expectedRevision: Revision }),
  ifMatch: true,
  answer: Type.Object({ id: Id, state: Type.String(), revision: Revision }),
  faults: ['NOT_FOUND', 'RIGHT_MISSING', 'ARCHIVED', 'REVISION_CONFLICT', ...RULE_FAULTS],
});
