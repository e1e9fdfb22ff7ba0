/** Records with a long life, made by statements: changes that take minutes through the API. */
import { stored } from './small-configuration.ts';
import type { TestApp } from './app.ts';

/** SQL for a text of about this length that the database cannot compress. `turn` is different for each row. */
function text(length: number, turn: string): string {
  const parts = Math.ceil(length / 32);
  return `(SELECT left(string_agg(md5(${turn} || '/' || p), ''), ${length}) FROM generate_series(1, ${parts}) AS p)`;
}

/** Changes the text field of a new record `count` times, each time the whole text. The last revision is `count` + 1. */
export async function changeOften(
  app: TestApp,
  id: string,
  { field, count, length }: { field: string; count: number; length: number },
): Promise<void> {
  await stored(
    app,
    `WITH texts AS MATERIALIZED (SELECT n, ${text(length, 'n')} AS value FROM generate_series(0, ${count}) AS n),
      changes AS (SELECT n, jsonb_build_object($2::text, jsonb_build_array(lag(value) OVER (ORDER BY n), value)) AS change FROM texts),
      events AS (INSERT INTO journal (id, at, type, object_id, revision, actor_id, via, changes, hash, fields)
        SELECT gen_random_uuid(), o.updated_at, 'ObjectUpdated', o.id, n + 1, o.updated_by, 'api', change, '', ARRAY[$2::text]
        FROM changes, objects o WHERE o.id = $1 AND n > 0 ORDER BY n)
    UPDATE objects SET revision = $3::int + 1, values = values || jsonb_build_object($2::text, (SELECT value FROM texts WHERE n = $3::int))
    WHERE id = $1`,
    [id, field, count],
  );
}

/** Adds public comments to a record, oldest first. */
export async function commentOften(app: TestApp, id: string, count: number, length: number): Promise<void> {
  await stored(
    app,
    `INSERT INTO comments (id, object_id, revision, body, visibility, author_id, created_at, updated_at)
      SELECT gen_random_uuid(), $1, 1, ${text(length, 'n')}, 'public', o.created_by, o.created_at + n * interval '1 ms', o.created_at
      FROM generate_series(1, ${count}) AS n, objects o WHERE o.id = $1`,
    [id],
  );
}
