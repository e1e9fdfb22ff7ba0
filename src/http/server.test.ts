import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import Type from 'typebox';
import { CORRELATION_ID } from '../contract/envelope.ts';
import type { Operation } from '../contract/operation.ts';
import { Fault } from '../lib/fault.ts';
import { type Binding, bind } from '../platform/module.ts';
import {
  echoing,
  getting,
  list,
  optionsOf,
  sendRaw,
  read,
  type Sample,
  startSample,
  THING_ID,
} from '../../test/support/http-sample.ts';
import { buildServer } from './server.ts';

function bound(operation: object): Binding {
  return bind(operation as Operation, async () => undefined);
}

describe('an invalid server definition', () => {
  const refused: [string, object[], RegExp][] = [
    ['no access', [{ ...list, access: undefined }], /things\.list: access is neither/],
    ['an unknown scope', [{ ...list, access: 'objects:everything' }], /access is neither/],
    ['an open operation without surface', [{ ...list, access: 'open' }], /names its surface/],
    ['a duplicate id', [list, { ...list, path: '/other' }], /the id is declared twice/],
    [
      'a duplicate route',
      [read, { ...read, id: 'x', path: '/things/{other}', params: Type.Object({ other: Type.String() }) }],
      /already taken by things\.get/,
    ],
    ['a path parameter without schema', [{ ...list, path: '/things/{id}' }], /the path has the parameters \[id\]/],
    [
      'an open query',
      [{ ...list, query: Type.Object({ q: Type.String() }) }],
      /query: an object schema of a request needs/,
    ],
    ['an open body', [{ ...list, method: 'POST', body: Type.Object({ q: Type.String() }) }], /body: an object schema/],
    [
      'an open object inside a body',
      [
        {
          ...list,
          method: 'POST',
          body: Type.Object({ a: Type.Array(Type.Object({})) }, { additionalProperties: false }),
        },
      ],
      /body\/a\/items: an object schema/,
    ],
    [
      'an unknown format',
      [{ ...list, query: Type.Object({ a: Type.String({ format: 'colour' }) }, { additionalProperties: false }) }],
      /"colour" is not known/,
    ],
    [
      'a query of numbers',
      [{ ...list, query: Type.Object({ a: Type.Number() }, { additionalProperties: false }) }],
      /a query parameter is/,
    ],
    ['an idempotent read', [{ ...list, idempotent: true }], /only a write/],
    ['a body on GET', [{ ...list, body: Type.Object({}, { additionalProperties: false }) }], /a GET takes no body/],
    ['the path of the document', [{ ...list, path: '/openapi.json' }], /taken by the document itself/],
  ];
  for (const [name, operations, message] of refused) {
    it(`does not start: ${name}`, () => {
      assert.throws(() => buildServer(optionsOf(operations.map(bound)).options), message);
    });
  }

  it('does not start with a trusted proxy that is not a network', () => {
    assert.throws(() => buildServer(optionsOf(echoing, { trustedProxies: ['proxy'] }).options), /"proxy" is neither/);
  });
});

