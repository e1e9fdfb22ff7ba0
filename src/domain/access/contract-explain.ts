/** The API contract of the explanation of a request (docs/spec/access.md#explain-a-request). */
import Type from 'typebox';
import { defineOperation } from '../../contract/operation.ts';
import { closed, Id, nullable } from '../../contract/schemas.ts';

const held = { held: Type.Boolean({ description: 'Whether the user or key has it.' }) };
const missing = {
  missing: Type.Boolean({ description: 'The request is refused because this is missing.' }),
};
const grants = {
  grants: Type.Array(Type.Integer(), { description: 'Indexes of the grants of this step that allow it.' }),
};
const Condition = Type.Object(
  {
    field: Type.String(),
    operator: Type.String(),
    value: Type.Unknown({ description: 'The operand, with variables as written; null if hidden.' }),
    variables: Type.Optional(
      Type.Array(
        Type.Object({
          variable: Type.String({ description: 'As written in `value`, such as `$myGroups`.' }),
          values: nullable(
            Type.Array(
              Type.Object({
                value: Type.String({ description: 'An id, or a time.' }),
                code: nullable(Type.String({ description: 'The login or code of the user, group or unit.' })),
              }),
              { description: 'What it stood for, at most 100 values; null if hidden.' },
            ),
          ),
          more: Type.Integer({ minimum: 0, description: 'The number of further values.' }),
        }),
        { description: 'What the variables of the comparison stood for. Absent without variables.' },
      ),
    ),
    actual: Type.Unknown({ description: 'The value of the record; null if there is none, or hidden.' }),
    hidden: Type.Boolean({ description: 'The caller may not read the field, so values are left out.' }),
    holds: nullable(Type.Boolean({ description: 'Null if hidden.' })),
  },
  { $id: 'ExplainedCondition' },
);

const Caller = Type.Object({
  kind: Type.Literal('caller'),
  login: Type.String(),
  accepted: Type.Boolean({ description: 'False for an archived user and for an expired or revoked key.' }),
});
const Scope = Type.Object({ kind: Type.Literal('scope'), scope: Type.String(), ...held, ...missing });
const Right = Type.Object({
  kind: Type.Literal('right'),
  right: Type.String(),
  required: Type.Boolean({ description: 'False if the right only decides how much the request answers.' }),
  roles: Type.Array(Type.String(), { description: 'Codes of the roles of the user that give it.' }),
  ...held,
  ...missing,
});
const Records = Type.Object({
  kind: Type.Literal('records'),
  action: Type.String({ description: 'The action on the records that the request refers to.' }),
  ...missing,
});
const OnRecord = Type.Object({
  kind: Type.Literal('record'),
  type: Type.String({ description: 'Code of the type.' }),
  object: nullable(
    Type.Object(
      { id: nullable(Id), number: nullable(Type.String()) },
      { description: 'The record. `id` is null for a record that the request creates, `number` where it is hidden.' },
    ),
  ),
  grants: Type.Array(
    Type.Object(
      {
        role: Type.String(),
        where: Type.Unknown({ description: 'The condition as configured; null without one, or if it is hidden.' }),
        whereHidden: Type.Boolean({
          description: 'The condition names fields that the caller may not read, of this record where one is judged.',
        }),
        holds: nullable(Type.Boolean({ description: 'Null if no record is judged.' })),
        conditions: Type.Array(Condition, { description: 'Each comparison of the condition.' }),
        actions: Type.Array(Type.String()),
      },
      { $id: 'ConsideredGrant' },
    ),
  ),
  actions: Type.Array(
    Type.Object({ action: Type.String(), ...held, ...missing, ...grants }, { $id: 'ExplainedAction' }),
  ),
  fields: Type.Array(
    Type.Object(
      {
        field: Type.String(),
        access: Type.Union([Type.Literal('read'), Type.Literal('write')]),
        ...held,
        ...missing,
        ...grants,
      },
      { $id: 'ExplainedField' },
    ),
  ),
  transitions: Type.Array(
    Type.Object({ transition: Type.String(), ...held, ...missing, ...grants }, { $id: 'ExplainedTransition' }),
  ),
});
const passed = { passed: nullable(Type.Boolean({ description: 'Null if hidden.' })) };
const State = Type.Object({
  kind: Type.Literal('state'),
  state: nullable(Type.String({ description: 'ACTIVE or ARCHIVED; null if hidden.' })),
  ...passed,
});
const RevisionStep = Type.Object({
  kind: Type.Literal('revision'),
  expected: Type.Integer(),
  current: nullable(Type.Integer({ description: 'Null if hidden.' })),
  ...passed,
});
const Workflow = Type.Object({
  kind: Type.Literal('workflow'),
  transition: Type.String(),
  state: nullable(
    Type.String({ description: 'The workflow state of the record; null if hidden, or without workflow.' }),
  ),
  leaves: nullable(Type.Boolean({ description: 'Whether the transition starts in this state; null if hidden.' })),
  conditions: Type.Array(Condition),
  ...passed,
});
const Refusal = Type.Object({
  kind: Type.Literal('refusal'),
  code: Type.String(),
  message: Type.String(),
  details: Type.Array(Type.Object({ path: Type.String(), code: Type.String(), message: Type.String() })),
});

const StepSchema = Type.Union([Caller, Scope, Right, Records, OnRecord, State, RevisionStep, Workflow, Refusal], {
  $id: 'ExplainedStep',
});

export const explainRequest = defineOperation({
  id: 'access.explainRequest',
  method: 'POST',
  path: '/access/explain-request',
  access: 'console',
  right: 'role.assign',
  unit: 'own',
  dryRun: false,
  explained: false,
  status: 200,
  tag: 'Rights',
  summary: 'Explain how a request of a user or key is decided',
  description:
    'Runs the request as that user or key in a transaction that is rolled back, and answers with its status and error code and with each check: scope, rights, grants on records with their conditions and values, fields, then state, revision and workflow. `missing` marks the smallest set of rights without which the request is refused. Values that the caller may not read are named, not shown, and have no verdict of their own (`null`); records that the caller may not read and the request does not name are left out. A user without a key is treated as having every scope. Operations without authentication, a change of the own password and this operation itself cannot be explained. The call is in the audit log.',
  body: closed({
    user: Type.Optional(
      Type.String({ minLength: 1, maxLength: 255, description: 'Id or login. Either this or keyId.' }),
    ),
    keyId: Type.Optional(Id),
    method: Type.Union([
      Type.Literal('GET'),
      Type.Literal('POST'),
      Type.Literal('PATCH'),
      Type.Literal('PUT'),
      Type.Literal('DELETE'),
    ]),
    path: Type.String({
      minLength: 1,
      maxLength: 2000,
      description: 'With its prefix, for example /api/v1/objects. A query may follow after a question mark.',
    }),
    query: Type.Optional(Type.String({ maxLength: 8000, description: 'The query, without the question mark.' })),
    body: Type.Optional(Type.Unknown({ description: 'The JSON body of the request.' })),
  }),
  answer: Type.Object(
    {
      status: Type.Integer({ description: 'The status that the request would have.' }),
      code: Type.Optional(Type.String({ description: 'The error code that it would have.' })),
      steps: Type.Array(StepSchema),
    },
    { $id: 'RequestExplanation' },
  ),
  faults: ['NOT_FOUND', 'RIGHT_MISSING'],
});

export { StepSchema };
