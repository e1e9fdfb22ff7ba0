/** Whether records that were loaded by SQL are in the tables as the service itself would have written them. */
import type pg from 'pg';
import { Connection } from './connection.ts';
import type { Pattern } from './records.ts';
import { send, type Target, TargetState } from './scenario.ts';

/** Fields that the load has and the pattern lacks: the measured role may not write them. */
const NOT_WRITABLE = ['cost', 'urgent'];

const SHAPE = `
  SELECT jsonb_build_object(
    'values', (SELECT jsonb_object_agg(key, jsonb_typeof(value)) FROM jsonb_each(o."values" - $2::text[])),
    'folded', (SELECT jsonb_object_agg(key, jsonb_typeof(value)) FROM jsonb_each(o.folded)),
    'columns', (SELECT jsonb_object_agg(key, jsonb_typeof(value)) FROM jsonb_each(to_jsonb(o) - 'values' - 'folded')),
    'event', (SELECT jsonb_object_agg(key, jsonb_typeof(value)) FROM jsonb_each(to_jsonb(j) - 'changes')),
    'changes', (SELECT jsonb_object_agg(key, jsonb_typeof(value->0) || ' ' || jsonb_typeof(value->1))
      FROM jsonb_each(j.changes - $2::text[])),
    'events', (SELECT count(*) FROM journal WHERE object_id = o.id AND type = 'ObjectCreated')) AS shape
  FROM objects o JOIN journal j ON j.object_id = o.id AND j.type = 'ObjectCreated' WHERE o.id = $1`;

async function shapeOf(db: pg.Client, id: string): Promise<unknown> {
  const { rows } = await db.query<{ shape: unknown }>(SHAPE, [id, NOT_WRITABLE]);
  return rows[0]?.shape;
}

/** @throws Error that shows both shapes when a loaded record differs from the one made through the API */
export async function requireEqualShape(db: pg.Client, pattern: Pattern, loadedId: string): Promise<void> {
  const [written, loaded] = [await shapeOf(db, pattern.objectId), await shapeOf(db, loadedId)];
  if (written === undefined || JSON.stringify(written) !== JSON.stringify(loaded)) {
    throw new Error(
      `loaded records differ from those of the service; bench/records.ts must follow.\n  service ${JSON.stringify(written)}\n  loaded  ${JSON.stringify(loaded)}`,
    );
  }
}

/**
 * Lets the service write the words of a loaded record again, by a change of its title and back.
 *
 * @throws Error that shows both rows when the words of the load differ from those of the service
 */
export async function requireEqualWords(db: pg.Client, target: Target, id: string): Promise<void> {
  const read = async (): Promise<unknown> => {
    const sql = 'SELECT profile_id, size, words::text FROM search_records WHERE id = $1';
    return (await db.query(sql, [id])).rows[0];
  };
  const { rows } = await db.query<{ title: string; revision: number }>(
    'SELECT title, revision FROM objects WHERE id = $1',
    [id],
  );
  const { title = '', revision = 0 } = rows[0] ?? {};
  const loaded = await read();
  const state = new TargetState(target);
  const connection = await Connection.open(target.ports.docket);
  for (const [turn, text] of [`${title} changed`, title].entries()) {
    const body = { expectedRevision: revision + turn, changes: { title: text } };
    const answer = await connection.request(send(state, 'docket', 'PATCH', `/api/v1/objects/${id}`, body));
    if (answer.status !== 200) throw new Error(`a loaded record cannot be changed: ${answer.body.toString('utf8')}`);
  }
  connection.close();
  const written = await read();
  if (loaded === undefined || JSON.stringify(written) !== JSON.stringify(loaded)) {
    throw new Error(
      `words of loaded records differ from those of the service; bench/records.ts must follow.\n  service ${JSON.stringify(written)}\n  loaded  ${JSON.stringify(loaded)}`,
    );
  }
}
