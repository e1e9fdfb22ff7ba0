/** The API contract of integrations and inbound calls (docs/spec/webhooks-and-inbound.md#subscriptions). */
import { RULE_FAULTS } from '../../lib/fault-codes.ts';
import { COMMENT_VISIBILITIES } from '../../contract/comment-visibility.ts';
import Type from 'typebox';
import { defineOperation } from '../../contract/operation.ts';
import { closed, Code, Id, IdOrCode, Instant, nullable, oneOf } from '../../contract/schemas.ts';
import { addOperation } from '../comments/index.ts';
import { createOperation } from '../objects/index.ts';
import { COMMANDS, mappingItems } from './registry.ts';

const Kind = Type.Literal('inbound-webhook');

const Config = closed({
  command: oneOf(COMMANDS),
  typeDefinitionId: Type.Optional(IdOrCode),
  mapping: mappingItems(),
  visibility: Type.Optional(oneOf(COMMENT_VISIBILITIES)),
});

const Integration = Type.Object(
  {
    id: Id,
    code: Type.String(),
    type: Kind,
    executionPrincipalId: nullable(Id),
    enabled: Type.Boolean(),
    config: Config,
    state: oneOf(['ACTIVE', 'ARCHIVED']),
  },
  { $id: 'Integration' },
);

const Reason = Type.Object({ code: Type.String(), message: Type.String(), details: Type.Unknown() }, { $id: 'Reason' });

const tag = 'Integrations';
const params = closed({ id: Id });
const managed = { right: 'integration.manage', tag } as const;
const console = { ...managed, access: 'console', status: 200 } as const;

export const createIntegration = defineOperation({
  ...managed,
  id: 'integrations.create',
  method: 'POST',
  path: '/integrations',
  access: 'integrations:manage',
  unit: 'write',
  status: 201,
  summary: 'Set up an inbound integration',
  description:
    'The integration is disabled unless `enabled` is true. To name another user as `executionPrincipalId`, the caller needs role.assign. Calls always run with the rights of the key’s owner.',
  body: closed({
    code: Code,
    type: Kind,
    executionPrincipalId: Id,
    enabled: Type.Optional(Type.Boolean()),
    config: Config,
  }),
  answer: Integration,
  faults: ['RIGHT_MISSING', 'ALREADY_EXISTS'],
});

export const runInbound = defineOperation({
  id: 'inbound.run',
  method: 'POST',
  path: '/inbound/{integrationId}',
  access: 'integrations:execute',
  unit: 'own',
  via: 'inbound',
  idempotent: true,
  status: 201,
  tag,
  summary: 'Call an integration',
  description:
    'The body is any JSON that the mapping of the integration can read. The configured command runs with the rights of the key’s owner, with the same checks and errors as its own endpoint. `data` is the response of that endpoint.',
  params: closed({ integrationId: Id }),
  body: Type.Unknown(),
  answer: Type.Union([createOperation.answer, addOperation.answer]),
  faults: [
    'NOT_FOUND',
    'INTEGRATION_DISABLED',
    'RIGHT_MISSING',
    'FIELD_READ_ONLY',
    'ARCHIVED',
    'REVISION_CONFLICT',
    'ALREADY_EXISTS',
    'INVALID_VALUES',
    ...RULE_FAULTS,
  ],
});

export const listIntegrations = defineOperation({
  ...console,
  id: 'integrations.list',
  method: 'GET',
  path: '/integrations',
  growth: 'few',
  unit: 'read',
  summary: 'List integrations by code, archived ones too',
  description: 'Archived integrations are included. `GET /integrations/{id}/runs` lists the calls of one.',
  answer: Type.Array(Integration),
  faults: ['RIGHT_MISSING'],
});

export const changeIntegration = defineOperation({
  ...console,
  id: 'integrations.change',
  method: 'PATCH',
  path: '/integrations/{id}',
  unit: 'write',
  summary: 'Change an integration',
  description:
    'Only possible while the integration is disabled. Omitted properties keep their values; `config` is replaced as a whole.',
  params,
  body: closed({ executionPrincipalId: Type.Optional(Id), config: Type.Optional(Config) }, { minProperties: 1 }),
  answer: Integration,
  faults: ['NOT_FOUND', 'RIGHT_MISSING', 'CONNECTION_ENABLED', 'CONNECTION_ARCHIVED'],
});

function command<const Name extends string>(name: Name, summary: string, description: string) {
  return defineOperation({
    ...console,
    id: `integrations.${name}`,
    method: 'POST',
    path: `/integrations/{id}/${name}`,
    unit: 'write',
    summary,
    description,
    params,
    answer: Integration,
    faults: ['NOT_FOUND', 'RIGHT_MISSING', 'CONNECTION_ARCHIVED'],
  });
}

export const enableIntegration = command('enable', 'Enable an integration', 'Calls are accepted from now on.');
export const disableIntegration = command('disable', 'Disable an integration', 'Calls are refused from now on.');
export const archiveIntegration = command('archive', 'Archive an integration', 'Also disables it.');
export const restoreIntegration = command(
  'restore',
  'Restore an archived integration',
  'The integration is disabled until it is enabled again. Its settings are validated as for a new integration.',
);

const RunState = oneOf(['SUCCEEDED', 'FAILED']);

export const listRuns = defineOperation({
  ...console,
  id: 'integrations.runs',
  method: 'GET',
  path: '/integrations/{id}/runs',
  growth: 'page',
  unit: 'read',
  summary: 'List the last 100 calls of an integration, newest first',
  description: 'Failed calls show the reason. Runs are kept for 30 days, at most 1,000 for each integration.',
  params,
  query: closed({ status: Type.Optional(RunState) }),
  answer: Type.Array(
    Type.Object(
      {
        id: Id,
        integrationId: Id,
        at: Instant,
        command: Type.String(),
        status: RunState,
        objectId: nullable(Id),
        commentId: nullable(Id),
        owner: nullable(Type.Object({ id: Id, displayName: Type.String() })),
        keyId: nullable(Id),
        correlationId: Type.String(),
        error: nullable(Reason),
      },
      { $id: 'InboundRun' },
    ),
  ),
  faults: ['NOT_FOUND', 'RIGHT_MISSING'],
});

export const tryIntegration = defineOperation({
  ...console,
  id: 'integrations.try',
  method: 'POST',
  path: '/integrations/{id}/try',
  unit: 'own',
  dryRun: false,
  summary: 'Try out an integration',
  description:
    'Returns the request that the mapping makes from `body`, runs its command with the rights of the caller and rolls it back. Works while the integration is disabled. Nothing is stored and nothing is logged.',
  params,
  body: closed({ body: Type.Unknown() }),
  answer: Type.Object({
    command: Type.String(),
    request: Type.Object({
      method: Type.String(),
      path: Type.String(),
      params: Type.Record(Type.String(), Type.Unknown()),
      body: Type.Record(Type.String(), Type.Unknown()),
    }),
    status: Type.Integer({ description: 'The HTTP status that a real call would return.' }),
    data: Type.Unknown(),
    error: nullable(Reason),
  }),
  faults: ['NOT_FOUND', 'RIGHT_MISSING'],
});
