/** Conventions, errors, authentication and limits of the specification, over HTTP only. Rules by number: `COVERAGE.md`. */
import assert from 'node:assert/strict';
import { request } from 'node:http';
import { connect } from 'node:net';
import { after, describe } from 'node:test';
import { type Answer, before, it, problemsOf, Fixture } from './service.ts';

const LIMIT = 10 * 1024 * 1024;
const RATE = 600;

let fixture: Fixture;

function refused(answer: Answer, status: number, code: string, what = ''): void {
  assert.equal(answer.status, status, `${what} ${answer.text.slice(0, 400)}`);
  assert.equal(answer.body.error.code, code, what);
  assert.deepEqual(problemsOf(answer), [], what);
}

/** What a raw connection is answered. */
async function raw(text: string): Promise<string> {
  const { port } = new URL(fixture.url);
  return await new Promise((resolve, reject) => {
    let said = '';
    const socket = connect(Number(port), '127.0.0.1', () => socket.write(text));
    socket.setEncoding('utf8').on('data', (part: string) => {
      said += part;
    });
    // Everything received before the connection broke counts, since that is what a client sees.
    socket.on('end', () => resolve(said)).on('error', (error) => (said === '' ? reject(error) : resolve(said)));
    socket.setTimeout(5000, () => socket.destroy(new Error(`no answer: ${said}`)));
  });
}

/** Sends a body in chunks without Content-Length, as Node does. Resolves with the response, even if sending the rest fails. */
async function chunked(bytes: number): Promise<number> {
  return await new Promise((resolve, reject) => {
    const headers = {
      authorization: `Bearer ${fixture.key}`,
      'content-type': 'application/json',
      'transfer-encoding': 'chunked',
    };
    const sent = request(`${fixture.url}/api/v1/objects`, { method: 'POST', headers }, (response) => {
      response.resume();
      resolve(response.statusCode ?? 0);
    });
    // The server may stop reading; that the answer was received is what counts.
    sent.on('error', (error) => reject(error));
    const piece = Buffer.alloc(65_536, 0x20);
    let left = bytes;
    const go = (): void => {
      while (left > 0) {
        const part = piece.subarray(0, Math.min(left, piece.length));
        left -= part.length;
        if (!sent.write(part)) return void sent.once('drain', go);
      }
      sent.end();
    };
    go();
  });
}

