/**
 * Every data type through HTTP: on the wire in, stored, out, in lists, in the history, changed, cleared, refused
 * (docs/spec/records.md#values).
 */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import { DATA_TYPES, type DataType } from '../src/lib/data-types/index.ts';
import { startTestApp, type TestAnswer, type TestApp } from './support/app.ts';
import { watchAnswers } from './support/response-check.ts';
import { ACTIONS, bundle, idOf, stored, user, withoutCorrelation } from './support/small-configuration.ts';

const code = (dataType: DataType): string => `one_${dataType.replace('-', '_')}`;
const many = (dataType: DataType): string => `many_${dataType.replace('-', '_')}`;
const LISTED: readonly DataType[] = [
  'string',
  'integer',
  'decimal',
  'date',
  'datetime',
  'enum',
  'reference',
  'user',
  'email',
];

const extras: Partial<Record<DataType, string>> = {
  enum: ', constraints: { options: [{ code: p1 }, { code: p2 }, { code: p3 }] }',
  reference: ', constraints: { types: [asset] }',
};
const field = (name: string, dataType: DataType, rest = ''): string =>
  `      - { code: ${name}, dataType: ${dataType}${extras[dataType] ?? ''}${rest} }\n`;

const WORLD = `
types:
  - code: sample
    name: Sample
    title: title
    fields:
      - { code: title, dataType: string, required: true }
${DATA_TYPES.map((dataType) => field(code(dataType), dataType)).join('')}${LISTED.map((dataType) =>
  field(many(dataType), dataType, ', multiple: true'),
).join('')}
  - code: limited
    name: Limited
    title: title
    fields:
      - { code: title, dataType: string, required: true, constraints: { minLength: 2, maxLength: 5 } }
      - { code: kind, dataType: enum, required: true, default: p2, constraints: { options: [{ code: p1 }, { code: p2 }] } }
      - { code: note, dataType: string, default: as usual }
      - { code: amount, dataType: decimal, constraints: { min: '0', max: '9.99', scale: 2 } }
      - { code: count, dataType: integer, constraints: { min: 1, max: 3 } }
      - { code: article, dataType: string, constraints: { pattern: '[A-Z]{2}-[0-9]+' } }
      - { code: tags, dataType: string, multiple: true, constraints: { maxItems: 3 } }
      - { code: shut, dataType: string }
      - { code: unseen, dataType: string }
  - { code: asset, name: Asset, title: title, fields: [{ code: title, dataType: string }] }
  - { code: other, name: Other, title: title, fields: [{ code: title, dataType: string }] }
services: [{ code: laptop, name: Laptop, audience: { everyone: true } }]
orgUnits: [{ code: hq, name: Head office }]
groups: [{ code: desk, name: Desk }]
roles:
  - code: keeper
    records: [{ type: '*', actions: [${ACTIONS}], fields: { read: '*', write: '*' } }]
    assignedTo: { users: [alice] }
  - code: partial
    records:
      - type: limited
        actions: [read, create, update, history]
        fields: { read: [title, kind, note, tags, shut], write: [title, kind, note, tags] }
    assignedTo: { users: [bob] }
users:
${['alice', 'bob'].map(user).join('')}`;

const rich = (text: string): unknown => ({
  type: 'doc',
  content: [{ type: 'paragraph', content: [{ type: 'text', text }] }],
});

interface Case {
  /** [as sent, as answered]. The second follows the first in a change. */
  good: [unknown, unknown][];
  bad: unknown[];
}

const same = (value: unknown): [unknown, unknown] => [value, value];

let app: TestApp;
let undocumented: string[];
let key: string;
let partial: string;

