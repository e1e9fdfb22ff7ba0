import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import Type from 'typebox';
import { closed, Id, nullable } from '../contract/schemas.ts';
import { type Answer, sendRaw, type Sample, startSample, THING_ID } from '../../test/support/http-sample.ts';
import { bodyCheck, queryReader } from './validate.ts';

describe('request input', () => {
  let sample: Sample;
  before(async () => {
    sample = await startSample();
  });
  after(() => sample.close());

  const post = (body: string | Uint8Array<ArrayBuffer>, headers: Record<string, string> = {}): Promise<Answer> =>
    sample.ask('/api/v1/things', { method: 'POST', body, headers });
  const codes = ({ status, body }: Answer): unknown => [
    status,
    body.error.code,
    ...(body.error.details as { path: string; code: string }[]).map((one) => `${one.path} ${one.code}`),
  ];

  it('passes a body unchanged', async () => {
    const { status, body } = await post('{"name":"Имя","values":{"a":null,"b":[1.5]}}');
    assert.equal(status, 201);
    assert.deepEqual(body.data.body, { name: 'Имя', values: { a: null, b: [1.5] } });
  });

  it('does not coerce values of a body', async () => {
    for (const value of ['null', '0', '"true"', '[]', '{}']) {
      assert.deepEqual(codes(await post(`{"name":"x","dryRun":${value}}`)), [
        400,
        'INVALID_REQUEST',
        '/dryRun WRONG_TYPE',
      ]);
    }
    for (const value of ['"1"', 'true', 'null', '[3]', '"0x10"', '1.5', '1e300']) {
      const answer = await post(`{"name":"x","expectedRevision":${value}}`);
      assert.deepEqual(codes(answer), [400, 'INVALID_REQUEST', '/expectedRevision WRONG_TYPE'], value);
    }
    assert.deepEqual(codes(await post('{"name":"x","expectedRevision":0}')), [
      400,
      'INVALID_REQUEST',
      '/expectedRevision TOO_SMALL',
    ]);
    assert.deepEqual(codes(await post('{"name":null}')), [400, 'INVALID_REQUEST', '/name WRONG_TYPE']);
    assert.deepEqual(codes(await post('{"name":5}')), [400, 'INVALID_REQUEST', '/name WRONG_TYPE']);
    assert.deepEqual(codes(await post('[]')), [400, 'INVALID_REQUEST', ' WRONG_TYPE']);
    assert.deepEqual(codes(await post('"x"')), [400, 'INVALID_REQUEST', ' WRONG_TYPE']);
  });

  it('reports all problems of query and body at once', async () => {
    const answer = await sample.ask('/api/v1/things?x=1&x=2', {
      method: 'POST',
      body: '{"nme":1,"dryRun":"no","a/b":{}}',
    });
    assert.deepEqual(codes(answer), [
      400,
      'INVALID_REQUEST',
      'query.x UNKNOWN',
      'query.x UNKNOWN',
      '/name REQUIRED',
      '/nme UNKNOWN',
      '/dryRun WRONG_TYPE',
      '/a~1b UNKNOWN',
    ]);
    assert.equal(answer.body.error.message, 'The request has 6 problems. Correct each of them in details.');
    assert.equal((await post('{}')).body.error.message, '/name: The property name is missing. Add it.');
  });

  it('parses JSON strictly', async () => {
    const bad = [
      '{',
      '{"name":"x",}',
      "{'name':1}",
      '{"name":"x","name":"y"}',
      '\u{feff}{"name":"x"}',
      'NaN',
      '{"name":"\\u0000"}',
    ];
    for (const body of [...bad, '{"name":"\\ud800"}']) {
      const { status, body: answer } = await post(body);
      assert.deepEqual([status, answer.error.code], [400, 'INVALID_JSON'], body);
    }
    // Numbers are validated where they are read: here a string is expected.
    for (const body of ['{"name":1e400}', '{"name":9007199254740993}']) {
      const { status, body: answer } = await post(body);
      assert.deepEqual([status, answer.error.code], [400, 'INVALID_REQUEST'], body);
    }
    const invalidUtf8 = Buffer.concat([Buffer.from('{"name":"'), Buffer.from([0xff, 0xfe]), Buffer.from('"}')]);
    assert.equal((await post(invalidUtf8)).body.error.code, 'INVALID_JSON');
  });

  it('rejects keys of prototypes at any depth', async () => {
    for (const key of ['__proto__', 'constructor', 'prototype']) {
      for (const body of [`{"name":"x","${key}":{"polluted":1}}`, `{"name":"x","values":{"${key}":{"polluted":1}}}`]) {
        const { status, body: answer } = await post(body);
        assert.deepEqual([status, answer.error.code], [400, 'INVALID_JSON'], body);
      }
    }
    assert.equal((await sample.ask('/api/v1/things?__proto__=1')).body.error.details[0].code, 'UNKNOWN');
    assert.equal((await sample.ask('/api/v1/things?toString=1')).body.error.details[0].code, 'UNKNOWN');
    assert.equal(({} as Record<string, unknown>).polluted, undefined);
  });

  it('handles deep and wide JSON', async () => {
    const deep = '['.repeat(100_000) + ']'.repeat(100_000);
    assert.equal((await post(deep)).body.error.code, 'INVALID_JSON');
    const attack = await post(`{"name":"x","values":{"a":${'['.repeat(5_000_000)}}}`);
    assert.deepEqual([attack.status, attack.body.error.code], [400, 'INVALID_JSON']);
    const many = `{"name":"x",${Array.from({ length: 5000 }, (_, i) => `"k${i}":1`).join()}}`;
    assert.equal((await post(many)).body.error.details.length, 100);
  });

  it('accepts JSON in UTF-8 only', async () => {
    const type = async (value: string | undefined): Promise<number> => {
      const headers: Record<string, string> = value === undefined ? {} : { 'content-type': value };
      return (await post(Buffer.from('{"name":"x"}'), headers)).status;
    };
    for (const good of ['application/json', 'application/json; charset=utf-8', 'APPLICATION/JSON;charset="UTF-8"']) {
      assert.equal(await type(good), 201, good);
    }
    const bad = ['text/plain', 'application/jsonx', 'application/json-patch+json', 'application/json; charset=latin1'];
    for (const type_ of [...bad, 'application/x-www-form-urlencoded', 'json', 'application/json\t,text/plain']) {
      assert.equal(await type(type_), 415, type_);
    }
    const encoded = await post('{"name":"x"}', { 'content-encoding': 'gzip' });
    assert.deepEqual([encoded.status, encoded.body.error.code], [415, 'UNSUPPORTED_MEDIA_TYPE']);
    assert.equal((await post('{"name":"x"}', { 'content-encoding': 'identity' })).status, 201);
    const coded = 'POST /api/v1/things HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer good\r\nConnection: close\r\n';
    const transfer = 'Content-Type: application/json\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n';
    assert.match(await sendRaw(sample.port, coded + transfer), /^HTTP\/1\.1 415 /);
    const none = await sample.ask('/api/v1/things', {
      method: 'POST',
      body: Buffer.from('{}'),
      headers: { 'content-type': 'x' },
    });
    assert.equal(none.status, 415);
  });

  it('requires a body where one is declared, and rejects one elsewhere', async () => {
    const ask = (method: string, path: string, body?: string): Promise<Answer> =>
      sample.ask(`/api/v1${path}`, { method, ...(body === undefined ? {} : { body }) });
    assert.deepEqual(codes(await ask('POST', '/things')), [400, 'INVALID_REQUEST', ' REQUIRED']);
    assert.deepEqual(codes(await ask('DELETE', `/things/${THING_ID}`)), [400, 'INVALID_REQUEST', ' REQUIRED']);
    const empty = await ask('DELETE', `/things/${THING_ID}`, '{}');
    assert.deepEqual(codes(empty), [400, 'INVALID_REQUEST', '/expectedRevision REQUIRED']);
    assert.equal((await ask('POST', `/things/${THING_ID}/pause`)).status, 200);
    assert.equal((await ask('POST', `/things/${THING_ID}/pause`, '{}')).status, 200);
    const enable = `/api/admin/v1/things/${THING_ID}/enable`;
    assert.equal((await sample.ask(enable, { method: 'POST' })).status, 200);
    assert.equal((await sample.ask(enable, { method: 'POST', body: ' { } ' })).status, 200);
    assert.equal((await sample.ask(enable, { method: 'POST', body: '{"a":1}' })).status, 400);
  });

  it('accepts If-Match as the expected revision', async () => {
    const ask = async (ifMatch: string, body?: string): Promise<Answer> =>
      await sample.ask(`/api/v1/things/${THING_ID}`, {
        method: 'DELETE',
        headers: { 'if-match': ifMatch },
        ...(body === undefined ? {} : { body }),
      });
    for (const body of [undefined, '{}', '{"expectedRevision":3}']) {
      assert.deepEqual((await ask('"3"', body)).body.data.body, { expectedRevision: 3 });
    }
    assert.deepEqual(codes(await ask('"3"', '{"expectedRevision":4}')), [
      400,
      'INVALID_REQUEST',
      'header.If-Match MISMATCH',
    ]);
    assert.deepEqual(codes(await ask('"3"', '{"expectedRevision":"3"}')), [
      400,
      'INVALID_REQUEST',
      'header.If-Match MISMATCH',
      '/expectedRevision WRONG_TYPE',
    ]);
    for (const bad of ['3', '*', 'W/"3"', '"0"', '"03"', '"3", "4"', '"99999999999999999"']) {
      assert.equal((await ask(bad, '{"expectedRevision":3}')).status, 400, bad);
    }
  });

  it('coerces a query by its schema, from the canonical form only', async () => {
    const { body } = await sample.ask('/api/v1/things?q=a+b%2B%D1%8F&archived=true&kind=b&page=12');
    assert.deepEqual(body.data.query, { q: 'a b+я', archived: true, kind: 'b', page: 12 });
    assert.deepEqual((await sample.ask('/api/v1/things?&q')).body.data.query, { q: '', page: 1 }, 'with the default');
    const bad: [string, string][] = [
      ['page=1e2', 'query.page WRONG_TYPE'],
      ['page=01', 'query.page WRONG_TYPE'],
      ['page=', 'query.page WRONG_TYPE'],
      ['page=+1', 'query.page WRONG_TYPE'],
      ['page=-0', 'query.page WRONG_TYPE'],
      ['page=1.0', 'query.page WRONG_TYPE'],
      ['page=0', 'query.page TOO_SMALL'],
      ['page=99999999999999999999', 'query.page WRONG_TYPE'],
      ['page=1001', 'query.page TOO_LARGE'],
      ['archived=1', 'query.archived WRONG_TYPE'],
      ['kind=c', 'query.kind NOT_ALLOWED'],
      ['page=1&page=1', 'query.page REPEATED'],
      ['q=%00', 'query.q WRONG_FORMAT'],
      ['q=%ff', 'query.q WRONG_FORMAT'],
      ['q=%', 'query.q WRONG_FORMAT'],
      ['q[]=1', 'query.q[] UNKNOWN'],
      ['pagesize=1', 'query.pagesize UNKNOWN'],
    ];
    for (const [query, problem] of bad) {
      assert.deepEqual(codes(await sample.ask(`/api/v1/things?${query}`)), [400, 'INVALID_REQUEST', problem], query);
    }
  });

  it('returns the error envelope for a query that is too long', async () => {
    const answer = await sample.ask(`/api/v1/things?q=${'x'.repeat(20_000)}`);
    assert.deepEqual(codes(answer), [400, 'INVALID_REQUEST', 'query.q TOO_LONG']);
  });

  it('treats a malformed id like an unknown id', async () => {
    for (const id of ['x', '123', `${THING_ID}0`, '%20', 'null', "';--"]) {
      const { status, body } = await sample.ask(`/api/v1/things/${id}`);
      assert.deepEqual([status, body.error.code], [404, 'NOT_FOUND'], id);
    }
    const upper = await sample.ask(`/api/v1/things/${THING_ID.toUpperCase()}`);
    assert.equal(upper.body.data.params.thingId, THING_ID);
    const both = await sample.ask('/api/v1/things/x', { method: 'DELETE', body: '{}' });
    assert.equal(both.status, 400, 'the body is validated before existence, as in other operations');
  });
});