describe('the server', () => {
  let sample: Sample;
  before(async () => {
    sample = await startSample([
      ...echoing,
      getting('/broken', async () => {
        throw new Error('secret of the inside');
      }),
      getting('/unheard', async () => {
        throw new Fault('NO_SUCH_CODE' as 'NOT_FOUND', 'never');
      }),
      getting('/gone', async () => {
        throw new Fault('DATABASE_UNAVAILABLE', 'The database does not respond. Retry after the time in Retry-After.');
      }),
      getting('/conflict', async () => {
        throw new Fault('REVISION_CONFLICT', 'Read it again.', { changedSince: [] });
      }),
      getting('/nothing', async () => undefined),
    ]);
  });
  after(() => sample.close());

  it('responds with the envelope and one correlation id', async () => {
    const { status, headers, body } = await sample.ask(`/api/v1/things/${THING_ID}`);
    assert.equal(status, 200);
    assert.equal(body.data.params.thingId, THING_ID);
    assert.equal(body.meta.apiVersion, 'v1');
    assert.equal(body.meta.correlationId, headers.get('x-correlation-id'));
    assert.match(body.meta.correlationId, CORRELATION_ID);
    assert.equal((await sample.ask('/api/v1/nothing')).body.data, null);
  });

  it('keeps a valid correlation id of the caller', async () => {
    const given = async (id: string): Promise<string | null> =>
      (await sample.ask('/api/v1/things', { headers: { 'x-correlation-id': id } })).headers.get('x-correlation-id');
    assert.equal(await given('Abc-1._'), 'Abc-1._');
    for (const bad of ['', 'a b', 'a"b', 'ä', 'x'.repeat(129)]) assert.notEqual(await given(bad), bad);
    const missing = await sample.ask('/nowhere', { headers: { 'x-correlation-id': 'mine' } });
    assert.deepEqual([missing.headers.get('x-correlation-id'), missing.body.meta.correlationId], ['mine', 'mine']);
  });

  it('sends the security headers on every response and does not identify the software', async () => {
    for (const path of ['/api/v1/things', '/nowhere', '/healthz', '/api/v1/things/%zz']) {
      const { headers } = await sample.ask(path);
      assert.equal(headers.get('x-content-type-options'), 'nosniff', path);
      assert.match(headers.get('content-security-policy') ?? '', /default-src 'none'/);
      assert.equal(headers.get('referrer-policy'), 'no-referrer');
      assert.equal(headers.get('cache-control'), 'no-store');
      assert.equal(headers.get('server') ?? headers.get('x-powered-by'), null);
    }
  });

  it('checks path and method before the key', async () => {
    const ask = async (method: string, path: string): Promise<unknown[]> => {
      const { status, body, headers } = await sample.ask(path, { method, key: null });
      return [status, body?.error.code, headers.get('allow')];
    };
    assert.deepEqual(await ask('GET', '/api/v1/nowhere'), [404, 'NOT_FOUND', null]);
    assert.deepEqual(await ask('GET', '/api/v1/things/'), [404, 'NOT_FOUND', null]);
    assert.deepEqual(await ask('GET', '/API/v1/things'), [404, 'NOT_FOUND', null]);
    assert.deepEqual(await ask('PATCH', '/api/v1/things'), [405, 'METHOD_NOT_ALLOWED', 'GET, HEAD, POST']);
    assert.deepEqual(await ask('PUT', `/api/v1/things/${THING_ID}`), [405, 'METHOD_NOT_ALLOWED', 'DELETE, GET, HEAD']);
    assert.deepEqual(await ask('PROPFIND', '/api/v1/things'), [405, 'METHOD_NOT_ALLOWED', 'GET, HEAD, POST']);
    assert.deepEqual(await ask('POST', '/api/v1/openapi.json'), [405, 'METHOD_NOT_ALLOWED', 'GET, HEAD']);
    assert.deepEqual(await ask('OPTIONS', '/api/v1/things'), [204, undefined, 'GET, HEAD, POST, OPTIONS']);
    assert.deepEqual(await ask('OPTIONS', '/nowhere'), [404, 'NOT_FOUND', null]);
    assert.deepEqual(await ask('POST', `/api/v1/things/${THING_ID}/enable`), [404, 'NOT_FOUND', null]);
  });

  it('responds to HEAD like GET without a body', async () => {
    const whole = await sample.ask('/api/v1/things');
    const head = await sample.ask('/api/v1/things', { method: 'HEAD' });
    assert.deepEqual([head.status, head.text], [200, '']);
    assert.equal(head.headers.get('content-length'), whole.headers.get('content-length'));
    assert.equal((await sample.ask('/api/v1/things', { method: 'HEAD', key: null })).status, 401);
  });

  it('returns the error envelope for malformed paths', async () => {
    const bad = await sample.ask('/api/v1/things/%zz');
    assert.deepEqual([bad.status, bad.body.error.code], [400, 'INVALID_REQUEST']);
    assert.equal((await sample.ask('/api/v1/codes/%FF')).status, 400);
    for (const path of [
      '/codes/a%00b',
      '/codes/a%2Fb',
      '/codes/a%0Ab',
      `/codes/${'x'.repeat(300)}`,
      '/codes/%E2%80%8B%01',
    ]) {
      const { status, body } = await sample.ask(`/api/v1${path}`);
      assert.deepEqual([status, body.error.code], [404, 'NOT_FOUND'], path);
    }
    assert.equal((await sample.ask('/api/v1/codes/%D0%B8')).body.data.params.code, 'и');
  });

  it('requires a key, then the scope', async () => {
    const none = await sample.ask('/api/v1/things', { key: null });
    assert.deepEqual([none.status, none.body.error.code], [401, 'UNAUTHENTICATED']);
    assert.equal(none.headers.get('www-authenticate'), 'Bearer');
    const reader = await sample.ask('/api/v1/things', { key: 'reader', method: 'POST', body: 'not json' });
    assert.deepEqual([reader.status, reader.body.error.code], [403, 'SCOPE_MISSING']);
    assert.deepEqual(reader.body.error.details, { scope: 'objects:write' });
    // The scope is checked before any lookup.
    const absent = await sample.ask('/api/v1/things/not-an-id', { key: 'reader', method: 'DELETE' });
    assert.equal(absent.status, 403);
  });

  it('rejects two Authorization headers', async () => {
    const request = 'GET /api/v1/things HTTP/1.1\r\nHost: x\r\nConnection: close\r\n';
    const answer = await sendRaw(
      sample.port,
      `${request}Authorization: Bearer good\r\nAuthorization: Bearer reader\r\n\r\n`,
    );
    assert.match(answer, /^HTTP\/1\.1 401 /);
  });

  it('mounts public operations for the console too, with a session and without scopes', async () => {
    const cookie = { cookie: 'a=b; docket_session=s1' };
    const ask = async (path: string, init: object): Promise<number> =>
      (await sample.ask(path, { key: null, headers: cookie, ...init })).status;
    assert.equal(await ask('/api/admin/v1/things', {}), 200);
    assert.equal(await ask('/api/v1/things', {}), 401, 'the public interface never takes the cookie');
    const write = { method: 'POST', body: '{"name":"x"}' };
    assert.equal(await ask('/api/admin/v1/things', write), 401, 'a write needs the token');
    const token = { ...cookie, 'x-docket-csrf': 'c1' };
    assert.equal(await ask('/api/admin/v1/things', { ...write, headers: token }), 201);
    assert.equal(await ask(`/api/admin/v1/things/${THING_ID}/enable`, { method: 'POST', headers: token }), 200);
    assert.equal((await sample.ask('/api/admin/v1/things', { ...write, key: 'reader' })).status, 201);
  });

  it('allows anonymous calls of an open operation and sets its cookies', async () => {
    const { status, headers, body } = await sample.ask('/api/admin/v1/session', {
      key: null,
      method: 'POST',
      body: '{"login":"anna"}',
    });
    assert.equal(status, 201);
    assert.deepEqual(body.data, { login: 'anna', secure: false, ip: '127.0.0.1' });
    assert.deepEqual(headers.getSetCookie(), ['docket_session=s1; HttpOnly; SameSite=Strict', 'other=1']);
    assert.equal((await sample.ask('/api/v1/session', { method: 'POST' })).status, 404);
  });

  it('serves documents raw, without a key, with an ETag', async () => {
    const { status, headers, body } = await sample.ask('/api/v1/openapi.json', { key: null });
    assert.deepEqual([status, body], [200, { openapi: '3.1.0' }]);
    const etag = headers.get('etag') ?? '';
    const again = await sample.ask('/api/v1/openapi.json', {
      key: null,
      headers: { 'if-none-match': `"x", W/${etag}` },
    });
    assert.deepEqual([again.status, again.text], [304, '']);
    assert.notEqual((await sample.ask('/api/admin/v1/openapi.json', { key: null })).headers.get('etag'), etag);
    assert.equal((await sample.ask('/api/v1/openapi.json?x=1')).status, 400);
  });

  it('reveals no internals in error responses', async () => {
    for (const path of ['/api/v1/broken', '/api/v1/unheard']) {
      const { status, body, text } = await sample.ask(path);
      assert.deepEqual([status, body.error.code, body.error.details], [500, 'INTERNAL', []]);
      assert.doesNotMatch(text, /secret|NO_SUCH_CODE|never|\.ts/);
    }
    const line = sample.lines.find((one) => one.msg === 'INTERNAL' && one.operation === 'get.broken');
    assert.match(JSON.stringify(line?.err), /secret of the inside\\n.*server\.test\.ts/);
  });

  it('returns status, details and headers of faults', async () => {
    const gone = await sample.ask('/api/v1/gone');
    assert.deepEqual([gone.status, gone.headers.get('retry-after')], [503, '1']);
    const conflict = await sample.ask('/api/v1/conflict');
    assert.deepEqual([conflict.status, conflict.body.error.details], [409, { changedSince: [] }]);
  });

  it('logs one line per request without secrets', async () => {
    sample.lines.length = 0;
    const { headers } = await sample.ask('/api/v1/things?q=needle', { headers: { cookie: 'a=crumb' } });
    assert.equal(sample.lines.length, 1);
    const { correlationId, operation, status, ms, callerId, keyId } = sample.lines[0] ?? {};
    assert.deepEqual([correlationId, operation, status], [headers.get('x-correlation-id'), 'things.list', 200]);
    assert.deepEqual([typeof ms, callerId, keyId], ['number', THING_ID, 'key-1']);
    assert.doesNotMatch(JSON.stringify(sample.lines), /needle|crumb|Bearer|good/);
  });

  it('handles injected requests like real ones', async () => {
    const headers = { authorization: 'Bearer good', 'content-type': 'application/json' };
    const inject = async (payload: string) =>
      await sample.server.inject({ method: 'POST', url: '/api/v1/things', headers, payload });
    const done = await inject('{"name":"x"}');
    assert.deepEqual([done.statusCode, done.json().data.body], [201, { name: 'x' }]);
    assert.equal(done.headers['x-correlation-id'], done.json().meta.correlationId);
    assert.equal((await inject('{')).json().error.code, 'INVALID_JSON');
    assert.equal((await inject('x'.repeat(11_000_000))).json().error.code, 'BODY_TOO_LARGE');
    assert.equal((await sample.server.inject('/nowhere')).json().error.code, 'NOT_FOUND');
  });

  it('reports liveness and readiness', async () => {
    const alive = await sample.ask('/healthz', { key: null });
    assert.deepEqual([alive.status, alive.body], [200, { status: 'ok' }]);
    const ready = await sample.ask('/readyz', { key: null });
    assert.deepEqual([ready.status, ready.body], [200, { status: 'ok', degraded: [], checks: { database: 'ok' } }]);
  });

  it('exposes its metrics', async () => {
    await sample.ask('/api/v1/things');
    const { status, headers, text } = await sample.ask('/metrics', { key: null });
    assert.equal(status, 200);
    assert.match(headers.get('content-type') ?? '', /^text\/plain; version=0\.0\.4/);
    assert.match(text, /^docket_http_requests_total\{operation="things\.list",status="200"\} [1-9]/m);
    assert.match(
      text,
      /^docket_http_request_duration_seconds_bucket\{le="\+Inf",operation="things\.list",status="200"\} [1-9]/m,
    );
    assert.match(text, /^process_resident_memory_bytes \d+/m);
    assert.doesNotMatch(text, /NaN/);
    for (const line of text.trim().split('\n')) assert.match(line, /^(#|[a-z_]+(\{[^}]*\})? [-0-9.e+]+$)/);
  });
});

describe('the client address', () => {
  it('restricts metrics to the allowed networks and rejects them behind an unknown proxy', async () => {
    const closed = await startSample(echoing, { metricsAllow: ['10.0.0.0/8'] });
    assert.equal((await closed.ask('/metrics')).status, 404);
    await closed.close();
    const local = await startSample();
    assert.equal((await local.ask('/metrics')).status, 200);
    assert.equal((await local.ask('/metrics', { headers: { 'x-forwarded-for': '127.0.0.1' } })).status, 404);
    await local.close();
  });

  it('is taken from trusted proxies only', async () => {
    const headers = { 'x-forwarded-for': '1.1.1.1, 2.2.2.2, 10.1.1.1', 'x-forwarded-proto': 'https' };
    const ask = async (trustedProxies: string[]): Promise<unknown> => {
      const sample = await startSample(echoing, { trustedProxies });
      const { body } = await sample.ask('/api/admin/v1/session', { method: 'POST', body: '{"login":"x"}', headers });
      await sample.close();
      return body.data;
    };
    assert.deepEqual(await ask([]), { login: 'x', ip: '127.0.0.1', secure: false });
    assert.deepEqual(await ask(['127.0.0.1', '10.0.0.0/8']), { login: 'x', ip: '2.2.2.2', secure: true });
  });
});
