/** How stored data can be wrong: what each check of `docket doctor --deep` must find. */
import { randomUUID } from 'node:crypto';

const NOBODY = randomUUID();

/** Chooses a row to tamper with. */
const ONE = (table: string): string => `CREATE TEMP TABLE one AS SELECT id FROM ${table} ORDER BY random() LIMIT 1`;

/** Name of a check → statements that break its rule. The last one returns what the check must name. */
export const CORRUPTIONS: Readonly<Record<string, readonly (readonly string[])[]>> = {
  'I13 the configuration is what its history says': [
    [
      `WITH one AS (SELECT id, section || '/' || code AS what FROM config_items ORDER BY id LIMIT 1), gone AS (
        DELETE FROM config_item_versions v USING one WHERE v.item_id = one.id)
      SELECT what FROM one`,
    ],
    ...[
      `state = CASE state WHEN 'ACTIVE' THEN 'ARCHIVED' ELSE 'ACTIVE' END`,
      `code = code || '-other'`,
      `definition = definition || '{"other": 1}'`,
    ].map((change) => [
      `WITH one AS (SELECT id FROM config_items WHERE section = 'types' ORDER BY id LIMIT 1)
      UPDATE config_items i SET ${change} FROM one WHERE i.id = one.id RETURNING i.section || '/' || i.code AS what`,
    ]),
  ],
  'I13 records are what their history says': [
    [
      ONE('objects'),
      `UPDATE objects SET "values" = jsonb_set("values", '{note}', '"written by hand"') WHERE id IN (SELECT id FROM one)`,
      `SELECT 'record ' || id || ' (values.note)' AS what FROM one`,
    ],
    [
      ONE('objects'),
      `UPDATE objects SET created_by = NULL, updated_at = updated_at + interval '1 ms' WHERE id IN (SELECT id FROM one)`,
      `SELECT 'record ' || id || ' (created_by, updated_at)' AS what FROM one`,
    ],
  ],
  'I15 each id in the values of a record names an item of the kind of its field': ['gen_random_uuid()', 'id'].map(
    (id) => [
      `CREATE TEMP TABLE one AS SELECT id FROM objects WHERE number IS NOT NULL ORDER BY random() LIMIT 1`,
      `UPDATE objects SET "values" = jsonb_set("values", '{assignee}', to_jsonb(${id})) WHERE id IN (SELECT id FROM one)`,
      `SELECT 'record ' || id || ' (values.assignee)' AS what FROM one`,
    ],
  ),
  'I13 title and folded texts of a record follow from its values': [
    [
      ONE('objects'),
      `UPDATE objects SET title = 'another' WHERE id IN (SELECT id FROM one)`,
      `SELECT 'record ' || id || ' (title, folded)' AS what FROM one`,
    ],
    [
      ONE('objects'),
      `UPDATE objects SET folded = '{}' WHERE id IN (SELECT id FROM one)`,
      `SELECT 'record ' || id || ' (folded)' AS what FROM one`,
    ],
  ],
  'I13 comments are what their history says': [
    [
      ONE('comments'),
      `UPDATE comments SET body = body || '.', author_id = NULL WHERE id IN (SELECT id FROM one)`,
      `SELECT 'comment ' || id || ' (body, author_id)' AS what FROM one`,
    ],
    [
      `CREATE TEMP TABLE one AS SELECT gen_random_uuid() AS id`,
      `INSERT INTO comments SELECT one.id, object_id, 1, body, visibility, state, author_id, created_at, updated_at FROM comments, one LIMIT 1`,
      `SELECT 'comment ' || id || ' (history' AS what FROM one`,
    ],
  ],
  'I13 no comment of the history is gone': [
    [
      ONE('comments'),
      `DELETE FROM comments WHERE id IN (SELECT id FROM one)`,
      `SELECT 'comment ' || id AS what FROM one`,
    ],
  ],
  'I13 attachments are what their history says': [
    [
      ONE('attachments'),
      `UPDATE attachments SET original_filename = 'b.txt', created_at = created_at - interval '1 d' WHERE id IN (SELECT id FROM one)`,
      `SELECT 'attachment ' || id || ' (original_filename, created_at)' AS what FROM one`,
    ],
  ],
  'I13 no attachment of the history is gone': [
    [
      ONE('attachments'),
      `DELETE FROM attachments WHERE id IN (SELECT id FROM one)`,
      `SELECT 'attachment ' || id AS what FROM one`,
    ],
  ],
  'I13 relations are what their history says': [
    [
      ONE('relations'),
      `UPDATE relations SET state = 'ARCHIVED' WHERE id IN (SELECT id FROM one)`,
      `SELECT 'relation ' || id || ' (state)' AS what FROM one`,
    ],
  ],
  'I13 no relation of the history is gone': [
    [
      ONE('relations'),
      `DELETE FROM relations WHERE id IN (SELECT id FROM one)`,
      `SELECT 'relation ' || id AS what FROM one`,
    ],
  ],
  'I3 no event twice in the journal': [
    [
      `CREATE TEMP TABLE one AS SELECT * FROM journal ORDER BY random() LIMIT 1`,
      `INSERT INTO journal (id, at, type, via, hash) SELECT id, at, type, via, hash FROM one`,
      `SELECT id AS what FROM one`,
    ],
  ],
  'I14 every committed row of the journal has one place, without gaps': [
    [`INSERT INTO journal_places (place, seq) VALUES (1000000, 1000000)`, `SELECT 'place 1000000' AS what`],
  ],
  'I14 a consumer of the journal is at a place that exists': [
    [
      `UPDATE journal_consumers SET place = 1000000 WHERE name = 'webhooks'`,
      `SELECT 'webhooks at place 1000000' AS what`,
    ],
  ],
  'I4 no notification and no watch without its record or comment': [
    [
      `INSERT INTO notification_watchers (object_id, user_id, created_at) VALUES ('${NOBODY}', '${NOBODY}', now())`,
      `SELECT 'watch of ${NOBODY}' AS what`,
    ],
  ],
  'I2 a record has the revisions that events made, from 1 without a gap': [
    [
      `CREATE TEMP TABLE one AS SELECT id FROM objects ORDER BY random() LIMIT 1`,
      `UPDATE objects SET revision = revision + 1 WHERE id IN (SELECT id FROM one)`,
      `SELECT id AS what FROM one`,
    ],
    [
      `CREATE TEMP TABLE one AS SELECT object_id AS id FROM journal WHERE revision = 2 ORDER BY random() LIMIT 1`,
      `DELETE FROM journal WHERE object_id IN (SELECT id FROM one) AND revision = 2`,
      `SELECT id AS what FROM one`,
    ],
    [
      `CREATE TEMP TABLE one AS SELECT id FROM objects ORDER BY random() LIMIT 1`,
      `DELETE FROM journal WHERE object_id IN (SELECT id FROM one)`,
      `SELECT id AS what FROM one`,
    ],
  ],
  'I3 one change for each revision of a record, with those that rules added to it': [
    [
      `CREATE TEMP TABLE one AS SELECT * FROM journal WHERE revision IS NOT NULL ORDER BY random() LIMIT 1`,
      `INSERT INTO journal (id, at, type, object_id, revision, via, hash) SELECT gen_random_uuid(), at, type, object_id, revision, via, hash FROM one`,
      `SELECT object_id AS what FROM one`,
    ],
  ],
  'I4 no event of a record or revision that is not there': [
    [
      `CREATE TEMP TABLE one AS SELECT * FROM journal WHERE revision IS NOT NULL ORDER BY random() LIMIT 1`,
      `INSERT INTO journal (id, at, type, object_id, revision, via, hash) SELECT '${NOBODY}', at, type, object_id, 99, via, hash FROM one`,
      `SELECT '${NOBODY}' AS what`,
    ],
    [
      `CREATE TEMP TABLE one AS SELECT j.id, j.object_id FROM journal j WHERE j.revision = 1 ORDER BY random() LIMIT 1`,
      `DELETE FROM objects WHERE id IN (SELECT object_id FROM one)`,
      `SELECT id AS what FROM one`,
    ],
  ],
  'I5 a kept answer has its record': [
    [
      `CREATE TEMP TABLE one AS SELECT key, answer::jsonb ->> 'id' AS id FROM idempotency WHERE route = 'objects.create'`,
      `DELETE FROM objects WHERE id::text IN (SELECT id FROM one)`,
      `SELECT key AS what FROM one`,
    ],
    [
      `CREATE TEMP TABLE one AS SELECT * FROM idempotency WHERE route = 'objects.create' LIMIT 1`,
      `INSERT INTO idempotency SELECT caller_id, route, 'another', fingerprint, status, answer, returned, created_at FROM one`,
      `SELECT answer::jsonb ->> 'id' AS what FROM one`,
    ],
  ],
  'I8 images in rich text are there, byte by byte': [
    [
      `INSERT INTO blobs VALUES ('${'0'.repeat(64)}', now())`,
      `INSERT INTO inline_images SELECT id, '${'0'.repeat(64)}', 'image/png', 3 FROM objects LIMIT 1`,
      `SELECT object_id AS what FROM inline_images`,
    ],
  ],
  'I4 no comment without its record': [
    [`UPDATE comments SET object_id = '${NOBODY}'`, `SELECT id AS what FROM comments LIMIT 1`],
  ],
  'I5 a kept answer has its comment': [
    [`DELETE FROM comments`, `SELECT key AS what FROM idempotency WHERE starts_with(route, 'comments.add ')`],
  ],
  'I4 no attachment without its record': [
    [`UPDATE attachments SET object_id = '${NOBODY}'`, `SELECT id AS what FROM attachments LIMIT 1`],
  ],
  'I5 a kept answer has its attachment': [
    [`DELETE FROM attachments`, `SELECT key AS what FROM idempotency WHERE starts_with(route, 'attachments.add ')`],
  ],
  'I8 files are there, byte by byte': [
    [`UPDATE attachments SET size = size + 1`, `SELECT id AS what FROM attachments LIMIT 1`],
  ],
  'I4 no relation without its records': [
    [`UPDATE relations SET target_id = '${NOBODY}'`, `SELECT id AS what FROM relations LIMIT 1`],
    [`UPDATE relations SET source_id = '${NOBODY}'`, `SELECT id AS what FROM relations LIMIT 1`],
  ],
  'I5 a kept answer has its relation': [
    [`DELETE FROM relations`, `SELECT key AS what FROM idempotency WHERE starts_with(route, 'relations.add ')`],
  ],
  'I10 a relation exists once, and each record has no more relations than the definition allows': [
    [
      `DROP INDEX relations_unique`,
      `CREATE TEMP TABLE one AS SELECT * FROM relations LIMIT 1`,
      `INSERT INTO relations SELECT gen_random_uuid(), definition_id, source_id, target_id, NULL, NULL, revision, state, created_at, created_by FROM one`,
      `SELECT source_id AS what FROM one`,
    ],
    ...(['splits', 'twin'] as const).map((code) => [
      `CREATE TEMP TABLE one AS SELECT id FROM objects ORDER BY random() LIMIT 3`,
      `INSERT INTO relations SELECT gen_random_uuid(), d.id, o.id, t.id, NULL, NULL, 1, 'ACTIVE', now(), NULL
        FROM config_items d, one o, (SELECT id FROM one LIMIT 1) t WHERE d.code = '${code}' AND d.section = 'relationDefinitions' AND o.id <> t.id`,
      `SELECT id AS what FROM one LIMIT 1`,
    ]),
    [
      `CREATE TEMP TABLE one AS SELECT id FROM objects ORDER BY random() LIMIT 3`,
      `INSERT INTO relations SELECT gen_random_uuid(), d.id, t.id, o.id, NULL, NULL, 1, 'ACTIVE', now(), NULL
        FROM config_items d, one o, (SELECT id FROM one LIMIT 1) t WHERE d.code = 'twin' AND d.section = 'relationDefinitions' AND o.id <> t.id`,
      `SELECT id AS what FROM one LIMIT 1`,
    ],
  ],
  'I10 no cycle where the definition now forbids one': [
    [
      `CREATE TEMP TABLE one AS SELECT id, row_number() OVER () AS n FROM (SELECT id FROM objects ORDER BY random() LIMIT 3) o`,
      `INSERT INTO relations SELECT gen_random_uuid(), d.id, a.id, b.id, NULL, NULL, 1, 'ACTIVE', now(), NULL
        FROM config_items d, one a JOIN one b ON b.n = a.n % 3 + 1 WHERE d.code = 'after' AND d.section = 'relationDefinitions'`,
      `SELECT id AS what FROM one LIMIT 1`,
    ],
  ],
  'I11 facts of reports equal what history says': [
    [
      ONE('objects'),
      `DELETE FROM report_facts WHERE id IN (SELECT id FROM one)`,
      `SELECT 'record ' || id AS what FROM one`,
    ],
    ...[
      `created_at = created_at - interval '1 d'`,
      `reopened = reopened + 1`,
      `done_at = coalesce(done_at, created_at) + interval '1 d'`,
      `first_reply_at = coalesce(first_reply_at, created_at) + interval '1 d'`,
    ].map((wrong) => [
      ONE('objects'),
      `UPDATE report_facts SET ${wrong} WHERE id IN (SELECT id FROM one)`,
      `SELECT 'record ' || id AS what FROM one`,
    ]),
  ],
  'I11 counts of reports equal their records': [
    [
      `CREATE TEMP TABLE one AS SELECT id, type_id FROM objects WHERE state = 'ACTIVE' ORDER BY random() LIMIT 1`,
      `UPDATE journal_consumers SET place = (SELECT place FROM journal_placing) WHERE name = 'report-cells'`,
      `INSERT INTO report_counted_types SELECT type_id, '{}', now(), id, true FROM one`,
      `SELECT 'type ' || type_id || ', ' AS what FROM one`,
    ],
  ],
  'I11 no facts of a record that is not there': [
    [
      `INSERT INTO report_facts (id, type_id, state, created_at) VALUES ('${NOBODY}', '${NOBODY}', 'ACTIVE', now())`,
      `SELECT '${NOBODY}' AS what`,
    ],
  ],
  'I4 no SLA instance without its record': [[instance(NOBODY), `SELECT id AS what FROM sla_instances`]],
  'I4 one running SLA instance of a record and policy at most': [
    [instance(NOBODY), instance(NOBODY), `SELECT '${NOBODY}' AS what`],
  ],
  'I4 no external id of a record that is not there': [
    [`INSERT INTO external_ids VALUES ('there', 'object', 'E-17', '${NOBODY}', now())`, `SELECT 'E-17' AS what`],
  ],
  'I4 no more rows of an import than it has, and as many as it counts': [
    [
      `INSERT INTO import_runs (id, definition_id, dry_run, state, succeeded, failed, skipped, total, started_at, touched_at)
        VALUES ('${NOBODY}', '${NOBODY}', false, 'FINISHED', 1, 0, 0, 2, now(), now())`,
      `SELECT '${NOBODY}' AS what`,
    ],
    [
      `INSERT INTO import_runs (id, definition_id, dry_run, state, succeeded, failed, skipped, total, started_at, touched_at)
        VALUES ('${NOBODY}', '${NOBODY}', false, 'RUNNING', 0, 0, 0, 1, now(), now())`,
      `INSERT INTO import_rows (run_id, "row", status) VALUES ('${NOBODY}', 1, 'CREATED'), ('${NOBODY}', 2, 'CREATED')`,
      `SELECT '${NOBODY}' AS what`,
    ],
  ],
  'I5 a kept answer has the record or comment that it names': [
    [
      `CREATE TEMP TABLE one AS SELECT key, answer::jsonb ->> 'id' AS id FROM idempotency WHERE starts_with(route, 'inbound.run ')`,
      `DELETE FROM objects WHERE id::text IN (SELECT id FROM one)`,
      `SELECT key AS what FROM one`,
    ],
  ],
  'I9 no group is in itself, near or far': [
    [
      `INSERT INTO groups (id, code, code_key, name, created_at, updated_at)
        SELECT gen_random_uuid(), 'ring-' || n, 'ring-' || n, '{}', now(), now() FROM generate_series(1, 3) n`,
      `INSERT INTO group_members SELECT gen_random_uuid(), a.id, 'group', b.id, now() FROM groups a JOIN groups b
        ON b.code = 'ring-' || (substr(a.code, 6)::int % 3 + 1) WHERE a.code LIKE 'ring-%'`,
      `SELECT 'ring-2' AS what`,
    ],
  ],
  'I9 no unit is below itself': [
    [
      `INSERT INTO org_units (id, code, code_key, name, created_at, updated_at)
        SELECT gen_random_uuid(), 'ring-' || n, 'ring-' || n, '{}', now(), now() FROM generate_series(1, 3) n`,
      `UPDATE org_units u SET parent_id = p.id FROM org_units p WHERE p.code = 'ring-' || (substr(u.code, 6)::int % 3 + 1)`,
      `SELECT 'ring-3' AS what`,
    ],
  ],
  'I9 a user is in at most one unit': [
    [
      `ALTER TABLE org_members DROP CONSTRAINT org_members_user`,
      `INSERT INTO org_units (id, code, code_key, name, created_at, updated_at) SELECT gen_random_uuid(), 'u' || n, 'u' || n, '{}', now(), now() FROM generate_series(1, 2) n`,
      `INSERT INTO org_members SELECT gen_random_uuid(), o.id, u.id, now() FROM org_units o, users u WHERE u.login = 'agent'`,
      `SELECT id AS what FROM users WHERE login = 'agent'`,
    ],
  ],
  'I4 an article has one draft and one active version of a locale at most': [
    [
      `ALTER TABLE kb_versions DROP CONSTRAINT kb_versions_draft`,
      `INSERT INTO kb_articles (id, base_id, code, revision, created_at) SELECT '${NOBODY}', id, 'a', 1, now() FROM config_items LIMIT 1`,
      `INSERT INTO kb_versions (id, article_id, section_id, locale, state, draft_locale, title, tags, visibility, document, body, created_at, updated_at)
        SELECT gen_random_uuid(), '${NOBODY}', gen_random_uuid(), 'en-US', 'DRAFT', 'en-US', 'x', '{}', 'internal', '{}', '', now(), now() FROM generate_series(1, 2)`,
      `SELECT '${NOBODY}' AS what`,
    ],
  ],
  'I8 images of articles are there, byte by byte': [
    [
      `INSERT INTO blobs VALUES ('${'1'.repeat(64)}', now())`,
      `INSERT INTO kb_images VALUES ('${NOBODY}', '${'1'.repeat(64)}', 'image/png', 3)`,
      `SELECT '${NOBODY}' AS what`,
    ],
  ],
  'I6 one delivery for each event and subscription that takes it': [
    [
      `INSERT INTO webhook_periods (id, subscription_id, from_at, from_seq, event_types, max_attempts, base_delay_ms)
        SELECT gen_random_uuid(), id, now(), 0, '{ObjectCreated}', 3, 1000 FROM config_items LIMIT 1`,
      `CREATE TEMP TABLE one AS SELECT id FROM journal WHERE type = 'ObjectCreated' ORDER BY random() LIMIT 1`,
      `UPDATE journal_consumers SET place = (SELECT place FROM journal_placing) WHERE name = 'webhooks'`,
      `SELECT id AS what FROM one`,
    ],
    [
      `ALTER TABLE webhook_deliveries DROP CONSTRAINT webhook_deliveries_event`,
      delivery({}),
      delivery({}),
      `SELECT '${NOBODY}' AS what`,
    ],
  ],
  'I7 no lease beyond its time, no attempt too many': [
    [delivery({ lease: true, due: '1 hour' }), `SELECT id AS what FROM webhook_deliveries`],
    [delivery({ lease: true, status: 'DELIVERED' }), `SELECT id AS what FROM webhook_deliveries`],
    [
      `ALTER TABLE webhook_deliveries DROP CONSTRAINT webhook_deliveries_check`,
      delivery({ attempts: 4 }),
      `SELECT id AS what FROM webhook_deliveries`,
    ],
    [
      delivery({ attempts: 1 }),
      `INSERT INTO webhook_attempts SELECT id, n, now(), 500, 1, NULL, NULL FROM webhook_deliveries, generate_series(1, 2) n`,
      `SELECT id AS what FROM webhook_deliveries`,
    ],
  ],
};

function instance(objectId: string): string {
  return `INSERT INTO sla_instances (id, object_id, policy_id, policy_version, revision, lock_version, status, started_at, pauses, start_armed,
      pause_armed, target_ms, calendar_id, calendar_version, pinned, notified_thresholds)
    VALUES (gen_random_uuid(), '${objectId}', '${NOBODY}', 1, 1, 1, 'ACTIVE', now(), '[]', false, false, 1, '${NOBODY}', 1, false, '[]')`;
}

function delivery(of: { lease?: boolean; due?: string; status?: string; attempts?: number }): string {
  return `INSERT INTO webhook_deliveries (id, subscription_id, event_id, event_type, event_at, event_seq, event_data, status, attempt_count, max_attempts,
      base_delay_ms, created_at, due_at, lease)
    SELECT gen_random_uuid(), '${NOBODY}', '${NOBODY}', 'ObjectCreated', now(), 0, '{}', '${of.status ?? 'PENDING'}', ${of.attempts ?? 0}, 3, 1000,
      now(), now() + interval '${of.due ?? '1 minute'}', ${of.lease === true ? 'gen_random_uuid()' : 'NULL'}`;
}
