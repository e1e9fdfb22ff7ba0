/**
 * Fills the database: each real text becomes a record through the API, so that the service itself makes its row of the search
 * projection; then SQL multiplies them, the title of one with the text of another and the words of both taken from their rows.
 * Every record has a word of its own in its title. The journal is left out: no search reads it.
 */
import type pg from 'pg';
import { Caller, inParallel } from '../search-quality/caller.ts';
import { AREAS, PRIORITIES, REQUESTER } from './bundle.ts';
import type { RealText } from './texts.ts';

const LOADERS = 8;
const BATCH = 20_000;
/** Seconds between two records; the newest is of now. */
const STEP = 20;

/** Makes the real texts records. */
export async function loadTexts(port: number, key: string, texts: readonly RealText[]): Promise<void> {
  const caller = new Caller(port, key);
  const places = texts.map((text, index) => ({ text, index }));
  await inParallel(places, LOADERS, async ({ text, index }) => {
    const values = {
      ...text,
      priority: PRIORITIES[index % PRIORITIES.length],
      area: AREAS[index % AREAS.length],
      internalNote: `seen by ${index % 40}`,
    };
    await caller.post('/objects', { typeDefinitionId: 'ticket', values });
  });
}

/** Rows as the service wrote them, with the words of the title separate from the others. */
const POOL = `
  CREATE TABLE IF NOT EXISTS bench_pool AS
    SELECT row_number() OVER (ORDER BY o.id) - 1 AS n, o.type_id, o.type_version, o.workflow_state_id, o.created_by,
      o.title, o.folded->>'title' AS folded_title, o."values", o.folded, s.profile_id, s.size,
      ts_filter(s.words, '{a}') AS title_words, ts_filter(s.words, '{b,c,d}') AS other_words
    FROM objects o JOIN search_records s ON s.id = o.id;
  ALTER TABLE bench_pool ADD PRIMARY KEY (n);
  ANALYZE bench_pool`;

const list = (codes: readonly string[]): string => `ARRAY['${codes.join("','")}']`;

// $1 first and $2 last index, $3 how many records there are to be.
const MULTIPLY = `
  WITH made AS MATERIALIZED (
    SELECT gen.id, 'TCK' || lpad((1000000 + i)::text, 7, '0') AS number, i, at, t.title || ' ' || word AS title,
      t.folded_title || ' ' || word AS folded_title, t.title_words, d.other_words, d.profile_id, d."values", d.folded,
      (t.size + d.size) / 2 + 1 AS size, d.type_id, d.type_version, d.workflow_state_id, d.created_by, word,
      (${list(PRIORITIES)})[1 + h % ${PRIORITIES.length}] AS priority, (${list(AREAS)})[1 + h / 16 % ${AREAS.length}] AS area
    FROM generate_series($1::int, $2::int) AS i
      CROSS JOIN LATERAL (SELECT ('x' || substr(md5(i::text), 1, 7))::bit(28)::int AS h,
        ('x' || substr(md5(i::text), 9, 7))::bit(28)::int AS h2, 'q' || i || 'x' AS word) AS dice
      CROSS JOIN LATERAL (SELECT date_trunc('milliseconds', now() - make_interval(secs => ($3::int - i) * ${STEP} + 60)) AS at) AS t1
      CROSS JOIN LATERAL (SELECT (lpad(to_hex((extract(epoch FROM at) * 1000)::bigint), 12, '0') || '7' || substr(md5(i::text), 1, 3)
        || '8' || substr(md5(i::text), 4, 15))::uuid AS id) AS gen
      JOIN bench_pool t ON t.n = h % (SELECT count(*) FROM bench_pool)
      JOIN bench_pool d ON d.n = h2 % (SELECT count(*) FROM bench_pool)
  ), objects_made AS (
    INSERT INTO objects (id, type_id, type_version, number, title, revision, state, workflow_state_id, "values", folded,
      created_at, created_by, updated_at, updated_by)
    SELECT id, type_id, type_version, number, title, 1, 'ACTIVE', workflow_state_id,
      "values" || jsonb_build_object('title', title, 'priority', priority, 'area', area),
      folded || jsonb_build_object('title', folded_title, '$title', folded_title), at, created_by, at, created_by
    FROM made
  )
  INSERT INTO search_records (id, profile_id, size, words)
  SELECT id, profile_id, size, title_words || (word || ':1A')::tsvector || other_words || ('''' || chr(2) || lower(number) || ''':1A')::tsvector
  FROM made`;

/** Multiplies up to the given number of records, then updates indexes, statistics and the visibility map. */
export async function multiply(db: pg.Client, count: number, say: (line: string) => void): Promise<void> {
  await db.query(POOL.split(';')[0] ?? '');
  const { rows: keys } = await db.query(`SELECT 1 FROM pg_constraint WHERE conname = 'bench_pool_pkey'`);
  if (keys.length === 0) await db.query(POOL.split(';').slice(1).join(';'));
  const { rows } = await db.query<{ n: number }>('SELECT count(*)::int AS n FROM objects');
  const present = rows[0]?.n ?? 0;
  // Rebuilding the word index after the rows costs a tenth.
  const { rows: indexes } = await db.query<{ indexdef: string }>(
    `SELECT indexdef FROM pg_indexes WHERE indexname = 'search_records_words'`,
  );
  const [{ indexdef } = { indexdef: '' }] = indexes;
  await db.query('DROP INDEX search_records_words');
  for (let first = present + 1; first <= count; first += BATCH) {
    await db.query(MULTIPLY, [first, Math.min(count, first + BATCH - 1), count]);
    if ((first - present) % (BATCH * 10) === 1)
      say(`${first.toLocaleString('en')} of ${count.toLocaleString('en')} records`);
  }
  say('making the index of words');
  await db.query(`SET maintenance_work_mem = '512MB'`);
  await db.query(indexdef);
  await db.query(`DELETE FROM rebuilds WHERE name = 'search'`);
  await db.query(
    `UPDATE objects o SET created_by = u.id FROM users u WHERE u.login = $1 AND right(o.number, 4) = '4711'`,
    [REQUESTER],
  );
  for (const table of ['objects', 'search_records']) await db.query(`VACUUM ANALYZE ${table}`);
  await db.query('CHECKPOINT');
}
