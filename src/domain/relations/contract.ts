/** Operations and schemas of relations (docs/spec/around-records.md#relations). */
import { RULE_FAULTS } from '../../lib/fault-codes.ts';
import Type from 'typebox';
import { defineOperation } from '../../contract/operation.ts';
import { closed, Id, Instant, nullable, Revision } from '../../contract/schemas.ts';

const Direction = Type.Union([Type.Literal('incoming'), Type.Literal('outgoing')]);
const RecordState = Type.Union([Type.Literal('ACTIVE'), Type.Literal('ARCHIVED')]);

const RelationSchema = Type.Object(
  {
    id: Id,
    definitionId: Id,
    definitionCode: Type.String(),
    name: Type.String({ description: 'The name of the relation; for an incoming relation the inverse name.' }),
    direction: Direction,
    sourceObjectId: Id,
    targetObjectId: Id,
    related: Type.Object({
      id: Id,
      number: nullable(Type.String()),
      title: nullable(Type.String()),
      state: RecordState,
    }),
    revision: Revision,
    state: RecordState,
    createdAt: Instant,
  },
  { $id: 'Relation' },
);

const DefinitionSchema = Type.Object(
  {
    id: Id,
    code: Type.String(),
    name: Type.String(),
    inverseName: Type.String(),
    sourceTypeIds: Type.Array(Id),
    targetTypeIds: Type.Array(Id),
    cardinality: Type.String({
      description: 'one-to-one, one-to-many, many-to-one or many-to-many, source to target.',
    }),
    acyclic: Type.Boolean(),
    active: Type.Boolean(),
  },
  { $id: 'RelationDefinition' },
);

const ofObject = closed({ objectId: Id });
const tag = 'Relations';

export const listRelations = defineOperation({
  id: 'relations.list',
  paged: true,
  replicaSafe: true,
  method: 'GET',
  path: '/objects/{objectId}/relations',
  access: 'relations:read',
  right: 'read',
  unit: 'read',
  long: true,
  status: 200,
  tag,
  summary: 'List the relations of a record',
  description: 'Relations whose other end the caller cannot read are left out.',
  params: ofObject,
  query: closed({
    direction: Type.Optional(Type.Union([Type.Literal('incoming'), Type.Literal('outgoing')], { default: 'outgoing' })),
  }),
  answer: Type.Array(RelationSchema),
  faults: ['NOT_FOUND'],
});

export const listDefinitions = defineOperation({
  id: 'relations.definitions',
  method: 'GET',
  path: '/relation-definitions',
  growth: 'few',
  access: 'relations:read',
  unit: 'read',
  status: 200,
  tag,
  summary: 'List the active relation definitions',
  description:
    'With `sourceObjectId`: only the definitions that the record can be the source of; needs the right relation.create on it.',
  query: closed({ sourceObjectId: Type.Optional(Id) }),
  answer: Type.Array(DefinitionSchema),
  faults: ['NOT_FOUND', 'RIGHT_MISSING'],
});

export const addRelation = defineOperation({
  id: 'relations.add',
  method: 'POST',
  path: '/objects/{objectId}/relations',
  access: 'relations:write',
  right: 'relation.create',
  unit: 'write',
  idempotent: true,
  status: 201,
  tag,
  summary: 'Relate the record to another',
  description:
    'If the relation already exists, it is returned with `idempotent: true`. The cardinality of the definition and its rule against cycles are checked.',
  params: ofObject,
  body: closed({ definitionId: Id, targetObjectId: Id }),
  answer: Type.Object({ relation: Type.Object({ id: Id, revision: Revision }), idempotent: Type.Boolean() }),
  faults: ['NOT_FOUND', 'RIGHT_MISSING', 'ARCHIVED', 'RELATION_CARDINALITY', 'RELATION_CYCLE', ...RULE_FAULTS],
});

export const removeRelation = defineOperation({
  id: 'relations.archive',
  method: 'DELETE',
  path: '/relations/{relationId}',
  access: 'relations:write',
  right: 'relation.delete',
  unit: 'write',
  status: 200,
  tag,
  summary: 'Remove a relation',
  description:
    'A relation that follows from a field of the source cannot be removed here: change the field. The expected revision comes in the JSON body or in If-Match.',
  params: closed({ relationId: Id }),
  body: closed({ expectedRevision: Revision }),
  ifMatch: true,
  answer: Type.Object({ id: Id, state: Type.String(), revision: Revision }),
  faults: ['NOT_FOUND', 'RIGHT_MISSING', 'ARCHIVED', 'REVISION_CONFLICT', 'RELATION_REQUIRED_BY_FIELD', ...RULE_FAULTS],
});