describe('conventions', () => {
  before(async () => {
    fixture = await Fixture.start({ DOCKET_RATE_LIMIT: String(RATE) }, 'most');
  });
  after(() => fixture?.stop());

  it('wraps every successful response in data and meta (C-3)', async () => {
    for (const path of ['/metadata/types', '/metadata/types/ticket/fields', '/objects']) {
      const answer = await fixture.api('GET', path);
      assert.equal(answer.status, 200);
      assert.deepEqual(problemsOf(answer), [], path);
      assert.match(answer.headers.get('content-type') ?? '', /^application\/json/);
    }
  });

  it('keeps a valid correlation id and replaces an invalid one', async () => {
    const good = 'order-17.A_b';
    assert.equal(
      (await fixture.api('GET', '/objects', { headers: { 'x-correlation-id': good } })).body.meta.correlationId,
      good,
    );
    for (const bad of ['', 'a b', 'x'.repeat(129), '<script>', '"']) {
      const answer = await fixture.api('GET', '/objects', { headers: { 'x-correlation-id': bad } });
      assert.notEqual(answer.body.meta.correlationId, bad);
      assert.deepEqual(problemsOf(answer), []);
    }
  });

  it('serves its OpenAPI document without a key and without the envelope (C-4, A-1, V-2)', async () => {
    const answer = await fixture.api('GET', '/openapi.json', { key: undefined });
    assert.equal(answer.status, 200);
    assert.match(answer.body.openapi, /^3\.1\./);
    assert.equal(answer.body.info.version, '1.0.0');
    assert.ok(answer.headers.get('x-correlation-id'));
    for (const path of ['/objects', '/objects/{objectId}', '/objects/{objectId}/history', '/metadata/types']) {
      assert.ok(Object.hasOwn(answer.body.paths, path), path);
    }
  });

  it('requires a key everywhere else (A-1, A-4, E-401)', async () => {
    for (const path of ['/objects', '/metadata/types', '/objects/0197a3c2-5d8e-7c10-9f2b-6d1f1b0a7c55/history']) {
      for (const key of [undefined, 'nonsense', fixture.key.slice(0, -1)]) {
        const answer = await fixture.api('GET', path, { key });
        refused(answer, 401, 'UNAUTHENTICATED');
        assert.match(answer.headers.get('www-authenticate') ?? '', /^Bearer/);
      }
    }
  });

  it('requires the scope of the operation (A-2, E-403)', async () => {
    const key = await fixture.keyOf('chief', 'metadata:read');
    assert.equal((await fixture.api('GET', '/metadata/types', { key })).status, 200);
    const answer = await fixture.api('GET', '/objects', { key });
    refused(answer, 403, 'SCOPE_MISSING');
    assert.deepEqual(answer.body.error.details, { scope: 'objects:read' });
  });

  it('returns the error envelope for unknown paths, methods and media types', async () => {
    refused(await fixture.api('GET', '/nowhere'), 404, 'NOT_FOUND');
    refused(await fixture.send('GET', '/api/v2/objects'), 404, 'NOT_FOUND');
    refused(await fixture.api('GET', '/objects/no-id'), 404, 'NOT_FOUND');
    refused(await fixture.api('GET', '/objects/a%00b'), 404, 'NOT_FOUND');
    const method = await fixture.api('PUT', '/objects');
    refused(method, 405, 'METHOD_NOT_ALLOWED');
    assert.deepEqual(
      (method.headers.get('allow') ?? '').split(/, */).filter((name) => name !== 'HEAD' && name !== 'OPTIONS'),
      ['GET', 'POST'],
    );
    const body = JSON.stringify({ typeDefinitionId: 'ticket', values: { subject: 'x' } });
    for (const type of ['text/plain', 'application/xml', 'application/json; charset=utf-16']) {
      refused(
        await fixture.api('POST', '/objects', { body, headers: { 'content-type': type } }),
        415,
        'UNSUPPORTED_MEDIA_TYPE',
        type,
      );
    }
    refused(
      await fixture.api('POST', '/objects', { body, headers: { 'content-encoding': 'gzip' } }),
      415,
      'UNSUPPORTED_MEDIA_TYPE',
    );
  });

  it('accepts strict JSON only (E-400)', async () => {
    const deep = (depth: number): string =>
      `{"typeDefinitionId":"ticket","values":{"subject":${'['.repeat(depth)}${']'.repeat(depth)}}}`;
    for (const body of [
      '{',
      'nonsense',
      '{"typeDefinitionId":"ticket","values":{"subject":"x"},}',
      "{'typeDefinitionId':'ticket'}",
      '{"typeDefinitionId":"ticket","typeDefinitionId":"part","values":{}}',
      '{"typeDefinitionId":"ticket","values":{"subject":"x","__proto__":{}}}',
      '{"typeDefinitionId":"ticket","values":{"subject":"x","constructor":1}}',
      deep(100),
      deep(100_000),
      Buffer.from('7b2261223a22ff227d', 'hex'),
      '{"a":NaN}',
    ]) {
      const began = performance.now();
      const answer = await fixture.api('POST', '/objects', { body });
      refused(answer, 400, 'INVALID_JSON', String(body).slice(0, 60));
      // A bound against hanging; how long the event loop is held is measured by `test/proofs/event-loop.ts`.
      assert.ok(performance.now() - began < 10_000);
    }
    const beyond = await fixture.api('POST', '/objects', {
      body: '{"typeDefinitionId":"ticket","values":{"subject":"x","hours":1e400}}',
    });
    assert.equal(beyond.status, 400, 'a number that nothing can hold');
    for (const body of ['[]', '"x"', '5', 'null', 'true'])
      refused(await fixture.api('POST', '/objects', { body }), 400, 'INVALID_REQUEST', body);
    refused(await fixture.api('POST', '/objects'), 400, 'INVALID_REQUEST', 'no body');
  });

  it('rejects unknown properties and reports their path', async () => {
    const query = await fixture.api('GET', '/objects?pagesize=5');
    refused(query, 400, 'INVALID_REQUEST');
    assert.deepEqual(
      query.body.error.details.map((detail: { path: string }) => detail.path),
      ['query.pagesize'],
    );
    refused(await fixture.api('GET', '/metadata/types?page=1'), 400, 'INVALID_REQUEST', 'a list without pages');
    refused(await fixture.api('GET', '/objects?sort=subject'), 400, 'INVALID_REQUEST');
    const body = { typeDefinitionId: 'ticket', values: { subject: 'x' }, value: {} };
    const answer = await fixture.api('POST', '/objects', { body });
    refused(answer, 400, 'INVALID_REQUEST');
    assert.deepEqual(
      answer.body.error.details.map((detail: { path: string }) => detail.path),
      ['/value'],
    );
  });

  it('accepts expectedRevision only as an integer (C-7)', async () => {
    const { id } = await fixture.create();
    for (const expectedRevision of ['1', true, null, [1], 1.5, 0, -1, '0x1', {}, 2 ** 53, undefined]) {
      for (const [method, rest] of [
        ['PATCH', { changes: { subject: 'y' } }],
        ['DELETE', {}],
      ] as const) {
        const answer = await fixture.api(method, `/objects/${id}`, { body: { expectedRevision, ...rest } });
        refused(answer, 400, 'INVALID_REQUEST', `${method} ${String(expectedRevision)}`);
      }
    }
    assert.equal((await fixture.api('GET', `/objects/${id}`)).body.data.revision, 1);
  });

  it('takes the revision of a DELETE from the body or from If-Match', async () => {
    const remove = async (call: object): Promise<Answer> =>
      await fixture.api('DELETE', `/objects/${(await fixture.create()).id}`, call);
    refused(await remove({}), 400, 'INVALID_REQUEST');
    assert.equal((await remove({ headers: { 'if-match': '"1"' } })).status, 200);
    assert.equal((await remove({ headers: { 'if-match': '"1"' }, body: { expectedRevision: 1 } })).status, 200);
    refused(await remove({ headers: { 'if-match': '"2"' }, body: { expectedRevision: 1 } }), 400, 'INVALID_REQUEST');
    refused(await remove({ headers: { 'if-match': '"2"' } }), 409, 'REVISION_CONFLICT');
    for (const tag of ['1', 'W/"1"', '*', '"x"'])
      refused(await remove({ headers: { 'if-match': tag } }), 400, 'INVALID_REQUEST', tag);
  });

  it('validates paging parameters (L-pageSize, L-page)', async () => {
    for (const query of [
      'page=0',
      'page=-1',
      'page=x',
      'page=1.0',
      'page=1e2',
      'page=99999999999999999999',
      'page=',
      'page=1&page=2',
    ]) {
      refused(await fixture.api('GET', `/objects?${query}`), 400, 'INVALID_REQUEST', query);
    }
    for (const query of ['pageSize=0', 'pageSize=101', 'pageSize=ten'])
      refused(await fixture.api('GET', `/objects?${query}`), 400, 'INVALID_REQUEST', query);
    refused(await fixture.api('GET', '/objects?page=10001&pageSize=100'), 400, 'INVALID_REQUEST', 'beyond the reach');
    const past = await fixture.api('GET', '/objects?page=10000&pageSize=100');
    assert.deepEqual([past.status, past.body.data.rows, past.body.data.hasMore], [200, [], false]);
    const first = (await fixture.api('GET', '/objects')).body.data;
    assert.deepEqual([first.page, first.pageSize], [1, 25]);
  });

  it('accepts bodies up to 10 MiB exactly and returns 413 above (L-body, E-413)', async () => {
    const sized = (bytes: number): string => {
      const head = '{"typeDefinitionId":"ticket","values":{"subject":"x"}';
      return `${head}${' '.repeat(bytes - head.length - 1)}}`;
    };
    assert.equal((await fixture.api('POST', '/objects', { body: sized(LIMIT - 1) })).status, 201);
    assert.equal((await fixture.api('POST', '/objects', { body: sized(LIMIT) })).status, 201);
    refused(await fixture.api('POST', '/objects', { body: sized(LIMIT + 1) }), 413, 'BODY_TOO_LARGE');
    assert.equal(await chunked(LIMIT + 1), 413);
    assert.equal(await chunked(5 * LIMIT), 413);
    assert.equal((await fixture.api('GET', '/objects')).status, 200, 'and goes on');
  });

  it('returns the error envelope for malformed and oversized requests', async () => {
    const large = await raw(`GET /api/v1/objects?x=${'a'.repeat(66_000)} HTTP/1.1\r\nHost: x\r\n\r\n`);
    assert.match(large, /^HTTP\/1\.1 431 /);
    assert.match(large, /"code":"HEADERS_TOO_LARGE"/);
    const broken = await raw('GARBAGE\r\n\r\n');
    assert.match(broken, /^HTTP\/1\.1 400 /);
    assert.match(broken, /"error":\{"code":"INVALID_REQUEST"/);
    const two = await raw(
      'POST /api/v1/objects HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
    );
    assert.match(two, /^HTTP\/1\.1 400 /);
  });

  it('limits requests per key and reports how many remain (E-429)', async () => {
    fixture.isOwn(`a service started with DOCKET_RATE_LIMIT=${RATE}`);
    const key = await fixture.keyOf('helper', 'metadata:read');
    const first = await fixture.api('GET', '/metadata/types', { key });
    assert.match(first.headers.get('ratelimit-policy') ?? '', new RegExp(`q=${RATE};w=60`));
    assert.match(first.headers.get('ratelimit') ?? '', /r=\d+;t=\d+/);
    let last = first;
    for (let sent = 1; sent < RATE * 2 && last.status === 200; sent += 20) {
      const answers = await Promise.all(
        Array.from({ length: 20 }, () => fixture.api('GET', '/metadata/types', { key })),
      );
      last = answers.find(({ status }) => status !== 200) ?? last;
    }
    refused(last, 429, 'RATE_LIMITED');
    assert.match(last.headers.get('retry-after') ?? '', /^[1-9]\d*$/);
    assert.match(last.headers.get('ratelimit') ?? '', /r=0;/);
    assert.equal((await fixture.api('GET', '/metadata/types')).status, 200, 'another key has its own');
  });

  it('serves health endpoints outside the API path', async () => {
    assert.equal((await fixture.send('GET', '/healthz', { key: undefined })).status, 200);
    assert.equal((await fixture.send('GET', '/readyz', { key: undefined })).status, 200);
    const metrics = await fixture.send('GET', '/metrics', { key: undefined });
    assert.equal(metrics.status, 200);
    assert.match(metrics.text, /^# (?:HELP|TYPE) /m);
  });

  it('writes neither keys nor values to the log', async () => {
    await fixture.create({ subject: 'канарейка-в-журнале' });
    await fixture.api('POST', '/objects', { body: '{"канарейка' });
    assert.ok(fixture.output.length > 1000, 'there is a log');
    for (const secret of [fixture.key, fixture.key.slice(20, 60), 'канарейка'])
      assert.ok(!fixture.output.includes(secret));
  });
});
