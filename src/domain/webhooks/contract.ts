/**
 * Operations and schemas of webhook subscriptions, deliveries and signing secrets
 * (docs/spec/webhooks-and-inbound.md#subscriptions, docs/spec/configuration.md#administration-api).
 */
import Type from 'typebox';
import { defineOperation } from '../../contract/operation.ts';
import { closed, Code, Id, IdOrCode, Instant, nullable, oneOf } from '../../contract/schemas.ts';
import { DELIVERY_STATUSES } from './rules.ts';
import { WEBHOOK_EVENTS } from '../../contract/events.ts';

const ItemState = oneOf(['ACTIVE', 'ARCHIVED']);
const Endpoint = Type.String({
  minLength: 1,
  maxLength: 2048,
  description: 'An https URL without user name, query and fragment, whose host resolves to public addresses only.',
});
const EventTypes = Type.Array(oneOf(WEBHOOK_EVENTS), {
  uniqueItems: true,
  description: 'Without any, only messages of rules are sent.',
});
const Filters = closed({
  types: Type.Optional(
    Type.Array(IdOrCode, {
      maxItems: 1000,
      uniqueItems: true,
      description:
        'Ids or codes of record types; empty for all types. Events on records of other types are not delivered.',
    }),
  ),
  condition: Type.Optional(
    // The condition language validates the structure and reports the path of each problem.
    closed(
      {
        field: Type.Optional(Type.Unknown()),
        operator: Type.Optional(Type.Unknown()),
        value: Type.Optional(Type.Unknown()),
        logic: Type.Optional(Type.Unknown()),
        conditions: Type.Optional(Type.Unknown()),
      },
      {
        description:
          'A condition on the record. It is evaluated with the rights of the executing user when the event is sent.',
      },
    ),
  ),
});
const RetryPolicy = closed({
  maxAttempts: Type.Optional(Type.Integer({ minimum: 1, maximum: 10, default: 3 })),
  baseDelayMs: Type.Optional(Type.Integer({ minimum: 1, maximum: 3_600_000, default: 1000 })),
});

const Subscription = Type.Object(
  {
    id: Id,
    code: Type.String(),
    endpoint: Type.String(),
    secretRef: Type.String({ description: 'Code of the signing secret; the secret itself is never returned.' }),
    executionPrincipalId: Id,
    eventTypes: Type.Array(Type.String()),
    filters: Type.Object({
      types: Type.Optional(Type.Array(Type.String())),
      condition: Type.Optional(Type.Unknown()),
    }),
    retryPolicy: Type.Object({ maxAttempts: Type.Integer(), baseDelayMs: Type.Integer() }),
    enabled: Type.Boolean(),
    state: ItemState,
  },
  { $id: 'WebhookSubscription' },
);

const Response = Type.Object({
  status: Type.Integer(),
  durationMs: Type.Integer(),
  bodyExcerpt: Type.String({ description: 'Empty unless the caller is the executing user or holds role.assign.' }),
});

const Delivery = Type.Object(
  {
    id: Id,
    subscriptionId: Id,
    eventId: Id,
    eventType: Type.String(),
    objectId: nullable(Id),
    status: oneOf(DELIVERY_STATUSES),
    attemptCount: Type.Integer(),
    maxAttempts: Type.Integer(),
    createdAt: Instant,
    nextAttemptAt: Type.Optional(Instant),
    finishedAt: Type.Optional({
      ...Instant,
      description: 'The end of the last attempt, or the time at which the delivery was skipped.',
    }),
    response: Type.Optional(Response),
    error: Type.Optional(Type.String()),
    attempts: Type.Array(
      Type.Object({
        number: Type.Integer(),
        at: Instant,
        response: Type.Optional(Response),
        error: Type.Optional(Type.String()),
      }),
    ),
  },
  { $id: 'WebhookDelivery' },
);

const shared = { access: 'webhooks:manage', right: 'webhook.manage', tag: 'Webhooks' } as const;
const administered = { ...shared, access: 'console' } as const;
const params = closed({ id: Id });

export const listSubscriptions = defineOperation({
  ...shared,
  id: 'webhooks.list',
  method: 'GET',
  path: '/webhooks',
  growth: 'few',
  unit: 'read',
  status: 200,
  summary: 'List webhook subscriptions',
  description: 'Archived subscriptions are included. Signing secrets are never returned.',
  answer: Type.Array(Subscription),
  faults: ['RIGHT_MISSING'],
});

