/** Operations and schemas of a record's workflow (docs/spec/workflow-and-sla.md#workflow). */
import { RULE_FAULTS } from '../../lib/fault-codes.ts';
import Type from 'typebox';
import { defineOperation } from '../../contract/operation.ts';
import { closed, Id, nullable, Revision, Values } from '../../contract/schemas.ts';

const State = Type.Object({
  id: Id,
  code: Type.String(),
  name: Type.String(),
  category: Type.Union([Type.Literal('open'), Type.Literal('waiting'), Type.Literal('done')]),
});

export const TransitionSchema = Type.Object(
  {
    id: Id,
    code: Type.String(),
    name: Type.String(),
    to: Type.Object({ id: Id, code: Type.String(), name: Type.String() }),
    fields: Type.Array(
      Type.Object(
        {
          code: Type.String(),
          name: Type.String(),
          dataType: Type.String(),
          required: Type.Boolean(),
          readOnly: Type.Optional(Type.Boolean()),
          multiple: Type.Optional(Type.Boolean()),
          constraints: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
          default: Type.Optional(Type.Unknown()),
        },
        {
          description:
            'A field schema, or $reason (text) or $decisionReport (rich-text), which are stored with the event.',
        },
      ),
    ),
  },
  { $id: 'Transition' },
);

const params = closed({ objectId: Id });

export const getWorkflow = defineOperation({
  id: 'workflow.get',
  method: 'GET',
  path: '/objects/{objectId}/workflow',
  growth: 'record',
  access: 'workflow:read',
  right: 'read',
  unit: 'read',
  status: 200,
  tag: 'Workflow',
  summary: 'Read the state of a record and the transitions that the caller can make now',
  description:
    'Lists the transitions that start from the current state, that the caller has the right to make, and whose conditions are met now, with the fields that each of them takes. For a type without workflow `state` is null and `transitions` is empty.',
  params,
  answer: Type.Object({
    object: Type.Object({ id: Id, revision: Revision }),
    state: nullable(State),
    transitions: Type.Array(TransitionSchema),
    permission: Type.Object({ transition: Type.Boolean() }),
  }),
  faults: ['NOT_FOUND'],
});

export const transitionObject = defineOperation({
  id: 'workflow.transition',
  method: 'POST',
  path: '/objects/{objectId}/transitions',
  access: 'workflow:write',
  right: 'transition',
  unit: 'write',
  status: 200,
  tag: 'Workflow',
  summary: 'Make a transition',
  description:
    'Name the revision and the state that the decision is based on. `values` takes the fields that the transition lists. Rights and conditions are checked again. The state, the values and all effects are stored in one transaction.',
  params,
  body: closed({
    transitionId: Id,
    expectedRevision: Revision,
    expectedStateId: Id,
    values: Type.Optional(Values),
  }),
  answer: Type.Object({
    object: Type.Object({ id: Id, revision: Revision }),
    transition: Type.Object({ id: Id }),
  }),
  faults: [
    'NOT_FOUND',
    'RIGHT_MISSING',
    'ARCHIVED',
    'REVISION_CONFLICT',
    'STATE_CONFLICT',
    'TRANSITION_NOT_AVAILABLE',
    'TRANSITION_CONDITION_NOT_MET',
    'INVALID_VALUES',
    'FIELD_READ_ONLY',
    ...RULE_FAULTS,
  ],
});
