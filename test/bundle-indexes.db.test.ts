/** Indexes of filterable fields follow the configuration outside of its transactions (docs/spec/configuration.md#bundle). */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import sql, { raw } from 'sql-template-tag';
import { type IndexedTypes, pendingFieldIndexes, reconcileFieldIndexes } from '../src/configuration/field-indexes.ts';
import { ownFieldView } from '../src/domain/access/index.ts';
import { typeView } from '../src/domain/metadata/index.ts';
import { loadSnapshot } from '../src/platform/unit-of-work/snapshot.ts';
import { type BundleFixture, file, startBundleFixture } from './support/bundle-fixture.ts';

const bundle = (parts: string): ReturnType<typeof file> =>
  file(
    `types: [ { code: a, fields: [ { code: title, dataType: string, search: { filter: true } }, { code: size, dataType: integer, ${parts} }, { code: tags, dataType: enum, multiple: true, constraints: { options: [ { code: x } ] }, search: { filter: true } }, { code: raw, dataType: json, search: { filter: true } } ] } ]`,
  );

describe('indexes of filterable fields', () => {
  let fixture: BundleFixture;
  before(async () => {
    fixture = await startBundleFixture();
    // Builds the indexes that do not depend on the configuration.
    await reconcileFieldIndexes(fixture.db, await types(), new Map());
  });
  after(() => fixture.close());

  const types = async (): Promise<IndexedTypes> => (await loadSnapshot(fixture.db)).get(typeView);
  const steps = (items: readonly { action: string; field?: string }[]): string[] =>
    items.map(({ action, field }) => `${action} ${field ?? ''}`.trim()).sort();
  const names = async (): Promise<string[]> => {
    const rows = await fixture.db.query<{ name: string }>(sql`
      SELECT c.relname AS name FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid WHERE c.relname LIKE 'objects_field_%' AND i.indisvalid`);
    return rows.map((row) => row.name).sort();
  };

  const known = async (): Promise<string[]> => {
    const rows = await fixture.db.query<{ name: string }>(sql`
      SELECT stxname AS name FROM pg_statistic_ext WHERE stxname LIKE 'objects_known_%'`);
    return rows.map((row) => row.name);
  };

  it('are pending after an apply, then built', async () => {
    await fixture.apply(bundle('search: { filter: true }'));
    assert.deepEqual(steps(await pendingFieldIndexes(fixture.db, await types(), new Map())), [
      'build size',
      'build tags',
      'build title',
    ]);
    assert.deepEqual(steps(await reconcileFieldIndexes(fixture.db, await types(), new Map())), [
      'build size',
      'build tags',
      'build title',
    ]);
    assert.deepEqual(await pendingFieldIndexes(fixture.db, await types(), new Map()), []);
    assert.deepEqual(await reconcileFieldIndexes(fixture.db, await types(), new Map()), []);
    assert.equal((await names()).length, 3);
    // Single values of ours: title and size; a list has an index of another kind.
    assert.equal((await known()).length, 2);
  });

  it("include the fields that decide which records are the caller's own", async () => {
    const owner =
      '{ code: owner, dataType: user }, { code: team, dataType: group, multiple: true }, { code: size, dataType: integer }';
    const own = `{ logic: OR, conditions: [ { field: createdBy, operator: equals, value: $me }, { field: owner, operator: in, value: [$me] }, { field: team, operator: in, value: [$myGroups] } ] }`;
    const grant = (where: string, actions: string): string =>
      `{ type: b, where: ${where}, actions: [${actions}], fields: { read: '*' } }`;
    const roles = (records: string): ReturnType<typeof file> =>
      file(`types: [ { code: b, fields: [ ${owner} ] } ]\nroles: [ { code: r, records: [ ${records} ] } ]`);
    const wanted = async (): Promise<string[]> => {
      const snapshot = await loadSnapshot(fixture.db);
      const all = await pendingFieldIndexes(fixture.db, snapshot.get(typeView), snapshot.get(ownFieldView));
      return steps(all.filter(({ type }) => type === 'b'));
    };
    await fixture.apply(roles(grant(own, 'read')));
    assert.deepEqual(await wanted(), ['build createdBy', 'build owner', 'build team']);
    // Comparisons with other values, or for other actions than reading, do not count.
    const none =
      '{ logic: AND, conditions: [ { field: size, operator: equals, value: 1 }, { field: owner, operator: not-equals, value: $me } ] }';
    await fixture.apply(roles(`${grant(none, 'read')}, ${grant(own, 'update')}`));
    assert.deepEqual(await wanted(), []);
  });

  it('are dropped when the field is no longer filterable and when the type is archived', async () => {
    await fixture.apply(bundle('required: false'));
    assert.deepEqual(steps(await reconcileFieldIndexes(fixture.db, await types(), new Map())), ['drop']);
    assert.equal((await names()).length, 2);
    await fixture.apply(file('types: []'), { prune: true });
    assert.deepEqual(steps(await reconcileFieldIndexes(fixture.db, await types(), new Map())), ['drop', 'drop']);
    assert.deepEqual(await names(), []);
    assert.deepEqual(await known(), []);
  });

  it('provide statistics on how many records a condition matches', async () => {
    await fixture.apply(bundle('search: { filter: true }'));
    const [type] = await fixture.db.query<{ id: string }>(
      sql`SELECT id FROM config_items WHERE section = 'types' AND code = 'a'`,
    );
    const insert = sql`INSERT INTO objects (id, type_id, type_version, revision, "values", folded, created_at, updated_at)
      SELECT gen_random_uuid(), ${type?.id}::uuid, 1, 1, '{}', jsonb_build_object('title', 'half ' || i % 2), now(), now()
      FROM generate_series(1, 2000) AS i`;
    await fixture.db.query(insert);
    await reconcileFieldIndexes(fixture.db, await types(), new Map());
    const [title] = await fixture.db.query<{ expression: string }>(sql`
      SELECT (pg_get_statisticsobjdef_expressions(oid))[1] AS expression FROM pg_statistic_ext
      WHERE stxname LIKE 'objects_known_%' AND pg_get_statisticsobjdef(oid) LIKE '%title%'`);
    const [row] = await fixture.db.query<{ 'QUERY PLAN': [{ Plan: { 'Plan Rows': number } }] }>(
      raw(`EXPLAIN (FORMAT JSON) SELECT 1 FROM objects WHERE ${title?.expression} = 'half 1'`),
    );
    const expected = row?.['QUERY PLAN'][0].Plan['Plan Rows'] ?? 0;
    assert.ok(expected > 900 && expected < 1100, `${expected}`);
    await fixture.db.query(sql`DELETE FROM objects`);
    await fixture.apply(file('types: []'), { prune: true });
    await reconcileFieldIndexes(fixture.db, await types(), new Map());
  });

  it('are rebuilt after an interrupted build', async () => {
    await fixture.apply(bundle('search: { filter: true }'));
    await reconcileFieldIndexes(fixture.db, await types(), new Map());
    const [first] = await names();
    await fixture.db.query(sql`UPDATE pg_index SET indisvalid = false WHERE indexrelid = ${first}::regclass`);
    assert.equal((await pendingFieldIndexes(fixture.db, await types(), new Map())).length, 1);
    await reconcileFieldIndexes(fixture.db, await types(), new Map());
    assert.equal((await names()).length, 3);
  });

  it('are built by one process at a time, whose session releases the lock', async () => {
    await fixture.apply(file('types: []'), { prune: true });
    const done = await Promise.all(
      Array.from({ length: 3 }, async () => await reconcileFieldIndexes(fixture.db, await types(), new Map())),
    );
    assert.deepEqual(done.map((items) => items.length).sort(), [0, 0, 3]);
    const [row] = await fixture.db.query<{ held: number }>(sql`
      SELECT count(*) AS held FROM pg_locks WHERE locktype = 'advisory' AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`);
    assert.equal(row?.held, 0);
  });

  it('leave other indexes unchanged', async () => {
    await fixture.db.query(sql`CREATE INDEX objects_field_by_hand ON objects (updated_at)`);
    assert.deepEqual(await pendingFieldIndexes(fixture.db, await types(), new Map()), []);
    assert.deepEqual(await names(), ['objects_field_by_hand']);
  });
});
