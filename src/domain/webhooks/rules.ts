/**
 * Pure decisions about deliveries: signatures, the meaning of responses, and the time of the next attempt
 * (docs/spec/webhooks-and-inbound.md#deliveries, docs/spec/webhooks-and-inbound.md#events).
 */
import { createHash, createHmac } from 'node:crypto';
import type { Outcome } from '../../platform/outbound/outbound.ts';
import type { Condition } from '../../lib/filter.ts';
import { problem, type Problem } from '../../lib/problem.ts';

const SECRET_PREFIX = 'whsec_';
const LONGEST_DELAY_MS = 3_600_000;
const EXCERPT = 1000;

/** The problem with the form of an endpoint, as a sentence; undefined if there is none. IP addresses are checked elsewhere. */
export function endpointProblem(endpoint: string): Problem | undefined {
  // A URL parser ignores additional slashes and would take what follows for the host.
  if (!/^https:\/\/[^/]/.test(endpoint)) return problem('NOT_HTTPS');
  if (!URL.canParse(endpoint) || /[\s\p{Cc}\\]/u.test(endpoint)) {
    return problem('NOT_AN_ADDRESS', { example: 'https://hooks.example.org/docket' });
  }
  // An empty user name, query or fragment is not visible in the parsed URL, so the text itself is checked.
  if (endpoint.includes('@')) return problem('ADDRESS_WITH_CREDENTIALS');
  if (endpoint.includes('?') || endpoint.includes('#')) return problem('ADDRESS_WITH_QUERY');
  return undefined;
}

/** The secret in the form that is shown once. This string is also the HMAC key of `X-ITSM-Signature`. */
export function shownSecret(bytes: Buffer): string {
  return SECRET_PREFIX + bytes.toString('base64');
}

function itsmSignature(secret: string, timestamp: string, deliveryId: string, body: Buffer): string {
  const mac = createHmac('sha256', secret).update(`${timestamp}.${deliveryId}.`).update(body);
  return `sha256=${mac.digest('hex')}`;
}

function standardSignature(secret: string, seconds: number, deliveryId: string, body: Buffer): string {
  const key = Buffer.from(secret.slice(SECRET_PREFIX.length), 'base64');
  const mac = createHmac('sha256', key).update(`${deliveryId}.${seconds}.`).update(body);
  return `v1,${mac.digest('base64')}`;
}

/**
 * The headers of one attempt. Signatures cover exactly the bytes that are sent.
 *
 * @param secrets valid secrets, the newest first: it alone makes `X-ITSM-Signature`, each of them a Standard Webhooks
 *   signature
 * @param timestamp of the attempt, RFC 3339 UTC with milliseconds
 */
export function signedHeaders(
  secrets: readonly string[],
  timestamp: string,
  deliveryId: string,
  body: Buffer,
): Record<string, string> {
  const seconds = Math.floor(Date.parse(timestamp) / 1000);
  return {
    'content-type': 'application/json',
    'user-agent': 'Docket',
    'x-itsm-delivery': deliveryId,
    'x-itsm-timestamp': timestamp,
    'x-itsm-signature': itsmSignature(secrets[0] ?? '', timestamp, deliveryId, body),
    'webhook-id': deliveryId,
    'webhook-timestamp': String(seconds),
    'webhook-signature': secrets.map((secret) => standardSignature(secret, seconds, deliveryId, body)).join(' '),
  };
}

/** A delivery of one event, without the request that an attempt makes of it. */
export interface Delivery {
  deliveryId: string;
  eventId: string;
  eventType: string;
  /** Time of the event. */
  occurredAt: string;
  data: object;
}

export interface SignedRequest {
  deliveryId: string;
  headers: Record<string, string>;
  body: Buffer;
}

/**
 * The request of one attempt.
 *
 * @param secrets as in `signedHeaders`
 * @param timestamp of the attempt, RFC 3339 UTC with milliseconds
 * @param isMessage whether `data` is the whole body
 */
export function requestOf(
  secrets: readonly string[],
  delivery: Delivery,
  timestamp: string,
  isMessage = false,
): SignedRequest {
  const { deliveryId, eventId, eventType, occurredAt, data } = delivery;
  const whole = { deliveryId, eventId, eventType, timestamp, occurredAt, data };
  const body = Buffer.from(JSON.stringify(isMessage ? data : whole));
  return { deliveryId, headers: signedHeaders(secrets, timestamp, deliveryId, body), body };
}

