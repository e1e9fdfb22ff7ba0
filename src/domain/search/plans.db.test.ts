/**
 * The indexes that frequent searches use, tested with enough records to matter. A failure means that an index is no longer
 * used: fix the statement, or drop the index. docs/explanation/search.md has the costs with a million records.
 */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import pg from 'pg';
import { reconcileFieldIndexes } from '../../configuration/field-indexes.ts';
import type { Statement } from '../../platform/database/pool.ts';
import { loadSnapshot } from '../../platform/unit-of-work/snapshot.ts';
import { makeSearchParts } from './index.ts';
import { systemClock } from '../../platform/clock.ts';
import type { ReadContext } from '../../platform/unit-of-work/context.ts';
import { Authenticator, ownFieldView } from '../access/index.ts';
import { typeView } from '../metadata/index.ts';
import { accessOf } from './access.ts';
import { allOf, type Scope } from './query.ts';
import { Statements } from './sql/backend.ts';
import { type Estimates, SearchStatistics } from './sql/estimates.ts';
import { MAX_ADMITTED } from './sql/match.ts';
import { termsOf, wordOf } from './terms.ts';
import { HARDLY_ANY, queryOf, type SearchFixture, startSearchFixture } from '../../../test/support/search-fixture.ts';

const RECORDS = 30_000;

/**
 * Multiplies the rows that the service created, with ids of matching times. The records contain one word in all of them, one in
 * every fifth, one in every 500th, one in a single record.
 */
const MULTIPLY = `
  WITH pool AS (
    SELECT row_number() OVER () - 1 AS n, o.*, s.profile_id, s.size, s.words FROM objects o JOIN search_records s ON s.id = o.id
  ), made AS MATERIALIZED (
    SELECT (lpad(to_hex((extract(epoch FROM at) * 1000)::bigint), 12, '0') || '7' || substr(md5(i::text), 1, 3)
        || '8' || substr(md5(i::text), 4, 15))::uuid AS new_id, i, p.*, at,
      'everywhere' || CASE WHEN i % 5 = 0 THEN ' often' ELSE '' END || CASE WHEN i % 500 = 0 THEN ' seldom' ELSE '' END || ' once' || i AS found
    FROM generate_series(1, ${RECORDS}) AS i CROSS JOIN LATERAL (SELECT now() - make_interval(secs => i) AS at) AS made_at JOIN pool p ON p.n = i % (SELECT count(*) FROM pool)
  ), objects_made AS (
    INSERT INTO objects (id, type_id, type_version, number, title, revision, state, workflow_state_id, "values", folded, created_at,
      created_by, updated_at, updated_by)
    SELECT new_id, type_id, type_version, 'TCK' || 900000 + i, title || ' ' || found, 1, 'ACTIVE', workflow_state_id,
      "values" || jsonb_build_object('kind', CASE WHEN i % 3 = 0 THEN 'shut' ELSE 'open' END, 'score', i % 100), folded, at, created_by, at, created_by
    FROM made
  )
  INSERT INTO search_records (id, profile_id, size, words) SELECT new_id, profile_id, size, words || array_to_tsvector(string_to_array(found, ' ')) FROM made`;

/** The table has two indexes on ids, which are read by key or as a range; either is fine. */
const BY_ID = 'search_records by id';

interface Plan {
  'Node Type': string;
  'Relation Name'?: string;
  'Index Name'?: string;
  'Actual Loops': number;
  Plans?: Plan[];
}

/** How the plan has read the rows of tables. */
function pathsOf(plan: Plan): string[] {
  if (plan['Actual Loops'] === 0) return [];
  const own =
    plan['Index Name'] !== undefined
      ? [
          `${plan['Node Type']} ${plan['Index Name']}`
            .replace(/(objects_field)_.*$/, '$1')
            .replace(/^(Bitmap )?(Index .*)search_records_(pkey|profile)$/, `$2${BY_ID}`),
        ]
      : plan['Relation Name'] !== undefined && plan['Node Type'] !== 'Bitmap Heap Scan'
        ? [`${plan['Node Type']} ${plan['Relation Name']}`]
        : [];
  return [...own, ...(plan.Plans ?? []).flatMap(pathsOf)];
}

