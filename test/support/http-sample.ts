/** Operations that answer with what they were given, and a running server of them, for the tests of the HTTP layer. */
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import type { FastifyInstance } from 'fastify';
import { pino } from 'pino';
import Type from 'typebox';
import { defineOperation, Reply } from '../../src/contract/operation.ts';
import { closed, Id, Revision } from '../../src/contract/schemas.ts';
import { Fault } from '../../src/lib/fault.ts';
import { type Binding, bind, type Service } from '../../src/platform/module.ts';
import { systemClock } from '../../src/platform/clock.ts';
import type { Actor } from '../../src/platform/unit-of-work/context.ts';
import type { Database } from '../../src/platform/database/pool.ts';
import { ConfigSnapshot } from '../../src/platform/unit-of-work/snapshot.ts';
import { Work } from '../../src/platform/unit-of-work/work.ts';
import { buildServer } from '../../src/http/server.ts';
import type { Authenticated, Credentials, Limits, ServerOptions } from '../../src/http/types.ts';

const tag = 'Things';
const shared = { tag, summary: 'Sample', description: 'What it does.', faults: [], answer: Type.Unknown() } as const;
const thingParams = closed({ thingId: Id });

export const THING_ID = '0197a3c2-5d8e-7c10-9f2b-6d1f1b0a7c55';

export const create = defineOperation({
  ...shared,
  id: 'things.create',
  method: 'POST',
  path: '/things',
  access: 'objects:write',
  unit: 'write',
  idempotent: true,
  status: 201,
  body: closed({
    name: Type.String({ minLength: 1, maxLength: 50 }),
    dryRun: Type.Optional(Type.Boolean()),
    expectedRevision: Type.Optional(Revision),
    values: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
  }),
});

export const list = defineOperation({
  ...shared,
  id: 'things.list',
  method: 'GET',
  path: '/things',
  growth: 'page',
  access: 'objects:read',
  unit: 'read',
  status: 200,
  query: closed({
    q: Type.Optional(Type.String({ maxLength: 100 })),
    page: Type.Integer({ minimum: 1, maximum: 1000, default: 1 }),
    archived: Type.Optional(Type.Boolean()),
    kind: Type.Optional(Type.Union([Type.Literal('a'), Type.Literal('b')])),
  }),
});

export const read = defineOperation({
  ...shared,
  id: 'things.get',
  method: 'GET',
  path: '/things/{thingId}',
  growth: 'few',
  access: 'objects:read',
  unit: 'read',
  status: 200,
  params: thingParams,
});

export const byCode = defineOperation({
  ...shared,
  id: 'codes.get',
  method: 'GET',
  path: '/codes/{code}',
  growth: 'few',
  access: 'objects:read',
  unit: 'read',
  status: 200,
  params: closed({ code: Type.String({ maxLength: 64 }) }),
});

export const archive = defineOperation({
  ...shared,
  id: 'things.archive',
  method: 'DELETE',
  path: '/things/{thingId}',
  access: 'objects:write',
  unit: 'write',
  ifMatch: true,
  status: 200,
  params: thingParams,
  body: closed({ expectedRevision: Revision }),
});

export const pause = defineOperation({
  ...shared,
  id: 'things.pause',
  method: 'POST',
  path: '/things/{thingId}/pause',
  access: 'sla:write',
  unit: 'write',
  status: 200,
  params: thingParams,
  body: closed({ expectedRevision: Type.Optional(Revision) }),
});

export const enable = defineOperation({
  ...shared,
  id: 'things.enable',
  method: 'POST',
  path: '/things/{thingId}/enable',
  access: 'console',
  unit: 'write',
  status: 200,
  params: thingParams,
});

export const signIn = defineOperation({
  ...shared,
  id: 'session.create',
  method: 'POST',
  path: '/session',
  access: 'open',
  surface: 'console',
  unit: 'own',
  status: 201,
  body: closed({ login: Type.String() }),
});

const echo = async (_: unknown, input: unknown): Promise<unknown> => input;

/** Operations that answer with what they were given. */
export const echoing: Binding[] = [
  bind(create, echo),
  bind(list, echo),
  bind(read, echo),
  bind(byCode, echo),
  bind(archive, echo),
  bind(pause, echo),
  bind(enable, async () => undefined),
  bind(signIn, async (_, { body }, facts) => {
    const cookie = ['docket_session=s1; HttpOnly; SameSite=Strict', 'other=1'];
    return new Reply({ login: body.login, secure: facts.secure, ip: facts.ip }, { 'Set-Cookie': cookie });
  }),
];

