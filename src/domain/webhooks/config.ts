/**
 * The bundle's sections `signingSecrets` and `webhooks` (configuration, section 3). A bundle names secrets and never holds
 * one: values are made by `docket secrets create` or in the console.
 */
import Type, { type Static } from 'typebox';
import { closed } from '../../contract/schemas.ts';
import type { Condition } from '../../lib/filter.ts';
import { defineSection } from '../../mechanisms/config-define.ts';
import { Code, ConditionSchema, Login, oneOf } from '../../mechanisms/config-schemas.ts';
import type { Change, CompileView, Reference, Report } from '../../mechanisms/config-section.ts';
import { compileTypedCondition, type TypeShape } from '../../mechanisms/config-types.ts';
import { EVENT_KINDS } from './event-kinds.ts';

export const signingSecretsSection = defineSection<string, { code: string }>({
  key: 'signingSecrets',
  shape: 'codes',
  schema: Code,
  normalise: (code) => ({ code }),
  present: ({ code }) => code,
});

const WebhookItem = closed({
  code: Code,
  endpoint: Type.String({ minLength: 1, maxLength: 2048 }),
  secretRef: Code,
  executionPrincipal: Login,
  eventTypes: Type.Array(oneOf(EVENT_KINDS), { minItems: 1, uniqueItems: true }),
  filters: Type.Optional(
    closed({
      types: Type.Optional(Type.Array(Code, { maxItems: 1000, uniqueItems: true })),
      condition: Type.Optional(ConditionSchema),
    }),
  ),
  retryPolicy: Type.Optional(
    closed({
      maxAttempts: Type.Optional(Type.Integer({ minimum: 1, maximum: 10 })),
      baseDelayMs: Type.Optional(Type.Integer({ minimum: 1, maximum: 3_600_000 })),
    }),
  ),
  enabled: Type.Optional(Type.Boolean()),
});

type Item = Static<typeof WebhookItem>;

export interface WebhookDefinition {
  code: string;
  endpoint: string;
  secretRef: string;
  /** Login; compiled `executionPrincipalId`. */
  executionPrincipal: string;
  eventTypes: string[];
  /** Codes of types (none: all) and a condition on the record. */
  filters: { types: string[]; condition?: Condition };
  retryPolicy: { maxAttempts: number; baseDelayMs: number };
  enabled: boolean;
}

function normalise(item: Item): WebhookDefinition {
  const { types = [], condition } = item.filters ?? {};
  return {
    code: item.code,
    endpoint: item.endpoint,
    secretRef: item.secretRef,
    executionPrincipal: item.executionPrincipal,
    eventTypes: item.eventTypes,
    filters: { types, ...(condition === undefined ? {} : { condition: condition as never }) },
    retryPolicy: {
      maxAttempts: item.retryPolicy?.maxAttempts ?? 3,
      baseDelayMs: item.retryPolicy?.baseDelayMs ?? 1000,
    },
    enabled: item.enabled ?? true,
  };
}

function references(webhook: WebhookDefinition): Reference[] {
  return [
    { section: 'signingSecrets', code: webhook.secretRef, path: ['secretRef'] },
    { section: 'users', code: webhook.executionPrincipal, path: ['executionPrincipal'] },
    ...webhook.filters.types.map((code, index) => ({ section: 'types', code, path: ['filters', 'types', index] })),
  ];
}

/** The form alone; that its name resolves to public addresses is judged on the socket that is used. */
function checkEndpoint(endpoint: string, report: Report): void {
  const wrong = (message: string): void => report(['endpoint'], 'WRONG_FORMAT', message);
  if (!endpoint.startsWith('https://')) wrong('Use an address that begins with https://.');
  else if (!URL.canParse(endpoint) || /[\s\p{Cc}\\]/u.test(endpoint))
    wrong('Use an address such as https://hooks.example.org/docket.');
  else {
    const url = new URL(endpoint);
    if (url.username !== '' || url.password !== '') wrong('Take user name and password out of the address.');
    if (endpoint.includes('?') || endpoint.includes('#')) wrong('Take out what stands from "?" or "#" on.');
  }
}

function compile(webhook: WebhookDefinition, view: CompileView, report: Report): unknown {
  checkEndpoint(webhook.endpoint, report);
  const { types, condition } = webhook.filters;
  const principal = webhook.executionPrincipal;
  const executionPrincipalId = view.has('users', principal) ? view.id('users', principal) : null;
  if (condition === undefined) return { ...webhook, executionPrincipalId };
  const shapes =
    types.length === 0
      ? [...view.active<TypeShape>('types').values()]
      : types.flatMap((code) => view.get<TypeShape>('types', code) ?? []);
  const compiled = compileTypedCondition(
    condition,
    ['filters', 'condition'],
    shapes,
    { view, report },
    types.length !== 1,
  );
  return {
    ...webhook,
    filters: { types, ...(compiled === undefined ? {} : { condition: compiled }) },
    executionPrincipalId,
  };
}

/** Nobody reads with more rights than they could give themselves (decisions, "Events and webhooks"). */
function rights(change: Change, view: CompileView, actorId: string | null): string[] {
  const { executionPrincipal } = change.definition as WebhookDefinition;
  const own = view.has('users', executionPrincipal) && view.id('users', executionPrincipal) === actorId;
  return own || change.action === 'archive' ? [] : ['role.assign'];
}

function note(change: Change): string | undefined {
  const before = change.stored?.definition as WebhookDefinition | undefined;
  const after = change.definition as WebhookDefinition;
  return change.action === 'change' && before?.enabled === true && after.enabled
    ? 'enabled: it is disabled, changed and enabled again'
    : undefined;
}

export const webhooksSection = defineSection<Item, WebhookDefinition>({
  key: 'webhooks',
  schema: WebhookItem,
  rights,
  normalise,
  references,
  compile,
  note,
});
