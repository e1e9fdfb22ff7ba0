/**
 * Fills the database. A pool of records comes through the API, each with a comment, so that the service itself writes their
 * words; set-based SQL multiplies them with their search rows, comments and journal. `row-comparison.ts` compares the result
 * with what the service writes.
 */
import type pg from 'pg';
import { CATALOG_ITEM, KEY_OWNERS, NUMBER_DIGITS, NUMBER_PREFIX } from './bundle.ts';
import { AREAS, samples, VISIBLE_AREAS } from './corpus.ts';
import { type DatabaseFacts, TALKATIVE, TALKATIVE_COMMENTS, type Target, TargetState } from './scenario.ts';
import { Caller, inParallel } from './search-quality/caller.ts';

/** What of a record is the same for all: taken from one that the service itself wrote. */
export interface Pattern {
  objectId: string;
  typeId: string;
  typeVersion: number;
  workflowStateId: string;
  ownerId: string;
  keyId: string;
  /** Of its row of words. */
  profileId: number;
}

const ASSETS = 500;
const BATCH = 10_000;
/** Seconds between two records; the newest is of now. */
const STEP = 20;
/** Of the records with many comments, three of four are visible to the caller. */
const TALKATIVE_LOADED = TALKATIVE * 2;

const uuidAt = (at: string, salt: string): string =>
  `(lpad(to_hex((extract(epoch FROM ${at}) * 1000)::bigint), 12, '0') || '7' || substr(md5(${salt}), 1, 3) || '8' ||
    substr(md5(${salt}), 4, 15))::uuid`;

export async function readPattern(db: pg.Client, objectId: string, keyId: string): Promise<Pattern> {
  const { rows } = await db.query<Omit<Pattern, 'keyId'>>(
    `SELECT id AS "objectId", type_id AS "typeId", type_version AS "typeVersion", workflow_state_id AS "workflowStateId",
      created_by AS "ownerId", profile_id AS "profileId" FROM objects JOIN search_records USING (id) WHERE id = $1`,
    [objectId],
  );
  const [row] = rows;
  if (row === undefined) throw new Error('the record made through the API is not in the table objects');
  return { ...row, keyId };
}

const list = (codes: readonly string[]): string => `ARRAY['${codes.join("','")}']`;

/** Makes the assets that records refer to, older than these. */
export async function loadAssets(db: pg.Client): Promise<string[]> {
  const { rows } = await db.query<{ id: string }>(
    `INSERT INTO objects (id, type_id, type_version, title, revision, "values", folded, created_at, updated_at)
      SELECT ${uuidAt("now() - interval '10 years'", "'asset' || i")}, t.type_id, t.version, 'asset ' || i, 1,
        jsonb_build_object('title', 'asset ' || i), jsonb_build_object('title', 'asset ' || i, '$title', 'asset ' || i),
        now() - interval '10 years', now() - interval '10 years'
      FROM generate_series(1, ${ASSETS}) AS i,
        (SELECT v.type_id, max(v.version) AS version FROM type_versions v
          JOIN config_items c ON c.id = v.type_id WHERE c.section = 'types' AND c.code = 'asset' GROUP BY v.type_id) AS t
      RETURNING id`,
  );
  if (rows.length !== ASSETS) throw new Error('the assets could not be made: the type "asset" was not found');
  return rows.map((row) => row.id);
}

export async function readPeople(db: pg.Client): Promise<string[]> {
  const { rows } = await db.query<{ id: string }>('SELECT id FROM users WHERE login <> ALL($1) ORDER BY login', [
    KEY_OWNERS,
  ]);
  return rows.map((row) => row.id);
}

export async function readCatalogItem(db: pg.Client): Promise<string> {
  const { rows } = await db.query<{ id: string }>(
    `SELECT id FROM config_ids WHERE scope LIKE 'catalogs/%/items' AND code = $1`,
    [CATALOG_ITEM],
  );
  if (rows[0] === undefined) throw new Error(`the catalogue has no item "${CATALOG_ITEM}"`);
  return rows[0].id;
}

/** Last word of the titles in the pool; a loaded record has its own number there. */
const PLACEHOLDER = '7000000007';
const LOADERS = 8;

