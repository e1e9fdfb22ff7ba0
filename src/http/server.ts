/**
 * Builds the HTTP server from a list of bound operations. Fastify provides routing, the limits of Node's server, listening and
 * closing, and `inject` for tests. Its hooks, body parsers and validation are not used: they read a body before the key is
 * checked, and the order of checks is part of the contract (docs/spec/conventions.md). `serve.ts` has that order.
 */
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { Server as NetServer, type Socket } from 'node:net';
import { basename } from 'node:path';
import Fastify, { type FastifyInstance } from 'fastify';
import { Fault, faultAt } from '../lib/fault.ts';
import { SharedBudget } from '../lib/shared-budget.ts';
import { systemClock } from '../platform/clock.ts';
import { networkTest, originReader } from './address.ts';
import { closeIdle, deferContinue, onClientError, UnverifiedConnections, AdoptedConnections } from './connection.ts';
import { ConsoleFiles } from './console.ts';
import { EventStreams } from './event-streams.ts';
import { fault } from './errors.ts';
import { RequestContext, type Shared } from './request-context.ts';
import { AdmissionControl } from './admission.ts';
import { Metrics } from './metrics.ts';
import { counter, type Gauge } from '../platform/observability/gauges.ts';
import { OpenAdmission, senderReader } from './unverified.ts';
import { documentPage, healthPage, metricsPage, type Page, readyPage, securityPage, redirectPage } from './pages.ts';
import { MemoryRateLimiter, type RateLimiter } from './rate.ts';
import { errorPage, FAULT_CODES, referencePage, referenceScript, referenceScriptPage } from './reference.ts';
import { PathTable, type Route, routesOf } from './route.ts';
import { type Service, serve } from './serve.ts';
import { PREFIX, type ServerOptions } from './types.ts';

const MAX_HEADERS = 65_536;
/** Codes and ids are shorter. Longer parameters match nothing. */
const MAX_PARAMETER = 200;
/** Longer than the longest operation. */
const IDLE_MS = 310_000;
/** Time for a request to arrive completely. Checked once a second, so the request ends within 30 s. */
const RECEIVE_MS = 28_000;
/** An unread answer is dropped after this, or after up to twice this: Node checks progress only at this interval. */
const STALLED_MS = 13_000;
/** Bytes of bodies of open operations held at once. */
const OPEN_BODY_BYTES = 4 * 1024 * 1024;

const REFERENCE_SOURCES = [
  { title: 'API', slug: 'api', url: `${PREFIX.public}/openapi.json` },
  { title: 'Administration API', slug: 'administration', url: `${PREFIX.console}/openapi.json` },
];

interface State {
  shared: Shared;
  admissionControl: AdmissionControl;
  adopted: AdoptedConnections;
  streams: EventStreams;
  metrics: () => Promise<string>;
}

/**
 * Builds the server. It does not listen yet.
 *
 * @throws Error if an operation has no access, is declared twice, or has a schema that accepts unknown properties: the service
 * refuses to start
 */
