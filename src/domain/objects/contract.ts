/** Operations and schemas of records (docs/spec/records.md#a-record). */
import { RULE_FAULTS } from '../../lib/fault-codes.ts';
import Type from 'typebox';
import { defineOperation } from '../../contract/operation.ts';
import { MetaSchema } from '../../contract/envelope.ts';
import { afterQuery, ListMetaSchema, pagingQuery } from '../../contract/paging.ts';
import {
  closed,
  Id,
  IdOrCode,
  Instant,
  MAX_RECORD_VALUES,
  nullable,
  Revision,
  Values,
} from '../../contract/schemas.ts';
import { FieldSchema } from '../metadata/index.ts';

const Person = Type.Object({ id: Id, displayName: Type.String() }, { $id: 'Person' });

export const WorkflowState = Type.Object(
  {
    id: Id,
    code: Type.String(),
    name: Type.String(),
    category: Type.Union([Type.Literal('open'), Type.Literal('waiting'), Type.Literal('done')]),
  },
  { $id: 'WorkflowState' },
);

const RecordState = Type.Union([Type.Literal('ACTIVE'), Type.Literal('ARCHIVED')]);

export const ObjectSchema = Type.Object(
  {
    id: Id,
    typeDefinitionId: Id,
    typeCode: Type.String(),
    number: nullable(Type.String()),
    title: nullable(Type.String()),
    revision: Revision,
    state: RecordState,
    workflowState: nullable(WorkflowState),
    values: Values,
    createdAt: Instant,
    createdBy: nullable(Person),
    updatedAt: Instant,
    updatedBy: nullable(Person),
    archivedAt: Type.Optional(Instant),
  },
  { $id: 'Object', description: 'A record. `values` contains only fields that the caller may read.' },
);

export const HistoryActor = Type.Object({
  id: nullable(Id),
  displayName: Type.String(),
  via: Type.String({ description: 'api, console, import, bulk, inbound, catalog, mail, rule, workflow or system' }),
});

const HistoryEvent = Type.Object(
  {
    id: Id,
    type: Type.String(),
    at: Instant,
    actor: HistoryActor,
    revision: nullable(Type.Integer()),
    changes: Type.Array(Type.Object({ field: Type.String(), from: Type.Unknown(), to: Type.Unknown() })),
    data: Type.Record(Type.String(), Type.Unknown()),
  },
  { $id: 'HistoryEvent' },
);

const objectParams = closed({ objectId: Id });
const tag = 'Objects';

export const listObjects = defineOperation({
  id: 'objects.list',
  replicaSafe: true,
  method: 'GET',
  path: '/objects',
  access: 'objects:read',
  unit: 'read',
  status: 200,
  tag,
  summary: 'List records, newest first',
  description:
    'A live list, not a stable snapshot: records can move between pages while they are read. `state` takes ACTIVE (default), ARCHIVED or the code of a workflow state. `q` limits the list to records that contain all the words. If there are none, records that contain some of the words are listed.',
  query: closed({
    q: Type.Optional(Type.String({ maxLength: 4000 })),
    typeId: Type.Optional(IdOrCode),
    state: Type.Optional(Type.String({ minLength: 1, maxLength: 64 })),
    ...pagingQuery,
  }),
  answer: Type.Object({
    rows: Type.Array(ObjectSchema),
    page: Type.Integer(),
    pageSize: Type.Integer(),
    hasMore: Type.Boolean(),
  }),
  faults: [],
});

export const createObject = defineOperation({
  id: 'objects.create',
  method: 'POST',
  path: '/objects',
  access: 'objects:write',
  right: 'create',
  unit: 'write',
  idempotent: true,
  status: 201,
  tag,
  summary: 'Create a record',
  description:
    'Each field in `values` must be writable for the caller. Fields that are left out get their default. Send an `Idempotency-Key`, so that the call can be repeated safely if the response was lost. `objectId` sets the id of the new record.',
  body: closed({ typeDefinitionId: IdOrCode, values: Values, objectId: Type.Optional(Id) }),
  answer: ObjectSchema,
  faults: ['INVALID_VALUES', 'RIGHT_MISSING', 'FIELD_READ_ONLY', 'ALREADY_EXISTS', ...RULE_FAULTS],
});

export const getObject = defineOperation({
  id: 'objects.get',
  method: 'GET',
  path: '/objects/{objectId}',
  growth: 'record',
  access: 'objects:read',
  right: 'read',
  unit: 'read',
  long: ({ revision, at }) => revision !== undefined || at !== undefined,
  status: 200,
  tag,
  summary: 'Read a record',
  description:
    'Returns an active or archived record with the fields that the caller may read. A record that the caller may not read is 404. With `revision` or `at`, returns the record as it was then, with `meta.asOf`; this also needs the right `history`. The rights of now decide what is visible. Values are shown as they were stored; fields that the record no longer has are left out. A revision that the record does not have, and a time before its creation, are 404.',
  params: objectParams,
  query: closed({
    revision: Type.Optional(Type.Integer({ ...Revision, description: 'A revision of the record. Excludes `at`.' })),
    at: Type.Optional(
      Type.String({
        maxLength: 64,
        description:
          'A date and time (RFC 3339) that is not in the future: the highest revision that was made until then. Excludes `revision`.',
      }),
    ),
  }),
  answer: ObjectSchema,
  meta: Type.Object(
    {
      ...MetaSchema.properties,
      asOf: Type.Optional(
        Type.Object(
          { revision: Revision, at: Instant },
          { description: 'The revision that is shown and when it was made; only if `revision` or `at` was sent.' },
        ),
      ),
    },
    { $id: 'ObjectMeta' },
  ),
  faults: ['NOT_FOUND', 'RIGHT_MISSING', 'RESULT_TOO_LARGE'],
});

