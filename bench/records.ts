/**
 * Fills the database with records by set-based SQL, straight into the tables and equal in shape to what the service writes, the
 * event in the journal included. A record that came through the API is the pattern; `row-comparison.ts` compares the two.
 */
import type pg from 'pg';
import { CATALOG_ITEM, NUMBER_DIGITS, NUMBER_PREFIX, OWNER } from './bundle.ts';
import { AREAS, PRIORITIES, samples, TAGS, VISIBLE_AREAS } from './corpus.ts';
import type { DatabaseFacts } from './scenario.ts';

/** What of a record is the same for all: taken from one that the service itself wrote. */
export interface Pattern {
  objectId: string;
  typeId: string;
  typeVersion: number;
  workflowStateId: string;
  ownerId: string;
  keyId: string;
}

const ASSETS = 500;
const BATCH = 25_000;
/** Seconds between two records; the newest is of now. */
const STEP = 20;

const uuidAt = (at: string, salt: string): string =>
  `(lpad(to_hex((extract(epoch FROM ${at}) * 1000)::bigint), 12, '0') || '7' || substr(md5(${salt}), 1, 3) || '8' ||
    substr(md5(${salt}), 4, 15))::uuid`;

export async function readPattern(db: pg.Client, objectId: string, keyId: string): Promise<Pattern> {
  const { rows } = await db.query<Omit<Pattern, 'keyId'>>(
    `SELECT id AS "objectId", type_id AS "typeId", type_version AS "typeVersion", workflow_state_id AS "workflowStateId",
      created_by AS "ownerId" FROM objects WHERE id = $1`,
    [objectId],
  );
  const [row] = rows;
  if (row === undefined) throw new Error('the record made through the API is not in the table objects');
  return { ...row, keyId };
}

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
  const { rows } = await db.query<{ id: string }>('SELECT id FROM users WHERE login <> $1 ORDER BY login', [OWNER]);
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

async function loadSamples(db: pg.Client): Promise<void> {
  await db.query(`CREATE TEMPORARY TABLE IF NOT EXISTS bench_samples
    (n integer PRIMARY KEY, title text, ftitle text, description text, fdescription text)`);
  const rows = samples().map((sample, n) => ({
    n,
    title: sample.title,
    ftitle: sample.foldedTitle,
    description: sample.description,
    fdescription: sample.foldedDescription,
  }));
  await db.query(
    `INSERT INTO bench_samples SELECT * FROM jsonb_to_recordset($1::jsonb)
      AS r (n integer, title text, ftitle text, description text, fdescription text) ON CONFLICT DO NOTHING`,
    [JSON.stringify(rows)],
  );
}

const list = (codes: readonly string[]): string => `ARRAY['${codes.join("','")}']`;

// $1 first and $2 last index, $3 count, $4 type, $5 version, $6 workflow state, $7 owner, $8 key, $9 users, $10 assets.
const LOAD = `
  WITH written AS (
    INSERT INTO objects (id, type_id, type_version, number, title, revision, state, workflow_state_id, "values", folded,
      created_at, created_by, updated_at, updated_by)
    SELECT ${uuidAt('r.at', "'ticket' || r.i")}, $4, $5, '${NUMBER_PREFIX}' || lpad((r.i + 1000)::text, ${NUMBER_DIGITS}, '0'),
      r.title, 1, 'ACTIVE', $6,
      jsonb_build_object('title', r.title, 'description', r.description, 'priority', r.priority, 'area', r.area,
        'assignee', r.assignee, 'effort', r.h % 40, 'cost', (r.h % 1000)::text || '.5', 'due', to_char(r.at + '7 days', 'YYYY-MM-DD'),
        'startedAt', to_char(r.at, 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'), 'urgent', r.h % 9 = 0, 'tags', r.tags, 'asset', r.asset),
      jsonb_build_object('title', r.ftitle, '$title', r.ftitle, 'description', r.fdescription, 'tags', r.tags),
      r.at, $7, r.at, $7
    FROM (
      SELECT i, h, s.description, s.fdescription, s.title || ' ' || i AS title, s.ftitle || ' ' || i AS ftitle,
        date_trunc('milliseconds', now() - make_interval(secs => ($3::int - i) * ${STEP} + 60)) AS at,
        (${list(PRIORITIES)})[1 + h % ${PRIORITIES.length}] AS priority,
        (${list(AREAS)})[1 + h / 16 % ${AREAS.length}] AS area,
        ($9::uuid[])[1 + h % cardinality($9::uuid[])] AS assignee, ($10::uuid[])[1 + h % cardinality($10::uuid[])] AS asset,
        to_jsonb((${list(TAGS)})[1 + h % 3:2 + h % 3]) AS tags
      FROM generate_series($1::int, $2::int) AS i
        CROSS JOIN LATERAL (SELECT ('x' || substr(md5(i::text), 1, 7))::bit(28)::int AS h) AS dice
        JOIN bench_samples s ON s.n = h % (SELECT count(*) FROM bench_samples)
      ORDER BY i
    ) AS r
    RETURNING id, created_at, "values"
  )
  INSERT INTO journal (id, at, type, object_id, revision, actor_id, via, key_id, correlation_id, changes, data, hash)
  SELECT ${uuidAt('created_at', "'event' || id")}, created_at, 'ObjectCreated', id, 1, $7, 'api', $8, 'bench-' || md5(id::text),
    (SELECT jsonb_object_agg(key, jsonb_build_array(NULL, value)) FROM jsonb_each("values")),
    jsonb_build_object('$stored', jsonb_build_object('type', $4::text, 'version', $5::int, 'workflowState', $6::text)), sha256(id::text::bytea)
  FROM written`;

/** Loads `count` records and brings statistics and the visibility map up to date. */
export async function loadRecords(
  db: pg.Client,
  count: number,
  pattern: Pattern,
  facts: DatabaseFacts,
  progress: (loaded: number) => void,
): Promise<void> {
  await loadSamples(db);
  for (let first = 1; first <= count; first += BATCH) {
    const last = Math.min(count, first + BATCH - 1);
    await db.query(LOAD, [
      first,
      last,
      count,
      pattern.typeId,
      pattern.typeVersion,
      pattern.workflowStateId,
      pattern.ownerId,
      pattern.keyId,
      facts.people,
      facts.assets,
    ]);
    progress(last);
  }
  await db.query(`SELECT setval('"number_${NUMBER_PREFIX}"', $1)`, [count + 2000]);
  await db.query(`INSERT INTO report_facts (id, type_id, state, workflow_state_id, created_at)
    SELECT id, type_id, state, workflow_state_id, created_at FROM objects ON CONFLICT (id) DO NOTHING`);
  await db.query('VACUUM ANALYZE objects');
  await db.query('VACUUM ANALYZE journal');
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