export function buildServer(options: ServerOptions): FastifyInstance {
  const { limits, log } = options;
  const receiveMs = limits.receiveMs ?? RECEIVE_MS;
  const shared: Shared = {
    log,
    requestLog: log.child({}, { redact: [] }),
    metrics: new Metrics(),
    expecting: new WeakSet(),
    current: new WeakMap(),
    draining: false,
    stalledMs: limits.stalledMs ?? STALLED_MS,
    https: options.publicUrl?.startsWith('https:') === true,
    answers: new SharedBudget(limits.answerBytes ?? 256 * 1024 * 1024),
  };
  const most = limits.inFlight ?? 512;
  const admissionControl = new AdmissionControl({ most, running: Math.min(most, limits.running ?? most) });
  const open = new OpenAdmission(limits.open);
  const streams = new EventStreams(limits.eventStreams);
  const server = Fastify({
    requestTimeout: receiveMs,
    connectionTimeout: limits.stalledMs ?? STALLED_MS,
    return503OnClosing: false,
    exposeHeadRoutes: false,
    genReqId: () => '',
    routerOptions: { maxParamLength: MAX_PARAMETER, querystringParser: () => ({}) },
    http: {
      maxHeaderSize: MAX_HEADERS,
      requestTimeout: receiveMs,
      headersTimeout: receiveMs / 2,
      connectionsCheckingInterval: Math.min(1000, receiveMs / 4),
      // Otherwise Node answers a missing Host header itself, without the error envelope.
      requireHostHeader: false,
    },
    frameworkErrors: (error, request, reply) => {
      const context = new RequestContext(shared, request.raw, reply.raw, 'none');
      context.sendError(error.code === 'FST_ERR_MAX_PARAM_LENGTH' ? fault('NOT_FOUND') : badPath());
    },
    clientErrorHandler: onClientError(shared),
  });
  const http = server.server as Server;
  http.maxConnections = limits.connections ?? 8192;
  const service: Service = {
    options,
    admissionControl,
    limiter: limiterOf(options),
    open,
    bodies: new SharedBudget(limits.bodyBytes ?? 256 * 1024 * 1024),
    unverified: new UnverifiedConnections(http, Math.ceil(http.maxConnections / 2)),
    openBodies: new SharedBudget(OPEN_BODY_BYTES),
    streams,
    origin: originReader(networkTest(limits.trustedProxies)),
    sender: senderReader(options.device),
  };
  deferContinue(http, shared);
  closeIdle(http, shared, limits.stalledMs ?? STALLED_MS, IDLE_MS);
  const gauges = options.gauges ?? (async () => []);
  const metrics = async (): Promise<string> =>
    shared.metrics.render(admissionControl.inFlight + open.inFlight, [...streamGauges(streams), ...(await gauges())]);
  server.decorate('docketState', {
    shared,
    admissionControl,
    adopted: new AdoptedConnections(http),
    streams,
    metrics,
  } satisfies State);
  // The server waits for the end of all answers before it runs the hooks of `onClose`.
  server.addHook('preClose', async () => streams.stop());
  server.addHook('onClose', async () => {
    admissionControl.stop();
    shared.metrics.stop();
  });

  const table = new PathTable();
  const console = options.consoleFolder === undefined ? undefined : new ConsoleFiles(options.consoleFolder);
  server.addHook('onRequest', (request, reply, done) => {
    if (request.is404) notFound(shared, table, request.raw, reply.raw, console);
    else done();
  });
  for (const route of routesOf(options.bindings, limits.operationMs ?? 30_000)) {
    mountOperation(server, table, route, service, shared);
  }
  const mount = (path: string, id: string, page: Page): void => mountPage(server, table, shared, path, id, page);
  mount(`${PREFIX.public}/openapi.json`, 'openapi.read', documentPage(options.documents.public));
  mount(`${PREFIX.console}/openapi.json`, 'openapi.readConsole', documentPage(options.documents.console));
  const script = referenceScript(options.consoleFolder);
  const scriptPath = script === undefined ? undefined : `/docs/${basename(script)}`;
  mount('/docs', 'docs.read', referencePage(REFERENCE_SOURCES, scriptPath));
  if (script !== undefined && scriptPath !== undefined) mount(scriptPath, 'docs.script', referenceScriptPage(script));
  for (const code of FAULT_CODES) mount(`/docs/errors/${code}`, 'docs.error', errorPage(code));
  mount('/healthz', 'health.live', healthPage);
  mount(
    '/readyz',
    'health.ready',
    readyPage(
      () => options.health.ready(),
      () => shared.draining,
    ),
  );
  for (const { path, id, answer } of options.redirects ?? []) mount(path, id, redirectPage(answer, service));
  mount(
    '/.well-known/security.txt',
    'security.contact',
    securityPage(options.securityContact, options.publicUrl, systemClock),
  );
  const exposition = options.exposition ?? metrics;
  mount('/metrics', 'health.metrics', metricsPage(exposition, limits.metricsAllow, service.origin));
  return server;
}

function streamGauges({ open, counts }: EventStreams): Gauge[] {
  return [
    { name: 'docket_event_streams', help: 'Open streams of server-sent events.', value: open },
    counter('docket_event_stream_events_total', 'Server-sent events, without comment lines.', counts.sent),
    counter('docket_event_streams_refused_total', 'Streams refused because of a limit.', counts.refused),
  ];
}

/** The metrics of this process in Prometheus text format. */
export function metricsOf(server: FastifyInstance): Promise<string> {
  return server.getDecorator<State>('docketState').metrics();
}

