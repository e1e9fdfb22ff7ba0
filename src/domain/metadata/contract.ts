/** Operations and schemas of record types and their fields (docs/spec/records.md#record-types). */
import Type from 'typebox';
import { FIELD_ROLES } from '../../contract/field-roles.ts';
import { defineOperation } from '../../contract/operation.ts';
import { closed, Id, IdOrCode } from '../../contract/schemas.ts';
import { DATA_TYPES } from '../../lib/data-types/index.ts';

export const ObjectCategory = Type.Union([Type.Literal('object'), Type.Literal('dictionary')], {
  $id: 'ObjectCategory',
});

export const FieldSchema = Type.Object(
  {
    code: Type.String(),
    name: Type.String(),
    description: Type.Optional(Type.String({ description: 'Help for users; only in the administration API.' })),
    dataType: Type.Union(DATA_TYPES.map((dataType) => Type.Literal(dataType))),
    required: Type.Boolean({ description: 'False also for a required field that has a default.' }),
    readOnly: Type.Boolean({ description: 'For display only. The caller’s rights decide.' }),
    multiple: Type.Boolean(),
    role: Type.Optional(
      Type.Union(
        FIELD_ROLES.map((role) => Type.Literal(role)),
        { description: 'What the field is for; only in the administration API.' },
      ),
    ),
    constraints: Type.Record(Type.String(), Type.Unknown()),
    default: Type.Optional(Type.Unknown()),
  },
  { $id: 'FieldSchema' },
);

export const listTypes = defineOperation({
  id: 'metadata.types',
  method: 'GET',
  path: '/metadata/types',
  growth: 'few',
  access: 'metadata:read',
  unit: 'read',
  status: 200,
  tag: 'Metadata',
  summary: 'List the record types and dictionaries that the caller has access to',
  description:
    'Types on which no role grants the caller an action are omitted. Names are in the default locale of the service.',
  answer: Type.Object({
    types: Type.Array(
      Type.Object(
        { id: Id, code: Type.String(), name: Type.String(), objectCategory: ObjectCategory },
        { $id: 'RecordType' },
      ),
    ),
  }),
  faults: [],
});

export const getTypeFields = defineOperation({
  id: 'metadata.fields',
  method: 'GET',
  path: '/metadata/types/{typeId}/fields',
  growth: 'few',
  access: 'metadata:read',
  unit: 'read',
  status: 200,
  tag: 'Metadata',
  summary: 'Read the field schema of a record type',
  description:
    'Fields of the newest version of the type that at least one grant lets the caller read. Accepts the id or the code of the type. For the fields of one record, which may have an older version and narrower rights, read `GET /objects/{objectId}/schema`.',
  params: closed({ typeId: IdOrCode }),
  answer: Type.Object({ id: Id, objectCategory: ObjectCategory, fields: Type.Array(FieldSchema) }),
  faults: ['NOT_FOUND'],
});
