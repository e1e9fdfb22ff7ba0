/**
 * Versions of a type (docs/spec/records.md#values): compatible changes apply to all records at once; an incompatible change
 * creates a version that new records use, while stored records keep theirs until they are migrated.
 */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Fault } from '../src/lib/fault.ts';
import { type MigratedBatch, migrateTypeBatch } from '../src/domain/objects/index.ts';
import { startTestApp, type TestAnswer, type TestApp } from './support/app.ts';
import { watchAnswers } from './support/response-check.ts';
import { ACTIONS, bundle, stored } from './support/small-configuration.ts';

type Field = Record<string, unknown> & { code: string };

const FIELDS: readonly Field[] = [
  { code: 'title', dataType: 'string', required: true, constraints: { maxLength: 10 } },
  { code: 'size', dataType: 'integer', constraints: { min: 0, max: 9 } },
  { code: 'kind', dataType: 'enum', constraints: { options: [{ code: 'a' }, { code: 'b' }] } },
  { code: 'note', dataType: 'text' },
];
const OLD = { title: 'old', size: 7, kind: 'b', note: 'kept' };

const ROLES = [
  {
    code: 'keeper',
    name: 'Keeper',
    records: [{ type: '*', actions: ACTIONS.split(', '), fields: { read: '*', write: '*' } }],
    assignedTo: { users: ['alice'] },
  },
];
const USERS = ['alice', 'bob'].map((login) => ({ login, displayName: login, email: `${login}@example.org` }));

/** The fields with one of them changed, added, or (null) taken away. */
function changed(code: string, change: Record<string, unknown> | null): Field[] {
  const others = FIELDS.filter((field) => field.code !== code);
  if (change === null) return others;
  const before = FIELDS.find((field) => field.code === code) ?? {};
  return [...others, { ...before, ...change, code }];
}

let app: TestApp;
/** Responses that do not match the OpenAPI document. */
let undocumented: string[];
let key: string;

/** Applies the type. Values of removed fields and options are discarded on confirmation. */
const apply = async (code: string, fields: readonly Field[], more = {}): Promise<void> => {
  const files = bundle(JSON.stringify({ types: [{ code, name: code, title: 'title', fields, ...more }] }));
  await app.apply(files).catch(async (error: Fault) => {
    if (error.code !== 'VALUES_WOULD_BE_LOST') throw error;
    await app.apply(files, { discard: (error.details as { path: string }[]).map(({ path }) => path) });
  });
};
const post = async (typeDefinitionId: string, values: unknown): Promise<TestAnswer> =>
  await app.request('POST', '/api/v1/objects', { key, body: { typeDefinitionId, values } });
const patch = async (id: string, expectedRevision: number, changes: unknown): Promise<TestAnswer> =>
  await app.request('PATCH', `/api/v1/objects/${id}`, { key, body: { expectedRevision, changes } });
const get = async (path: string, who = key): Promise<TestAnswer> =>
  await app.request('GET', `/api/v1${path}`, { key: who });

async function versionsOf(code: string): Promise<number> {
  const found = await stored<{ n: number }>(
    app,
    'SELECT count(*)::int AS n FROM type_versions v JOIN config_items c ON c.id = v.type_id WHERE c.code = $1',
    [code],
  );
  return found[0]?.n ?? 0;
}

const codesIn = (answer: TestAnswer): string[] =>
  (answer.body.data.fields as Field[]).map((field) => field.code).sort();

async function newType(code: string): Promise<string> {
  await apply(code, FIELDS);
  const made = await post(code, OLD);
  assert.equal(made.status, 201, JSON.stringify(made.body));
  return made.body.data.id;
}

async function moveBatch(code: string, from: string | null): Promise<MigratedBatch> {
  const result = await app.app.work.write(app.app.system(), (ctx) => migrateTypeBatch(ctx, code, from));
  if (result.kind !== 'done') throw new Error('no replay is possible here');
  return result.data;
}

async function migrated(code: string): Promise<{ moved: number; unmoved: MigratedBatch['unmoved'] }> {
  const total = { moved: 0, unmoved: [] as MigratedBatch['unmoved'] };
  let next: string | null = null;
  do {
    const batch = await moveBatch(code, next);
    total.moved += batch.moved;
    total.unmoved.push(...batch.unmoved);
    next = batch.next;
  } while (next !== null);
  return total;
}

