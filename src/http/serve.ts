/**
 * Handles one operation request from the first byte to the answer. The checks run in the order of decisions ("Requests,
 * envelope, errors"): declared size, key, rate, scope, received size, body and parameters. The unit of work does the rest.
 */
import type { IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import { aroundData, success } from '../contract/envelope.ts';
import type { Input, Operation } from '../contract/operation.ts';
import { Reply } from '../contract/operation.ts';
import { Fault } from '../lib/fault.ts';
import { fingerprint } from '../lib/json.ts';
import type { RequestFacts, Sender } from '../mechanisms/binding.ts';
import type { SharedBudget } from '../lib/shared-budget.ts';
import { toFault } from '../mechanisms/db/sqlstate.ts';
import type { IdempotencyClaim } from '../mechanisms/idempotency.ts';
import { type ReadJson, readJson } from '../mechanisms/long-json.ts';
import type { Tracer } from '../mechanisms/traces.ts';
import type { Caller } from '../mechanisms/work.ts';
import { decisiveAddress, type Origin } from './address.ts';
import { MOST_BODY, receiveBody, requireDeclaredSize } from './body.ts';
import { Call } from './call.ts';
import type { UnverifiedConnections } from './connection.ts';
import { ClientGone, fault } from './errors.ts';
import type { Exchange, Headers } from './exchange.ts';
import { type Gate, overloaded, type Visit } from './gate.ts';
import {
  announcesBody,
  cookie,
  idempotencyKey,
  ifMatchRevision,
  preferredLocale,
  requireJson,
  singleHeader,
  withIfMatch,
} from './headers.ts';
import { MOST_OPEN_BODY, type OpenAdmission, sourceName, sourceOf } from './open.ts';
import { inPieces, isLarge } from './pieces.ts';
import type { RateAnswer, RateLimiter } from './rate.ts';
import type { Prepared, Route } from './route.ts';
import type { ServerOptions } from './types.ts';
import { standpointOf, tellPosition } from './standpoint.ts';
import { invalid } from './validate.ts';

const EMPTY_OBJECT = /^\s*\{\s*\}\s*$/;

export interface Service {
  options: ServerOptions;
  gate: Gate;
  limiter: RateLimiter | undefined;
  /** Admits requests whose sender is not verified. */
  open: OpenAdmission;
  /** Bytes of bodies of verified callers. Open operations have their own budget, `openBodies`. */
  bodies: SharedBudget;
  unverified: UnverifiedConnections;
  openBodies: SharedBudget;
  origin: (request: IncomingMessage) => Origin;
  sender: (request: IncomingMessage, ip: string) => Sender;
}

/** Answers the request in all cases; never rejects. */
export async function serve(
  service: Service,
  route: Route,
  exchange: Exchange,
  params: Record<string, string>,
): Promise<void> {
  const { tracer } = service.options;
  if (tracer === undefined) await attend(service, route, exchange, params);
  else await trace(tracer, route, exchange, () => attend(service, route, exchange, params));
}

/** Creates a span for the request. It holds the route and the status, no content of the request. */
async function trace(tracer: Tracer, route: Route, exchange: Exchange, work: () => Promise<void>): Promise<void> {
  const { request, response, operation, correlationId } = exchange;
  const attributes = {
    'http.request.method': request.method,
    'http.route': route.path,
    'docket.operation': operation,
    'docket.correlation_id': correlationId,
  };
  const parent = { traceparent: text(request.headers.traceparent), tracestate: text(request.headers.tracestate) };
  await tracer.run({ name: operation, kind: 'server', attributes, parent }, async (span) => {
    exchange.traceId = span.traceId;
    await work();
    const status = response.statusCode;
    span.set({ 'http.response.status_code': status, 'docket.key_id': exchange.keyId ?? undefined });
    if (status >= 500) span.fail(String(status));
  });
}

async function attend(
  service: Service,
  route: Route,
  exchange: Exchange,
  params: Record<string, string>,
): Promise<void> {
  let leave: (() => void) | undefined;
  try {
    const origin = service.origin(exchange.request);
    exchange.ip = origin.ip;
    if (route.prepared.binding.operation.access === 'open') {
      leave = service.open.enter(sourceName(service.sender(exchange.request, origin.ip)));
      await answer(service, route, exchange, params, origin, undefined);
    } else {
      const visit = service.gate.enter();
      leave = () => visit.leave();
      await answer(service, route, exchange, params, origin, visit);
    }
  } catch (error) {
    // Authentication runs outside a unit of work, so its database errors are converted here.
    exchange.sendError(toFault(error));
  } finally {
    leave?.();
  }
}

async function answer(
  service: Service,
  route: Route,
  exchange: Exchange,
  rawParams: Record<string, string>,
  origin: Origin,
  /** Undefined for an open operation: it uses no admission of verified callers. */
  visit: Visit | undefined,
): Promise<void> {
  const { request } = exchange;
  const { prepared } = route;
  requireHost(request);
  requireDeclaredSize(request, visit === undefined ? MOST_OPEN_BODY : MOST_BODY);
  const sessionToken = route.surface === 'console' ? cookie(request, 'docket_session') : undefined;
  const arrived = performance.now();
  const caller =
    visit === undefined
      ? { ...(await service.options.anonymous()), correlationId: exchange.correlationId }
      : await callerOf(service, route, exchange, { sessionToken, ip: decisiveAddress(origin) }, visit);
  // A slow database may have taken of the request's time already.
  const leftMs = Math.max(1000, prepared.timeoutMs - (performance.now() - arrived));
  const body = announcesBody(request) ? await readBody(service, exchange, prepared) : undefined;
  const input = readInput(exchange, prepared, rawParams, body?.value);
  const asked = input.query as Readonly<Record<string, unknown>>;
  for (const scope of prepared.binding.operation.moreScopes?.(asked) ?? []) requireScope(exchange, scope);
  const facts: RequestFacts = {
    ip: origin.ip,
    sender: visit === undefined ? service.sender(request, origin.ip) : { address: origin.ip, device: undefined },
    sessionToken,
    secure: origin.secure,
    scopes: exchange.scopes,
    // RFC 9110 defines ranges only for GET; HEAD describes the complete content.
    range: request.method === 'GET' ? request.headers.range : undefined,
    ifRange: singleHeader(request, 'if-range'),
    ifNoneMatch: request.headers['if-none-match'],
  };
  const turn = visit?.turn();
  if (turn !== undefined) {
    await turn;
    if (exchange.response.destroyed) throw new ClientGone();
  }
  const fingerprint = body?.fingerprint;
  await run(service, exchange, prepared, { caller, input, fingerprint, facts, visit, leftMs });
}

function requireHost(request: IncomingMessage): void {
  if (request.httpVersion !== '1.1' || singleHeader(request, 'host') !== undefined) return;
  const message = 'Send one Host header.';
  throw new Fault('INVALID_REQUEST', message, [{ path: 'header.Host', code: 'REQUIRED', message }]);
}

function text(value: string | string[] | undefined): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

/** Checks key, rate and scope. @throws Fault UNAUTHENTICATED, RATE_LIMITED, SCOPE_MISSING, OVERLOADED */
async function callerOf(
  service: Service,
  route: Route,
  exchange: Exchange,
  { sessionToken, ip }: { sessionToken: string | undefined; ip: string },
  visit: Visit,
): Promise<Caller> {
  const { request, correlationId } = exchange;
  const found = await service.options.authenticate({
    authorization: singleHeader(request, 'authorization'),
    sessionToken,
    csrfToken: text(request.headers['x-docket-csrf']),
    method: request.method ?? '',
    surface: route.surface,
    ip,
    patienceMs: route.prepared.timeoutMs,
    lookUp: (work) => service.open.lookUp(sourceName(service.sender(request, exchange.ip ?? '')), work),
  });
  service.unverified.verified(request.socket);
  exchange.callerId = found.callerId;
  exchange.keyId = found.keyId;
  visit.attribute(found.callerId);
  if (service.limiter !== undefined) {
    const taken = service.limiter.take(found.callerId, performance.now());
    // The in-process limiter answers synchronously.
    requireRate(service.limiter, exchange, taken instanceof Promise ? await taken : taken);
  }
  if (route.scope !== undefined) {
    exchange.scopes = found.scopes;
    requireScope(exchange, route.scope);
  }
  const { actor, via, keyId, config } = found.caller;
  const locale = route.surface === 'console' ? preferredLocale(request) : undefined;
  const mayLag = route.prepared.binding.operation.mayLag === true;
  const standpoint = service.options.replicated === true ? standpointOf(mayLag, exchange, found) : undefined;
  return { actor, via, keyId, config, correlationId, locale, standpoint };
}

/** Checks the scope where the route requires one. Sessions have no scopes and need none. @throws Fault SCOPE_MISSING */
function requireScope({ scopes }: Exchange, scope: string): void {
  if (scopes === null || scopes.has(scope)) return;
  throw new Fault('SCOPE_MISSING', `Use a key with the scope ${scope}.`, { scope });
}

/** @throws Fault RATE_LIMITED */
function requireRate(limiter: RateLimiter, exchange: Exchange, rate: RateAnswer): void {
  exchange.extra.push(
    'RateLimit-Policy',
    `"default";q=${limiter.quota};w=${limiter.windowSeconds}`,
    'RateLimit',
    `"default";r=${rate.remaining};t=${rate.resetSeconds}`,
  );
  if (rate.allowed) return;
  throw new Fault('RATE_LIMITED', `The limit of requests is used up; retry in ${rate.retryAfter} s.`, [], {
    headers: { 'Retry-After': String(rate.retryAfter) },
  });
}

/**
 * Reads the body as a JSON value; undefined if there is none.
 *
 * @throws Fault UNSUPPORTED_MEDIA_TYPE, BODY_TOO_LARGE, INVALID_JSON
 */
async function readBody(service: Service, exchange: Exchange, prepared: Prepared): Promise<ReadJson | undefined> {
  if (prepared.body !== undefined) requireJson(exchange.request);
  const limits =
    exchange.callerId === undefined
      ? { budget: service.openBodies, owner: sourceOf(exchange.ip ?? ''), most: MOST_OPEN_BODY }
      : { budget: service.bodies, owner: exchange.callerId, most: MOST_BODY };
  const { bytes, release } = await receiveBody(exchange, limits);
  try {
    if (bytes.length === 0) return undefined;
    if (prepared.body !== undefined) {
      const { operation } = prepared.binding;
      const { request } = exchange;
      const keyed = operation.idempotent === true && request.headers['idempotency-key'] !== undefined;
      const revision = (operation.ifMatch === true ? ifMatchRevision(request) : undefined) ?? undefined;
      return await readJson({ bytes, keyed, revision }, exchange.callerId ?? exchange.ip ?? null);
    }
    // Many clients send an empty object when they have no body to send.
    if (bytes.length < 64 && EMPTY_OBJECT.test(bytes.toString('latin1'))) return undefined;
    throw invalid([{ path: '', code: 'UNKNOWN', message: 'This operation takes no body; send none.' }]);
  } finally {
    release();
  }
}

/** Reports all problems of query, headers and body at once. @throws Fault INVALID_REQUEST, NOT_FOUND */
function readInput(
  exchange: Exchange,
  prepared: Prepared,
  rawParams: Record<string, string>,
  given: unknown,
): Input<Operation> {
  const { request } = exchange;
  const { operation } = prepared.binding;
  const { query, problems } = prepared.query(queryText(request.url ?? ''));
  let body = given;
  if (operation.ifMatch === true) body = withIfMatch(request, body, problems);
  if (prepared.body === undefined) {
    body = undefined;
  } else if (body === undefined) {
    if (prepared.bodyOptional) body = {};
    else problems.push({ path: '', code: 'REQUIRED', message: 'Send a JSON body.' });
  } else {
    problems.push(...(prepared.body(body) ?? []));
  }
  if (problems.length > 0) throw invalid(problems);
  // A malformed id gets the same answer as an unknown one, at the same point.
  const params = prepared.params(rawParams);
  if (params === undefined) throw fault('NOT_FOUND');
  return { params, query, body } as unknown as Input<Operation>;
}

function queryText(url: string): string {
  const start = url.indexOf('?');
  if (start === -1) return '';
  const end = url.indexOf('#', start);
  return end === -1 ? url.slice(start + 1) : url.slice(start + 1, end);
}

/** A request that was checked and may run. */
interface Ready {
  caller: Caller;
  input: Input<Operation>;
  /** Of the body; absent where there is none. */
  fingerprint: Buffer | undefined;
  facts: RequestFacts;
  visit: Visit | undefined;
  /** What is left of its time, in milliseconds. */
  leftMs: number;
}

/** Runs the handler in the unit that the operation asks for, under its time limit, and sends the answer. */
async function run(
  service: Service,
  exchange: Exchange,
  prepared: Prepared,
  { caller, input, fingerprint, facts, visit, leftMs }: Ready,
): Promise<void> {
  const { binding } = prepared;
  const { operation } = binding;
  const claim = claimOf(exchange, operation, input, fingerprint);
  if (claim !== undefined) claim.onWait = () => visit?.rest();
  // After the timeout the work continues until the database's own time limits end it; its answer is dropped.
  const timer = setTimeout(() => {
    exchange.sendError(
      overloaded(`This took longer than ${prepared.timeoutMs / 1000} s; retry later or ask for less.`),
    );
  }, leftMs);
  // A handler that hangs must not keep the process from ending.
  timer.unref();
  try {
    const call = new Call(service.options.work, prepared, caller, claim);
    const result = await call.run(input, facts);
    tellPosition(exchange, caller.standpoint);
    if (result instanceof Reply && result.closed !== undefined) exchange.whenClosed(result.closed);
    const streamed = send(exchange, operation, result, call.replayed);
    if (streamed !== undefined) await streamed;
  } finally {
    clearTimeout(timer);
  }
}

/** @throws Fault INVALID_IDEMPOTENCY_KEY */
function claimOf(
  exchange: Exchange,
  operation: Operation,
  input: Input<Operation>,
  known: Buffer | undefined,
): IdempotencyClaim | undefined {
  if (operation.idempotent !== true || exchange.callerId === undefined) return undefined;
  const key = idempotencyKey(exchange.request);
  if (key === undefined) return undefined;
  const params = Object.entries(input.params as Record<string, string>).map(([name, value]) => ` ${name}=${value}`);
  return {
    callerId: exchange.callerId,
    route: operation.id + params.join(''),
    key,
    fingerprint: known ?? fingerprint(input.body),
    status: operation.status,
  };
}

/** Sends a large answer in chunks. The admission is already released: slow readers do not block others. */
function sendLarge(exchange: Exchange, status: number, data: unknown, headers: Headers | undefined): void {
  const [head, tail] = aroundData(exchange.correlationId);
  const source = Readable.from(inPieces(head, data, tail), { objectMode: false, highWaterMark: 262_144 });
  exchange
    .sendStream(status, source, { 'Content-Type': 'application/json; charset=utf-8', ...headers })
    .catch((error: unknown) => exchange.sendError(error));
}

/** Sends the handler's result. @returns a promise if sending is asynchronous */
function send(
  exchange: Exchange,
  operation: Operation,
  result: unknown,
  replayed: number | undefined,
): Promise<void> | undefined {
  const reply = result instanceof Reply ? result : undefined;
  const data = reply === undefined ? result : reply.data;
  const status = replayed ?? reply?.status ?? operation.status;
  let headers: Headers | undefined = reply?.headers;
  if (replayed !== undefined) headers = { ...headers, 'Idempotency-Replayed': 'true' };
  if (operation.raw === undefined) {
    if (status === 204) exchange.sendText(204, undefined, '', headers);
    else if (isLarge(data)) sendLarge(exchange, status, data, headers);
    else exchange.sendJson(status, success(data, exchange.correlationId), headers);
    return undefined;
  }
  const raw: Headers = { 'Content-Type': operation.raw.mediaTypes[0] ?? 'application/octet-stream', ...headers };
  if (data instanceof Readable) return exchange.sendStream(status, data, raw);
  if (data !== undefined && data !== null && typeof data !== 'string' && !(data instanceof Uint8Array)) {
    throw new Error(`operation ${operation.id}: a raw answer is text, bytes or a stream`);
  }
  exchange.sendText(status, undefined, data ?? '', raw);
  return undefined;
}