export const diffRevisions = defineOperation({
  id: 'objects.diff',
  replicaSafe: true,
  method: 'GET',
  path: '/objects/{objectId}/diff',
  growth: 'record',
  access: 'objects:read',
  right: 'history',
  unit: 'read',
  long: true,
  status: 200,
  tag,
  summary: 'Compare two revisions of a record',
  description:
    'The net changes from revision `from` to revision `to`: fields that the caller may read, `workflowState` (codes) and `state`. Each has the time and the user of the last change of that field in between. `from` must not be above `to`. A revision that the record does not have is 404.',
  params: objectParams,
  query: closed({ from: Revision, to: Revision }),
  answer: Type.Object(
    {
      from: Revision,
      to: Revision,
      changes: Type.Array(
        Type.Object({
          field: Type.String(),
          from: Type.Unknown(),
          to: Type.Unknown(),
          at: Instant,
          actor: HistoryActor,
        }),
      ),
    },
    { $id: 'RevisionDiff' },
  ),
  faults: ['NOT_FOUND', 'RIGHT_MISSING', 'RESULT_TOO_LARGE'],
});

export const updateObject = defineOperation({
  id: 'objects.update',
  method: 'PATCH',
  path: '/objects/{objectId}',
  access: 'objects:write',
  right: 'update',
  unit: 'write',
  status: 200,
  tag,
  summary: 'Change fields of a record',
  description:
    'Each value in `changes` replaces the stored value as a whole; null clears it. Only fields that the caller may write are accepted. If all values equal the stored ones, nothing changes and the revision stays. A stale `expectedRevision` gets 409 with the fields that changed since.',
  params: objectParams,
  body: closed({
    expectedRevision: Revision,
    changes: Type.Record(Type.String({ minLength: 1, maxLength: 63 }), Type.Unknown(), {
      minProperties: 1,
      maxProperties: MAX_RECORD_VALUES,
    }),
  }),
  answer: ObjectSchema,
  faults: [
    'NOT_FOUND',
    'RIGHT_MISSING',
    'REVISION_CONFLICT',
    'ARCHIVED',
    'INVALID_VALUES',
    'FIELD_READ_ONLY',
    ...RULE_FAULTS,
  ],
});

export const archiveObject = defineOperation({
  id: 'objects.archive',
  method: 'DELETE',
  path: '/objects/{objectId}',
  access: 'objects:write',
  right: 'archive',
  unit: 'write',
  status: 200,
  tag,
  summary: 'Archive a record',
  description:
    'The record can still be read, but not changed; the administration API can restore it. The expected revision comes in the JSON body or in If-Match.',
  params: objectParams,
  body: closed({ expectedRevision: Revision }),
  ifMatch: true,
  answer: Type.Object({ id: Id, revision: Revision, state: Type.String() }),
  faults: ['NOT_FOUND', 'RIGHT_MISSING', 'REVISION_CONFLICT', 'ARCHIVED', ...RULE_FAULTS],
});

export const getHistory = defineOperation({
  id: 'objects.history',
  paged: true,
  replicaSafe: true,
  method: 'GET',
  path: '/objects/{objectId}/history',
  access: 'objects:read',
  right: 'history',
  unit: 'read',
  long: true,
  status: 200,
  tag,
  summary: 'Read the history of a record, oldest first',
  description:
    'Events of the record, its comments, attachments, relations and SLA instances. Changes of fields, and events about items, that the caller may not read are left out.',
  params: objectParams,
  query: closed(afterQuery),
  answer: Type.Array(HistoryEvent),
  meta: ListMetaSchema,
  faults: ['NOT_FOUND', 'RIGHT_MISSING'],
});

export const getObjectSchema = defineOperation({
  id: 'objects.schema',
  method: 'GET',
  path: '/objects/{objectId}/schema',
  growth: 'record',
  access: 'metadata:read',
  right: 'read',
  unit: 'read',
  status: 200,
  tag: 'Metadata',
  summary: 'Read the field schema of one record',
  description:
    'The fields of the type version that the record has, with `readOnly` where the caller may not write them on this record. Without values.',
  params: objectParams,
  answer: Type.Object({ id: Id, fields: Type.Array(FieldSchema) }),
  faults: ['NOT_FOUND'],
});

export const readImage = defineOperation({
  id: 'objects.image',
  method: 'GET',
  path: '/objects/{objectId}/images/{sha256}',
  growth: 'record',
  access: 'objects:read',
  right: 'read',
  unit: 'own',
  status: 200,
  tag,
  summary: 'Read an image of a rich text',
  description:
    'A stored rich text refers to its images as `blob:<sha256>`. The image can be read by callers who may read a field, or an event of the history, that contains it.',
  params: closed({ objectId: Id, sha256: Type.String({ pattern: '^[0-9a-f]{64}$' }) }),
  answer: Type.Unknown(),
  raw: { mediaTypes: ['image/png', 'image/jpeg', 'image/gif', 'image/webp'] },
  alsoAnswers: [304],
  faults: ['NOT_FOUND'],
});

export const restoreObject = defineOperation({
  id: 'objects.restore',
  method: 'POST',
  path: '/objects/{objectId}/restore',
  access: 'console',
  right: 'archive',
  unit: 'write',
  status: 200,
  tag,
  summary: 'Restore an archived record',
  description: 'The record is active again, with its values and its workflow state as they were.',
  params: objectParams,
  answer: ObjectSchema,
  faults: ['NOT_FOUND', 'RIGHT_MISSING', 'STATE_CONFLICT', ...RULE_FAULTS],
});
