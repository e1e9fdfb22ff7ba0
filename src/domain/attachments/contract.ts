/** The API contract of attachments (docs/spec/around-records.md). */
import { RULE_FAULTS } from '../../lib/fault-codes.ts';
import Type from 'typebox';
import { defineOperation } from '../../contract/operation.ts';
import { closed, Id, Instant, nullable, Revision } from '../../contract/schemas.ts';
import { SAFE_TYPES } from './rules.ts';

const AttachmentSchema = Type.Object(
  {
    id: Id,
    objectId: Id,
    commentId: Type.Optional({
      ...Id,
      description:
        'The comment to which the file belongs: only who may see it may see the file. Absent for other files.',
    }),
    draft: Type.Optional(
      Type.Literal(true, {
        description: 'The file waits for a comment of its uploader, who alone sees it. Absent for other files.',
      }),
    ),
    originalFilename: Type.String(),
    mediaType: Type.String(),
    size: Type.Integer({ minimum: 1, description: 'Size in bytes.' }),
    sha256: Type.String(),
    revision: Revision,
    state: Type.Union([Type.Literal('ACTIVE'), Type.Literal('ARCHIVED')]),
    createdAt: Instant,
    createdBy: nullable(Type.Object({ id: Id, displayName: Type.String() })),
  },
  { $id: 'Attachment' },
);

const ofObject = closed({ objectId: Id });
const params = closed({ attachmentId: Id });
const tag = 'Attachments';

export const listAttachments = defineOperation({
  id: 'attachments.list',
  method: 'GET',
  path: '/objects/{objectId}/attachments',
  access: 'files:read',
  right: 'read',
  unit: 'read',
  long: true,
  status: 200,
  tag,
  summary: 'List the files of a record, oldest first',
  description:
    'Archived attachments and those of archived comments are left out. The drafts of the caller come last. Use `GET /attachments/{attachmentId}/content` for the content.',
  params: ofObject,
  answer: Type.Array(AttachmentSchema),
  faults: ['NOT_FOUND'],
});

export const addAttachment = defineOperation({
  id: 'attachments.add',
  method: 'POST',
  path: '/objects/{objectId}/attachments',
  access: 'files:write',
  right: 'attachment.add',
  unit: 'write',
  idempotent: true,
  status: 201,
  tag,
  summary: 'Add a file to a record',
  description:
    'The decoded content is limited by the setting `attachmentMaxBytes`, 7 MiB by default. Adding an attachment does not change the revision of the record. With `draft=true` only the caller sees the file, until a comment takes it by `attachmentIds`; it is in no history and no count, and is removed after a day.',
  params: ofObject,
  query: closed({ draft: Type.Optional(Type.Boolean()) }),
  body: closed({
    filename: Type.String({ minLength: 1, maxLength: 1000 }),
    contentBase64: Type.String({ description: 'The content in base64 of RFC 4648, with padding.' }),
    mediaType: Type.Optional(Type.String({ minLength: 1, maxLength: 255 })),
    objectId: Type.Optional(Id),
  }),
  answer: AttachmentSchema,
  faults: ['NOT_FOUND', 'RIGHT_MISSING', 'ARCHIVED', 'ATTACHMENT_EMPTY', 'ATTACHMENT_TOO_LARGE', ...RULE_FAULTS],
});

export const readContent = defineOperation({
  id: 'attachments.content',
  method: 'GET',
  path: '/attachments/{attachmentId}/content',
  growth: 'record',
  access: 'files:read',
  right: 'read',
  unit: 'own',
  status: 200,
  tag,
  summary: 'Download a file',
  description:
    'Always sent as a download. Supports one byte range (206), `If-Range` with the ETag to resume, and `If-None-Match` (304).',
  params,
  answer: Type.Unknown(),
  raw: { mediaTypes: ['application/octet-stream', ...SAFE_TYPES] },
  alsoAnswers: [206, 304],
  faults: ['NOT_FOUND', 'RANGE_NOT_SATISFIABLE'],
});

export const archiveAttachment = defineOperation({
  id: 'attachments.archive',
  method: 'DELETE',
  path: '/attachments/{attachmentId}',
  access: 'files:write',
  right: 'attachment.delete',
  unit: 'write',
  status: 200,
  tag,
  summary: 'Archive a file',
  description:
    'An archived attachment is not listed any more and its content cannot be downloaded. A draft is removed by its uploader with the right to add files. The expected revision comes in the JSON body or in If-Match.',
  params,
  body: closed({ expectedRevision: Revision }),
  ifMatch: true,
  answer: Type.Object({ id: Id, state: Type.String(), revision: Revision }),
  faults: ['NOT_FOUND', 'RIGHT_MISSING', 'ARCHIVED', 'REVISION_CONFLICT', ...RULE_FAULTS],
});