/** Makes the pool: one record with one comment for each sample. @returns the id of one of them */
export async function loadPool(db: pg.Client, target: Target): Promise<string> {
  const state = new TargetState(target);
  const caller = new Caller(target.ports.docket, target.key);
  let made = '';
  await inParallel(samples(), LOADERS, async ({ title, description }) => {
    const values = { ...state.newValues(), title: `${title} ${PLACEHOLDER}`, description };
    const { data } = await caller.post<{ id: string }>('/objects', { typeDefinitionId: 'ticket', values });
    await caller.post(`/objects/${data.id}/comments`, { body: description, visibility: 'public' });
    made = data.id;
  });
  for (const statement of POOL) await db.query(statement);
  return made;
}

const POOL = [
  `CREATE TEMPORARY TABLE bench_pool AS SELECT row_number() OVER (ORDER BY o.id) - 1 AS n, o.*, s.profile_id, s.size,
      s.words::text AS words, c.body, c.visibility, sc.size AS comment_size, sc.words AS comment_words, j.data AS comment_data,
      c.id AS comment_id
    FROM objects o JOIN search_records s USING (id) JOIN comments c ON c.object_id = o.id JOIN search_comments sc ON sc.id = c.id
      JOIN journal j ON j.object_id = o.id AND j.type = 'CommentAdded'`,
  'ALTER TABLE bench_pool ADD PRIMARY KEY (n)',
  'ANALYZE bench_pool',
];

/** The hash in the lexeme of a whole title (`src/domain/search/indexing/lexemes.ts`), from its folded text. */
const titleHash = (folded: string): string =>
  `translate(encode(substring(sha256(convert_to(${folded}, 'UTF8')) FROM 1 FOR 9), 'base64'), '+/', '-_')`;

/** The text with the number of the record instead of the placeholder. */
const numbered = (text: string): string => `replace(${text}, '${PLACEHOLDER}', r.i::text)`;

// $1 first and $2 last index, $3 count, $4 owner, $5 key, $6 users, $7 assets, $8 records with many comments, $9 how many these are.
const LOAD = `
  WITH made AS MATERIALIZED (
    SELECT r.*, p.*, ${uuidAt('r.at', "'ticket' || r.i")} AS new_id, ${numbered('p.title')} AS new_title,
      '${NUMBER_PREFIX}' || lpad((r.i + 10000)::text, ${NUMBER_DIGITS}, '0') AS new_number,
      CASE WHEN r.i <= $8::int THEN $9::int ELSE 1 END AS comments
    FROM (
      SELECT i, ('x' || substr(md5(i::text), 1, 7))::bit(28)::int AS h,
        date_trunc('milliseconds', now() - make_interval(secs => ($3::int - i) * ${STEP} + 60)) AS at
      FROM generate_series($1::int, $2::int) AS i
    ) AS r JOIN bench_pool p ON p.n = r.h % (SELECT count(*) FROM bench_pool)
  ), written AS (
    INSERT INTO objects (id, type_id, type_version, number, title, revision, state, workflow_state_id, "values", folded,
      created_at, created_by, updated_at, updated_by)
    SELECT new_id, type_id, type_version, new_number, new_title, 1, 'ACTIVE', workflow_state_id,
      "values" || jsonb_build_object('title', new_title, 'area', (${list(AREAS)})[1 + h / 16 % ${AREAS.length}],
        'assignee', ($6::uuid[])[1 + h % cardinality($6::uuid[])], 'effort', h % 40, 'cost', (h % 1000)::text || '.5',
        'due', to_char(at + '7 days', 'YYYY-MM-DD'), 'startedAt', to_char(at, 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'), 'urgent', h % 9 = 0,
        'asset', ($7::uuid[])[1 + h % cardinality($7::uuid[])]),
      ${numbered('folded::text')}::jsonb, at, $4, at, $4
    FROM made AS r ORDER BY i
    RETURNING id, created_at, "values", type_id, type_version, workflow_state_id
  ), words AS (
    INSERT INTO search_records (id, profile_id, size, words)
    SELECT new_id, profile_id, size, replace(replace(${numbered('words')}, lower(number), lower(new_number)),
      ${titleHash("folded->>'title'")}, ${titleHash(numbered("folded->>'title'"))})::tsvector FROM made AS r ORDER BY i
  ), said AS MATERIALIZED (
    SELECT r.*, ${uuidAt('said_at', "'comment' || r.i || n2")} AS said_id, n2, said_at
    FROM made AS r, generate_series(1, comments) AS n2, LATERAL (SELECT r.at + make_interval(secs => n2) AS said_at) AS t
  ), comments_written AS (
    INSERT INTO comments (id, object_id, revision, body, visibility, author_id, created_at, updated_at)
    SELECT said_id, new_id, 1, body, visibility, $4, said_at, said_at FROM said ORDER BY i, n2
  ), comment_words AS (
    INSERT INTO search_comments (id, object_id, visibility, updated_at, size, words)
    SELECT said_id, new_id, visibility, said_at, comment_size, comment_words FROM said ORDER BY i, n2
  ), events AS (
    SELECT created_at AS at, 'ObjectCreated' AS type, id, 1 AS revision,
      (SELECT jsonb_object_agg(key, jsonb_build_array(NULL, value)) FROM jsonb_each("values")) AS changes,
      jsonb_build_object('$stored', jsonb_build_object('type', type_id, 'version', type_version, 'workflowState', workflow_state_id)) AS data,
      id::text AS salt
    FROM written
    UNION ALL SELECT said_at, 'CommentAdded', new_id, NULL, NULL,
      replace(comment_data::text, comment_id::text, said_id::text)::jsonb, said_id::text FROM said
  )
  INSERT INTO journal (id, at, type, object_id, revision, actor_id, via, key_id, correlation_id, changes, data, hash, fields)
  SELECT ${uuidAt('at', "'event' || salt")}, at, type, id, revision, $4, 'api', $5, 'bench-' || md5(salt), changes, data, sha256(salt::bytea),
    CASE WHEN changes IS NOT NULL THEN ARRAY(SELECT jsonb_object_keys(changes)) END
  FROM events ORDER BY at, id`;

