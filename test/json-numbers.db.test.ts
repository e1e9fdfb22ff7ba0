/**
 * JSON numbers that a double cannot hold, in every channel: rejected where a number is needed, ignored where nothing reads
 * them, and exact in `json` fields: database, history, webhooks, exports and imports.
 */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import fc from 'fast-check';
import { parseStrictJson } from '../src/lib/json.ts';
import type { TestAnswer } from './support/app.ts';
import { type WebhookFixture, startWebhookFixture } from './support/webhook-fixture.ts';
import { bundle } from './support/small-configuration.ts';

const BIG = '1700000000123456789';

const WORLD = `
types:
  - code: fact
    name: Fact
    title: title
    fields:
      - { code: title, dataType: string }
      - { code: any, dataType: json }
      - { code: count, dataType: integer }
      - { code: cost, dataType: decimal, search: { filter: true } }
      - { code: flag, dataType: boolean }
      - { code: text, dataType: rich-text }
      - { code: when, dataType: datetime }
      - { code: numbers, dataType: integer, multiple: true }
      - { code: owner, dataType: user }
integrations:
  - { code: door, type: inbound-webhook, executionPrincipal: boss, enabled: true, config: { command: object.create, typeDefinitionId: fact, mapping: [{ source: title, target: title }, { source: payload, target: any }, { source: count, target: count }, { source: cost, target: cost }, { source: objectId, target: objectId }] } }
`;

let fixture: WebhookFixture;

/** A call with this text as body, so that no client rounds the number. */
async function send(method: string, path: string, body: string): Promise<TestAnswer & { text: string }> {
  const response = await fetch(`${fixture.app.url}/api/v1${path}`, {
    method,
    headers: { Authorization: `Bearer ${fixture.keys.boss}`, 'Content-Type': 'application/json' },
    ...(method === 'GET' ? {} : { body }),
  });
  const text = await response.text();
  return { status: response.status, headers: response.headers, text, body: JSON.parse(text) };
}

const get = (path: string) => send('GET', path, '');
const make = (values: string) => send('POST', '/objects', `{"typeDefinitionId":"fact","values":${values}}`);
const detailOf = ({ body }: TestAnswer): string =>
  `${body.error.code} ${body.error.details[0]?.path} ${body.error.details[0]?.code}`;

