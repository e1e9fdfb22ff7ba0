/**
 * Pages that are no operations: health, metrics, security.txt, the OpenAPI documents (docs/spec/conventions.md#health), and
 * redirects of the browser to an external sign-in and back.
 */
import { createHash } from 'node:crypto';
import { type Fault, faultAt } from '../lib/fault.ts';
import type { Clock } from '../platform/clock.ts';
import { type Origin, networkTest } from './address.ts';
import { fault } from './errors.ts';
import type { RequestContext } from './request-context.ts';
import type { Readiness } from '../platform/observability/readiness.ts';
import type { RedirectPage } from '../platform/unit-of-work/binding.ts';
import type { ServerOptions } from './types.ts';
import { cookie, singleHeader } from './headers.ts';
import { sourceName } from './unverified.ts';
import type { Service } from './serve.ts';

/** Answers one GET. Thrown faults become error answers. */
export type Page = (context: RequestContext) => void | Promise<void>;

const PLAIN_JSON = 'application/json; charset=utf-8';
const READY_MS = 1000;

/** Liveness: the process runs. */
export const healthPage: Page = (context) => context.sendText(200, PLAIN_JSON, '{"status":"ok"}');

/** Readiness: requests can be served. The result is cached for a second, so that frequent probes do not load the database. */
export function readyPage(ready: ServerOptions['health']['ready'], draining: () => boolean): Page {
  let asked = Number.NEGATIVE_INFINITY;
  let answer: Promise<Readiness> | undefined;
  return async (context) => {
    const now = performance.now();
    if (answer === undefined || now - asked > READY_MS) {
      asked = now;
      answer = ready().catch(() => ({ ok: false, degraded: [], checks: {} }));
    }
    const { ok, degraded, checks } = await answer;
    const fit = ok && !draining();
    const body = JSON.stringify({ status: fit ? 'ok' : 'unavailable', degraded, checks });
    context.sendText(fit ? 200 : 503, PLAIN_JSON, body, fit ? undefined : { 'Retry-After': '1' });
  };
}

/** Metrics, only for the allowed networks; other clients get 404. */
export function metricsPage(
  exposition: () => Promise<string>,
  allow: readonly string[],
  originOf: (request: RequestContext['request']) => Origin,
): Page {
  const allowed = networkTest(allow);
  return async (context) => {
    const { ip, hidden } = originOf(context.request);
    // Behind an untrusted proxy every client would look local. A proxy that adds no header often uses HTTP/1.0.
    const proxied = hidden || context.request.httpVersion === '1.0';
    if (proxied || !allowed(ip)) throw fault('NOT_FOUND');
    context.sendText(200, 'text/plain; version=0.0.4; charset=utf-8', await exposition());
  };
}

/** Validity that `security.txt` states, in days; computed for each answer. */
const SECURITY_DAYS = 180;
const DAY_MS = 86_400_000;

/** `/.well-known/security.txt` (RFC 9116); 404 without a contact. */
export function securityPage(contact: string | undefined, publicUrl: string | undefined, clock: Clock): Page {
  return (context) => {
    if (contact === undefined) throw fault('NOT_FOUND');
    const expires = new Date((Math.floor(clock.now() / DAY_MS) + SECURITY_DAYS) * DAY_MS).toISOString();
    const lines = [`Contact: ${contact}`, `Expires: ${expires}`];
    if (publicUrl !== undefined) lines.push(`Canonical: ${publicUrl}/.well-known/security.txt`);
    context.sendText(200, 'text/plain; charset=utf-8', `${lines.join('\n')}\n`);
  };
}

function noParameters(query: string): Fault {
  const name = query.split(/[=&]/, 1)[0] ?? '';
  return faultAt('INVALID_REQUEST', `query.${name.slice(0, 100)}`, 'NO_PARAMETERS');
}

/** An OpenAPI document: public, the same for all clients, cacheable with an ETag. */
export function documentPage(body: Buffer): Page {
  const etag = `"${createHash('sha256').update(body).digest('base64url').slice(0, 27)}"`;
  const headers = { ETag: etag, 'Cache-Control': 'public, max-age=60' };
  return (context) => {
    const [, query] = (context.request.url ?? '').split('?', 2);
    if (query !== undefined) throw noParameters(query);
    const known = context.request.headers['if-none-match'];
    const same = known !== undefined && known.split(',').some((one) => one.trim().replace(/^W\//, '') === etag);
    if (same) context.sendText(304, undefined, '', headers);
    else context.sendText(200, PLAIN_JSON, body, headers);
  };
}

const LONGEST_QUERY = 16_384;

export function redirectPage(
  page: RedirectPage['answer'],
  { origin, open, sender: senderOf }: Pick<Service, 'origin' | 'open' | 'sender'>,
): Page {
  return async (context) => {
    const { request } = context;
    const host = singleHeader(request, 'host');
    const [, query = ''] = (request.url ?? '').split('?', 2);
    if (host === undefined || !/^[A-Za-z0-9.:[\]-]{1,255}$/.test(host) || query.length > LONGEST_QUERY) {
      throw faultAt('INVALID_REQUEST', 'header.Host', 'HOST_OR_QUERY');
    }
    const { ip, secure } = origin(request);
    const sender = senderOf(request, ip);
    const leave = open.enter(sourceName(sender));
    const { location, cookies } = await page({
      base: `${secure ? 'https' : 'http'}://${host}`,
      secure,
      query: new URLSearchParams(query),
      sender,
      ip,
      userAgent: request.headers['user-agent'],
      cookie: (name) => cookie(request, name),
    }).finally(leave);
    context.sendText(302, 'text/plain; charset=utf-8', '', { Location: location, 'Set-Cookie': cookies });
  };
}
