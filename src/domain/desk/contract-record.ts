/** The API contract of what the console does on one record beside the public operations: macros, merging, people, suggestions. */
import { RULE_FAULTS } from '../../lib/fault-codes.ts';
import Type from 'typebox';
import { COMMENT_VISIBILITIES } from '../../contract/comment-visibility.ts';
import { defineOperation } from '../../contract/operation.ts';
import { closed, Id, nullable, oneOf, Revision, Values } from '../../contract/schemas.ts';
import { AttachmentIds } from '../comments/index.ts';
import { WorkflowState } from '../objects/index.ts';
import { TransitionSchema } from '../workflow/index.ts';

const console = { access: 'console', tag: 'Desk' } as const;
const params = closed({ objectId: Id });

const CommentInput = closed({
  body: Type.String({ minLength: 1, maxLength: 100_000, description: 'Plain text or Markdown.' }),
  visibility: oneOf(COMMENT_VISIBILITIES),
  attachmentIds: AttachmentIds,
});

const Macro = Type.Object(
  {
    id: Id,
    code: Type.String(),
    name: Type.String(),
    comment: nullable(Type.Object({ visibility: oneOf(COMMENT_VISIBILITIES), body: Type.String() })),
    transition: nullable(TransitionSchema),
    set: Type.Record(Type.String(), Type.Unknown(), { description: 'Field code to the value that is set.' }),
    refused: Type.Array(oneOf(['comment', 'transition', 'set']), {
      description: 'Parts that the caller cannot do on the record now. The macro can be used if there are none.',
    }),
  },
  { $id: 'Macro' },
);

export const listMacros = defineOperation({
  ...console,
  id: 'desk.macros',
  method: 'GET',
  path: '/objects/{objectId}/macros',
  growth: 'record',
  right: 'read',
  unit: 'read',
  status: 200,
  summary: 'List the macros for a record',
  description:
    "The active macros of the record's type that the roles of the caller may use, by code. Texts are in the language of the request, with the values of the record; a value that the caller may not read is left out. `transition` is null if the macro has none, or if it cannot be made now.",
  params,
  answer: Type.Array(Macro),
  faults: ['NOT_FOUND'],
});

const CHANGE_FAULTS = [
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
] as const;

export const applyMacro = defineOperation({
  ...console,
  id: 'desk.applyMacro',
  method: 'POST',
  path: '/objects/{objectId}/macros',
  right: 'read',
  unit: 'write',
  idempotent: true,
  status: 200,
  summary: 'Use a macro on a record',
  description:
    "Adds the comment, makes the transition and sets the fields of the macro, all or nothing, with the caller's rights: `comment.create`, and `Private Comment` for an internal comment; `transition` and its code; `update` and the fields. `comment` replaces the prepared comment, also in a macro without one. `values` takes fields of the transition's form and overrides what the macro sets. `expectedRevision` is compared if the macro changes the record.",
  params,
  body: closed({
    macroId: Id,
    expectedRevision: Revision,
    comment: Type.Optional(CommentInput),
    values: Type.Optional(Values),
  }),
  answer: Type.Object({
    object: Type.Object({ id: Id, revision: Revision }),
    commentId: nullable(Id),
  }),
  faults: CHANGE_FAULTS,
});

export const offerMerge = defineOperation({
  ...console,
  id: 'desk.offerMerge',
  method: 'GET',
  path: '/objects/{objectId}/merge',
  growth: 'record',
  right: 'read',
  unit: 'read',
  status: 200,
  summary: 'Read how a record can be merged into another one',
  description:
    'The relation definition `duplicate-of` for the type of the record, null if there is none or the caller may not add the relation. The transition `close-duplicate` of its workflow, null if the caller cannot make it now.',
  params,
  answer: Type.Object({
    relation: nullable(Type.Object({ id: Id, name: Type.String(), targetTypes: Type.Array(Type.String()) })),
    transition: nullable(TransitionSchema),
  }),
  faults: ['NOT_FOUND'],
});

export const mergeObject = defineOperation({
  ...console,
  id: 'desk.merge',
  method: 'POST',
  path: '/objects/{objectId}/merge',
  right: 'relation.create',
  unit: 'write',
  idempotent: true,
  status: 200,
  summary: 'Merge a duplicate into another record',
  description:
    'Adds the relation `duplicate-of` to the target, the comment, and with `close` makes the transition `close-duplicate`, all or nothing. Each part needs its own right; a part that is not allowed refuses the call.',
  params,
  body: closed({
    expectedRevision: Revision,
    targetObjectId: Id,
    close: Type.Boolean(),
    comment: Type.Optional(CommentInput),
  }),
  answer: Type.Object({
    object: Type.Object({ id: Id, revision: Revision }),
    relation: Type.Object({ id: Id, revision: Revision }),
  }),
  faults: [...CHANGE_FAULTS, 'RELATION_CARDINALITY', 'RELATION_CYCLE'],
});

export const getRequester = defineOperation({
  ...console,
  id: 'desk.requester',
  method: 'GET',
  path: '/objects/{objectId}/requester',
  growth: 'record',
  right: 'read',
  unit: 'read',
  status: 200,
  summary: 'Read how to reach the requester of a record',
  description:
    'The user in the field `requester`; null without one, or if the caller may not read the field. `login`, `email` and `unit` are there for callers with the right Private Comment on the record or `user.administer`, and for the requester.',
  params,
  answer: nullable(
    Type.Object({
      id: Id,
      name: Type.String(),
      login: nullable(Type.String()),
      email: nullable(Type.String()),
      unit: nullable(Type.String()),
    }),
  ),
  faults: ['NOT_FOUND'],
});

export const listMentionable = defineOperation({
  ...console,
  id: 'desk.mentionable',
  method: 'GET',
  path: '/objects/{objectId}/mentionable',
  growth: 'page',
  right: 'Private Comment',
  unit: 'own',
  status: 200,
  summary: 'Find users to mention in a comment',
  description:
    'At most 8 of the first 50 active users with this name or login, those who may read the record first. A comment mentions a user by `@login`. `canRead`: the user may read the record. Also needs the right comment.create on the record.',
  params,
  query: closed({ q: Type.Optional(Type.String({ maxLength: 200 })) }),
  answer: Type.Array(
    Type.Object({
      id: Id,
      name: Type.String(),
      login: Type.String(),
      unit: nullable(Type.String()),
      canRead: Type.Boolean(),
    }),
  ),
  faults: ['NOT_FOUND', 'RIGHT_MISSING'],
});

export const listSuggestions = defineOperation({
  ...console,
  id: 'desk.suggestions',
  method: 'GET',
  path: '/desk/suggestions',
  growth: 'page',
  unit: 'read',
  status: 200,
  summary: 'List records for the text that a user types',
  description:
    'At most eight: first the records whose number or title is the text, also of one character, then those that match it as in `GET /objects`, last updated first.',
  query: closed({ q: Type.String({ minLength: 1, maxLength: 200 }) }),
  answer: Type.Array(
    Type.Object(
      {
        id: Id,
        typeCode: Type.String(),
        number: nullable(Type.String()),
        title: nullable(Type.String()),
        workflowState: nullable(WorkflowState),
      },
      { $id: 'RecordSuggestion' },
    ),
  ),
  faults: [],
});