/** Building these indexes after the rows is much faster. */
const LATE_INDEXES = ['search_records_words', 'search_comments_words'];
const TABLES = ['objects', 'journal', 'search_records', 'comments', 'search_comments'];

/** Loads `count` records, the oldest with many comments, and brings statistics and the visibility map up to date. */
export async function loadRecords(
  db: pg.Client,
  count: number,
  pattern: Pattern,
  facts: DatabaseFacts,
  progress: (loaded: number) => void,
): Promise<void> {
  const { rows: indexes } = await db.query<{ indexname: string; indexdef: string }>(
    'SELECT indexname, indexdef FROM pg_indexes WHERE indexname = ANY($1)',
    [LATE_INDEXES],
  );
  for (const { indexname } of indexes) await db.query(`DROP INDEX ${indexname}`);
  await db.query(`SET synchronous_commit = off; SET maintenance_work_mem = '512MB'`);
  for (let first = 1; first <= count; first += BATCH) {
    const last = Math.min(count, first + BATCH - 1);
    const common = [pattern.ownerId, pattern.keyId, facts.people, facts.assets];
    await db.query(LOAD, [first, last, count, ...common, TALKATIVE_LOADED, TALKATIVE_COMMENTS]);
    progress(last);
  }
  for (const { indexdef } of indexes) await db.query(indexdef);
  await db.query(`SELECT setval('"number_${NUMBER_PREFIX}"', $1)`, [count + 20_000]);
  await db.query(`INSERT INTO report_facts (id, type_id, state, workflow_state_id, created_at)
    SELECT id, type_id, state, workflow_state_id, created_at FROM objects ON CONFLICT (id) DO NOTHING`);
  for (const table of TABLES) await db.query(`VACUUM ANALYZE ${table}`);
  await db.query('CHECKPOINT');
}

/** Ids of records, over all ages, that the role's row condition admits. */
export async function visibleIds(db: pg.Client, typeId: string, most: number): Promise<string[]> {
  const { rows } = await db.query<{ id: string }>(
    `SELECT id FROM objects WHERE type_id = $1 AND "values"->>'area' = ANY($2) AND revision = 1 ORDER BY md5(id::text) LIMIT $3`,
    [typeId, VISIBLE_AREAS, most],
  );
  return rows.map((row) => row.id);
}

/** Ids of visible records with many comments. */
export async function talkativeIds(db: pg.Client): Promise<string[]> {
  const { rows } = await db.query<{ id: string }>(
    `SELECT o.id FROM objects o JOIN comments c ON c.object_id = o.id WHERE o."values"->>'area' = ANY($1)
      GROUP BY o.id HAVING count(*) >= $2 ORDER BY o.id LIMIT $3`,
    [VISIBLE_AREAS, TALKATIVE_COMMENTS, TALKATIVE],
  );
  return rows.map((row) => row.id);
}