describe('type versions', () => {
  before(async () => {
    app = await startTestApp({ bundle: bundle(JSON.stringify({ roles: ROLES, users: USERS })) });
    undocumented = watchAnswers(app);
    ({ key } = await app.createKey({ login: 'alice' }));
  });
  after(() => app.close());

  it('apply a compatible change to all records at once', async () => {
    const cases: [string, Field[], Record<string, unknown>][] = [
      ['new-field', changed('extra', { dataType: 'date' }), { extra: '2026-11-21' }],
      [
        'new-option',
        changed('kind', { constraints: { options: [{ code: 'c' }, { code: 'a' }, { code: 'b' }] } }),
        { kind: 'c' },
      ],
      ['wider-text', changed('title', { constraints: { maxLength: 20 } }), { title: 'longer than ten' }],
      ['wider-number', changed('size', { constraints: { max: 99 } }), { size: 42 }],
      ['other-name', changed('note', { name: 'Remark', description: 'Free text', readOnly: true }), { note: 'other' }],
      ['less-required', changed('title', { required: false }), { title: null }],
      ['new-default', changed('note', { default: 'as usual' }), { note: 'other' }],
      ['other-order', [...FIELDS].reverse(), { note: 'other' }],
    ];
    for (const [code, fields, change] of cases) {
      const id = await newType(code);
      await apply(code, fields);
      assert.equal(await versionsOf(code), 1, code);
      assert.deepEqual((await get(`/objects/${id}`)).body.data.values, OLD, code);
      const answer = await patch(id, 1, change);
      assert.equal(answer.status, 200, `${code}: ${JSON.stringify(answer.body)}`);
      assert.deepEqual(codesIn(await get(`/objects/${id}/schema`)), fields.map((field) => field.code).sort());
    }
    const renamed = (await get('/metadata/types/other-name/fields')).body.data.fields as Field[];
    assert.equal(renamed.find((field) => field.code === 'note')?.['name'], 'Remark');
  });

  it('apply an incompatible change only to new records', async () => {
    const cases: [string, Field[], Record<string, unknown>, Record<string, unknown>][] = [
      // What an old record still accepts, and a new one does not.
      ['field-gone', changed('note', null), { note: 'again' }, { note: 'x' }],
      ['new-required', changed('must', { dataType: 'string', required: true }), { title: 'other' }, {}],
      ['became-required', changed('size', { required: true }), { size: null }, { size: null }],
      ['other-type', changed('size', { dataType: 'string', constraints: {} }), { size: 3 }, { size: 3 }],
      ['became-list', changed('note', { multiple: true }), { note: 'again' }, { note: 'x' }],
      [
        'option-gone',
        changed('kind', { constraints: { options: [{ code: 'a' }] } }),
        { kind: 'b', title: 'z' },
        { kind: 'b' },
      ],
      [
        'narrower',
        changed('title', { constraints: { maxLength: 5 } }),
        { title: 'ten digits' },
        { title: 'ten digits' },
      ],
      ['lower-bound', changed('size', { constraints: { min: 0, max: 5 } }), { size: 9 }, { size: 9 }],
    ];
    for (const [code, fields, still, nevermore] of cases) {
      const id = await newType(code);
      await apply(code, fields);
      assert.equal(await versionsOf(code), 2, code);
      const read = await get(`/objects/${id}`);
      assert.deepEqual(read.body.data.values, OLD, code);
      assert.equal(read.body.data.revision, 1);
      assert.deepEqual(codesIn(await get(`/objects/${id}/schema`)), FIELDS.map((field) => field.code).sort(), code);
      assert.deepEqual(
        codesIn(await get(`/metadata/types/${code}/fields`)),
        fields.map((field) => field.code).sort(),
        code,
      );
      const old = await patch(id, 1, still);
      assert.equal(old.status, 200, `${code}: ${JSON.stringify(old.body)}`);
      const fresh = await post(code, { title: 'new', ...nevermore });
      assert.equal(fresh.status, 400, `${code}: ${JSON.stringify(fresh.body)}`);
      assert.equal(fresh.body.error.code, 'INVALID_VALUES');
      await apply(code, fields);
      assert.equal(await versionsOf(code), 2, 'the same again changes nothing');
    }
  });

  it('migrate stored records on request, with defaults, repeatably', async () => {
    const code = 'moving';
    const id = await newType(code);
    const many = await Promise.all(Array.from({ length: 210 }, (_, index) => post(code, { title: `t${index}` })));
    assert.ok(many.every(({ status }) => status === 201));
    await apply(code, [
      ...changed('note', null),
      { code: 'must', dataType: 'string', required: true, default: 'filled' },
    ]);
    const fresh = (await post(code, { title: 'fresh' })).body.data;
    assert.deepEqual(await migrated(code), { moved: 211, unmoved: [] });
    assert.deepEqual(await migrated(code), { moved: 0, unmoved: [] });
    const { data } = (await get(`/objects/${id}`)).body;
    assert.deepEqual(data.values, { title: 'old', size: 7, kind: 'b', must: 'filled' });
    assert.equal(data.revision, 2);
    const last = (await get(`/objects/${id}/history`)).body.data.at(-1);
    assert.equal(last.actor.via, 'system');
    const { note: _, ...kept } = OLD;
    const past = (await get(`/objects/${id}?revision=1`)).body;
    assert.deepEqual(past.data.values, kept, 'without the field that no longer exists');
    assert.deepEqual(past.meta.asOf, { revision: 1, at: data.createdAt });
    const { changes } = (await get(`/objects/${id}/diff?from=1&to=2`)).body.data;
    assert.deepEqual(
      changes.map(({ field, from, to }: any) => [field, from, to]),
      [['must', null, 'filled']],
    );
    assert.ok((last.changes as { field: string }[]).some(({ field }) => field === 'must'));
    assert.equal(
      (await get(`/objects/${fresh.id}`)).body.data.revision,
      1,
      'a record of the newest version is left alone',
    );
    const wrong = await stored(
      app,
      `SELECT 1 FROM objects o JOIN config_items c ON c.id = o.type_id WHERE c.code = $1 AND o.type_version <> 2`,
      [code],
    );
    assert.deepEqual(wrong, []);
  });

  it('leave alone records that cannot be migrated, and report why', async () => {
    const code = 'stuck';
    const id = await newType(code);
    const fits = (await post(code, { title: 'fits', size: 3 })).body.data.id;
    await apply(code, changed('size', { constraints: { min: 0, max: 5 } }));
    const { moved, unmoved } = await migrated(code);
    assert.equal(moved, 1);
    assert.deepEqual(
      unmoved.map((one) => [one.id, one.reasons.map(({ field }) => field)]),
      [[id, ['size']]],
    );
    assert.deepEqual((await get(`/objects/${id}`)).body.data.values, OLD);
    assert.equal((await get(`/objects/${fits}`)).body.data.revision, 1, 'where no value changes there is no revision');
    assert.equal((await patch(id, 1, { size: 4 })).status, 200);
    assert.deepEqual(await migrated(code), { moved: 1, unmoved: [] });
  });

  it('do not reuse a code with another meaning before migration', async () => {
    const code = 'returning';
    const id = await newType(code);
    await apply(code, changed('note', null));
    await assert.rejects(apply(code, changed('note', { dataType: 'integer' })), (error: { details: unknown }) =>
      JSON.stringify(error.details).includes('note'),
    );
    assert.equal(await versionsOf(code), 2);
    assert.equal((await get(`/objects/${id}`)).body.data.values.note, 'kept');
    await apply(code, FIELDS);
    await apply(code, changed('note', null));
    await migrated(code);
    await apply(code, changed('note', { dataType: 'integer' }));
    assert.equal((await patch(id, 2, { note: 5 })).status, 200);
  });

  it('evaluate conditions by the newest version', async () => {
    const code = 'judged';
    const id = await newType(code);
    const grant = (where: unknown): unknown => ({
      code: 'judge',
      name: 'Judge',
      records: [{ type: code, where, actions: ['read'], fields: { read: '*', write: [] } }],
      assignedTo: { users: ['bob'] },
    });
    await app.apply(bundle(JSON.stringify({ roles: [grant({ field: 'size', operator: 'after', value: 5 })] })));
    const bob = (await app.createKey({ login: 'bob' })).key;
    assert.equal((await get(`/objects/${id}`, bob)).status, 200);
    const fields = changed('size', { dataType: 'string', constraints: {} });
    const where = {
      logic: 'OR',
      conditions: [
        { field: 'size', operator: 'equals', value: '7' },
        { field: 'size', operator: 'is-empty' },
      ],
    };
    const type = { code, name: code, title: 'title', fields };
    await app.apply(bundle(JSON.stringify({ types: [type], roles: [grant(where)] })));
    assert.equal((await get(`/objects/${id}`, bob)).status, 404, 'a value of another data type matches nothing');
    const fresh = (await post(code, { title: 'fresh', size: '7' })).body.data.id;
    const rows = (await get(`/objects?typeId=${code}`, bob)).body.data.rows as { id: string }[];
    assert.deepEqual(
      rows.map((row) => row.id),
      [fresh],
    );
    await migrated(code);
    assert.equal((await get(`/objects/${id}`, bob)).status, 200, 'once it is moved it does');
  });

  it('respond only as the OpenAPI documents describe', () => {
    assert.deepEqual(undocumented.slice(0, 3), []);
  });
});
