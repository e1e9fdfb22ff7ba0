/**
 * Fills the database: real tickets become records through the API, with their comments and changes, so that the service itself
 * makes every row; then SQL multiplies them, each whole: its row, its words, its comments with theirs, its whole journal.
 */
import type pg from 'pg';
import { inParallel } from '../search-quality/caller.ts';
import { AREAS, PRIORITIES } from './bundle.ts';
import type { Ticket } from './tickets.ts';

const LOADERS = 8;
const BATCH = 10_000;
/** Seconds between two records; the newest is of now. */
const STEP = 20;

export type Call = (method: string, path: string, body: unknown) => Promise<{ data: { id: string; revision: number } }>;

/** Makes the tickets records. */
export async function loadTickets(call: Call, tickets: readonly Ticket[]): Promise<void> {
  const places = tickets.map((ticket, index) => ({ ticket, index }));
  await inParallel(places, LOADERS, async ({ ticket, index }) => {
    const { title, description } = ticket;
    const area = AREAS[index % AREAS.length];
    const made = await call('POST', '/objects', { typeDefinitionId: 'ticket', values: { title, description, area } });
    let { revision } = made.data;
    for (let change = 0; change < ticket.changes; change++) {
      // As there: states, priorities, owners, milestones; seldom the text.
      const changes =
        change % 2 === 0
          ? { priority: PRIORITIES[(index + change / 2) % 2 === 0 ? 0 : 1] }
          : { note: `seen by ${(index + change) % 40}` };
      const changed = await call('PATCH', `/objects/${made.data.id}`, { expectedRevision: revision, changes });
      revision = changed.data.revision;
    }
    for (const body of ticket.comments) {
      await call('POST', `/objects/${made.data.id}/comments`, { body, visibility: 'public' });
    }
  });
}

const POOL = [
  `CREATE TABLE bench_pool AS SELECT row_number() OVER (ORDER BY o.id) - 1 AS n, o.* FROM objects o`,
  `ALTER TABLE bench_pool ADD PRIMARY KEY (n)`,
  `CREATE TABLE bench_journal AS SELECT p.n, j.* FROM journal j JOIN bench_pool p ON p.id = j.object_id`,
  `CREATE INDEX ON bench_journal (n)`,
  `CREATE TABLE bench_words AS SELECT p.n, s.* FROM search_records s JOIN bench_pool p ON p.id = s.id`,
  `CREATE INDEX ON bench_words (n)`,
  `CREATE TABLE bench_comments AS SELECT p.n, c.*, s.size, s.words
    FROM comments c JOIN bench_pool p ON p.id = c.object_id JOIN search_comments s ON s.id = c.id`,
  `CREATE INDEX ON bench_comments (n)`,
  `ANALYZE bench_pool, bench_journal, bench_words, bench_comments`,
];

/** An id that starts with its time, like those that the service creates. */
const idOf = (at: string, seed: string): string =>
  `(lpad(to_hex((extract(epoch FROM ${at}) * 1000)::bigint), 12, '0') || '7' || substr(md5(${seed}), 1, 3)
    || '8' || substr(md5(${seed}), 4, 15))::uuid`;

// $1 first and $2 last index, $3 how many records there are to be. Every record has a word of its own in its title.
const MADE = `made AS MATERIALIZED (
    SELECT i, n, at, word, ${idOf('at', 'i::text')} AS id
    FROM generate_series($1::int, $2::int) AS i
      CROSS JOIN LATERAL (SELECT ('x' || substr(md5(i::text), 1, 7))::bit(28)::int % (SELECT count(*)::int FROM bench_pool) AS n,
        'q' || i || 'x' AS word) AS dice
      CROSS JOIN LATERAL (SELECT date_trunc('milliseconds', now() - make_interval(secs => ($3::int - i) * ${STEP} + 60)) AS at) AS t
  )`;

