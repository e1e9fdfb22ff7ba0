/** Exports through HTTP (docs/spec/import-export-bulk.md#exports, docs/spec/import-export-bulk.md). */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { parse } from 'csv-parse/sync';
import { assertRejected } from '../../../test/support/record-fixture.ts';
import type { TestAnswer } from '../../../test/support/app.ts';
import {
  type ImportExportFixture,
  type FixtureUser,
  startImportExportFixture,
  verdicts,
} from '../../../test/support/import-export-fixture.ts';
import { readCsv } from '../../lib/csv.ts';

let x: ImportExportFixture;

const asked = (who: FixtureUser, more: object = {}): Promise<TestAnswer> =>
  x.call(who, 'POST', '/exports', { typeDefinitionId: 'ticket', format: 'CSV', ...more });

async function table(answer: TestAnswer): Promise<{ header: string[]; records: Record<string, string>[] }> {
  assert.equal(answer.status, 200, JSON.stringify(answer.body));
  const text = answer.body as string;
  const chunks = async function* (): AsyncGenerator<string> {
    yield text;
  };
  const records: Record<string, string>[] = [];
  for await (const { columns, cells } of readCsv(chunks())) {
    records.push(Object.fromEntries([...columns].map(([name, at]) => [name, cells[at] ?? ''])));
  }
  return { header: (text.split('\r\n')[0] ?? '').split(','), records };
}

/** One value of every data type, some of which a spreadsheet would execute. */
async function everything(): Promise<Record<string, unknown>> {
  const { id: asset } = await x.make({ serial: '=A;1', kind: 'a' }, 'asset');
  const { id: other } = await x.make({ serial: 'B', kind: 'a' }, 'asset');
  const id = async (from: string): Promise<string> =>
    (await x.rows<{ id: string }>(`SELECT id FROM ${from}`))[0]?.id ?? '';
  return {
    title: '=cmd|x',
    kind: 'b',
    count: -5,
    cost: '-1.5',
    urgent: false,
    day: '2026-11-21',
    at: '2026-11-21T09:15:00.000Z',
    lasts: '-PT5M',
    time: '09:15:00',
    note: '+a\r\n"b"; c,\td',
    tags: ['-x', 'a; b', 'say "x"', "'="],
    numbers: [-1, 2],
    body: { type: 'doc', content: [{ type: 'paragraph', content: [{ type: 'text', text: 'Жёлтый; "дом"' }] }] },
    any: { '=a': [1, null, 'x;y'] },
    link: 'https://example.org/?a=1;b',
    mail: '=a@example.org',
    phone: '+7 495 123-45-67',
    assignee: await id(`users WHERE login = 'boss'`),
    team: await id('groups'),
    unit: await id('org_units'),
    asset,
    assets: [asset, other],
    secret: "'@hush",
    grade: "''",
  };
}

