/** Sample deliveries: requests with invented data, signed like real ones, to try a receiver. */
import type { TSchema } from 'typebox';
import { requireNotArchived } from '../../configuration/connections.ts';
import { loadItems } from '../../configuration/store.ts';
import type { WebhookEvent } from '../../contract/events.ts';
import { Fault, faultAt } from '../../lib/fault.ts';
import { problem } from '../../lib/problem.ts';
import { instant, newId } from '../../platform/clock.ts';
import { settleBudgets } from '../../platform/database/rate-budgets.ts';
import type { Outbound, Outcome } from '../../platform/outbound/outbound.ts';
import type { SecretBox } from '../../platform/secrets.ts';
import { ServicePart } from '../../platform/module.ts';
import type { Runner } from '../../platform/unit-of-work/binding.ts';
import type { ReadContext, WriteContext } from '../../platform/unit-of-work/context.ts';
import { EVENTS } from './payload.ts';
import { excerptReaders, KIND, type ResponseAnswer, RIGHT } from './queries.ts';
import { type CompiledWebhook, requestOf, type SignedRequest, verdictOf } from './rules.ts';
import { sealPurpose } from './signing-secrets.ts';
import { findSenders } from './store-delivery.ts';

/** What a subscription sends to, and how it signs. */
interface Signer {
  id: string;
  code: string;
  endpoint: string;
  eventTypes: readonly WebhookEvent[];
  /** Valid values of the signing secret, the newest first. */
  secrets: readonly string[];
}

/**
 * The signer of a subscription.
 *
 * @param codeOrId of the subscription; it may be disabled
 * @throws Fault NOT_FOUND, CONNECTION_ARCHIVED, STATE_CONFLICT if the signing secret has no value
 */
async function findSigner(ctx: ReadContext, box: SecretBox, codeOrId: string): Promise<Signer> {
  const item = (await loadItems(ctx, 'webhooks')).find(({ id, code }) => code === codeOrId || id === codeOrId);
  if (item === undefined) throw new Fault('NOT_FOUND', 'There is no such subscription.');
  requireNotArchived(KIND, item);
  const [sender] = await findSenders(ctx, [item.id], ctx.now);
  if (sender === undefined) throw new Error(`subscription ${item.id} cannot send`);
  const { endpoint, eventTypes, secretRef } = sender.compiled as CompiledWebhook;
  const secrets = sender.secrets.map(({ version, sealed }) =>
    box.open(Buffer.from(sealed, 'hex'), sealPurpose(sender.secretId ?? '', version)),
  );
  if (secrets.length === 0) {
    throw new Fault('STATE_CONFLICT', problem('SECRET_HAS_NO_VALUE'), { secretRef });
  }
  return { id: item.id, code: item.code, endpoint, eventTypes: eventTypes as WebhookEvent[], secrets };
}

/** A signed request of this event type, as of now. Its record or article does not exist. */
export function sampleRequest(eventType: WebhookEvent, secrets: readonly string[], nowMs: number): SignedRequest {
  const described = EVENTS.find(({ name }) => name === eventType);
  if (described === undefined) throw new Error(`no webhook event ${eventType}`);
  const timestamp = instant(nowMs);
  const { eventId, data } = sampleOf(described.payload) as {
    eventId: string;
    data: { objectId?: string; object?: { id: string } };
  };
  if (data.object !== undefined) data.object.id = data.objectId ?? '';
  return requestOf(secrets, { deliveryId: newId(), eventId, eventType, occurredAt: timestamp, data }, timestamp);
}

/** A signed request with the message of a rule, as of now. */
function messageRequest(data: object, secrets: readonly string[], nowMs: number): SignedRequest {
  const timestamp = instant(nowMs);
  const told = { deliveryId: newId(), eventId: newId(), eventType: 'RulePosted', occurredAt: timestamp, data };
  return requestOf(secrets, told, timestamp, true);
}

/**
 * The message of a rule through the subscription, with sample values in its placeholders. Without a rule, that of the first one;
 * undefined if there is none that the caller may read. The module of rules has it.
 *
 * @param samples values of placeholders
 * @throws Fault RIGHT_MISSING, INVALID_REQUEST
 */
export type SampleMessage = (
  ctx: ReadContext,
  asked: { webhookId: string; rule: string | undefined; samples: ReadonlyMap<string, string> },
) => { rule: string; body: object } | undefined;

/** The module of rules provides it, which depends on this one. */
export const sampleMessage = new ServicePart<SampleMessage>('sample messages of rules');

/** What to send; by default the first event type of the subscription, or the first message of a rule. */
export interface AskedSample {
  eventType?: WebhookEvent;
  /** Code of a rule that posts to the subscription, instead of an event type. */
  rule?: string;
}

/** A sample that was sent, and what the receiver answered. */
export interface TestAnswer {
  request: { url: string; headers: Record<string, string>; body: string };
  /** What the answer would mean for a delivery with another attempt left. */
  status: 'DELIVERED' | 'PENDING' | 'FAILED';
  response?: ResponseAnswer;
  /** Why there is no response. */
  error?: string;
}