const MULTIPLY = `WITH ${MADE}, records AS (
    INSERT INTO objects (id, type_id, type_version, number, title, revision, state, workflow_state_id, "values", folded,
      created_at, created_by, updated_at, updated_by)
    SELECT m.id, p.type_id, p.type_version, 'TCK' || lpad((10000000 + i)::text, 8, '0'), p.title || ' ' || word, p.revision,
      p.state, p.workflow_state_id, p."values" || jsonb_build_object('title', p.title || ' ' || word),
      p.folded || jsonb_build_object('title', (p.folded->>'title') || ' ' || word, '$title', (p.folded->>'title') || ' ' || word),
      at, p.created_by, at + (p.updated_at - p.created_at), p.updated_by
    FROM made m JOIN bench_pool p USING (n) ORDER BY i
  ), words AS (
    INSERT INTO search_records (id, profile_id, size, words)
    SELECT m.id, profile_id, size, words || (word || ':1A')::tsvector FROM made m JOIN bench_words USING (n) ORDER BY i
  ), said AS (
    INSERT INTO comments (id, object_id, revision, body, visibility, state, author_id, created_at, updated_at)
    SELECT ${idOf('m.at + (c.created_at - p.created_at)', 'm.i::text || c.id')}, m.id, c.revision, c.body, c.visibility, c.state,
      c.author_id, m.at + (c.created_at - p.created_at), m.at + (c.updated_at - p.created_at)
    FROM made m JOIN bench_pool p USING (n) JOIN bench_comments c USING (n) ORDER BY i
  ), said_words AS (
    INSERT INTO search_comments (id, object_id, visibility, updated_at, size, words)
    SELECT ${idOf('m.at + (c.created_at - p.created_at)', 'm.i::text || c.id')}, m.id, c.visibility,
      m.at + (c.updated_at - p.created_at), c.size, c.words
    FROM made m JOIN bench_pool p USING (n) JOIN bench_comments c USING (n) ORDER BY i
  )
  INSERT INTO journal (id, at, type, object_id, subject, revision, actor_id, via, key_id, correlation_id, changes, data, hash)
  SELECT ${idOf('m.at + (j.at - p.created_at)', 'm.i::text || j.id')}, m.at + (j.at - p.created_at), j.type, m.id, j.subject,
    j.revision, j.actor_id, j.via, j.key_id, j.correlation_id, j.changes, j.data, j.hash
  FROM made m JOIN bench_pool p USING (n) JOIN bench_journal j USING (n) ORDER BY i, j.seq`;

/** Rebuilding these indexes after the rows costs a tenth. */
const LATE = ['search_records_words', 'search_comments_words'];
export const TABLES = ['objects', 'journal', 'search_records', 'comments', 'search_comments'] as const;

/** Multiplies up to the given number of records, then updates indexes, statistics and the visibility map. */
export async function multiply(db: pg.Client, count: number, say: (line: string) => void): Promise<number> {
  const { rows: pools } = await db.query(`SELECT to_regclass('bench_pool') AS found`);
  if (pools[0]?.found === null) for (const statement of POOL) await db.query(statement);
  const { rows } = await db.query<{ n: number }>('SELECT count(*)::int AS n FROM objects');
  const present = rows[0]?.n ?? 0;
  const { rows: indexes } = await db.query<{ indexname: string; indexdef: string }>(
    'SELECT indexname, indexdef FROM pg_indexes WHERE indexname = ANY($1)',
    [LATE],
  );
  const began = performance.now();
  for (const { indexname } of indexes) await db.query(`DROP INDEX ${indexname}`);
  await db.query('SET synchronous_commit = off');
  for (let first = present + 1; first <= count; first += BATCH) {
    await db.query(MULTIPLY, [first, Math.min(count, first + BATCH - 1), count]);
    if ((first - present) % (BATCH * 10) === 1)
      say(`${first.toLocaleString('en')} of ${count.toLocaleString('en')} records`);
  }
  say('making the indexes of words');
  await db.query(`SET maintenance_work_mem = '512MB'`);
  for (const { indexdef } of indexes) await db.query(indexdef);
  await db.query(`DELETE FROM rebuilds WHERE name = 'search'`);
  for (const table of TABLES) await db.query(`VACUUM ANALYZE ${table}`);
  await db.query('CHECKPOINT');
  return performance.now() - began;
}