async function casesOf(): Promise<Record<DataType, Case>> {
  const [asset, asset2, stranger] = await Promise.all(
    ['asset', 'asset', 'other'].map(async (typeDefinitionId) => {
      const made = await app.request('POST', '/api/v1/objects', {
        key,
        body: { typeDefinitionId, values: { title: 'x' } },
      });
      return made.body.data.id as string;
    }),
  );
  const [alice, bob, desk, laptop] = await Promise.all([
    idOf(app, 'users', 'alice'),
    idOf(app, 'users', 'bob'),
    idOf(app, 'groups', 'desk'),
    idOf(app, 'config_items', 'laptop'),
  ]);
  const [hq] = await stored<{ id: string }>(app, "SELECT id FROM org_units WHERE code = 'hq'");
  const nobody = randomUUID();
  const noId = [nobody, 'alice', 5, {}, [], true, '00000000-0000-0000-0000-00000000000'];
  return {
    string: {
      good: [same('Принтер "ё" <b>&</b> 🖨'), ['Cafe\u0301', 'Caf\u00e9']],
      bad: [5, true, {}, ['x'], 'two\nlines', 'x'.repeat(1001)],
    },
    text: {
      good: [same('Первая\nвторая\r\n\tтретья'), same('я'.repeat(100_000))],
      bad: [7, {}, ['x'], 'x'.repeat(100_001)],
    },
    'rich-text': {
      good: [
        [
          '<p>Привет, <strong>мир</strong><script>alert(1)</script></p>',
          {
            type: 'doc',
            content: [
              {
                type: 'paragraph',
                content: [
                  { type: 'text', text: 'Привет, ' },
                  { type: 'text', text: 'мир', marks: [{ type: 'bold' }] },
                ],
              },
            ],
          },
        ],
        same(rich('Второй')),
      ],
      bad: [5, true, ['x'], { type: 'nonsense' }, { type: 'doc', content: [{ type: 'script' }] }],
    },
    integer: { good: [same(0), same(-9_007_199_254_740_991)], bad: ['7', 1.5, 2 ** 53, true, '', [1]] },
    decimal: {
      good: [
        ['12.50', '12.5'],
        [0.1, '0.1'],
        ['-0', '0'],
        same('-123456789012345678901234567890.000000000000000000001'),
      ],
      bad: ['1e5', 'x', '', '1,5', true, ' 1', '0x10', [1], 'NaN', 'Infinity'],
    },
    boolean: { good: [same(true), same(false)], bad: ['true', 1, 0, '', 'yes'] },
    date: {
      good: [same('2024-02-29'), same('0001-01-01')],
      bad: ['2023-02-29', '2024-2-9', '2024-01-01T00:00:00Z', 20_240_101, ''],
    },
    datetime: {
      good: [['2026-11-21T12:15:00+03:00', '2026-11-21T09:15:00.000Z'], same('2016-12-31T23:59:59.999Z')],
      bad: ['2026-11-21', '2026-11-21T09:15:00', 'yesterday', '2026-02-30T00:00:00Z', 0, ''],
    },
    duration: { good: [same('PT4H'), same('P1Y2M3DT4H5M6S')], bad: ['4h', 'P', 'PT', 4, ''] },
    enum: { good: [same('p1'), same('p3')], bad: ['p9', 'P1', '', '__proto__', 'toString', 1, ['p1']] },
    reference: { good: [same(asset), [asset2?.toUpperCase(), asset2]], bad: [...noId, stranger, alice] },
    user: { good: [same(alice), same(bob)], bad: [...noId, desk] },
    group: { good: [same(desk)], bad: [...noId, alice] },
    'org-unit': { good: [same(hq?.id)], bad: [...noId, alice] },
    service: { good: [same(laptop)], bad: [...noId, asset] },
    url: {
      good: [same('https://пример.рф/путь?q=1&r=2#x'), same('http://127.0.0.1:8080/')],
      bad: ['javascript:alert(1)', 'ftp://example.org/', 'example.org', '', 'https://me:secret@example.org/', 5],
    },
    email: {
      good: [same('a.b+c@example.org'), same('анна@пример.рф')],
      bad: ['a@', 'a b@example.org', 'x', '', 5, 'a@b@c.org'],
    },
    phone: { good: [same('+7 (495) 123-45-67'), same('112')], bad: ['call me', '', '+', 84_951_234_567] },
    time: { good: [['09:30', '09:30:00'], same('23:59:59')], bad: ['24:00', '9:30', 930, '', '12:60'] },
    json: {
      good: [same({ a: [1, null, { б: 'я' }], '': 1.5 }), same([]), same('text'), same(false), same(0)],
      bad: ['x'.repeat(65_536)],
    },
  };
}

const post = async (values: unknown, typeDefinitionId = 'sample', who = key): Promise<TestAnswer> =>
  await app.request('POST', '/api/v1/objects', { key: who, body: { typeDefinitionId, values } });
const patch = async (id: string, expectedRevision: number, changes: unknown, who = key): Promise<TestAnswer> =>
  await app.request('PATCH', `/api/v1/objects/${id}`, { key: who, body: { expectedRevision, changes } });
const get = async (path: string, who = key): Promise<TestAnswer> =>
  await app.request('GET', `/api/v1${path}`, { key: who });

interface Event {
  revision: number;
  changes: { field: string; from: unknown; to: unknown }[];
}