/** A GET that runs `handler`; `raw` if the response has no envelope. */
export function getting(
  path: string,
  handler: Parameters<typeof bind>[1],
  more: { raw?: { mediaTypes: string[] }; timeoutMs?: number } = {},
): Binding {
  const operation = {
    ...shared,
    ...more,
    method: 'GET',
    growth: 'few',
    access: 'objects:read',
    unit: 'read',
    status: 200,
  } as const;
  return bind(defineOperation({ ...operation, id: `get${path.replaceAll('/', '.')}`, path }), handler);
}

const config = new ConfigSnapshot(1, { items: [], typeVersions: [] });
const nobody = { userId: null, displayName: 'nobody' } as unknown as Actor;

/** Keys: `good` may all, `reader` reads; the session `s1` with the token `c1`. */
export async function authenticate(given: Credentials): Promise<Authenticated> {
  const caller = { actor: nobody, via: given.surface === 'console' ? 'console' : 'api', keyId: null, config } as const;
  if (given.surface === 'console' && given.sessionToken === 's1') {
    const safe = given.method === 'GET' || given.method === 'HEAD';
    if (safe || given.csrfToken === 'c1') return { callerId: THING_ID, keyId: null, scopes: new Set(), caller };
  }
  const all = new Set(['objects:read', 'objects:write', 'sla:write']);
  if (given.authorization === 'Bearer good') return { callerId: THING_ID, keyId: 'key-1', scopes: all, caller };
  if (given.authorization === 'Bearer reader') {
    return { callerId: 'reader', keyId: 'key-2', scopes: new Set(['objects:read']), caller };
  }
  throw new Fault('UNAUTHENTICATED', 'Send a key that is valid.');
}

export interface Sample {
  server: FastifyInstance;
  url: string;
  port: number;
  /** Lines of the log, parsed. */
  lines: Record<string, unknown>[];
  /** A request with the key `good` unless another is given. */
  ask(path: string, init?: RequestInit & { key?: string | null }): Promise<Answer>;
  close(): Promise<void>;
}

export interface Answer {
  status: number;
  headers: Headers;
  text: string;
  // Tests look into answers of every shape.
  body: any;
}

export function optionsOf(
  bindings: readonly Binding[] = echoing,
  limits: Partial<Limits> = {},
  more: Partial<ServerOptions> = {},
): { options: ServerOptions; lines: Record<string, unknown>[] } {
  const lines: Record<string, unknown>[] = [];
  const options: ServerOptions = {
    // The handlers of these tests use no service.
    bindings: bindings.map((binding) => binding.bound({} as Service)),
    authenticate,
    anonymous: () => ({ actor: nobody, via: 'console', keyId: null, config }),
    work: new Work({ db: databaseThatIsNotAsked(), clock: systemClock }),
    log: pino({ level: 'info' }, { write: (line: string) => lines.push(JSON.parse(line)) }),
    limits: { ratePerMinute: 'off', trustedProxies: [], metricsAllow: ['127.0.0.0/8'], ...limits },
    health: { ready: async () => ({ ok: true, degraded: [], checks: { database: 'ok' } }) },
    documents: { public: Buffer.from('{"openapi":"3.1.0"}'), console: Buffer.from('{"openapi":"3.1.0","info":{}}') },
    ...more,
  };
  return { options, lines };
}

/** The units of these tests plan nothing, so that no statement is sent. */
function databaseThatIsNotAsked(): Database {
  const refuse = async (): Promise<never> => {
    throw new Error('no database is needed here');
  };
  return { query: refuse, transaction: refuse } as unknown as Database;
}

export async function startSample(
  bindings?: readonly Binding[],
  limits?: Partial<Limits>,
  more?: Partial<ServerOptions>,
): Promise<Sample> {
  const { options, lines } = optionsOf(bindings, limits, more);
  const server = buildServer(options);
  const url = await server.listen({ host: '127.0.0.1', port: 0 });
  return {
    server,
    url,
    port: Number(new URL(url).port),
    lines,
    ask: async (path, { key = 'good', headers, ...init } = {}) => {
      const sent = new Headers(headers);
      if (key !== null) sent.set('authorization', `Bearer ${key}`);
      if (init.body !== undefined && !sent.has('content-type')) sent.set('content-type', 'application/json');
      const response = await fetch(url + path, { ...init, headers: sent });
      const content = await response.text();
      const isJson = response.headers.get('content-type')?.includes('json') === true && content !== '';
      return {
        status: response.status,
        headers: response.headers,
        text: content,
        body: isJson ? JSON.parse(content) : undefined,
      };
    },
    close: async () => {
      server.server.closeAllConnections();
      await server.close();
    },
  };
}

/** Sends raw bytes and returns everything received until the server closes the connection. */
export async function sendRaw(port: number, ...parts: (string | Buffer)[]): Promise<string> {
  const socket = connect(port, '127.0.0.1');
  for (const part of parts) socket.write(part);
  return await text(socket);
}
