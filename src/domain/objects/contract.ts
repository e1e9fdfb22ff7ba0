/** What travels for records (api.md, "Objects, search, history"). */
import Type from 'typebox';
import { defineOperation } from '../../contract/operation.ts';
import { pagingQuery } from '../../contract/paging.ts';
import { closed, Id, IdOrCode, Instant, nullable, Revision, Values } from '../../contract/schemas.ts';
import { FieldSchema } from '../metadata/door.ts';

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
  { $id: 'Object', description: 'A record. Only fields that the caller may read are in `values`.' },
);

const HistoryEvent = Type.Object(
  {
    id: Id,
    type: Type.String(),
    at: Instant,
    actor: Type.Object({
      id: nullable(Id),
      displayName: Type.String(),
      via: Type.String({ description: 'api, console, import, bulk, inbound, catalog or system' }),
    }),
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
  mayLag: true,
  method: 'GET',
  path: '/objects',
  access: 'objects:read',
  unit: 'read',
  status: 200,
  tag,
  summary: 'List records, newest first',
  description:
    'A live list, not a stable snapshot. `state` takes ACTIVE (default), ARCHIVED or the code of a workflow state. `q` narrows it to records in which the words stand; where there are none, to those with some of them.',
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
  body: closed({ typeDefinitionId: IdOrCode, values: Values, objectId: Type.Optional(Id) }),
  answer: ObjectSchema,
  faults: ['INVALID_VALUES', 'RIGHT_MISSING', 'FIELD_READ_ONLY', 'ALREADY_EXISTS'],
});

export const getObject = defineOperation({
  id: 'objects.get',
  method: 'GET',
  path: '/objects/{objectId}',
  access: 'objects:read',
  right: 'read',
  unit: 'read',
  status: 200,
  tag,
  summary: 'Read a record',
  params: objectParams,
  answer: ObjectSchema,
  faults: ['NOT_FOUND'],
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
  description: 'Each value replaces the stored one whole; null clears. Values equal to the stored ones change nothing.',
  params: objectParams,
  body: closed({
    expectedRevision: Revision,
    changes: Type.Record(Type.String({ minLength: 1, maxLength: 63 }), Type.Unknown(), { minProperties: 1 }),
  }),
  answer: ObjectSchema,
  faults: ['NOT_FOUND', 'RIGHT_MISSING', 'REVISION_CONFLICT', 'ARCHIVED', 'INVALID_VALUES', 'FIELD_READ_ONLY'],
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
    'The record stays and takes no further change. The expected revision comes in the JSON body or in If-Match.',
  params: objectParams,
  body: closed({ expectedRevision: Revision }),
  ifMatch: true,
  answer: Type.Object({ id: Id, revision: Revision, state: Type.String() }),
  faults: ['NOT_FOUND', 'RIGHT_MISSING', 'REVISION_CONFLICT', 'ARCHIVED'],
});

export const getHistory = defineOperation({
  id: 'objects.history',
  mayLag: true,
  method: 'GET',
  path: '/objects/{objectId}/history',
  access: 'objects:read',
  right: 'history',
  unit: 'snapshot',
  status: 200,
  tag,
  summary: 'Read the history of a record, oldest first',
  params: objectParams,
  answer: Type.Array(HistoryEvent),
  faults: ['NOT_FOUND', 'RIGHT_MISSING'],
});

export const getObjectSchema = defineOperation({
  id: 'objects.schema',
  method: 'GET',
  path: '/objects/{objectId}/schema',
  access: 'metadata:read',
  right: 'read',
  unit: 'read',
  status: 200,
  tag: 'Metadata',
  summary: 'Read the field schema of one record',
  description: 'The schema of the stored type version with the field rights that hold on this record; no values.',
  params: objectParams,
  answer: Type.Object({ id: Id, fields: Type.Array(FieldSchema) }),
  faults: ['NOT_FOUND'],
});

export const readImage = defineOperation({
  id: 'objects.image',
  method: 'GET',
  path: '/objects/{objectId}/images/{sha256}',
  access: 'objects:read',
  right: 'read',
  unit: 'own',
  status: 200,
  tag,
  summary: 'Read an image of a rich text',
  description:
    'A stored rich text names its images by `blob:<sha256>`. An image is there for whoever may read a field that shows it, or an event of the history that does.',
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
  summary: 'Take an archived record back',
  params: objectParams,
  answer: ObjectSchema,
  faults: ['NOT_FOUND', 'RIGHT_MISSING', 'STATE_CONFLICT'],
});