/** The record has the value wherever it is read: by id, in the list, in the history, in the database. */
async function stands(id: string, name: string, value: unknown, revision: number, from: unknown): Promise<void> {
  const read = await get(`/objects/${id}`);
  assert.deepEqual(read.body.data.values[name], value, `${name} by id`);
  assert.equal(read.body.data.revision, revision, name);
  const list = await get('/objects?typeId=sample');
  const row = (list.body.data.rows as { id: string; values: Record<string, unknown> }[]).find((one) => one.id === id);
  assert.deepEqual(row?.values, read.body.data.values, `${name} in the list`);
  const history = (await get(`/objects/${id}/history`)).body.data as Event[];
  const last = history.at(-1);
  assert.equal(last?.revision, revision);
  const change = last?.changes.find((one) => one.field === name);
  assert.deepEqual(change, { field: name, from: from ?? null, to: value ?? null }, `${name} in the history`);
  const [kept] = await stored<{ there: boolean; value: unknown }>(
    app,
    `SELECT "values" ? $2 AS there, "values" -> $2 AS value FROM objects WHERE id = $1`,
    [id, name],
  );
  assert.deepEqual(kept, { there: value !== undefined, value: value ?? null }, `${name} in the database`);
}

function problems(answer: TestAnswer): string[] {
  assert.equal(answer.status, 400, JSON.stringify(answer.body));
  assert.equal(answer.body.error.code, 'INVALID_VALUES', JSON.stringify(answer.body));
  return (answer.body.error.details as { path: string }[]).map(({ path }) => path).sort();
}

