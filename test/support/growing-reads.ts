/**
 * Data that has grown, for `growing-reads.db.test.ts`: a record with a long life, and an installation with many people, memberships,
 * articles, keys and sessions.
 */
import assert from 'node:assert/strict';
import type { TestApp } from './app.ts';
import { changeOften, commentOften } from './long-records.ts';
import type { Call } from './operation-calls-case.ts';
import { idOf, stored } from './small-configuration.ts';

const MANY = 40_000;
const SOME = 20_000;
const CHANGES = 60;

export interface Grown {
  record: string;
  /** Calls about what has grown, where the operation needs more than the record. */
  calls: Readonly<Record<string, Call>>;
}

/**
 * @param send a call below `/api/v1` with every right; gives the answer's `data`
 * @param made a minimal call of an operation, about something new
 */
export async function grow(
  app: TestApp,
  send: (method: string, path: string, body?: unknown) => Promise<any>,
  made: (operation: string) => Promise<Call>,
): Promise<Grown> {
  const add = (statement: string, ...values: unknown[]): Promise<unknown> => stored(app, statement, values);
  const thing = { typeDefinitionId: 'thing', values: { title: 'Banana' } };
  const { id } = await send('POST', '/objects', thing);
  const [instance] = await send('GET', `/objects/${id}/sla`);
  await changeOften(app, id, { field: 'title', count: CHANGES, length: 95_000 });
  await commentOften(app, id, 200, 40_000);
  await send('POST', `/objects/${id}/attachments`, { filename: 'a.txt', contentBase64: 'eA==' });
  await add(
    `INSERT INTO attachments SELECT (jsonb_populate_record(a, jsonb_build_object('id', gen_random_uuid(),
      'original_filename', repeat('n', 200)))).* FROM attachments a, generate_series(1, ${SOME}) WHERE a.object_id = $1`,
    id,
  );
  const far = await send('POST', '/objects', thing);
  await add(
    `WITH made AS (INSERT INTO objects SELECT (jsonb_populate_record(o, jsonb_build_object('id', gen_random_uuid(), 'number', 'X-' || n,
        'values', jsonb_build_object('title', repeat(md5(n::text), 700))))).* FROM objects o, generate_series(1, 300) AS n
        WHERE o.id = $1 RETURNING id)
    INSERT INTO relations (id, definition_id, source_id, target_id, revision, created_at)
      SELECT gen_random_uuid(), $3, $2, id, 1, now() FROM made`,
    far.id,
    id,
    await idOf(app, 'config_items', 'near'),
  );
  await add(
    `INSERT INTO journal (id, at, type, object_id, via, data, hash)
      SELECT gen_random_uuid(), now(), 'SlaPaused', $1, 'api', jsonb_build_object('slaInstanceId', $2::text, 'slaRevision', n), ''
      FROM generate_series(1, ${SOME}) AS n`,
    id,
    instance.id,
  );
  await add(
    `INSERT INTO users (id, login, login_key, display_name, employee_id, state, created_at, updated_at)
      SELECT gen_random_uuid(), 'u' || n, 'u' || n, 'Person ' || n, repeat('e', 60),
        CASE WHEN n > ${MANY} THEN 'ARCHIVED' ELSE 'ACTIVE' END, now(), now() FROM generate_series(1, ${MANY + SOME}) AS n`,
  );
  for (const table of ['groups', 'org_units']) {
    await add(
      `INSERT INTO ${table} (id, code, code_key, name, created_at, updated_at)
        SELECT gen_random_uuid(), 'g' || n, 'g' || n, to_jsonb(repeat('Name ', 40) || n), now(), now() FROM generate_series(1, ${SOME}) AS n`,
    );
  }
  await add(
    `INSERT INTO group_members (id, group_id, member_type, member_id, created_at)
      SELECT gen_random_uuid(), (SELECT id FROM groups WHERE code = 'g1'), 'user', id, now() FROM users WHERE login LIKE 'u%'`,
  );
  await add(
    `INSERT INTO org_members (id, organization_unit_id, user_id, created_at)
      SELECT gen_random_uuid(), (SELECT id FROM org_units WHERE code = 'g1'), id, now() FROM users WHERE login LIKE 'u%'`,
  );
  const run = await made('imports.get');
  await add(
    `INSERT INTO import_rows (run_id, row, status, errors, before) SELECT $1, n, 'FAILED',
      jsonb_build_array(jsonb_build_object('path', 'values.title', 'code', 'REQUIRED', 'message', repeat('m', 600))),
      to_jsonb(repeat(md5(n::text), 100)) FROM generate_series(2, 10000) AS n`,
    run.params?.['runId'],
  );
  const article = await made('kb.get');
  const articleId = article.params?.['articleId'];
  await add('UPDATE kb_versions SET body = $2 WHERE article_id = $1', articleId, 'Text '.repeat(10_000));
  await add(
    `INSERT INTO kb_versions SELECT (jsonb_populate_record(v, jsonb_build_object('id', gen_random_uuid(), 'state', 'ARCHIVED',
      'active_locale', null, 'draft_locale', null, 'state_token', gen_random_uuid()))).*
    FROM kb_versions v, generate_series(1, 200) WHERE v.article_id = $1`,
    articleId,
  );
  await add('ANALYZE');
  const objectId = { objectId: id };
  assert.equal(await count(app, 'group_members'), MANY + SOME);
  return {
    record: id,
    calls: {
      'objects.get': { params: objectId, query: `?revision=${CHANGES}` },
      'objects.diff': { params: objectId, query: `?from=1&to=${CHANGES}` },
      'sla.history': { params: { instanceId: instance.id } },
      'sla.explanation': { params: { instanceId: instance.id } },
      'imports.get': run,
      'kb.get': article,
      'kb.material': article,
    },
  };
}

async function count(app: TestApp, table: string): Promise<number> {
  const [row] = await stored<{ n: number }>(app, `SELECT count(*)::int AS n FROM ${table}`);
  return row?.n ?? 0;
}
