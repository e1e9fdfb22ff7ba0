/** Strict parsing of request headers. Malformed values are rejected, never guessed. */
import type { IncomingMessage } from 'node:http';
import { CORRELATION_ID } from '../contract/envelope.ts';
import { faultAt, type FaultDetail } from '../lib/fault.ts';
import { problemAt } from '../lib/problem.ts';
import { newId } from '../platform/clock.ts';
import { withRevision } from '../platform/long-json.ts';
import { isObject } from '../lib/json.ts';

const VISIBLE_ASCII = /^[\x21-\x7e]{1,255}$/;
const REVISION_TAG = /^"([1-9]\d{0,15})"$/;
const JSON_TYPE = /^application\/json[ \t]*(?:;|$)/i;
const CHARSET = /;[ \t]*charset[ \t]*=[ \t]*"?([^";\s]*)"?/gi;

/** The client's correlation id if valid, else a new one. */
export function correlationIdOf(request: IncomingMessage): string {
  const given = request.headers['x-correlation-id'];
  return typeof given === 'string' && CORRELATION_ID.test(given) ? given : newId();
}

/**
 * Returns the header if it was sent exactly once. Node silently keeps the first of several `Authorization` headers. Another
 * proxy or parser might use a different one, so duplicates are ignored here.
 */
export function singleHeader(request: IncomingMessage, name: string): string | undefined {
  const value = request.headers[name];
  if (typeof value !== 'string') return undefined;
  const raw = request.rawHeaders;
  let found = 0;
  for (let i = 0; i < raw.length; i += 2) {
    const key = raw[i] as string;
    if (key.length === name.length && key.toLowerCase() === name) found++;
  }
  return found === 1 ? value : undefined;
}

/** The value of a cookie; undefined if the cookie is missing or sent more than once. */
export function cookie(request: IncomingMessage, name: string): string | undefined {
  const header = request.headers.cookie;
  if (header === undefined) return undefined;
  const values = header
    .split(';')
    .map((pair) => pair.trim())
    .filter((pair) => pair.startsWith(`${name}=`))
    .map((pair) => pair.slice(name.length + 1));
  return values.length === 1 ? values[0] : undefined;
}

/**
 * The `Idempotency-Key`, or undefined if there is none. Node joins several headers with a comma and a space; a key contains no
 * space, so duplicates are rejected.
 *
 * @throws Fault INVALID_IDEMPOTENCY_KEY
 */
export function idempotencyKey(request: IncomingMessage): string | undefined {
  const value = request.headers['idempotency-key'];
  if (value === undefined) return undefined;
  if (typeof value === 'string' && VISIBLE_ASCII.test(value)) return value;
  throw faultAt('INVALID_IDEMPOTENCY_KEY', 'header.Idempotency-Key', 'IDEMPOTENCY_KEY');
}

/** The first language in `Accept-Language`, if it is a valid tag. The console sends the language that the user chose. */
export function preferredLocale(request: IncomingMessage): string | undefined {
  return /^\s*([a-z]{2,3}(?:-[A-Z]{2})?)\s*(?:[;,]|$)/.exec(request.headers['accept-language'] ?? '')?.[1];
}

/** The revision in `If-Match: "<n>"`; undefined without the header, null if malformed. */
export function ifMatchRevision(request: IncomingMessage): number | null | undefined {
  const value = request.headers['if-match'];
  if (value === undefined) return undefined;
  const revision = Number(REVISION_TAG.exec(value)?.[1]);
  return Number.isSafeInteger(revision) ? revision : null;
}

/** @throws Fault UNSUPPORTED_MEDIA_TYPE when the body is compressed or not JSON in UTF-8 */
export function requireJson(request: IncomingMessage): void {
  const encoding = request.headers['content-encoding'];
  if (encoding !== undefined && encoding.trim().toLowerCase() !== 'identity') {
    throw faultAt('UNSUPPORTED_MEDIA_TYPE', 'header.Content-Encoding', 'BODY_COMPRESSED');
  }
  const transfer = request.headers['transfer-encoding'];
  if (transfer !== undefined && transfer.trim().toLowerCase() !== 'chunked') {
    throw faultAt('UNSUPPORTED_MEDIA_TYPE', 'header.Transfer-Encoding', 'TRANSFER_ENCODING');
  }
  const type = request.headers['content-type'];
  // Fast path for the most common value.
  if (type === 'application/json') return;
  if (type === undefined || !JSON_TYPE.test(type)) {
    throw faultAt('UNSUPPORTED_MEDIA_TYPE', 'header.Content-Type', 'BODY_NOT_JSON');
  }
  for (const [, charset] of type.matchAll(CHARSET)) {
    if (charset?.toLowerCase() !== 'utf-8' && charset?.toLowerCase() !== 'utf8') {
      throw faultAt('UNSUPPORTED_MEDIA_TYPE', 'header.Content-Type', 'BODY_NOT_UTF8');
    }
  }
}

/** True if the request announces a body of at least one byte, or of unknown length. */
export function announcesBody(request: IncomingMessage): boolean {
  const { headers } = request;
  if (headers['transfer-encoding'] !== undefined) return true;
  return headers['content-length'] !== undefined && headers['content-length'] !== '0';
}

/** The announced length of the body in bytes; undefined if it is chunked or there is no body. */
export function declaredLength(request: IncomingMessage): number | undefined {
  const length = request.headers['content-length'];
  return length === undefined ? undefined : Number(length);
}

/** Lets `If-Match: "<n>"` stand for the body's expectedRevision; both given must agree. */
export function withIfMatch(request: IncomingMessage, body: unknown, problems: FaultDetail[]): unknown {
  const revision = ifMatchRevision(request);
  if (revision === undefined) return body;
  const path = 'header.If-Match';
  if (revision === null) {
    problems.push(problemAt(path, 'REVISION_FORMAT'));
    return body;
  }
  if (body === undefined) return { expectedRevision: revision };
  if (!isObject(body)) return body;
  const { expectedRevision } = body;
  if (expectedRevision === undefined) return withRevision(body, revision);
  if (expectedRevision !== revision) {
    problems.push(problemAt(path, 'REVISION_MISMATCH'));
  }
  return body;
}