describe('exports', () => {
  before(async () => {
    x = await startImportExportFixture();
  });
  after(() => x.close());

  it('return JSON like the API and CSV with system columns and fields by code', async () => {
    const made = await x.make({ title: 'Один', count: 3, tags: ['a', 'b'] });
    const record = await x.ok('boss', 'GET', `/objects/${made.id}`);
    const json = await asked('boss', { format: 'JSON' });
    assert.deepEqual(json.body, [record]);
    assert.match(json.headers.get('content-type') ?? '', /^application\/json/);
    assert.match(json.headers.get('content-disposition') ?? '', /^attachment; filename="ticket\.json"/);
    const csv = await asked('boss');
    assert.match(csv.headers.get('content-type') ?? '', /^text\/csv; charset=utf-8/);
    assert.match(csv.headers.get('content-disposition') ?? '', /^attachment; filename="ticket\.csv"/);
    const { header, records } = await table(csv);
    const system = ['id', 'number', 'revision', 'state', 'workflowState', 'createdAt', 'updatedAt'];
    assert.deepEqual(header.slice(0, 7), system);
    assert.deepEqual(header.slice(7), [
      'title',
      'kind',
      'count',
      'cost',
      'urgent',
      'day',
      'at',
      'lasts',
      'time',
      'note',
      'tags',
      'numbers',
      'body',
      'any',
      'link',
      'mail',
      'phone',
      'assignee',
      'team',
      'unit',
      'asset',
      'assets',
      'parent',
      'secret',
      'grade',
    ]);
    const [one] = records;
    assert.deepEqual(
      system.map((name) => one?.[name]),
      [made.id, made.number, '1', 'ACTIVE', 'new', record.createdAt, record.updatedAt],
    );
    assert.deepEqual([one?.['title'], one?.['count'], one?.['tags'], one?.['note']], ['Один', '3', 'a; b', '']);
  });

  it('contain only what the caller may read', async () => {
    await x.make({ title: 'Other', kind: 'b', secret: 'canary-row' });
    await x.make({ title: 'Mine', kind: 'a', secret: 'canary-field', cost: '77.31', grade: 'A' });
    for (const format of ['CSV', 'JSON']) {
      const { body } = await asked('clerk', { format });
      const text = typeof body === 'string' ? body : JSON.stringify(body);
      assert.ok(text.includes('Mine') && !text.includes('Other'), format);
      assert.doesNotMatch(text, /canary|77\.31|"secret"|,secret/);
    }
    const { header } = await table(await asked('clerk'));
    assert.deepEqual(header.slice(7), ['title', 'kind', 'count', 'note', 'asset', 'parent', 'grade']);
    assertRejected(await asked('stranger'), 403, 'RIGHT_MISSING');
    assertRejected(await asked('porter'), 400, 'INVALID_REQUEST');
    const unknown = await asked('clerk', { typeDefinitionId: 'nothing' });
    assertRejected(unknown, 400, 'INVALID_REQUEST');
    const { body } = await asked('porter');
    assert.deepEqual(body.error, unknown.body.error, 'what is hidden is what is not there');
  });

  it('accept filters on filterable and readable fields', async () => {
    for (const count of [100, 101, 102]) await x.make({ title: `F${count}`, count, secret: `s${count}` });
    const filtered = async (who: FixtureUser, filter: unknown) =>
      await asked(who, { format: 'JSON', query: { filter } });
    const titles = (answer: TestAnswer): string[] => answer.body.map(({ title }: { title: string }) => title).sort();
    assert.deepEqual(titles(await filtered('boss', { field: 'count', operator: 'after', value: 100 })), [
      'F101',
      'F102',
    ]);
    assert.deepEqual(titles(await filtered('boss', { field: 'secret', operator: 'equals', value: 's101' })), ['F101']);
    assert.deepEqual(titles(await filtered('boss', { field: 'title', operator: 'in', value: ['F100', '$me'] })), [
      'F100',
    ]);
    const hidden = await filtered('clerk', { field: 'secret', operator: 'equals', value: 's101' });
    const unknown = await filtered('clerk', { field: 'nothing', operator: 'equals', value: 's101' });
    const unfiltered = await filtered('clerk', { field: 'note', operator: 'equals', value: 's101' });
    for (const [answer, field] of [[hidden, 'secret'] as const, [unfiltered, 'note'] as const]) {
      assertRejected(answer, 400, 'INVALID_FILTER');
      assert.equal(JSON.stringify(answer.body.error).replaceAll(field, 'nothing'), JSON.stringify(unknown.body.error));
    }
    assert.equal(unknown.body.error.details[0].path, '/query/filter/field');
    for (const query of [{ filter: { logic: 'AND', conditions: [] } }, { more: 1 }, 5, null]) {
      assert.equal((await asked('boss', { query })).status, 400, JSON.stringify(query));
    }
  });

  it('accept words, with and without a filter', async () => {
    for (const count of [1, 2, 3]) await x.make({ title: `Zebra ${count}`, count, secret: 'quagga', kind: 'a' });
    await x.make({ title: 'Zebras in sight', kind: 'b' });
    const titles = async (who: FixtureUser, query: unknown): Promise<string[]> =>
      (await asked(who, { format: 'JSON', query })).body.map(({ title }: { title: string }) => title);
    const all = ['Zebras in sight', 'Zebra 3', 'Zebra 2', 'Zebra 1'];
    assert.deepEqual(await titles('boss', 'zebra'), all);
    assert.deepEqual(await titles('boss', { q: 'zebra' }), all);
    assert.deepEqual(await titles('clerk', 'zebra'), all.slice(1));
    const filter = { field: 'count', operator: 'after', value: 1 };
    assert.deepEqual(await titles('boss', { q: 'zebra', filter }), ['Zebra 3', 'Zebra 2']);
    assert.deepEqual((await titles('boss', 'quagga')).length, 3);
    assert.deepEqual(await titles('clerk', 'quagga'), [], 'no word of a hidden field is matched');
    assert.equal((await asked('boss', { format: 'JSON', query: 'zebra', limit: 2 })).body.length, 2);
  });

  it('return active records, newest first, up to the limit', async () => {
    const { id } = await x.make({ title: 'Gone' });
    await x.ok('boss', 'DELETE', `/objects/${id}`, { expectedRevision: 1 });
    await x.make({ title: 'Newest' });
    const some = await asked('boss', { format: 'JSON', limit: 2 });
    assert.deepEqual([some.body.length, some.body[0].title], [2, 'Newest']);
    const all = await asked('boss', { format: 'JSON' });
    assert.ok(!all.body.some(({ title }: { title: string }) => title === 'Gone'));
    for (const limit of [0, 10_001, 1.5, '5', null])
      assertRejected(await asked('boss', { limit }), 400, 'INVALID_REQUEST');
    assert.equal((await asked('boss', { limit: 10_000 })).status, 200);
    assertRejected(await asked('boss', { format: 'XML' }), 400, 'INVALID_REQUEST');
  });

  it('change nothing when they are imported again, in either format', async () => {
    const { id } = await x.make(await everything());
    await x.make({ title: '-', kind: null });
    const fields = (await table(await asked('boss'))).header.slice(7);
    const before = await x.rows('SELECT id, revision, "values" FROM objects ORDER BY id');
    const csv = await x.define({
      resolver: { externalIdField: 'id' },
      mapping: fields.map((code) => ({ source: code, target: code })),
    });
    const text = (await asked('boss')).body as string;
    for (const cell of (parse(text) as string[][]).flat()) {
      assert.doesNotMatch(cell, /^[=+@\t\r]|^-(?![0-9.]+$)/, 'a spreadsheet would run it');
    }
    for (const dryRun of [true, false]) {
      const run = await x.run('boss', csv, text, dryRun);
      assert.deepEqual(
        new Set(verdicts(run)),
        new Set(['SKIPPED']),
        JSON.stringify(run.rows.filter((one) => one.errors.length > 0)),
      );
    }
    const json = await x.define({
      format: 'JSON',
      resolver: { externalIdField: 'id' },
      mapping: fields.map((code) => ({ source: `values.${code}`, target: code })),
    });
    const array = JSON.stringify((await asked('boss', { format: 'JSON' })).body);
    assert.deepEqual(new Set(verdicts(await x.run('boss', json, array))), new Set(['SKIPPED']));
    assert.deepEqual(await x.rows('SELECT id, revision, "values" FROM objects ORDER BY id'), before);
    // One edited cell is one change.
    const edited = await x.run('boss', csv, text.replace('Жёлтый', 'Белый').replaceAll(/'\+a/g, "'+b"));
    assert.deepEqual(
      edited.rows.filter(({ status }) => status === 'UPDATED').map((row) => row.id),
      [id],
    );
  });

  it('create equal records when imported elsewhere', async () => {
    const { id } = await x.make(await everything());
    const { header, records } = await table(await asked('boss', { limit: 1 }));
    const definition = await x.define({
      resolver: { externalIdField: 'key' },
      mapping: header.slice(7).map((code) => ({ source: code, target: code })),
    });
    const [record] = records;
    const text = (await asked('boss', { limit: 1 })).body
      .replace(/^id,/, 'key,')
      .replace(record?.['id'] ?? '', 'copy-1');
    const run = await x.run('boss', definition, text);
    assert.deepEqual(verdicts(run), ['CREATED']);
    const [one, other] = await Promise.all([id, run.rows[0]?.id].map((of) => x.ok('boss', 'GET', `/objects/${of}`)));
    assert.deepEqual(other.values, one.values);
  });
});

describe('large exports', () => {
  let key: string;
  before(async () => {
    x = await startImportExportFixture();
    ({ key } = await x.app.createKey({ login: 'boss', scopes: ['exports:read'] }));
    const { id } = await x.make({ title: 'Pattern', note: 'я'.repeat(1500) });
    await x.rows(
      `INSERT INTO objects (id, type_id, type_version, title, revision, workflow_state_id, "values", folded, created_at, updated_at)
       SELECT gen_random_uuid(), o.type_id, o.type_version, o.title, 1, o.workflow_state_id, o."values", o.folded,
         now() - make_interval(secs => n), now()
       FROM objects o, generate_series(1, 9000) AS n WHERE o.id = $1`,
      [id],
    );
  });
  after(() => x.close());

  it('end with a complete row below 16 MiB', async () => {
    for (const format of ['JSON', 'CSV']) {
      const answer = await asked('boss', { format, limit: 10_000 });
      assert.equal(answer.status, 200);
      const rows = format === 'JSON' ? answer.body : (await table(answer)).records;
      const text =
        format === 'JSON' ? `[${answer.body.map((row: unknown) => JSON.stringify(row)).join(',\n')}]\n` : answer.body;
      const bytes = Buffer.byteLength(text);
      const most = 16 * 1024 * 1024;
      assert.ok(bytes <= most && bytes > most - 8000, `${format}: ${bytes}`);
      assert.ok(rows.length > 3000 && rows.length < 9001, `${rows.length} rows`);
    }
  });

  it('abort when a right is withdrawn, so that no incomplete file looks complete', async () => {
    const response = await fetch(`${x.app.url}/api/v1/exports`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ typeDefinitionId: 'ticket', format: 'JSON', limit: 10_000 }),
    });
    assert.equal(response.status, 200);
    await x.rows(`UPDATE users SET state = 'ARCHIVED' WHERE login = 'boss'`);
    await x.rows('UPDATE cache_versions SET rights = rights + 1');
    await x.app.app.versions.refresh();
    await assert.rejects(response.text());
  });
});