export const createSubscription = defineOperation({
  ...shared,
  id: 'webhooks.create',
  method: 'POST',
  path: '/webhooks',
  unit: 'write',
  status: 201,
  summary: 'Create a webhook subscription',
  description:
    'Saving sends nothing. Unless `enabled` is false, the signing secret must have a value. To name another user as `executionPrincipalId`, the caller needs role.assign.',
  body: closed({
    code: Code,
    endpoint: Endpoint,
    secretRef: Code,
    executionPrincipalId: Id,
    eventTypes: EventTypes,
    filters: Type.Optional(Filters),
    retryPolicy: Type.Optional(RetryPolicy),
    enabled: Type.Optional(Type.Boolean({ default: true })),
  }),
  answer: Subscription,
  faults: ['RIGHT_MISSING', 'ALREADY_EXISTS'],
});

export const listDeliveries = defineOperation({
  ...shared,
  id: 'webhooks.deliveries',
  method: 'GET',
  path: '/webhook-deliveries',
  growth: 'page',
  unit: 'snapshot',
  status: 200,
  summary: 'List the last 100 deliveries',
  description:
    'Deliveries of one subscription or of all, newest event first, each with its attempts. With `status`, the last 100 deliveries with these statuses.',
  query: closed({
    subscriptionId: Type.Optional(Id),
    status: Type.Optional(
      Type.String({
        maxLength: 100,
        description: `Statuses separated by commas: ${DELIVERY_STATUSES.join(', ')}.`,
        examples: ['PENDING,FAILED'],
      }),
    ),
  }),
  answer: Type.Array(Delivery),
  faults: ['RIGHT_MISSING'],
});

export const getDelivery = defineOperation({
  ...administered,
  id: 'webhooks.delivery',
  method: 'GET',
  path: '/webhook-deliveries/{id}',
  growth: 'record',
  unit: 'snapshot',
  status: 200,
  summary: 'Read a delivery with its attempts',
  description: 'Each attempt has the status, the time and the beginning of the answer of the receiver.',
  params,
  answer: Delivery,
  faults: ['NOT_FOUND', 'RIGHT_MISSING'],
});

export const retryDelivery = defineOperation({
  ...administered,
  id: 'webhooks.retry',
  method: 'POST',
  path: '/webhook-deliveries/{id}/retry',
  unit: 'write',
  status: 200,
  summary: 'Retry a failed delivery',
  description: 'The subscription must be enabled and active.',
  params,
  answer: Delivery,
  faults: ['NOT_FOUND', 'RIGHT_MISSING', 'STATE_CONFLICT', 'CONNECTION_ARCHIVED'],
});

export const testSubscription = defineOperation({
  ...administered,
  id: 'webhooks.test',
  method: 'POST',
  path: '/webhooks/{id}/test',
  unit: 'own',
  dryRun: false,
  explained: false,
  status: 200,
  summary: 'Send a sample delivery',
  description:
    'Sends one signed sample with invented data to the endpoint, and returns the request and the answer: the delivery of an event, or the message of a rule that posts to the subscription. The subscription and the rule may be disabled. The sample is not stored as a delivery; the audit log notes it. At most 10 samples a minute for each subscription; more are answered with 429.',
  params,
  body: closed({
    eventType: Type.Optional({
      ...oneOf(WEBHOOK_EVENTS),
      description:
        'Default: the first one of the subscription. If it has none: the message of the first rule that posts to it, if there is one and the caller holds config.manage.',
    }),
    rule: Type.Optional({
      ...Code,
      description:
        'Code of a rule that posts to the subscription, instead of `eventType`. Its first message is sent, with sample values in its placeholders. Needs config.manage.',
    }),
  }),
  answer: Type.Object(
    {
      request: Type.Object({
        url: Type.String(),
        headers: Type.Record(Type.String(), Type.String()),
        body: Type.String({ description: 'The bytes that were signed and sent, as text.' }),
      }),
      status: {
        ...oneOf(['DELIVERED', 'PENDING', 'FAILED']),
        description:
          'What the answer would mean for a delivery: it was accepted, it would be sent again, or it would not.',
      },
      response: Type.Optional(Response),
      error: Type.Optional(Type.String({ description: 'Why there is no response.' })),
    },
    { $id: 'WebhookTest' },
  ),
  faults: ['NOT_FOUND', 'RIGHT_MISSING', 'STATE_CONFLICT', 'CONNECTION_ARCHIVED'],
});

