/** Verifies webhook requests. Uses only Web Crypto, so it runs in Node, browsers and edge workers. */
import { fromBase64 } from './content.ts';
import type { Events } from './generated/api.ts';

/** Any delivery; distinguished by `eventType`. */
export type Event = Events[keyof Events];

export interface VerifyOptions {
  /** The signing secrets as issued, `whsec_…`: one, or both the old and the new one during a rotation. */
  secrets: string | readonly string[];
  headers: Headers | Readonly<Record<string, string | readonly string[] | undefined>>;
  /** The raw bytes of the body as received. Parsing and serializing it again changes the bytes. */
  body: Uint8Array | string;
  /** Maximum difference of the timestamp from now, in seconds. Default 300. */
  toleranceSeconds?: number;
  /** Milliseconds since 1970. Default: the current time. */
  now?: number;
}

/** The request is not authentic. Answer 401 and do not process it. */
export class WebhookInvalid extends Error {
  override readonly name = 'WebhookInvalid';
}

interface Claim {
  id: string;
  /** Milliseconds since 1970. */
  at: number;
  /** The signed text that precedes the body. */
  signed: string;
  signatures: Uint8Array<ArrayBuffer>[];
  keyOf(secret: string): Uint8Array<ArrayBuffer>;
}

const text = new TextEncoder();

function reader(headers: VerifyOptions['headers']): (name: string) => string | undefined {
  if (headers instanceof Headers) return (name) => headers.get(name) ?? undefined;
  const known = new Map(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
  return (name) => {
    const value = known.get(name);
    return typeof value === 'string' ? value : value?.[0];
  };
}

function hex(digits: string): Uint8Array<ArrayBuffer> | undefined {
  if (!/^(?:[0-9a-f]{2})+$/i.test(digits)) return undefined;
  return Uint8Array.from(digits.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16));
}

function base64(value: string): Uint8Array<ArrayBuffer> | undefined {
  try {
    return fromBase64(value);
  } catch {
    return undefined;
  }
}

/** `X-ITSM-…`: signed only with the newest secret. The key is the secret's text as issued. */
function ownClaim(header: (name: string) => string | undefined): Claim | undefined {
  const [id, timestamp, given] = ['x-itsm-delivery', 'x-itsm-timestamp', 'x-itsm-signature'].map(header);
  const signature = hex(given?.replace(/^sha256=/, '') ?? '');
  if (id === undefined || timestamp === undefined || signature === undefined) return undefined;
  const signed = `${timestamp}.${id}.`;
  return { id, at: Date.parse(timestamp), signed, signatures: [signature], keyOf: (secret) => text.encode(secret) };
}

/** `webhook-…` of Standard Webhooks: two signatures during the overlap of a rotation. */
function standardClaim(header: (name: string) => string | undefined): Claim | undefined {
  const [id, timestamp, given = ''] = ['webhook-id', 'webhook-timestamp', 'webhook-signature'].map(header);
  const signatures = given
    .split(' ')
    .flatMap((one) => (one.startsWith('v1,') ? (base64(one.slice('v1,'.length)) ?? []) : []));
  if (id === undefined || timestamp === undefined || signatures.length === 0) return undefined;
  const at = /^\d{1,12}$/.test(timestamp) ? Number(timestamp) * 1000 : Number.NaN;
  const keyOf = (secret: string): Uint8Array<ArrayBuffer> => base64(secret.replace(/^whsec_/, '')) ?? new Uint8Array();
  return { id, at, signed: `${id}.${timestamp}.`, signatures, keyOf };
}

async function isSigned(claim: Claim, secrets: readonly string[], body: Uint8Array): Promise<boolean> {
  const head = text.encode(claim.signed);
  const message = new Uint8Array(head.length + body.length);
  message.set(head);
  message.set(body, head.length);
  for (const secret of secrets) {
    const bytes = claim.keyOf(secret);
    if (bytes.length === 0) continue;
    const key = await crypto.subtle.importKey('raw', bytes, { name: 'HMAC', hash: 'SHA-256' }, false, ['verify']);
    for (const signature of claim.signatures) {
      // Compares in constant time.
      if (await crypto.subtle.verify('HMAC', key, signature, message)) return true;
    }
  }
  return false;
}

/**
 * Returns the event of an authentic request. Either header family is accepted: `X-ITSM-…` or `webhook-…`. So a receiver with
 * either secret works during a rotation. Store `deliveryId` to detect duplicates: a delivery may be repeated.
 *
 * @throws WebhookInvalid if the request is not signed with one of the secrets, or its timestamp is out of tolerance
 */
export async function verifyWebhook(options: VerifyOptions): Promise<Event> {
  const secrets = typeof options.secrets === 'string' ? [options.secrets] : options.secrets;
  if (secrets.length === 0) throw new Error('verifyWebhook needs at least one secret');
  const header = reader(options.headers);
  const claims = [ownClaim(header), standardClaim(header)].filter((claim) => claim !== undefined);
  if (claims.length === 0) throw new WebhookInvalid('The request bears no signature.');
  const body = typeof options.body === 'string' ? text.encode(options.body) : options.body;
  const now = options.now ?? Date.now();
  const tolerance = (options.toleranceSeconds ?? 300) * 1000;
  let late = false;
  for (const claim of claims) {
    if (!(Math.abs(now - claim.at) <= tolerance)) {
      late = true;
      continue;
    }
    if (!(await isSigned(claim, secrets, body))) continue;
    const event = JSON.parse(new TextDecoder().decode(body)) as Event;
    if (event.deliveryId !== claim.id) throw new WebhookInvalid('The body is of another delivery than the headers.');
    return event;
  }
  throw new WebhookInvalid(late ? 'The timestamp is too far from now.' : 'No signature is of a secret that is known.');
}
