import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { stored } from '../../../test/support/small-configuration.ts';
import { type Searcher, type SearchFixture, startSearchFixture } from '../../../test/support/search-fixture.ts';

const RECORDS = 12_000;

/** Record n was updated n hours before the first; every third is in the north. */
const idOf = (n: number): string => `00000000-0000-7000-8000-${String(n).padStart(12, '0')}`;
const all = Array.from({ length: RECORDS }, (_, index) => index + 1);

describe('frequent words', () => {
  let world: SearchFixture;
  before(async () => {
    world = await startSearchFixture();
    const first = await world.make({ title: 'origin', region: 'north', kind: 'open' });
    await stored(
      world.app,
      `INSERT INTO objects SELECT ('00000000-0000-7000-8000-' || lpad(n::text, 12, '0'))::uuid, type_id, type_version,
         'TCK9' || lpad(n::text, 5, '0'), title, 1, state, workflow_state_id,
         values || jsonb_build_object('region', CASE WHEN n % 3 = 0 THEN 'north' ELSE 'south' END), folded,
         created_at - make_interval(hours => n), created_by, updated_at - make_interval(hours => n), updated_by, NULL
       FROM objects, generate_series(1, ${RECORDS}) AS n WHERE id = $1`,
      [first],
    );
    // heron: all records, some more than once; stork: every second; ibis: the older half; egret: two, far apart; crane: more
    // often among the older ones.
    await stored(
      world.app,
      `INSERT INTO search_records SELECT ('00000000-0000-7000-8000-' || lpad(n::text, 12, '0'))::uuid, profile_id, size,
         ('heron:1A' || CASE WHEN n = 77 THEN ',8,9,10' WHEN n = 78 THEN ',8,9' ELSE '' END || CASE WHEN n % 2 = 0 THEN ' stork:2A' ELSE '' END || CASE WHEN n > ${RECORDS / 2} THEN ' ibis:3A' ELSE '' END
           || CASE WHEN n > ${RECORDS / 2} OR n % 2 = 0 THEN ' crane:5A' ELSE '' END
           || CASE WHEN n IN (5, ${RECORDS - 5}) THEN ' egret:4A' ELSE '' END)::tsvector
       FROM search_records, generate_series(1, ${RECORDS}) AS n WHERE id = $1`,
      [first],
    );
    // The number of rows decides how the matches are found.
    await stored(world.app, 'ANALYZE search_records');
    await stored(world.app, 'ANALYZE objects');
  });
  after(async () => {
    await world.close();
  });

  const page = async (who: Searcher, query: Record<string, unknown>): Promise<string[]> => {
    const { status, body } = await world.search(who, query);
    assert.equal(status, 200, JSON.stringify(body));
    return body.data.results.map((hit: { id: string }) => hit.id);
  };
  const north = (n: number): boolean => n % 3 === 0;

  it('are found in order of updates, for callers who may read few records', async () => {
    const cases: [Searcher, string, (n: number) => boolean][] = [
      ['chief', 'heron', () => true],
      ['chief', 'stork', (n) => n % 2 === 0],
      ['chief', 'ibis', (n) => n > RECORDS / 2],
      ['chief', 'stork ibis', (n) => n % 2 === 0 && n > RECORDS / 2],
      ['chief', 'crane', (n) => n > RECORDS / 2 || n % 2 === 0],
      ['north', 'crane', (n) => north(n) && (n > RECORDS / 2 || n % 2 === 0)],
      ['north', 'heron', north],
      ['north', 'stork', (n) => north(n) && n % 2 === 0],
      ['north', 'ibis', (n) => north(n) && n > RECORDS / 2],
      ['north', 'stork ibis', (n) => north(n) && n % 2 === 0 && n > RECORDS / 2],
    ];
    for (const [who, q, holds] of cases) {
      const expected = all.filter(holds).map(idOf);
      // The last updated records are ranked, in any order; the others follow by update time.
      const ranked = new Set<string>();
      for (let number = 1; number <= 10; number++) {
        for (const id of await page(who, { q, pageSize: 100, page: number })) ranked.add(id);
      }
      const most = Math.min(1000, expected.length);
      assert.deepEqual([...ranked].sort(), expected.slice(0, most).sort(), `${who} ${q}`);
      assert.deepEqual(await page(who, { q, pageSize: 100, page: 11 }), expected.slice(1000, 1100), `${who} ${q}`);
      const last = Math.ceil(expected.length / 100);
      if (last > 10) {
        assert.deepEqual(await page(who, { q, pageSize: 100, page: last }), expected.slice((last - 1) * 100));
      }
      assert.deepEqual(await page(who, { q, pageSize: 100, page: last + 1 }), []);
    }
  });

  it('are ranked by frequency in the record', async () => {
    assert.deepEqual((await page('chief', { q: 'heron' })).slice(0, 2), [idOf(77), idOf(78)]);
    assert.deepEqual((await page('north', { q: 'heron' })).slice(0, 1), [idOf(78)]);
    const scores = async (query: Record<string, unknown>): Promise<number[]> =>
      (await world.search('chief', query)).body.data.results.map((hit: { score: number }) => hit.score);
    const [first, second, third] = await scores({ q: 'heron' });
    assert.ok((first ?? 0) > (second ?? 0) && (second ?? 0) > (third ?? 0), `${first} ${second} ${third}`);
    // Two frequent words: their ranks add up.
    assert.deepEqual((await page('chief', { q: 'stork heron' })).slice(0, 1), [idOf(78)]);
  });

  it('are found with a filter', async () => {
    const filter = { field: 'region', operator: 'equals', value: 'north' };
    const expected = all.filter((n) => north(n) && n % 2 === 0).map(idOf);
    assert.deepEqual(await page('chief', { q: 'stork', filter, pageSize: 100, page: 11 }), expected.slice(1000, 1100));
  });

  it('are found together with a rare word', async () => {
    const both = [idOf(5), idOf(RECORDS - 5)].sort();
    assert.deepEqual((await page('chief', { q: 'egret' })).sort(), both);
    assert.deepEqual((await page('chief', { q: 'heron egret', pageSize: 2 })).sort(), both);
    assert.deepEqual(await page('north', { q: 'egret' }), []);
  });

  it('are listed newest first', async () => {
    const expected = all.filter((n) => n > RECORDS / 2 && n % 2 === 0).map(idOf);
    for (const number of [1, 7, 30]) {
      const { rows, hasMore } = await world.ok('chief', 'GET', `/objects?q=stork%20ibis&pageSize=100&page=${number}`);
      assert.deepEqual(
        rows.map((row: { id: string }) => row.id),
        expected.slice((number - 1) * 100, number * 100),
      );
      assert.equal(hasMore, number < 30);
    }
  });
});
