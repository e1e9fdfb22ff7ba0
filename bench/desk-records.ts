/**
 * Fills the type `incident` of the starter configuration with records by SQL: values, report facts and SLA instances, over two
 * years. 8 % of the records are unfinished. They have no journal and are not in the search index.
 */
import type pg from 'pg';
import { samples } from './corpus.ts';

export const DAYS = 730;
const BATCH = 25_000;

export interface DeskUsers {
  /** Ids of the users to whom records are assigned, and of the groups of these users in the same order. */
  agents: readonly string[];
  groups: readonly string[];
}

// $1 first and $2 last number, $3 count, $4 agents, $5 groups. `h` is a repeatable random number of the record.
const LOAD = `
  WITH type AS (
    SELECT v.type_id, max(v.version) AS version FROM type_versions v JOIN config_items c ON c.id = v.type_id
    WHERE c.section = 'types' AND c.code = 'incident' GROUP BY v.type_id
  ), state AS (
    SELECT code, id FROM config_ids WHERE scope = 'workflows/incident/states'
  ), rows AS (
    SELECT r.*, (lpad(to_hex((extract(epoch FROM r.at) * 1000)::bigint), 12, '0') || '7' || substr(md5(r.i::text), 1, 3) || '8'
        || substr(md5(r.i::text), 4, 15))::uuid AS id,
      CASE WHEN r.closed THEN r.at + make_interval(mins => 30 + r.h % 20000) END AS done_at
    FROM (
      SELECT i, h, h % 100 >= 8 AS closed, ($4::uuid[])[1 + h / 7 % cardinality($4::uuid[])] AS agent,
        ($5::uuid[])[1 + h / 7 % cardinality($5::uuid[])] AS team,
        date_trunc('milliseconds', now() - make_interval(secs => ($3::int - i) * (${DAYS} * 86400.0 / $3::int) + 60)) AS at,
        s.title || ' ' || i AS title, s.ftitle || ' ' || i AS ftitle, s.description, s.fdescription
      FROM generate_series($1::int, $2::int) AS i
        CROSS JOIN LATERAL (SELECT ('x' || substr(md5(i::text), 1, 7))::bit(28)::int AS h) AS dice
        JOIN bench_samples s ON s.n = h % (SELECT count(*) FROM bench_samples)
    ) AS r
  ), objects_written AS (
    INSERT INTO objects (id, type_id, type_version, number, title, revision, state, workflow_state_id, "values", folded,
      created_at, created_by, updated_at, updated_by)
    SELECT r.id, type.type_id, type.version, 'INC' || lpad((r.i + 1000)::text, 7, '0'), r.title, 1, 'ACTIVE', state.id,
      jsonb_strip_nulls(jsonb_build_object('title', r.title, 'description', r.description, 'priority', 'p' || 1 + r.h % 4,
        'impact', (ARRAY['company', 'department', 'person'])[1 + r.h / 11 % 3], 'urgency', (ARRAY['high', 'medium', 'low'])[1 + r.h / 13 % 3],
        'source', (ARRAY['portal', 'phone', 'email', 'monitoring'])[1 + r.h / 17 % 4], 'requester', ($4::uuid[])[1 + r.h / 19 % cardinality($4::uuid[])],
        'assignmentGroup', r.team, 'assignee', CASE WHEN r.closed OR r.h % 5 > 0 THEN r.agent END,
        'closeCode', CASE WHEN r.closed THEN 'solved' END)),
      jsonb_build_object('title', r.ftitle, '$title', r.ftitle, 'description', r.fdescription), r.at, r.agent, coalesce(least(r.done_at, now()), r.at), r.agent
    FROM rows r CROSS JOIN type JOIN state ON state.code = CASE WHEN r.closed THEN 'closed'
      ELSE (ARRAY['new', 'in-progress', 'in-progress', 'pending'])[1 + r.h / 23 % 4] END
    RETURNING id, type_id, state, workflow_state_id, created_at
  ), facts_written AS (
    INSERT INTO report_facts (id, type_id, state, workflow_state_id, created_at, first_reply_at, done_at, reopened)
    SELECT o.id, o.type_id, o.state, o.workflow_state_id, o.created_at,
      CASE WHEN r.h % 6 > 0 THEN o.created_at + make_interval(mins => 5 + r.h % 900) END, r.done_at, (r.h % 25 = 0)::int
    FROM objects_written o JOIN rows r ON r.id = o.id
  )
  INSERT INTO sla_instances (id, object_id, policy_id, policy_version, revision, lock_version, status, started_at, stopped_at, pauses,
    start_armed, pause_armed, target_ms, calendar_id, calendar_version, pinned, elapsed_ms, due_at, next_at, notified_thresholds)
  SELECT md5('sla' || r.i)::uuid, r.id, p.id, p.version, 1, 1,
    CASE WHEN r.closed THEN 'STOPPED' WHEN r.h / 23 % 4 = 3 THEN 'PAUSED' ELSE 'ACTIVE' END, r.at, r.done_at, '[]', true, true, 86400000,
    c.id, c.version, false, CASE WHEN r.closed THEN (30 + r.h % 20000) * 60000::bigint / 8 END,
    CASE WHEN r.h % 3 = 0 OR r.closed THEN r.at + interval '1 day' ELSE now() + interval '30 days' END,
    CASE WHEN NOT r.closed AND r.h / 23 % 4 < 3 AND r.h % 3 > 0 THEN now() + interval '20 days' END,
    CASE WHEN r.h % 3 = 0 THEN '[50, 90, "breach"]' ELSE '[]' END::jsonb
  FROM rows r,
    (SELECT id, version FROM config_items WHERE section = 'slaPolicies' AND code = 'incident-resolution') AS p,
    (SELECT id, version FROM config_items WHERE section = 'calendars' AND code = 'office') AS c`;

async function loadSamples(db: pg.Client): Promise<void> {
  await db.query(`CREATE TEMPORARY TABLE bench_samples
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
      AS r (n integer, title text, ftitle text, description text, fdescription text)`,
    [JSON.stringify(rows)],
  );
}

/** Loads `count` records. Then brings statistics and the visibility map up to date. */
export async function loadDesk(
  db: pg.Client,
  count: number,
  { agents, groups }: DeskUsers,
  progress: (loaded: number) => void,
): Promise<void> {
  await loadSamples(db);
  for (let first = 1; first <= count; first += BATCH) {
    const last = Math.min(count, first + BATCH - 1);
    await db.query(LOAD, [first, last, count, agents, groups]);
    progress(last);
  }
  for (const table of ['objects', 'report_facts', 'sla_instances']) await db.query(`VACUUM ANALYZE ${table}`);
  // These records have no journal, which the counts of reports follow.
  await db.query('DELETE FROM report_counted_types');
  await db.query('CHECKPOINT');
}
