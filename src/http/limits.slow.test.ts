import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { writeFile, mkdtemp, rm } from 'node:fs/promises';
import { type IncomingMessage, request as httpRequest } from 'node:http';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { json, text } from 'node:stream/consumers';
import { after, before, describe, it } from 'node:test';
import { promisify } from 'node:util';
import Type from 'typebox';
import { defineOperation } from '../contract/operation.ts';
import { bind } from '../platform/module.ts';
import { MAX_BODY } from './body.ts';
import { create, echoing, getting, sendRaw, type Sample, startSample } from '../../test/support/http-sample.ts';

const MIB = 1024 * 1024;
const size = bind(
  defineOperation({ ...create, id: 'size', path: '/size', body: Type.Unknown() }),
  async (_, input) => JSON.stringify(input.body).length,
);
const KEY = { authorization: 'Bearer good', 'content-type': 'application/json' };

/** A JSON body of exactly this many bytes. */
function bodyOf(bytes: number): Uint8Array<ArrayBuffer> {
  const body = new Uint8Array(bytes).fill(0x61);
  body[0] = 0x22;
  body[bytes - 1] = 0x22;
  return body;
}

/** Sends with Node's client, chunked if no length is given. */
async function nodePost(port: number, body: Uint8Array, headers: Record<string, string>): Promise<[number, string]> {
  const request = httpRequest({
    port,
    host: '127.0.0.1',
    path: '/api/v1/size',
    method: 'POST',
    headers: { ...KEY, ...headers },
  });
  const answered = new Promise<[number, string]>((resolve, reject) => {
    request.on('response', (response: IncomingMessage) => {
      json(response).then(
        (parsed) => resolve([response.statusCode ?? 0, (parsed as { error?: { code: string } }).error?.code ?? '']),
        reject,
      );
    });
    request.on('error', reject);
  });
  for (let at = 0; at < body.length; at += MIB) request.write(body.subarray(at, at + MIB));
  request.end();
  return await answered;
}

describe('the body limit', () => {
  let sample: Sample;
  before(async () => {
    sample = await startSample([...echoing, size]);
  });
  after(() => sample.close());

  for (const way of ['declared', 'chunked'] as const) {
    it(`is exact: ${way}`, async () => {
      for (const [bytes, status] of [
        [MAX_BODY - 1, 201],
        [MAX_BODY, 201],
        [MAX_BODY + 1, 413],
      ] as const) {
        const headers: Record<string, string> = way === 'declared' ? { 'content-length': String(bytes) } : {};
        const [got, code] = await nodePost(sample.port, bodyOf(bytes), headers);
        assert.deepEqual([got, code], [status, status === 413 ? 'BODY_TOO_LARGE' : ''], `${bytes} bytes`);
      }
    });

    it(`is reported to a Node client that sends 50 MiB: ${way}`, async () => {
      const body = bodyOf(50 * MIB);
      const headers: Record<string, string> = way === 'declared' ? { 'content-length': String(body.length) } : {};
      for (let round = 0; round < 3; round++) {
        assert.deepEqual(await nodePost(sample.port, body, headers), [413, 'BODY_TOO_LARGE']);
      }
    });
  }

  it('is reported to fetch', async () => {
    for (let round = 0; round < 3; round++) {
      const declared = await sample.ask('/api/v1/size', { method: 'POST', body: bodyOf(50 * MIB) });
      assert.deepEqual([declared.status, declared.body.error.code], [413, 'BODY_TOO_LARGE']);
      const stream = new ReadableStream<Uint8Array>({
        pull(controller) {
          controller.enqueue(new Uint8Array(MIB));
          if (++sent === 50) controller.close();
        },
      });
      let sent = 0;
      const chunked = { method: 'POST', body: stream, duplex: 'half' } as RequestInit;
      assert.equal((await sample.ask('/api/v1/size', chunked)).status, 413);
    }
  });

  it('is reported to curl', async () => {
    const folder = await mkdtemp(path.join(tmpdir(), 'limits-'));
    const file = path.join(folder, 'body.json');
    await writeFile(file, bodyOf(50 * MIB));
    try {
      const common = [
        '-s',
        '-o',
        path.join(folder, 'answer'),
        '-w',
        '%{http_code}',
        '-H',
        'Authorization: Bearer good',
      ];
      const ways = [
        [],
        ['-H', 'Expect:'],
        ['-H', 'Transfer-Encoding: chunked'],
        ['-H', 'Expect:', '-H', 'Transfer-Encoding: chunked'],
      ];
      for (const way of ways) {
        const call = [...common, '-H', 'Content-Type: application/json', ...way, '--data-binary', `@${file}`];
        const { stdout } = await promisify(execFile)('curl', [...call, `${sample.url}/api/v1/size`]);
        assert.equal(stdout, '413', way.join(' '));
      }
    } finally {
      await rm(folder, { recursive: true });
    }
  });

  it('is checked before the key if the length is declared, and after the scope while receiving', async () => {
    const declared = { 'content-length': String(MAX_BODY + 1), authorization: 'Bearer none' };
    assert.equal((await nodePost(sample.port, bodyOf(MAX_BODY + 1), declared))[0], 413);
    const [status] = await nodePost(sample.port, bodyOf(MAX_BODY + 1), { authorization: 'Bearer none' });
    assert.equal(status, 401);
    assert.equal((await nodePost(sample.port, bodyOf(MAX_BODY + 1), { authorization: 'Bearer reader' }))[0], 403);
  });

  it('does not send 100 Continue before the caller is authorised', async () => {
    const socket = connect(sample.port, '127.0.0.1');
    const head = 'POST /api/v1/size HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nExpect: 100-continue\r\n';
    socket.write(`${head}Authorization: Bearer none\r\nContent-Length: 20000000\r\n\r\n`);
    assert.match(await text(socket), /^HTTP\/1\.1 413 .*connection: close/is);
    const refused = sendRaw(sample.port, `${head}Authorization: Bearer none\r\nContent-Length: 3\r\n\r\n`);
    assert.match(await refused, /^HTTP\/1\.1 401 /);
    const asked = connect(sample.port, '127.0.0.1');
    asked.write(`${head}Authorization: Bearer good\r\nContent-Length: 3\r\nConnection: close\r\n\r\n`);
    const [go] = (await once(asked, 'data')) as [Buffer];
    assert.match(go.toString(), /^HTTP\/1\.1 100 Continue/);
    asked.write('"a"');
    assert.match(await text(asked), /^HTTP\/1\.1 201 /);
  });

  it('keeps the connection open after a small body was rejected', async () => {
    const refused = 'POST /api/v1/size HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\n12345';
    const next = 'GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n';
    const answer = await sendRaw(sample.port, refused, next);
    assert.match(answer, /^HTTP\/1\.1 401 .*HTTP\/1\.1 200 /s);
  });

  it('also bounds the sum over all requests', async () => {
    const small = await startSample([size], { bodyBytes: 2 * MIB });
    const answer = await small.ask('/api/v1/size', { method: 'POST', body: bodyOf(3 * MIB) });
    assert.deepEqual(
      [answer.status, answer.body.error.code, answer.headers.get('retry-after')],
      [503, 'OVERLOADED', '1'],
    );
    for (let i = 0; i < 4; i++) {
      assert.equal((await small.ask('/api/v1/size', { method: 'POST', body: bodyOf(MIB) })).status, 201);
    }
    await small.close();
  });
});