describe('JSON numbers', () => {
  let inbound: string;
  before(async () => {
    fixture = await startWebhookFixture();
    await fixture.app.apply(bundle(WORLD));
    const [row] = await fixture.rows<{ id: string }>(`SELECT id FROM config_items WHERE code = 'door'`);
    inbound = `/inbound/${row?.id}`;
  });
  after(() => fixture.close());

  it('are exact in a json field: storage, reads, history, webhooks, export and import', async () => {
    const { id: subscription } = await fixture.subscribe({ eventTypes: ['ObjectCreated'] });
    const number = fc
      .tuple(
        fc.constantFrom('', '-'),
        fc.stringMatching(/^[1-9][0-9]{0,40}$/),
        fc.stringMatching(/^(?:\.[0-9]{1,40})?$/),
        fc.stringMatching(/^(?:e-?[1-9][0-9]{0,2})?$/),
      )
      .map((parts) => parts.join(''));
    const cases = [`${BIG}`, `{"a":[${BIG},1e400],"b":-0.10000000000000000001}`, '[1e1000,1.5e-1000]'];
    await fc.assert(
      fc.asyncProperty(
        fc.oneof(
          number,
          fc.array(number, { minLength: 1, maxLength: 3 }).map((list) => `{"n":[${list.join()}]}`),
        ),
        async (value) => {
          cases.push(value);
        },
      ),
      { numRuns: 15 },
    );
    const same = (text: string, expected: unknown): void =>
      assert.ok(text.includes(JSON.stringify(expected)), `${JSON.stringify(expected)} in ${text}`);
    for (const value of cases) {
      const expected = parseStrictJson(value);
      const made = await make(`{"title":"n","any":${value}}`);
      assert.equal(made.status, 201, made.text);
      same(made.text, { title: 'n', any: expected });
      const { id } = made.body.data;
      same((await get(`/objects/${id}`)).text, expected);
      same((await get(`/objects/${id}/history`)).text, expected);
      const again = await send('PATCH', `/objects/${id}`, `{"expectedRevision":1,"changes":{"any":${value}}}`);
      assert.equal(again.body.data.revision, 1, 'the same value is no change');
      const other = await send('PATCH', `/objects/${id}`, `{"expectedRevision":1,"changes":{"any":[${BIG}]}}`);
      assert.equal(other.body.data.revision, 2, other.text);
    }
    const settled = await fixture.settled(subscription, cases.length);
    assert.equal(settled.length, cases.length);
    const bodies = fixture.receiver.received.map(({ raw }) => raw.toString('utf8')).join('\n');
    assert.ok(bodies.includes(`"any":[${BIG}]`) || bodies.includes(`"any":${BIG}`), bodies.slice(0, 300));
    for (const format of ['JSON', 'CSV']) {
      const answer = await fetch(`${fixture.app.url}/api/v1/exports`, {
        method: 'POST',
        headers: { Authorization: `Bearer ${fixture.keys.boss}`, 'Content-Type': 'application/json' },
        body: JSON.stringify({ typeDefinitionId: 'fact', format }),
      });
      const content = await answer.text();
      assert.ok(content.includes(BIG));
      const definition = await fixture.ok('boss', 'POST', '/import-definitions', {
        code: `numbers-${format.toLowerCase()}`,
        targetKind: 'object',
        targetTypeId: 'fact',
        format,
        mode: 'UPDATE_ONLY',
        sourceCode: 'numbers',
        resolver: { externalIdField: 'id' },
        mapping: [{ source: format === 'CSV' ? 'any' : 'values.any', target: 'any' }],
      });
      const run = await fixture.ok('boss', 'POST', '/imports/run', {
        definitionId: definition.id,
        content,
        dryRun: false,
      });
      assert.deepEqual(
        [run.skipped, run.failed, run.succeeded],
        [cases.length, 0, 0],
        JSON.stringify(run.rows.slice(0, 2)),
      );
    }
    assert.equal((await make('{"any":"1"}')).status, 201);
  });

  it('reject neither a call nor an import if nothing reads them', async () => {
    const body = `{"title":"in","eventTime":${BIG},"labels":{"ns":[${BIG},1e400,-1e-400,${'7'.repeat(5000)}]}}`;
    const called = await send('POST', inbound, body);
    assert.equal(called.status, 201, called.text);
    const definition = await fixture.ok('boss', 'POST', '/import-definitions', {
      code: 'ignored',
      targetKind: 'object',
      targetTypeId: 'fact',
      format: 'JSON',
      mode: 'UPSERT',
      sourceCode: 'ignored',
      resolver: { externalIdField: 'id' },
      mapping: [
        { source: 'title', target: 'title' },
        { source: 'count', target: 'count' },
        { source: 'cost', target: 'cost' },
        { source: 'any', target: 'any' },
      ],
    });
    const content = `[{"id":${BIG},"title":"A","at":${BIG}},{"id":"2","title":"B","count":${BIG}},{"id":"3","title":"C","cost":${BIG}.5,"any":${BIG}},{"id":${BIG},"title":"A"}]`;
    for (const dryRun of [true, false]) {
      const run = await fixture.ok('boss', 'POST', '/imports/run', { definitionId: definition.id, content, dryRun });
      assert.deepEqual(
        run.rows.map(({ status, externalId, errors }: any) => [status, externalId, errors[0]?.code ?? null]),
        [
          ['CREATED', BIG, null],
          ['FAILED', '2', 'OUT_OF_RANGE'],
          ['CREATED', '3', null],
          ['SKIPPED', BIG, null],
        ],
        'a number that a field reads is judged by that field',
      );
    }
    const [row] = await fixture.rows<{ text: string }>(`SELECT "values"::text AS text FROM objects WHERE title = 'C'`);
    assert.match(row?.text ?? '', new RegExp(`"cost": "${BIG}.5"`));
    assert.match(row?.text ?? '', new RegExp(`"any": ${BIG}\\b`));
  });

  it('are validated by the field, parameter or mapping that reads them, never as INVALID_JSON', async () => {
    const cases: [field: string, number: string, refusal: string][] = [
      ['title', BIG, 'WRONG_TYPE'],
      ['count', BIG, 'OUT_OF_RANGE'],
      ['count', `0.${BIG}`, 'WRONG_TYPE'],
      ['count', '1e400', 'OUT_OF_RANGE'],
      ['cost', '1e400', 'INVALID_FORMAT'],
      ['flag', BIG, 'WRONG_TYPE'],
      ['text', BIG, 'WRONG_TYPE'],
      ['when', BIG, 'WRONG_TYPE'],
      ['owner', BIG, 'WRONG_TYPE'],
      ['any', '1e1001', 'OUT_OF_RANGE'],
      ['any', '[1e-1001]', 'OUT_OF_RANGE'],
      ['any', '1e99999999999999999999', 'OUT_OF_RANGE'],
      ['any', `0.${'3'.repeat(20_000)}`, 'TOO_PRECISE'],
      ['any', '7'.repeat(70_000), 'OUT_OF_RANGE'],
      ['any', `[${Array(70).fill('1e1000').join()}]`, 'TOO_LARGE'],
    ];
    for (const [field, number, refusal] of cases) {
      const answer = await make(`{"${field}":${number}}`);
      assert.equal(answer.status, 400, `${field} ${number.slice(0, 30)} ${answer.text.slice(0, 200)}`);
      assert.equal(detailOf(answer), `INVALID_VALUES /values/${field} ${refusal}`, number.slice(0, 30));
    }
    assert.equal(detailOf(await make(`{"numbers":[1,${BIG}]}`)), 'INVALID_VALUES /values/numbers/1 OUT_OF_RANGE');
    const kept = await make(`{"cost":${BIG}.25,"count":17e2}`);
    assert.deepEqual(kept.body.data.values, { cost: `${BIG}.25`, count: 1700 });
    const { id } = kept.body.data;
    const typed: [method: string, path: string, body: string][] = [
      ['PATCH', `/objects/${id}`, `{"expectedRevision":${BIG},"changes":{"count":1}}`],
      ['PATCH', `/objects/${id}`, `{"expectedRevision":1.00000000000000000001,"changes":{"count":1}}`],
      ['PATCH', `/objects/${id}`, `{"expectedRevision":1,"changes":${BIG}}`],
      ['POST', '/objects', `{"typeDefinitionId":"fact","values":${BIG}}`],
      ['POST', '/objects', `{"typeDefinitionId":${BIG},"values":{}}`],
      ['POST', '/objects', `{"typeDefinitionId":"fact","values":{},"unknown":${BIG}}`],
      ['POST', '/objects', BIG],
      ['POST', '/bulk', `{"operation":"update","items":[{"objectId":"${id}","expectedRevision":1,"changes":${BIG}}]}`],
      ['POST', '/exports', `{"typeDefinitionId":"fact","format":"JSON","limit":${BIG}}`],
      ['POST', inbound, `{"title":"x","objectId":${BIG}}`],
    ];
    for (const [method, path, body] of typed) {
      const answer = await send(method, path, body);
      assert.deepEqual([answer.status, answer.body.error.code], [400, 'INVALID_REQUEST'], `${body} ${answer.text}`);
    }
    const bulk = `{"operation":"update","items":[{"objectId":"${id}","expectedRevision":1,"changes":{"count":${BIG}}}]}`;
    const [item] = (await send('POST', '/bulk', bulk)).body.data;
    assert.equal(item.error.details[0].code, 'OUT_OF_RANGE');
    const called = await send('POST', inbound, `{"title":"x","count":${BIG}}`);
    assert.equal(detailOf(called), 'INVALID_VALUES /values/count OUT_OF_RANGE');
    const filter = (value: string) =>
      get(`/search?filter=${encodeURIComponent(`{"field":"cost","operator":"equals","value":${value}}`)}`);
    assert.deepEqual(
      (await filter(`${BIG}.25`)).body.data.results.map((one: { id: string }) => one.id),
      [id],
    );
    assert.equal((await filter('1e400')).body.error.code, 'INVALID_FILTER');
  });

  it('compare exactly for a repeated Idempotency-Key', async () => {
    const call = (number: string) =>
      fetch(`${fixture.app.url}/api/v1/objects`, {
        method: 'POST',
        headers: {
          Authorization: `Bearer ${fixture.keys.boss}`,
          'Content-Type': 'application/json',
          'Idempotency-Key': 'exact',
        },
        body: `{"typeDefinitionId":"fact","values":{"any":${number}}}`,
      });
    const first = await (await call(BIG)).text();
    const again = await call(`${BIG}.0`);
    assert.equal(again.headers.get('idempotency-replayed'), 'true');
    const pattern = new RegExp(`"any":${BIG}[,}]`);
    assert.match(first, pattern);
    assert.match(await again.text(), pattern);
    assert.equal((await call('1700000000123456788')).status, 409);
  });
});