export const changeSubscription = defineOperation({
  ...administered,
  id: 'webhooks.change',
  method: 'PATCH',
  path: '/webhooks/{id}',
  unit: 'write',
  status: 200,
  summary: 'Change a webhook subscription',
  description:
    'Only possible while the subscription is disabled. Omitted properties keep their values; `filters` is replaced as a whole.',
  params,
  body: closed(
    {
      endpoint: Type.Optional(Endpoint),
      secretRef: Type.Optional(Code),
      executionPrincipalId: Type.Optional(Id),
      eventTypes: Type.Optional(EventTypes),
      filters: Type.Optional(Filters),
      retryPolicy: Type.Optional(RetryPolicy),
    },
    { minProperties: 1 },
  ),
  answer: Subscription,
  faults: ['NOT_FOUND', 'RIGHT_MISSING', 'CONNECTION_ENABLED', 'CONNECTION_ARCHIVED'],
});

function command<const Id extends string>(name: Id, summary: string, description: string) {
  return defineOperation({
    ...administered,
    id: `webhooks.${name}`,
    method: 'POST',
    path: `/webhooks/{id}/${name}`,
    unit: 'write',
    status: 200,
    summary,
    description,
    params,
    answer: Subscription,
    faults: ['NOT_FOUND', 'RIGHT_MISSING', 'CONNECTION_ARCHIVED'],
  });
}

export const enableSubscription = command(
  'enable',
  'Enable a webhook subscription',
  'Later events are delivered. Refused while the signing secret has no value.',
);
export const disableSubscription = command(
  'disable',
  'Disable a webhook subscription',
  'Queued deliveries wait. An attempt that is already running is finished.',
);
export const archiveSubscription = command(
  'archive',
  'Archive a webhook subscription',
  'Disables the subscription. It can be restored.',
);
export const restoreSubscription = command(
  'restore',
  'Restore an archived webhook subscription',
  'The subscription is disabled until it is enabled again.',
);

const Secret = Type.Object(
  {
    id: Id,
    code: Type.String(),
    state: ItemState,
    hasValue: Type.Boolean({
      description: 'Whether the secret has a value. If not, subscriptions that use it cannot be enabled.',
    }),
    createdAt: nullable(Instant),
    previousUntil: nullable(Instant),
  },
  { $id: 'SigningSecret' },
);

const ShownSecret = Type.Object(
  {
    code: Type.String(),
    secret: Type.String({ description: '`whsec_` and base64. The value is not shown again.' }),
    previousUntil: Type.Optional(nullable(Instant)),
  },
  { $id: 'ShownSecret' },
);

const secrets = { access: 'console', right: 'webhook.manage', tag: 'Signing secrets' } as const;

export const listSecrets = defineOperation({
  ...secrets,
  id: 'secrets.list',
  method: 'GET',
  path: '/signing-secrets',
  growth: 'few',
  unit: 'snapshot',
  status: 200,
  summary: 'List signing secrets',
  description: 'Values of secrets are never returned.',
  answer: Type.Array(Secret),
  faults: ['RIGHT_MISSING'],
});

export const createSecret = defineOperation({
  ...secrets,
  id: 'secrets.create',
  method: 'POST',
  path: '/signing-secrets',
  unit: 'write',
  dryRun: false,
  status: 201,
  summary: 'Create a signing secret',
  description:
    'The value is returned only by this call. Where subscriptions name the secret already, the caller must be able to manage each of them: be its `executionPrincipalId`, or hold `role.assign`.',
  body: closed({ code: Code }),
  answer: ShownSecret,
  faults: ['RIGHT_MISSING', 'ALREADY_EXISTS', 'ARCHIVED'],
});

export const rotateSecret = defineOperation({
  ...secrets,
  id: 'secrets.rotate',
  method: 'POST',
  path: '/signing-secrets/{code}/rotate',
  unit: 'write',
  dryRun: false,
  status: 200,
  summary: 'Rotate a signing secret',
  description:
    'The previous value stays valid for `overlap`, an ISO 8601 duration (default PT0S). The new value is returned only by this call. The caller must be able to manage every subscription that signs with it: be its `executionPrincipalId`, or hold `role.assign`.',
  params: closed({ code: Type.String({ minLength: 1, maxLength: 63 }) }),
  body: closed({ overlap: Type.Optional(Type.String({ maxLength: 40 })) }),
  answer: ShownSecret,
  faults: ['NOT_FOUND', 'RIGHT_MISSING', 'ARCHIVED'],
});