describe('requests that are not HTTP', () => {
  let sample: Sample;
  before(async () => {
    sample = await startSample(echoing, { receiveMs: 400 });
  });
  after(() => sample.close());

  const shape = (answer: string): unknown[] => {
    const [head = '', body = ''] = answer.split('\r\n\r\n');
    assert.match(head, /X-Correlation-Id: \S+/i);
    const parsed = JSON.parse(body);
    assert.ok(head.includes(parsed.meta.correlationId));
    return [Number(head.split(' ')[1]), parsed.error.code];
  };

  it('get the error envelope', async () => {
    const bad = [
      'nonsense\r\n\r\n',
      'GET / HTTP/9.9\r\n\r\n',
      'BREW /pot HTTP/1.1\r\nHost: x\r\n\r\n',
      'GET /api/v1/things HTTP/1.1\r\n\r\n',
      'GET /api/v1/things HTTP/1.1\r\nHost: x\r\nHost: y\r\n\r\n',
      'GET / HTTP/1.1\r\nHost: x\r\nBad Header: y\r\n\r\n',
      'POST /api/v1/things HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
      'POST /api/v1/things HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\nContent-Length: 4\r\n\r\nabc',
      'POST /api/v1/things HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer good\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n',
    ];
    for (const bytes of bad) {
      const closing = bytes.replace('HTTP/1.1\r\n', 'HTTP/1.1\r\nConnection: close\r\n');
      assert.deepEqual(shape(await sendRaw(sample.port, closing)), [400, 'INVALID_REQUEST'], bytes);
    }
    const long = `GET /${'x'.repeat(70_000)} HTTP/1.1\r\nHost: x\r\n\r\n`;
    assert.deepEqual(shape(await sendRaw(sample.port, long)), [431, 'HEADERS_TOO_LARGE']);
    const wide = `GET / HTTP/1.1\r\nHost: x\r\nX-A: ${'x'.repeat(70_000)}\r\n\r\n`;
    assert.deepEqual(shape(await sendRaw(sample.port, wide)), [431, 'HEADERS_TOO_LARGE']);
  });

  it('get an error and a closed connection when they arrive too slowly', async () => {
    const head =
      'POST /api/v1/things HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer good\r\nContent-Type: application/json\r\n';
    const slow = await Promise.all([
      sendRaw(sample.port, 'GET /healthz HTTP/1.1\r\nHost: x\r\nX-Slow:'),
      sendRaw(sample.port, `${head}Content-Length: 100\r\n\r\n{"name":`),
    ]);
    for (const answer of slow) assert.deepEqual(shape(answer), [400, 'INVALID_REQUEST']);
    assert.equal((await sample.ask('/healthz')).status, 200);
  });

  it('do not affect the response before them', async () => {
    const good = 'GET /api/v1/things HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer good\r\n\r\n';
    const answer = await sendRaw(sample.port, `${good}nonsense\r\n\r\n`);
    assert.match(answer, /^HTTP\/1\.1 200 OK/);
    assert.ok(answer.includes('"apiVersion":"v1"}}'));
    assert.equal(answer.split('HTTP/1.1').length, 2, 'one answer and no half of another');
  });
});