describe('record values', () => {
  let cases: Record<DataType, Case>;
  before(async () => {
    app = await startTestApp({ bundle: bundle(WORLD) });
    undocumented = watchAnswers(app);
    ({ key } = await app.createKey({ login: 'alice' }));
    partial = (await app.createKey({ login: 'bob' })).key;
    cases = await casesOf();
  });
  after(() => app.close());

  for (const dataType of DATA_TYPES) {
    it(`keep ${dataType} in canonical form`, async () => {
      const name = code(dataType);
      for (const [sent, answered] of cases[dataType].good) {
        const made = await post({ title: dataType, [name]: sent });
        assert.equal(made.status, 201, JSON.stringify(made.body).slice(0, 500));
        assert.deepEqual(made.body.data.values, { title: dataType, [name]: answered });
        await stands(made.body.data.id, name, answered, 1, null);
      }
      const { id } = (await post({ title: dataType })).body.data;
      let revision = 1;
      let from: unknown;
      for (const [sent, answered] of cases[dataType].good) {
        const changed = await patch(id, revision++, { [name]: sent });
        assert.equal(changed.status, 200, JSON.stringify(changed.body).slice(0, 500));
        assert.deepEqual(changed.body.data.values[name], answered);
        await stands(id, name, answered, revision, from);
        for (const again of [sent, answered]) {
          const equal = await patch(id, revision, { [name]: again });
          assert.equal(equal.body.data?.revision, revision, 'an equal value is no change');
        }
        from = answered;
      }
      const cleared = await patch(id, revision, { [name]: null });
      assert.equal(cleared.status, 200);
      await stands(id, name, undefined, revision + 1, from);
      const again = await patch(id, revision + 1, { [name]: null });
      assert.equal(again.body.data.revision, revision + 1, 'nothing is left to clear');
      const events = await stored(app, 'SELECT 1 FROM journal WHERE object_id = $1', [id]);
      assert.equal(events.length, revision + 1);
    });

    it(`reject an invalid ${dataType}`, async () => {
      const name = code(dataType);
      const { id } = (await post({ title: dataType })).body.data;
      for (const value of cases[dataType].bad) {
        const where = JSON.stringify(value)?.slice(0, 60);
        const made = problems(await post({ title: dataType, [name]: value }));
        assert.ok(made.length > 0 && made.every((path) => path.startsWith(`/values/${name}`)), where);
        const changed = problems(await patch(id, 1, { [name]: value }));
        assert.ok(changed.length > 0 && changed.every((path) => path.startsWith(`/changes/${name}`)), where);
      }
      assert.equal((await get(`/objects/${id}`)).body.data.revision, 1);
    });
  }

  for (const dataType of LISTED) {
    it(`keep lists of ${dataType} in order`, async () => {
      const name = many(dataType);
      const sent = cases[dataType].good.map(([value]) => value);
      const answered = cases[dataType].good.map(([, value]) => value);
      const made = await post({ title: 'list', [name]: sent });
      assert.equal(made.status, 201, JSON.stringify(made.body));
      const { id } = made.body.data;
      await stands(id, name, answered, 1, null);
      const reversed = [...answered].reverse();
      assert.equal((await patch(id, 1, { [name]: reversed })).body.data.revision, 2, 'the order is part of the value');
      await stands(id, name, reversed, 2, answered);
      for (const bad of [answered[0], [...answered, answered[0]], [null], [[]], { 0: answered[0] }]) {
        assert.ok(problems(await patch(id, 2, { [name]: bad })).every((path) => path.startsWith(`/changes/${name}`)));
      }
      assert.ok(
        !Object.hasOwn((await patch(id, 2, { [name]: [] })).body.data.values, name),
        'an empty list is no value',
      );
      await stands(id, name, undefined, 3, reversed);
    });
  }

  it('have at most 100 elements', async () => {
    const list = (length: number): number[] => [...Array(length).keys()];
    assert.equal((await post({ title: 'x', [many('integer')]: list(100) })).status, 201);
    assert.deepEqual(problems(await post({ title: 'x', [many('integer')]: list(101) })), [
      `/values/${many('integer')}`,
    ]);
  });

  it('report all problems at once', async () => {
    const answer = await post({ one_integer: 'x', one_date: 'x', one_user: randomUUID(), nowhere: 1, one_enum: 'p9' });
    const named = problems(answer);
    for (const path of [
      '/values/nowhere',
      '/values/one_date',
      '/values/one_enum',
      '/values/one_integer',
      '/values/title',
    ]) {
      assert.ok(named.includes(path), `${path} in ${named}`);
    }
  });

  it('respect constraints', async () => {
    const limits: [string, unknown, unknown][] = [
      ['title', 'ab', 'a'],
      ['title', 'ёёёёё', 'ёёёёёё'],
      ['amount', '9.99', '10'],
      ['amount', '0', '-0.01'],
      ['amount', '1.25', '1.255'],
      ['count', 3, 4],
      ['count', 1, 0],
      ['article', 'AB-17', 'AB-17 '],
      ['tags', ['a', 'b', 'c'], ['a', 'b', 'c', 'd']],
    ];
    for (const [name, good, bad] of limits) {
      const made = await post({ title: 'abc', [name]: good }, 'limited');
      assert.equal(made.status, 201, `${name}: ${JSON.stringify(made.body)}`);
      assert.deepEqual(problems(await post({ title: 'abc', [name]: bad }, 'limited')), [`/values/${name}`]);
    }
  });

  it('use defaults for absent properties, never for null', async () => {
    const filled = await post({ title: 'abc' }, 'limited');
    assert.deepEqual(filled.body.data.values, { title: 'abc', kind: 'p2', note: 'as usual' });
    const emptied = await post({ title: 'abc', note: null }, 'limited');
    assert.deepEqual(emptied.body.data.values, { title: 'abc', kind: 'p2' });
    assert.deepEqual(problems(await post({ title: 'abc', kind: null }, 'limited')), ['/values/kind']);
    const { id } = filled.body.data;
    assert.deepEqual(problems(await patch(id, 1, { title: null })), ['/changes/title']);
    assert.deepEqual(problems(await patch(id, 1, { kind: null })), ['/changes/kind']);
    const { fields } = (await get('/metadata/types/limited/fields')).body.data;
    const published = Object.fromEntries(
      (fields as { code: string; required: boolean; default?: unknown }[]).map((one) => [one.code, one]),
    );
    assert.equal(published['title']?.required, true);
    assert.equal(published['kind']?.required, false);
    assert.equal(published['kind']?.default, 'p2');
  });

  it('reject hidden, unknown and read-only fields, the first two with the same message', async () => {
    const made = await post({ title: 'abc', shut: 'stays', unseen: 'hush' }, 'limited');
    const { id } = made.body.data;
    const comparable = (answer: TestAnswer, name: string): string =>
      withoutCorrelation(answer)
        .replaceAll(name, 'NAME')
        .replace(/\["content-length","\d+"\],?/, '');
    for (const value of ['x', null, 5, 'hush', { deep: [] }]) {
      const hidden = await patch(id, 1, { unseen: value }, partial);
      const unknown = await patch(id, 1, { nowhere: value }, partial);
      assert.equal(comparable(hidden, 'unseen'), comparable(unknown, 'nowhere'));
      assert.deepEqual(problems(hidden), ['/changes/unseen']);
      const [a, b] = [
        await post({ title: 'abc', unseen: value }, 'limited', partial),
        await post({ title: 'abc', nowhere: value }, 'limited', partial),
      ];
      assert.equal(comparable(a, 'unseen'), comparable(b, 'nowhere'));
    }
    for (const answer of [
      await patch(id, 1, { shut: 'moves' }, partial),
      await patch(id, 1, { title: 'abcd', shut: 'moves' }, partial),
      await post({ title: 'abc', shut: 'x' }, 'limited', partial),
    ]) {
      assert.equal(answer.status, 403, JSON.stringify(answer.body));
      assert.equal(answer.body.error.code, 'FIELD_READ_ONLY');
      assert.match(answer.body.error.details[0].path, /^\/(?:changes|values)\/shut$/);
    }
    const left = { title: 'abc', kind: 'p2', note: 'as usual', shut: 'stays' };
    assert.deepEqual((await get(`/objects/${id}`, partial)).body.data.values, left);
    assert.equal((await get(`/objects/${id}`)).body.data.revision, 1);
  });

  it('respond only as the OpenAPI documents describe', () => {
    assert.deepEqual(undocumented.slice(0, 3), []);
  });
});
