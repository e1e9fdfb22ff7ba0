import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { startTestApp, type TestApp } from '../../../test/support/app.ts';
import { watchAnswers } from '../../../test/support/response-check.ts';
import { bundle, stored } from '../../../test/support/small-configuration.ts';
import {
  queryOf,
  type Searcher,
  type SearchFixture,
  startSearchFixture,
} from '../../../test/support/search-fixture.ts';

const RECORDS = 1400;

describe('pages of a search', () => {
  let world: SearchFixture;
  /** Answers from the index in memory, on the same database. */
  let second: TestApp;
  let problems: string[];
  before(async () => {
    world = await startSearchFixture();
    const first = await world.make({ title: 'heron', region: 'north', kind: 'open', body: '½' });
    await world.make({ title: 'heron stork', region: 'south', kind: 'shut', secret: 'ibis' });
    // Copies the rows that the service wrote, with updates one hour apart; every third record is in the north.
    const copies = [
      `INSERT INTO objects SELECT ('00000000-0000-7000-8000-' || lpad(n::text, 12, '0'))::uuid, type_id, type_version, 'TCK9' || lpad(n::text, 5, '0'),
         title, 1, state, workflow_state_id, values || jsonb_build_object('region', CASE WHEN n % 3 = 0 THEN 'north' ELSE 'south' END),
         folded, created_at - make_interval(hours => n), created_by, updated_at - make_interval(hours => n), updated_by, NULL
       FROM objects, generate_series(1, ${RECORDS - 2}) AS n WHERE id = $1`,
      `INSERT INTO search_records SELECT ('00000000-0000-7000-8000-' || lpad(n::text, 12, '0'))::uuid, profile_id, size,
         (words::text || CASE WHEN n % 5 = 0 THEN ' ''bittern'':2A' ELSE '' END)::tsvector
       FROM search_records, generate_series(1, ${RECORDS - 2}) AS n WHERE id = $1`,
    ];
    for (const statement of copies) await stored(world.app, statement, [first]);
    problems = watchAnswers(world.app);
    second = await startTestApp({ on: world.app, searchMemory: 100_000_000 });
    while (second.app.searchMemory?.state.state !== 'ready') await sleep(20);
  });
  after(async () => {
    const answered = second.app.searchMemory?.answers.index ?? 0;
    await second.close();
    await world.close();
    assert.ok(answered > 100, `only ${answered} questions were answered by the index`);
    assert.deepEqual(problems, []);
  });

  const pages = async (who: Searcher, query: Record<string, unknown>, pageSize: number): Promise<any[]> => {
    const all: any[] = [];
    await second.app.versions.refresh();
    for (let page = 1; page < 100; page++) {
      const asked = { ...query, page, pageSize };
      const path = `/api/v1/search?${queryOf(asked)}`;
      const { status, body } = await world.search(who, asked);
      assert.equal(status, 200);
      const again = await second.request('GET', path, { key: world.keys[who] });
      assert.deepEqual(again.body.data, body.data);
      all.push(body.data);
      if (!body.data.hasMore) return all;
      assert.equal(body.data.results.length, pageSize);
    }
    throw new Error('there is no end');
  };
  const idsOf = (all: any[]): string[] => all.flatMap((page) => page.results.map((hit: { id: string }) => hit.id));

  it('returns every hit once and counts up to the limit', async () => {
    for (const pageSize of [100, 90]) {
      // Not the title of any record.
      const all = await pages('chief', { q: 'herons' }, pageSize);
      const ids = idsOf(all);
      assert.deepEqual([ids.length, new Set(ids).size], [RECORDS, RECORDS]);
      for (const page of all) {
        assert.deepEqual([page.total, page.totalExact, page.totalPages], [1000, false, Math.ceil(1000 / pageSize)]);
      }
      const hits = all.flatMap((page) => page.results);
      const scores = hits.map((hit) => hit.score);
      assert.deepEqual(
        scores,
        [...scores].sort((a, b) => b - a),
      );
      const rest = hits.slice(1000);
      assert.equal(new Set(rest.map((hit) => hit.score)).size, 1, 'behind the ranked ones nothing is ranked');
      const updates = rest.map((hit) => hit.updatedAt);
      assert.deepEqual(updates, [...updates].sort().reverse());
      const ranked = hits.slice(0, 1000).map((hit) => hit.updatedAt);
      assert.ok([...ranked].sort()[0] > updates[0], 'the ranked ones are those last updated');
    }
  });

  it('counts only what the caller may read', async () => {
    const all = await pages('north', { q: 'heron' }, 100);
    assert.equal(idsOf(all).length, 467);
    assert.deepEqual([all[0].total, all[0].totalExact, all[0].totalPages], [467, true, 5]);
    const listed: string[] = [];
    for (let page = 1; page <= 10; page++) {
      const data = await world.ok('north', 'GET', `/objects?q=heron&pageSize=50&page=${page}`);
      listed.push(...data.rows.map((row: { id: string }) => row.id));
      assert.equal(data.hasMore, page < 10);
    }
    assert.deepEqual([...listed].sort(), [...idsOf(all)].sort());
  });

  it('pages a filter without words by last update', async () => {
    const all = await pages('chief', { filter: { field: 'region', operator: 'equals', value: 'south' } }, 100);
    const hits = all.flatMap((page) => page.results);
    assert.equal(hits.length, RECORDS - 467);
    assert.deepEqual([all[0].total, all[0].totalExact], [933, true]);
    const updates = hits.map((hit) => hit.updatedAt);
    assert.deepEqual(updates, [...updates].sort().reverse());
  });

  it('returns empty pages past the end and rejects pages beyond the limit', async () => {
    const past = (await world.search('north', { q: 'heron', page: 1000, pageSize: 100 })).body.data;
    assert.deepEqual([past.results, past.hasMore, past.total], [[], false, 467]);
    assert.equal((await world.search('chief', { q: 'heron', page: 10_001, pageSize: 100 })).status, 400);
  });

  it('continues with partial matches after full matches, each once', async () => {
    const all = await pages('chief', { q: 'bittern stork' }, 100);
    const ids = idsOf(all);
    assert.deepEqual([ids.length, new Set(ids).size], [280, 280]);
    assert.deepEqual([all[0].total, all[0].totalExact], [280, true]);
    const many = await pages('chief', { q: 'heron stork cassowary' }, 100);
    assert.deepEqual([idsOf(many).length, new Set(idsOf(many)).size], [RECORDS, RECORDS]);
    assert.deepEqual([many[0].total, many[0].totalExact], [1000, false]);
    assert.equal(many[0].results[0].title, 'heron stork', 'the rarer word decides');
  });

  it('counts exactly up to the configured limit', async () => {
    await world.app.apply(bundle('settings: { searchExactTotal: 2000 }'));
    const more = (await world.search('chief', { q: 'heron' })).body.data;
    assert.deepEqual([more.total, more.totalExact, more.totalPages], [RECORDS, true, 56]);
    await world.app.apply(bundle('settings: { searchExactTotal: 10 }'));
    const fewer = (await world.search('chief', { q: 'heron' })).body.data;
    assert.deepEqual([fewer.total, fewer.totalExact, fewer.hasMore], [10, false, true]);
    const filter = { field: 'region', operator: 'equals', value: 'north' };
    const filtered = (await world.search('chief', { filter, page: 2 })).body.data;
    assert.deepEqual(
      [filtered.total, filtered.totalExact, filtered.hasMore, filtered.results.length],
      [10, false, true, 25],
    );
    assert.equal(idsOf(await pages('chief', { filter }, 100)).length, 467);
  });

  it('returns an equal title first, however many matches were updated later', async () => {
    const hidden = await world.make({ title: 'bittern', region: 'south' });
    const shown = await world.make({ title: 'Bittern', region: 'north' });
    await stored(world.app, `UPDATE objects SET updated_at = '2001-01-01' WHERE id IN ($1, $2)`, [hidden, shown]);
    const all = await pages('chief', { q: 'bittern' }, 100);
    const ids = idsOf(all);
    assert.deepEqual([ids.length, new Set(ids).size], [281, 281]);
    assert.deepEqual(ids.slice(0, 2), [shown, hidden]);
    const [first] = await pages('north', { q: 'bittern heron' }, 100);
    assert.ok(!first.results.some(({ id }: { id: string }) => id === hidden));
    assert.equal((await pages('north', { q: 'BITTERN' }, 100))[0].results[0].id, shown);
  });

  it('rejects a filter that exceeds its time limit', async () => {
    // `pg_sleep` stands for a very large table.
    await stored(
      world.app,
      `CREATE FUNCTION sleepy(text) RETURNS boolean LANGUAGE plpgsql AS $$ BEGIN PERFORM pg_sleep(0.05); RETURN true; END $$`,
    );
    await stored(world.app, `ALTER TABLE objects RENAME TO all_objects`);
    await stored(world.app, `CREATE VIEW objects AS SELECT * FROM all_objects WHERE sleepy(title) OFFSET 0`);
    try {
      const filter = { field: 'region', operator: 'equals', value: 'south' };
      const { status, body } = await world.search('chief', { filter });
      assert.deepEqual([status, body.error.code], [400, 'FILTER_TOO_EXPENSIVE']);
    } finally {
      await stored(world.app, 'DROP VIEW objects');
      await stored(world.app, 'ALTER TABLE all_objects RENAME TO objects');
    }
  });

  it('puts only matches of the words first for their title', async () => {
    // The same title in the form that is compared, but other words.
    await world.app.apply(bundle('settings: {}'));
    await world.make({ title: 'heron 1⁄2', region: 'north' });
    const all = await pages('north', { q: 'heron ½' }, 100);
    const hits = all.flatMap((page) => page.results);
    assert.deepEqual([hits.length, new Set(idsOf(all)).size, all[0].total], [467, 467, 467]);
    assert.ok(hits.every(({ title }) => title !== 'heron 1⁄2'));
  });
});