/**
 * Serves a connection that another process accepted. No bytes may have been read from it.
 *
 * @returns false if the server is closing; the connection is then unchanged
 */
export function adopt(server: FastifyInstance, socket: Socket): boolean {
  const { shared, adopted } = server.getDecorator<State>('docketState');
  if (shared.draining) return false;
  adopted.adopt(socket);
  return true;
}

function limiterOf(options: ServerOptions): RateLimiter | undefined {
  const { ratePerMinute } = options.limits;
  if (ratePerMinute === 'off') return undefined;
  return options.rateLimiter ?? new MemoryRateLimiter(ratePerMinute);
}

function badPath(): Fault {
  return faultAt('INVALID_REQUEST', 'path', 'PATH_ENCODING');
}

/** The `onRequest` hook never calls `done`, because Fastify would parse the body next. */
function mountOperation(
  server: FastifyInstance,
  table: PathTable,
  route: Route,
  service: Service,
  shared: Shared,
): void {
  const { operation } = route.prepared.binding;
  table.add(route.path, operation.method);
  server.route({
    method: operation.method === 'GET' ? ['GET', 'HEAD'] : operation.method,
    url: route.path.replaceAll(/\{([^}]+)\}/g, ':$1'),
    onRequest: (request, reply) => {
      const params = request.params as Record<string, string>;
      // The router matches `/objects/` as an object with an empty id.
      if (Object.values(params).includes('')) {
        notFound(shared, table, request.raw, reply.raw);
        return;
      }
      void serve(service, route, new RequestContext(shared, request.raw, reply.raw, operation.id), params);
    },
    handler: unreachable,
  });
}

function mountPage(
  server: FastifyInstance,
  table: PathTable,
  shared: Shared,
  path: string,
  id: string,
  page: Page,
): void {
  table.add(path, 'GET');
  server.route({
    method: ['GET', 'HEAD'],
    url: path,
    onRequest: (request, reply) => {
      const context = new RequestContext(shared, request.raw, reply.raw, id);
      Promise.try(page, context).catch((error: unknown) => context.sendError(error));
    },
    handler: unreachable,
  });
}

function unreachable(): never {
  throw new Error('the request was answered before');
}

function notFound(
  shared: Shared,
  table: PathTable,
  request: IncomingMessage,
  response: ServerResponse,
  console?: ConsoleFiles,
): void {
  const context = new RequestContext(shared, request, response, 'none');
  if (console?.answer(context) === true) return;
  const [path = ''] = (request.url ?? '').split('?', 1);
  const methods = table.methodsAt(path);
  const allow = methods.join(', ');
  if (methods.length === 0) {
    context.sendError(new Fault('NOT_FOUND', 'There is nothing at this path. See /api/v1/openapi.json for the paths.'));
  } else if (request.method === 'OPTIONS') {
    context.sendText(204, undefined, '', { Allow: `${allow}, OPTIONS` });
  } else {
    const message = `This path does not support the method. Use ${allow}.`;
    context.sendError(new Fault('METHOD_NOT_ALLOWED', message, [], { headers: { Allow: allow } }));
  }
}

/**
 * Graceful shutdown. The server accepts no new connections, finishes running requests and tells keep-alive connections to
 * close. After at most `ms` milliseconds all connections are closed.
 *
 * @returns true if all requests were answered
 */
export async function drain(server: FastifyInstance, ms: number): Promise<boolean> {
  const { shared, admissionControl, adopted, streams } = server.getDecorator<State>('docketState');
  const http = server.server as Server;
  const started = performance.now();
  shared.draining = true;
  streams.stop();
  // `http.close()` would also close keep-alive connections whose next request may already be on its way.
  if (http.listening) NetServer.prototype.close.call(http);
  let open = (await connectionsOf(http)) + adopted.open;
  while (open > 0 && performance.now() - started < ms) {
    if (admissionControl.inFlight === 0 && performance.now() - started > Math.min(500, ms / 2))
      http.closeIdleConnections();
    await new Promise((resolve) => {
      setTimeout(resolve, 20);
    });
    open = (await connectionsOf(http)) + adopted.open;
  }
  http.closeAllConnections();
  await server.close();
  return open === 0;
}

function connectionsOf(http: Server): Promise<number> {
  return new Promise((resolve) => {
    http.getConnections((error, count) => resolve(error === null ? count : 0));
  });
}
