/**
 * Handles one operation request from the first byte to the answer. The checks run in this order:
 * declared size, key, rate, scope, received size, body and parameters (docs/spec/conventions.md#requests).
 */
import type { IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import { aroundData, success } from '../contract/envelope.ts';
import { type Input, ListInWindows, type Operation, Reply, takesDryRun } from '../contract/operation.ts';
import { faultAt } from '../lib/fault.ts';
import { fingerprint } from '../lib/json.ts';
import { type BoundOperation, DelayedReply, EventStream, type RequestFacts } from '../platform/unit-of-work/binding.ts';
import { problemAt } from '../lib/problem.ts';
import type { SharedBudget } from '../lib/shared-budget.ts';
import { toFault } from '../platform/database/sqlstate.ts';
import type { IdempotencyClaim } from '../platform/unit-of-work/idempotency.ts';
import { type ReadJson, readJson } from '../platform/long-json.ts';
import type { Tracer } from '../platform/observability/traces.ts';
import type { Caller } from '../platform/unit-of-work/context.ts';
import { decisiveAddress, type Origin } from './address.ts';
import { MAX_BODY, receiveBody, requireDeclaredSize } from './body.ts';
import { Call } from './call.ts';
import { callerFor, callerOf, type Callers, requireScope, verified } from './caller.ts';
import { ClientGone } from './errors.ts';
import type { EventStreams } from './event-streams.ts';
import type { RequestContext, Headers } from './request-context.ts';
import { type AdmissionControl, overloaded, type Admission } from './admission.ts';
import {
  announcesBody,
  cookie,
  idempotencyKey,
  ifMatchRevision,
  requireJson,
  singleHeader,
  withIfMatch,
} from './headers.ts';
import { tellPosition } from './read-consistency.ts';
import { MAX_OPEN_BODY, sourceName, sourceOf } from './unverified.ts';
import { inPieces, isLarge, windowPieces } from './json-chunks.ts';
import { LongRead } from './long-reads.ts';
import { ReceivedFacts } from './request-facts.ts';
import { type Prepared, readInput, type Route } from './route.ts';
import type { ServerOptions } from './types.ts';
import { invalid } from './validate.ts';

const EMPTY_OBJECT = /^\s*\{\s*\}\s*$/;

export interface Service extends Callers {
  options: ServerOptions;
  admissionControl: AdmissionControl;
  /** Bytes of bodies of verified callers. Open operations have their own budget, `openBodies`. */
  bodies: SharedBudget;
  openBodies: SharedBudget;
  streams: EventStreams;
  origin: (request: IncomingMessage) => Origin;
}

/** Answers the request in all cases; never rejects. */
export function serve(
  service: Service,
  route: Route,
  context: RequestContext,
  params: Record<string, string>,
): Promise<void> {
  const { tracer } = service.options;
  if (tracer === undefined) return attend(service, route, context, params);
  return trace(tracer, route, context, () => attend(service, route, context, params));
}

/** Creates a span for the request. It holds the route and the status, no content of the request. */
async function trace(tracer: Tracer, route: Route, context: RequestContext, work: () => Promise<void>): Promise<void> {
  const { request, response, operation, correlationId } = context;
  const attributes = {
    'http.request.method': request.method,
    'http.route': route.path,
    'docket.operation': operation,
    'docket.correlation_id': correlationId,
  };
  const parent = { traceparent: text(request.headers.traceparent), tracestate: text(request.headers.tracestate) };
  await tracer.run({ name: operation, kind: 'server', attributes, parent }, async (span) => {
    context.traceId = span.traceId;
    await work();
    const status = response.statusCode;
    span.set({ 'http.response.status_code': status, 'docket.key_id': context.keyId ?? undefined });
    if (status >= 500) span.fail(String(status));
  });
}

async function attend(
  service: Service,
  route: Route,
  context: RequestContext,
  params: Record<string, string>,
): Promise<void> {
  let leave: (() => void) | undefined;
  try {
    context.isDryRun = asksDryRun(context.request, route);
    const origin = service.origin(context.request);
    context.ip = origin.ip;
    if (route.prepared.binding.operation.access === 'open') {
      leave = service.open.enter(sourceName(service.sender(context.request, origin.ip)));
      await answer(service, route, context, params, origin, undefined);
    } else {
      const admission = service.admissionControl.enter();
      leave = () => admission.leave();
      await answer(service, route, context, params, origin, admission);
    }
  } catch (error) {
    // Authentication runs outside a unit of work, so its database errors are converted here.
    context.sendError(toFault(error));
  } finally {
    leave?.();
  }
}

async function answer(
  service: Service,
  route: Route,
  context: RequestContext,
  rawParams: Record<string, string>,
  origin: Origin,
  /** Undefined for an open operation: it uses no admission of verified callers. */
  admission: Admission | undefined,
): Promise<void> {
  const { request } = context;
  const { prepared } = route;
  requireHost(request);
  requireDeclaredSize(request, admission === undefined ? MAX_OPEN_BODY : MAX_BODY);
  const sessionToken = route.surface === 'console' ? cookie(request, 'docket_session') : undefined;
  const from = { sessionToken, ip: decisiveAddress(origin) };
  const arrived = performance.now();
  const caller =
    admission === undefined
      ? { ...(await service.options.anonymous()), correlationId: context.correlationId }
      : await callerOf(service, route, context, from, admission);
  // A slow database may have taken of the request's time already. Whole numbers: timers of equal length share a list.
  const leftMs = Math.max(1000, Math.ceil(prepared.timeoutMs - (performance.now() - arrived)));
  const body = announcesBody(request) ? await readBody(service, context, prepared) : undefined;
  const input = readInput(prepared, {
    params: rawParams,
    query: queryText(request.url ?? ''),
    body: body?.value,
    ifMatch: (given, problems) => withIfMatch(request, given, problems),
  });
  takeDryRun(context, input);
  const asked = input.query as Readonly<Record<string, unknown>>;
  for (const scope of prepared.binding.operation.moreScopes?.(asked) ?? []) requireScope(context, scope);
  const facts = new ReceivedFacts(service, context, { origin, sessionToken, admission });
  const turn = admission?.turn();
  if (turn !== undefined) {
    await turn;
    if (context.response.destroyed) throw new ClientGone();
  }
  const fingerprint = body?.fingerprint;
  const again = async (): Promise<Caller> => callerFor(route, context, await verified(service, route, context, from));
  await run(service, context, prepared, { caller, again, input, fingerprint, facts, admission, leftMs });
}

function requireHost(request: IncomingMessage): void {
  if (request.httpVersion !== '1.1' || singleHeader(request, 'host') !== undefined) return;
  throw faultAt('INVALID_REQUEST', 'header.Host', 'HOST_REQUIRED');
}

function text(value: string | string[] | undefined): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

/**
 * Reads the body as a JSON value; undefined if there is none.
 *
 * @throws Fault UNSUPPORTED_MEDIA_TYPE, BODY_TOO_LARGE, INVALID_JSON
 */
async function readBody(service: Service, context: RequestContext, prepared: Prepared): Promise<ReadJson | undefined> {
  if (prepared.body !== undefined) requireJson(context.request);
  const limits =
    context.callerId === undefined
      ? { budget: service.openBodies, owner: sourceOf(context.ip ?? ''), most: MAX_OPEN_BODY }
      : { budget: service.bodies, owner: context.callerId, most: MAX_BODY };
  const { bytes, release } = await receiveBody(context, limits);
  try {
    if (bytes.length === 0) return undefined;
    if (prepared.body !== undefined) {
      const { operation } = prepared.binding;
      const { request } = context;
      const keyed = operation.idempotent === true && request.headers['idempotency-key'] !== undefined;
      const revision = (operation.ifMatch === true ? ifMatchRevision(request) : undefined) ?? undefined;
      return await readJson({ bytes, keyed, revision }, context.callerId ?? context.ip ?? null);
    }
    // Many clients send an empty object when they have no body to send.
    if (bytes.length < 64 && EMPTY_OBJECT.test(bytes.toString('latin1'))) return undefined;
    throw invalid([problemAt('', 'NO_BODY')]);
  } finally {
    release();
  }
}

/** Whether a dry run is asked for, before anything is checked: every answer says so, refusals included. */
function asksDryRun({ url = '' }: IncomingMessage, { prepared }: Route): boolean {
  if (!url.includes('?') || !takesDryRun(prepared.binding.operation)) return false;
  return new URLSearchParams(queryText(url)).getAll('dryRun').includes('true');
}

/** Takes `dryRun` out of the parameters: handlers do not know about it. @throws Fault INVALID_REQUEST */
function takeDryRun(context: RequestContext, input: Input<Operation>): void {
  const query = input.query as { dryRun?: boolean };
  context.isDryRun = query.dryRun === true;
  if (query.dryRun === undefined) return;
  delete query.dryRun;
  if (context.isDryRun && context.request.headers['idempotency-key'] !== undefined) {
    throw faultAt('INVALID_REQUEST', 'header.Idempotency-Key', 'DRY_RUN_WITH_KEY');
  }
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
  /** Verifies the caller again, for streams. */
  again: () => Promise<Caller>;
  input: Input<Operation>;
  /** Of the body; absent where there is none. */
  fingerprint: Buffer | undefined;
  facts: RequestFacts;
  admission: Admission | undefined;
  /** What is left of its time, in milliseconds. */
  leftMs: number;
}

/** Runs the handler in the unit that the operation asks for, under its time limit, and sends the answer. */
async function run(
  service: Service,
  context: RequestContext,
  prepared: Prepared,
  { caller, again, input, fingerprint, facts, admission, leftMs }: Ready,
): Promise<void> {
  const { binding } = prepared;
  const { operation } = binding;
  const claim = claimOf(context, binding, input, fingerprint);
  // After the timeout the work continues until the database's own time limits end it; its answer is dropped.
  const timer = setTimeout(() => {
    context.sendError(
      overloaded(`The request took longer than ${prepared.timeoutMs / 1000} s. Retry later or ask for less.`),
    );
  }, leftMs);
  // A handler that hangs must not keep the process from ending.
  timer.unref();
  let read: LongRead | undefined;
  try {
    if (mayBeLong(operation, input)) read = await LongRead.begin(facts.waiter);
    const call = new Call(service.options.work, prepared, caller, claim, () => admission?.rest());
    if (context.isDryRun) {
      const { effects } = service.options;
      if (effects === undefined) throw new Error('the server has no effects of dry runs');
      const tried = await call.dryRun(input, facts, effects);
      const streamed = send(context, operation, tried, undefined);
      if (streamed !== undefined) await streamed;
      return;
    }
    const result = await call.run(input, facts);
    if (result instanceof EventStream) {
      service.streams.start(context, result, again);
      return;
    }
    if (result instanceof DelayedReply) {
      service.streams.wait(context, result, again, (data) => send(context, operation, data, undefined));
      return;
    }
    tellPosition(context, caller.consistency);
    if (result instanceof ListInWindows) {
      if (read === undefined)
        throw new Error(`operation ${operation.id}: an answer in windows is of a read that may be long`);
      sendWindows(context, operation.status, result, read);
      return;
    }
    if (result instanceof Reply && result.closed !== undefined) context.whenClosed(result.closed);
    const streamed = send(context, operation, result, call.replayed);
    if (streamed !== undefined) await streamed;
  } finally {
    clearTimeout(timer);
    const begun = read;
    if (begun !== undefined) context.whenClosed(() => begun.end());
  }
}

function mayBeLong({ long }: Operation, { query }: Input<Operation>): boolean {
  return typeof long === 'function' ? long(query as Readonly<Record<string, unknown>>) : long === true;
}

/** @throws Fault INVALID_IDEMPOTENCY_KEY */
function claimOf(
  context: RequestContext,
  { operation, item }: BoundOperation,
  input: Input<Operation>,
  known: Buffer | undefined,
): IdempotencyClaim | undefined {
  if (operation.idempotent !== true || context.callerId === undefined) return undefined;
  const key = idempotencyKey(context.request);
  if (key === undefined) return undefined;
  const params = Object.entries(input.params as Record<string, string>).map(([name, value]) => ` ${name}=${value}`);
  return {
    callerId: context.callerId,
    route: operation.id + params.join(''),
    key,
    fingerprint: known ?? fingerprint(input.body),
    status: operation.status,
    item,
  };
}

/** Sends a large answer in chunks. The admission is already released: slow readers do not block others. */
function sendLarge(context: RequestContext, status: number, { data, headers, meta }: Reply): void {
  const [head, tail] = aroundData(context.correlationId, meta);
  const source = Readable.from(inPieces(head, data, tail), { objectMode: false, highWaterMark: 262_144 });
  context
    .sendStream(status, source, { 'Content-Type': 'application/json; charset=utf-8', ...headers })
    .catch((error: unknown) => context.sendError(error));
}

/** Sends a list while it is read. */
function sendWindows(context: RequestContext, status: number, list: ListInWindows, read: LongRead): void {
  const send = async (): Promise<void> => {
    await read.becomeLong();
    const [head] = aroundData(context.correlationId);
    const tail = (): string => aroundData(context.correlationId, list.meta())[1];
    const source = Readable.from(windowPieces(head, list, tail), { objectMode: false, highWaterMark: 262_144 });
    await context.sendStream(status, source, { 'Content-Type': 'application/json; charset=utf-8' });
  };
  send().catch((error: unknown) => {
    list.rest.return(undefined).catch(() => {});
    context.sendError(toFault(error));
  });
}

/** Sends the handler's result. @returns a promise if sending is asynchronous */
function send(
  context: RequestContext,
  operation: Operation,
  result: unknown,
  replayed: number | undefined,
): Promise<void> | undefined {
  const reply = result instanceof Reply ? result : undefined;
  const data = reply === undefined ? result : reply.data;
  const status = replayed ?? reply?.status ?? operation.status;
  let headers = reply?.headers;
  if (replayed !== undefined) headers = { ...headers, 'Idempotency-Replayed': 'true' };
  if (operation.raw === undefined) {
    if (status === 204) context.sendText(204, undefined, '', headers);
    else if (isLarge(data)) sendLarge(context, status, new Reply(data, headers, undefined, undefined, reply?.meta));
    else context.sendJson(status, success(data, context.correlationId, reply?.meta), headers);
    return undefined;
  }
  const raw: Headers = { 'Content-Type': operation.raw.mediaTypes[0] ?? 'application/octet-stream', ...headers };
  if (data instanceof Readable) return context.sendStream(status, data, raw);
  if (data !== undefined && data !== null && typeof data !== 'string' && !(data instanceof Uint8Array)) {
    throw new Error(`operation ${operation.id}: a raw answer is text, bytes or a stream`);
  }
  context.sendText(status, undefined, data ?? '', raw);
  return undefined;
}