describe('SQL plans of frequent searches', () => {
  let world: SearchFixture;
  let client: pg.Client;
  let seen: Statement[] = [];
  before(async () => {
    world = await startSearchFixture({ own: 'guest' });
    for (const region of ['north', 'south']) {
      for (const kind of ['open', 'shut']) {
        await world.make({
          title: `Printer in the ${region}`,
          body: 'It does not print any more.'.repeat(10),
          region,
          kind,
          score: 1,
        });
      }
    }
    client = new pg.Client({
      connectionString: world.app.databaseUrl,
      options: '-c jit=off -c max_parallel_workers_per_gather=0',
    });
    await client.connect();
    await client.query(MULTIPLY);
    // The guest's own records are few and old.
    await client.query(`UPDATE objects SET created_by = (SELECT id FROM users WHERE login = 'guest')
      WHERE number LIKE 'TCK9%' AND right(number, 3) = '999' AND updated_at < now() - interval '1 hour'`);
    const { db } = world.app;
    const snapshot = await loadSnapshot(db);
    await reconcileFieldIndexes(db, snapshot.get(typeView), snapshot.get(ownFieldView));
    // Collects the statistics for the planner, as autovacuum would.
    await client.query('VACUUM ANALYZE');
    const query = db.query.bind(db);
    db.query = (statement, options) => {
      seen.push(statement);
      return query(statement, options);
    };
    const transaction = db.transaction.bind(db);
    db.transaction = (begin, fn, keep) =>
      transaction(
        begin,
        (tx) =>
          fn({
            ...tx,
            query: (statement, options) => {
              seen.push(statement);
              return tx.query(statement, options);
            },
          }),
        keep,
      );
  });
  after(async () => {
    await client.end();
    await world.close();
  });

  /** Parts of statements that did not run are left out. */
  async function paths(path: string, key = world.keys.north): Promise<string[]> {
    seen = [];
    const answer = await world.app.request('GET', `/api/v1${path}`, { key });
    assert.equal(answer.status, 200, JSON.stringify(answer.body));
    const found = new Set<string>();
    for (const { text, values } of seen) {
      if (!/^\s*(WITH|SELECT)\b[^]*\b(objects|search_records) /.test(text)) continue;
      // Tables that are empty or small here are read as a whole.
      const { rows } = await client.query({
        text: `EXPLAIN (ANALYZE, COSTS OFF, FORMAT JSON) ${text}`,
        values: [...values],
      });
      for (const one of pathsOf(rows[0]['QUERY PLAN'][0].Plan))
        if (!/ (users|search_comments|relations)/.test(one)) found.add(one);
    }
    return [...found].sort();
  }

  const search = (query: Record<string, unknown>): string => `/search?${queryOf(query)}`;
  const open = { field: 'kind', operator: 'equals', value: 'open' };
  const bothFields = { logic: 'AND', conditions: [open, { field: 'region', operator: 'equals', value: 'north' }] };
  const WORDS = 'Bitmap Index Scan search_records_words';
  const RECORD = 'Index Scan objects_pkey';
  const FIELD = 'Index Scan objects_field';
  const PROJECTED = `Index Scan ${BY_ID}`;
  const golden: [name: string, path: string, paths: string[]][] = [
    ['a word of one record', search({ q: 'once4711' }), [WORDS, RECORD]],
    ['a rare word', search({ q: 'seldom' }), [WORDS, RECORD]],
    ['a common word', search({ q: 'everywhere' }), [PROJECTED, RECORD]],
    ['two words', search({ q: 'often seldom' }), [WORDS, RECORD]],
    ['a beginning', search({ q: 'se' }), [WORDS, RECORD]],
    ['some of the words', search({ q: 'everywhere often wordthatisnowhere' }), [WORDS, PROJECTED, RECORD]],
    ['filter on an indexed field', search({ filter: open }), [FIELD]],
    ['filter on two fields', search({ filter: bothFields }), [FIELD]],
    ['filter and a word', search({ q: 'seldom', filter: open }), [WORDS, RECORD]],
    ['filter and a frequent word', search({ q: 'often', filter: open }), [WORDS, RECORD]],
    ['a page far behind', search({ q: 'everywhere', page: 60 }), [PROJECTED, RECORD]],
    ['list by type and state', '/objects?typeId=ticket&state=new', ['Index Scan objects_newest_of_type']],
    [
      'a page far behind of it',
      '/objects?typeId=ticket&state=new&page=200',
      ['Index Scan objects_newest_of_type', RECORD],
    ],
  ];
  for (const [name, path, expected] of golden) {
    it(name, async () => {
      const found = await paths(path);
      for (const one of expected) assert.ok(found.includes(one), `${one} is not among ${found.join(', ')}`);
      // The table of the versions of caches has one row.
      assert.deepEqual(
        found.filter((one) => one.startsWith('Seq Scan') && one !== 'Seq Scan cache_versions'),
        [],
      );
    });
  }

  it('finds the few readable records among all with a frequent word', async () => {
    const { key } = await world.app.createKey({ login: 'guest' });
    const answer = await world.app.request('GET', `/api/v1${search({ q: 'everywhere', pageSize: 100 })}`, { key });
    const { results, total, totalExact } = answer.body.data;
    const { rows } = await client.query(
      `SELECT o.id FROM objects o JOIN users u ON u.id = o.created_by WHERE u.login = 'guest'`,
    );
    assert.ok(rows.length >= 20 && rows.length < 40, String(rows.length));
    assert.deepEqual([total, totalExact], [rows.length, true]);
    assert.deepEqual(results.map(({ id }: { id: string }) => id).sort(), rows.map(({ id }) => id).sort());
    const found = await paths(search({ q: 'everywhere' }), key);
    assert.ok(
      found.some((one) => /Index (Only )?Scan objects_field/.test(one)) && found.includes(PROJECTED),
      found.join(', '),
    );
    assert.ok(!found.includes(WORDS), found.join(', '));
    const listed = await paths('/objects?typeId=ticket', key);
    assert.ok(
      listed.some((one) => /Index (Only )?Scan objects_field/.test(one)),
      listed.join(', '),
    );
  });

  /** Lists matches of a word as `north`, with given statistics; and the statements with the number of rows of each. */
  async function listed(
    word: string,
    statistics: Estimates,
  ): Promise<{ ids: string[]; statements: { text: string; rows: number }[] }> {
    const { app } = world.app;
    const authenticator = new Authenticator({ db: world.app.db, versions: app.versions, clock: systemClock });
    const { rows } = await client.query<{ id: string }>(`SELECT id FROM users WHERE login = 'north'`);
    const actor = (await authenticator.actorOf(rows[0]?.id ?? '')) ?? assert.fail();
    const { analysis, upToDate } = makeSearchParts();
    return await app.work.read({ ...app.system(), actor }, async (ctx) => {
      const access = (await accessOf(ctx, upToDate)) ?? assert.fail();
      const words = allOf(termsOf(analysis, word).map((term) => wordOf(term, access)));
      const statements: { text: string; rows: number }[] = [];
      const counting: ReadContext = Object.create(ctx, {
        query: {
          value: async (...given: Parameters<ReadContext['query']>) => {
            const found = await ctx.query(...given);
            statements.push({ text: given[0].text, rows: found.length });
            return found;
          },
        },
      });
      const among = { state: 'ACTIVE', workflowStateIds: null, filter: null, order: 'updated_at' } as const;
      const scope: Scope = { ...access, ...among, indexed: true };
      const backend = new Statements(counting, scope, statistics);
      return { ids: await backend.find(words, { limit: 20, offset: 0, except: [] }), statements };
    });
  }

  it('reads a bounded number of ids if statistics say wrongly that rights admit hardly any record', async () => {
    const { ids } = await listed('everywhere', new SearchStatistics());
    assert.equal(ids.length, 20);
    const wrong = await listed('everywhere', HARDLY_ANY);
    assert.deepEqual(wrong.ids, ids);
    assert.equal(Math.max(...wrong.statements.map(({ rows }) => rows)), MAX_ADMITTED + 1);
  });

  it('reads more of the last updated records if none of the first has a word that should be frequent', async () => {
    const { ids } = await listed('seldom', new SearchStatistics());
    assert.equal(ids.length, 20);
    const statistics = new SearchStatistics();
    const wrong = await listed('seldom', {
      frequencies: async (ctx) => ({ ...(await statistics.frequencies(ctx)), shares: new Map([['seldom', 0.5]]) }),
      admitted: async () => 1,
      momentOf: (ctx, order, depth) => statistics.momentOf(ctx, order, depth),
    });
    assert.deepEqual(wrong.ids, ids);
    const found = wrong.statements.filter(({ text }) => text.includes('search_records s'));
    assert.equal(found[0]?.rows, 0);
    assert.ok(found.length > 2, `${found.length} statements`);
    // The statement that sorts all matches of a word has not run.
    assert.ok(!found.some(({ text }) => text.includes('ORDER BY m.at')));
  });

  it('finds and ranks the records of a rare word in one statement and reranks them in another', async () => {
    await paths(search({ q: 'seldom' }));
    const asked = seen.filter(({ text }) => text.includes('search_records')).map(({ text }) => text);
    assert.equal(asked.length, 2, asked.join('\n'));
    assert.match(asked[0] ?? '', /ts_rank/);
  });

  it('fails if an index is missing', async () => {
    await client.query('ALTER INDEX search_records_words RENAME TO other_words');
    try {
      const found = await paths(search({ q: 'once4711' }));
      assert.ok(!found.includes(WORDS) && found.includes('Bitmap Index Scan other_words'), found.join(', '));
    } finally {
      await client.query('ALTER INDEX other_words RENAME TO search_records_words');
    }
  });
});
