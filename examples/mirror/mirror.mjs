/**
 * Copies the records and events of a service into another PostgreSQL, by the changes feed:
 *
 *   DOCKET_URL=… DOCKET_KEY=… PGHOST=… PGDATABASE=… node examples/mirror/mirror.mjs [--once]
 *
 * The cursor is stored in the transaction of the rows that it covers, so that each event is stored once, also after a crash.
 * With `--once` it ends when it has everything; otherwise it goes on. The key needs the scope `objects:read`, and its owner the
 * rights `read` and `history` on everything that is to be copied.
 */
import { Docket, NotFound } from '@docket/client';
import pg from 'pg';

const once = process.argv.includes('--once');
const docket = new Docket({ url: process.env.DOCKET_URL, key: process.env.DOCKET_KEY });
const db = new pg.Client();
await db.connect();
await db.query(`
  CREATE SCHEMA IF NOT EXISTS docket;
  CREATE TABLE IF NOT EXISTS docket.position (id boolean PRIMARY KEY DEFAULT true CHECK (id), cursor text);
  CREATE TABLE IF NOT EXISTS docket.events (
    seq bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, id uuid NOT NULL UNIQUE, type text NOT NULL, at timestamptz NOT NULL,
    actor text, record_id uuid, revision bigint, changes jsonb NOT NULL, data jsonb NOT NULL);
  CREATE INDEX IF NOT EXISTS events_of_record ON docket.events (record_id, seq);
  CREATE TABLE IF NOT EXISTS docket.records (
    id uuid PRIMARY KEY, type text NOT NULL, number text, title text, state text NOT NULL, workflow_state text,
    revision bigint NOT NULL, field_values jsonb NOT NULL, created_at timestamptz NOT NULL, updated_at timestamptz NOT NULL);
  INSERT INTO docket.position VALUES (true, NULL) ON CONFLICT DO NOTHING`);

/** Runs `store` and moves the cursor in one transaction. */
async function commit(cursor, store) {
  await db.query('BEGIN');
  try {
    await store();
    await db.query('UPDATE docket.position SET cursor = $1', [cursor]);
    await db.query('COMMIT');
  } catch (error) {
    await db.query('ROLLBACK');
    throw error;
  }
}

async function storeEvents(events) {
  await db.query(
    `INSERT INTO docket.events (id, type, at, actor, record_id, revision, changes, data)
     SELECT "eventId", "eventType", "occurredAt", actor ->> 'displayName', "objectId", revision, changes, data
     FROM ROWS FROM (jsonb_to_recordset($1) AS ("eventId" uuid, "eventType" text, "occurredAt" timestamptz, actor jsonb,
       "objectId" uuid, revision bigint, changes jsonb, data jsonb)) WITH ORDINALITY
     ORDER BY ordinality`,
    [JSON.stringify(events)],
  );
}

/** An event carries the record as it is now, which can be newer than the event. */
async function storeRecords(records) {
  const newest = new Map(records.map((record) => [record.id, record]));
  await db.query(
    `INSERT INTO docket.records
     SELECT id, "typeCode", number, title, state, "workflowState" ->> 'code', revision, "values", "createdAt", "updatedAt"
     FROM jsonb_to_recordset($1) AS r (id uuid, "typeCode" text, number text, title text, state text, "workflowState" jsonb,
       revision bigint, "values" jsonb, "createdAt" timestamptz, "updatedAt" timestamptz)
     ON CONFLICT (id) DO UPDATE SET (type, number, title, state, workflow_state, revision, field_values, updated_at) =
       (EXCLUDED.type, EXCLUDED.number, EXCLUDED.title, EXCLUDED.state, EXCLUDED.workflow_state, EXCLUDED.revision,
        EXCLUDED.field_values, EXCLUDED.updated_at)`,
    [JSON.stringify([...newest.values()])],
  );
}

/**
 * The service was restored from a backup, or lost its last commits in a failover: drops what is not its history any more.
 * @returns the cursor to go on from; undefined for the beginning
 */
async function rewind({ resume, lastEventId }) {
  const last = (await db.query('SELECT seq FROM docket.events WHERE id = $1', [lastEventId])).rows[0];
  if (last === undefined) {
    // Nothing tells which rows are still right, so everything is read again from the beginning.
    await commit(null, () => db.query('TRUNCATE docket.events, docket.records'));
    return undefined;
  }
  const dropped = await db.query(
    'SELECT DISTINCT record_id FROM docket.events WHERE seq > $1 AND record_id IS NOT NULL',
    [last.seq],
  );
  const ids = dropped.rows.map((row) => row.record_id);
  const present = [];
  for (const id of ids) {
    try {
      present.push(await docket.objects.get(id));
    } catch (error) {
      if (!(error instanceof NotFound)) throw error;
    }
  }
  await commit(resume, async () => {
    await db.query('DELETE FROM docket.events WHERE seq > $1', [last.seq]);
    await db.query('DELETE FROM docket.records WHERE id = ANY($1)', [ids]);
    await storeRecords(present);
  });
  return resume;
}

const { rows } = await db.query('SELECT cursor FROM docket.position');
const query = { after: rows[0].cursor ?? undefined, include: 'object', wait: once ? 0 : 25 };
for await (const page of docket.feed.pages(query, { onRewound: rewind })) {
  await commit(page.next, async () => {
    await storeEvents(page.events);
    await storeRecords(page.events.flatMap(({ object }) => object ?? []));
  });
}
await db.end();