describe('validation messages', () => {
  const problems = (schema: Parameters<typeof bodyCheck>[0], value: unknown): unknown =>
    bodyCheck(schema, 'test')(value)?.map((one) => `${one.path} ${one.code} ${one.message}`);

  it('count characters as code points', () => {
    const schema = closed({
      name: Type.String({ maxLength: 3 }),
      more: Type.Array(nullable(Type.String({ maxLength: 2 }))),
    });
    assert.equal(problems(schema, { name: '👍👍👍', more: ['ab', null] }), undefined);
    assert.deepEqual(problems(schema, { name: `a${'\u0301'.repeat(3)}`, more: [`b${'\u0301'.repeat(9)}`] }), [
      '/name TOO_LONG Use at most 3 characters.',
      '/more/0 TOO_LONG Use at most 2 characters.',
    ]);
  });

  it('choose the intended branch of a union', () => {
    const one = closed({ kind: Type.Literal('one'), size: Type.Integer({ minimum: 1 }) });
    const two = closed({ kind: Type.Literal('two'), id: Id });
    const schema = closed({ item: Type.Union([one, two]), id: nullable(Id) });
    assert.equal(problems(schema, { item: { kind: 'one', size: 2 }, id: null }), undefined);
    assert.deepEqual(problems(schema, { item: { kind: 'one', size: 0 }, id: 'x' }), [
      '/item/size TOO_SMALL Use 1 or more.',
      '/id WRONG_FORMAT Use an id (a UUID).',
    ]);
    assert.deepEqual(problems(schema, { item: { kind: 'three' }, id: 5 }), [
      '/item/kind NOT_ALLOWED Use one of "one", "two".',
      '/id WRONG_TYPE Use an id (a UUID) or null.',
    ]);
    assert.deepEqual(problems(schema, { item: 1, id: THING_ID.toUpperCase() }), [
      '/item WRONG_TYPE Use an object.',
      '/id WRONG_FORMAT Use an id (a UUID).',
    ]);
  });

  it('cover lists, maps and recursive values', () => {
    const schema = closed({
      list: Type.Array(Type.Integer(), { minItems: 2, maxItems: 3, uniqueItems: true }),
      map: Type.Record(Type.String({ pattern: '^[a-z]+$' }), Type.Boolean(), {
        maxProperties: 2,
        additionalProperties: false,
      }),
    });
    assert.deepEqual(problems(schema, { list: [1], map: { a: 1 } }), [
      '/list TOO_FEW The number of items must be at least 2.',
      '/map/a WRONG_TYPE Use true or false.',
    ]);
    assert.deepEqual(problems(schema, { list: [1, 1, 'x'], map: { A: true } }), [
      '/list/1 NOT_UNIQUE The list contains this item twice. Remove one of them.',
      '/list/2 WRONG_TYPE Use an integer.',
      '/map/A UNKNOWN Unknown property A. Check its spelling.',
    ]);
    const node = closed({
      op: Type.Union([Type.Literal('and'), Type.Literal('or')]),
      of: Type.Array(Type.Ref('Node'), { maxItems: 2 }),
    });
    const tree = Type.Cyclic({ Node: node }, 'Node');
    assert.deepEqual(problems(tree, { op: 'and', of: [{ op: 'xor', of: [] }, { of: [1] }] }), [
      '/of/0/op NOT_ALLOWED Use one of "and", "or".',
      '/of/1/op REQUIRED The property op is missing. Add it.',
      '/of/1/of/0 WRONG_TYPE Use an object.',
    ]);
  });

  it('cover queries of operations without a query schema', () => {
    assert.deepEqual(queryReader(undefined, 'test')(''), { query: {}, problems: [] });
    assert.equal(queryReader(undefined, 'test')('a=1').problems.length, 1);
  });
});
