/** Sample deliveries: requests with invented data, signed like real ones, to try a receiver. */
import type { TSchema } from 'typebox';
import { loadItems } from '../../configuration/store.ts';
import type { WebhookEvent } from '../../contract/events.ts';
import { Fault } from '../../lib/fault.ts';
import { problem } from '../../lib/problem.ts';
import { instant, newId } from '../../platform/clock.ts';
import type { SecretBox } from '../../platform/secrets.ts';
import type { ReadContext } from '../../platform/unit-of-work/context.ts';
import { EVENTS } from './payload.ts';
import { type CompiledWebhook, signedHeaders } from './rules.ts';
import { sealPurpose } from './signing-secrets.ts';
import { findSenders } from './store-delivery.ts';

/** What a subscription sends to, and how it signs. */
export interface Signer {
  endpoint: string;
  eventTypes: readonly WebhookEvent[];
  /** Valid values of the signing secret, the newest first. */
  secrets: readonly string[];
}

/**
 * The signer of a subscription.
 *
 * @param codeOrId of the subscription; it may be disabled
 * @throws Fault NOT_FOUND, STATE_CONFLICT if the signing secret has no value
 */
export async function findSigner(ctx: ReadContext, box: SecretBox, codeOrId: string): Promise<Signer> {
  const item = (await loadItems(ctx, 'webhooks')).find(({ id, code }) => code === codeOrId || id === codeOrId);
  const [sender] = item === undefined ? [] : await findSenders(ctx, [item.id], ctx.now);
  if (sender === undefined) throw new Fault('NOT_FOUND', `There is no subscription ${codeOrId}.`);
  const { endpoint, eventTypes, secretRef } = sender.compiled as CompiledWebhook;
  const secrets = sender.secrets.map(({ version, sealed }) =>
    box.open(Buffer.from(sealed, 'hex'), sealPurpose(sender.secretId ?? '', version)),
  );
  if (secrets.length === 0) {
    throw new Fault('STATE_CONFLICT', problem('SECRET_HAS_NO_VALUE'), { secretRef });
  }
  return { endpoint, eventTypes: eventTypes as WebhookEvent[], secrets };
}

export interface SampleRequest {
  deliveryId: string;
  headers: Record<string, string>;
  body: Buffer;
}

/** A signed request of this event type, as of now. Its record or article does not exist. */
export function sampleRequest(eventType: WebhookEvent, secrets: readonly string[], nowMs: number): SampleRequest {
  const described = EVENTS.find(({ name }) => name === eventType);
  if (described === undefined) throw new Error(`no webhook event ${eventType}`);
  const timestamp = instant(nowMs);
  const deliveryId = newId();
  const whole = sampleOf(described.payload) as { data: { objectId?: string; object?: { id: string } } };
  if (whole.data.object !== undefined) whole.data.object.id = whole.data.objectId ?? '';
  const body = Buffer.from(JSON.stringify({ ...whole, deliveryId, timestamp, occurredAt: timestamp }));
  return { deliveryId, headers: signedHeaders(secrets, timestamp, deliveryId, body), body };
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