/** The delay of a `Retry-After` header in milliseconds, given as seconds or as a date; undefined if it cannot be parsed. */
export function retryAfterMs(header: string | undefined, nowMs: number): number | undefined {
  const text = header?.trim() ?? '';
  if (/^\d{1,10}$/.test(text)) return Number(text) * 1000;
  // `Date.parse` accepts many forms. HTTP dates start with a weekday.
  const at = /^[A-Z][a-z]+,? /.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(at) ? undefined : Math.max(0, at - nowMs);
}

/** Deterministic jitter from 0 to 1, exclusive: the same for the same attempt, different between deliveries. */
function spread(deliveryId: string, attempt: number): number {
  return createHash('sha256').update(`${deliveryId} ${attempt}`).digest().readUInt32BE(0) / 2 ** 32;
}

/**
 * Milliseconds from the end of attempt `attempt` (from 1) to the next: base × 2^(attempt − 1), at most an hour, plus up to 10 %
 * jitter. A longer `Retry-After` is respected, up to an hour.
 */
export function delayMs(
  policy: { deliveryId: string; baseDelayMs: number },
  attempt: number,
  askedMs: number | undefined,
): number {
  const plain = Math.min(policy.baseDelayMs * 2 ** (attempt - 1), LONGEST_DELAY_MS);
  const jittered = Math.round(plain * (1 + 0.1 * spread(policy.deliveryId, attempt)));
  return Math.max(jittered, Math.min(askedMs ?? 0, LONGEST_DELAY_MS));
}

/** The start of a response body as storable text: without control characters and lone surrogates, at most 1000 characters. */
export function excerptOf(body: Buffer): string {
  const text = body.subarray(0, EXCERPT * 4).toString('utf8');
  return [...text.replaceAll(/[\p{Cc}\p{Cs}]+/gu, ' ')].slice(0, EXCERPT).join('').trim();
}

/** The result of an attempt and the new status of the delivery. */
export interface Verdict {
  status: 'DELIVERED' | 'FAILED' | 'PENDING';
  /** For a pending delivery, milliseconds until its next attempt. */
  delayMs: number;
  httpStatus: number | null;
  durationMs: number;
  excerpt: string | null;
  error: string | null;
}

function isTemporary(status: number): boolean {
  return status === 429 || status >= 500;
}

/** @param attempt the number of this attempt, from 1 */
export function verdictOf(
  outcome: Outcome,
  delivery: { id: string; baseDelayMs: number; maxAttempts: number },
  attempt: number,
  nowMs: number,
): Verdict {
  const policy = { deliveryId: delivery.id, baseDelayMs: delivery.baseDelayMs };
  const last = attempt >= delivery.maxAttempts;
  if (outcome.kind === 'refused') {
    const { reason } = outcome;
    return { status: 'FAILED', delayMs: 0, httpStatus: null, durationMs: 0, excerpt: null, error: reason };
  }
  const { durationMs } = outcome;
  if (outcome.kind === 'failed') {
    const again = { status: 'PENDING', delayMs: delayMs(policy, attempt, undefined) } as const;
    const note = { httpStatus: null, durationMs, excerpt: null, error: outcome.reason };
    return last ? { status: 'FAILED', delayMs: 0, ...note } : { ...again, ...note };
  }
  const { status, body, retryAfter } = outcome;
  const note = { httpStatus: status, durationMs, excerpt: excerptOf(body), error: null };
  if (status >= 200 && status < 300) return { status: 'DELIVERED', delayMs: 0, ...note };
  if (last || !isTemporary(status)) return { status: 'FAILED', delayMs: 0, ...note };
  return { status: 'PENDING', delayMs: delayMs(policy, attempt, retryAfterMs(retryAfter, nowMs)), ...note };
}

export interface WebhookDefinition {
  code: string;
  endpoint: string;
  secretRef: string;
  /** Login of the executor; the compiled form has `executionPrincipalId`. */
  executionPrincipal: string;
  eventTypes: string[];
  /** Type codes (none: all types) and a condition on the record. */
  filters: { types: string[]; condition?: Condition };
  retryPolicy: { maxAttempts: number; baseDelayMs: number };
  enabled: boolean;
}

/** The compiled form. Its condition contains ids instead of logins and codes. */
export interface CompiledWebhook extends WebhookDefinition {
  executionPrincipalId: string | null;
}

export const DELIVERY_STATUSES = ['PENDING', 'DELIVERED', 'FAILED', 'SKIPPED'] as const;
export type DeliveryStatus = (typeof DELIVERY_STATUSES)[number];
/** Statuses of a delivery that has no further attempt. */
export const FINISHED = ['DELIVERED', 'FAILED', 'SKIPPED'] as const satisfies readonly DeliveryStatus[];