/** @param readable whether the caller may read the body of the response */
export function answerOf(url: string, sample: SignedRequest, outcome: Outcome, readable: boolean): TestAnswer {
  const policy = { id: sample.deliveryId, baseDelayMs: 1, maxAttempts: 2 };
  const { status, httpStatus, durationMs, excerpt, error } = verdictOf(outcome, policy, 1, 0);
  return {
    request: { url, headers: sample.headers, body: sample.body.toString('utf8') },
    status,
    ...(httpStatus === null
      ? { error: error ?? '' }
      : { response: { status: httpStatus, durationMs, bodyExcerpt: readable ? (excerpt ?? '') : '' } }),
  };
}

/** Samples of one subscription in a minute, from all processes together. */
const MAX_TESTS = 10;
const TEST_INTERVAL_MS = 60_000 / MAX_TESTS;

/** @throws Fault RATE_LIMITED */
async function takeTest(ctx: WriteContext, id: string): Promise<void> {
  const asked = { callerId: `webhook-test:${id}`, spent: 0, spentFor: null, returned: 0, wanted: 1 };
  const [settled] = await settleBudgets({ query: (statement) => ctx.lock(statement) }, TEST_INTERVAL_MS, [asked]);
  if (settled === undefined || settled.granted > 0) return;
  const seconds = Math.max(1, Math.ceil((settled.fullIn + TEST_INTERVAL_MS - 60_000) / 1000));
  throw new Fault('RATE_LIMITED', `Too many samples for this subscription. Retry in ${seconds} s.`, [], {
    headers: { 'Retry-After': String(seconds) },
  });
}

/**
 * Sends one sample to the endpoint of a subscription, which may be disabled. The audit log notes it before it is sent. No
 * transaction is open while the receiver is called.
 *
 * @param codeOrId of the subscription
 * @throws Fault RIGHT_MISSING, NOT_FOUND, CONNECTION_ARCHIVED, STATE_CONFLICT if the signing secret has no value, RATE_LIMITED,
 *   INVALID_REQUEST if the rule does not post to the subscription
 */
export async function testSubscription(
  runner: Pick<Runner, 'write'>,
  parts: { secrets: SecretBox; outbound: Pick<Outbound, 'post'>; messageOf: SampleMessage },
  codeOrId: string,
  asked: AskedSample,
): Promise<TestAnswer> {
  if (asked.rule !== undefined && asked.eventType !== undefined) {
    throw faultAt('INVALID_REQUEST', '/rule', 'RULE_OR_EVENT_TYPE');
  }
  const { signer, sample, readable } = await runner.write(async (ctx) => {
    ctx.actor.require(RIGHT);
    const signer = await findSigner(ctx, parts.secrets, codeOrId);
    ctx.markAuthorized();
    await takeTest(ctx, signer.id);
    const { rule } = asked;
    const type = asked.eventType ?? (rule === undefined ? signer.eventTypes[0] : undefined);
    const message =
      type === undefined ? parts.messageOf(ctx, { webhookId: signer.id, rule, samples: TEXTS }) : undefined;
    const at = Date.parse(ctx.now);
    const subject = `webhooks:${signer.code}`;
    const readable = (await excerptReaders(ctx))(signer.id);
    if (message !== undefined) {
      ctx.emit({ type: 'WebhookTested', subject, data: { eventType: 'RulePosted', rule: message.rule } });
      return { signer, sample: messageRequest(message.body, signer.secrets, at), readable };
    }
    const eventType = type ?? 'ObjectCreated';
    ctx.emit({ type: 'WebhookTested', subject, data: { eventType } });
    return { signer, sample: sampleRequest(eventType, signer.secrets, at), readable };
  });
  const outcome = await parts.outbound.post(signer.endpoint, sample.headers, sample.body);
  return answerOf(signer.endpoint, sample, outcome, readable);
}

const TEXTS: ReadonlyMap<string, string> = new Map([
  ['number', 'SAMPLE-1'],
  ['title', 'Sample of docket webhooks test'],
  ['body', 'Sample of docket webhooks test'],
  ['locale', 'en'],
]);

/** A value of the schema. Of a union, the first member. */
function sampleOf(schema: TSchema, name = ''): unknown {
  const { type, format, anyOf, properties, ...rest } = schema as TSchema & {
    type?: string;
    format?: string;
    anyOf?: TSchema[];
    properties?: Record<string, TSchema>;
    const?: unknown;
  };
  if (rest.const !== undefined) return rest.const;
  if (anyOf?.[0] !== undefined) return sampleOf(anyOf[0], name);
  if (type === 'integer') return 1;
  if (type === 'string') return format === 'uuid' ? newId() : (TEXTS.get(name) ?? 'sample');
  if (name === 'values') return { title: TEXTS.get('title') };
  return Object.fromEntries(Object.entries(properties ?? {}).map(([key, part]) => [key, sampleOf(part, key)]));
}