describe('request limits', () => {
  it('count by key and are reported on every authenticated response', async () => {
    const sample = await startSample(echoing, { ratePerMinute: 3 });
    const first = await sample.ask('/api/v1/things');
    assert.equal(first.headers.get('ratelimit-policy'), '"default";q=3;w=60');
    assert.equal(first.headers.get('ratelimit'), '"default";r=2;t=20');
    assert.equal((await sample.ask('/api/v1/things?x')).headers.get('ratelimit'), '"default";r=1;t=40');
    await sample.ask('/api/v1/things');
    const { status, headers, body } = await sample.ask('/api/v1/things');
    assert.deepEqual([status, body.error.code], [429, 'RATE_LIMITED']);
    assert.match(headers.get('ratelimit') ?? '', /^"default";r=0;t=(19|20)$/);
    assert.equal(headers.get('retry-after'), headers.get('ratelimit')?.split('t=')[1]);
    const other = await sample.ask('/api/v1/things', { key: 'reader', method: 'POST' });
    assert.deepEqual([other.status, other.headers.get('ratelimit')], [403, '"default";r=2;t=20']);
    assert.equal((await sample.ask('/api/v1/things', { key: null })).headers.get('ratelimit'), null);
    await sample.close();
    const free = await startSample();
    assert.equal((await free.ask('/api/v1/things')).headers.get('ratelimit-policy'), null);
    await free.close();
  });

  it('reject at once when too many are in flight, except health checks', async () => {
    const admissionControl = Promise.withResolvers<void>();
    const waiting = getting('/wait', async () => {
      await admissionControl.promise;
      return 'done';
    });
    const sample = await startSample([...echoing, waiting], { inFlight: 8 });
    const held = [0, 1, 2, 3, 4].map(() => sample.ask('/api/v1/wait'));
    const others = [0, 1, 2].map(() => sample.ask('/api/v1/wait', { key: 'reader' }));
    const settled = await Promise.all([...held, ...others].map((one) => Promise.race([one, pause(300)])));
    const refused = settled.filter((one) => one !== undefined);
    // Above half of the limit, a caller may hold a quarter of it: both callers are limited, and capacity remains.
    assert.ok(
      refused.length > 0 && refused.every((one) => one.status === 503 && one.headers.get('retry-after') === '1'),
    );
    assert.equal((await sample.ask('/healthz')).status, 200);
    assert.match((await sample.ask('/metrics')).text, /^docket_http_requests_in_flight [4-8]$/m);
    admissionControl.resolve();
    const answered = (await Promise.all([...held, ...others])).filter((one) => one.status === 200);
    assert.equal(answered.length + refused.length, 8);
    assert.match((await sample.ask('/metrics')).text, /^docket_http_requests_in_flight 0$/m);
    assert.equal((await sample.ask('/api/v1/wait')).status, 200);
    await sample.close();
  });

  it('end requests that take too long', async () => {
    const late = Promise.withResolvers<string>();
    const sample = await startSample([getting('/late', () => late.promise, { timeoutMs: 100 })]);
    const { status, body, headers } = await sample.ask('/api/v1/late');
    assert.deepEqual([status, body.error.code, headers.get('retry-after')], [503, 'OVERLOADED', '1']);
    assert.match(
      (await sample.ask('/metrics')).text,
      /^docket_http_requests_in_flight 1$/m,
      'what runs on still counts',
    );
    late.resolve('x');
    await pause(10);
    assert.match((await sample.ask('/metrics')).text, /^docket_http_requests_in_flight 0$/m);
    await sample.close();
  });
});

function pause(ms: number): Promise<undefined> {
  return new Promise((resolve) => {
    setTimeout(() => resolve(undefined), ms);
  });
}
