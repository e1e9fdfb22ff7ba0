/** SQL on the table `desk_queues`. */
import sql, { type Sql } from 'sql-template-tag';
import type { ReadContext, TableWrite } from '../../platform/unit-of-work/context.ts';

export interface QueueDefinition {
  type?: string;
  state?: string;
  q?: string;
  filter?: unknown;
  sort?: string;
  sla?: string;
  columns?: string[];
}

export interface QueueRow {
  id: string;
  ownerId: string;
  name: string;
  shared: boolean;
  definition: QueueDefinition;
  revision: number;
  updatedAt: string;
}

const COLUMNS = sql`q.id, q.owner_id AS "ownerId", q.name, q.shared, q.definition, q.revision, q.updated_at AS "updatedAt"`;

/** The user's own and the shared queues. Private queues of other users are never returned. */
export async function listQueues(ctx: ReadContext, userId: string): Promise<QueueRow[]> {
  return await ctx.query<QueueRow>(sql`
    SELECT ${COLUMNS} FROM desk_queues q WHERE q.owner_id = ${userId}::uuid OR q.shared
    ORDER BY q.name COLLATE "und-x-icu", q.id LIMIT 500`);
}

export async function findQueue(ctx: ReadContext, id: string, userId: string): Promise<QueueRow | undefined> {
  const rows = await ctx.query<QueueRow>(sql`
    SELECT ${COLUMNS} FROM desk_queues q
    WHERE q.id = ${id}::uuid AND (q.owner_id = ${userId}::uuid OR q.shared)`);
  return rows[0];
}

export interface QueueWrite {
  id: string;
  owner_id: string;
  name: string;
  shared: boolean;
  definition: QueueDefinition;
  expected: number;
  at: string;
}

export const insertQueue: TableWrite<QueueWrite> = {
  name: 'insert_queue',
  guard: true,
  sql: (rows: Sql) => sql`
    INSERT INTO desk_queues (id, owner_id, name, shared, definition, revision, created_at, updated_at)
    SELECT id, owner_id, name, shared, definition, 1, at, at
    FROM jsonb_to_recordset(${rows}) AS r (id uuid, owner_id uuid, name text, shared boolean, definition jsonb, at timestamptz)
    RETURNING 1`,
};

export const updateQueue: TableWrite<QueueWrite> = {
  name: 'update_queue',
  guard: true,
  sql: (rows: Sql) => sql`
    UPDATE desk_queues q SET name = r.name, shared = r.shared, definition = r.definition, revision = q.revision + 1,
      updated_at = r.at
    FROM jsonb_to_recordset(${rows}) AS r (id uuid, name text, shared boolean, definition jsonb, expected integer, at timestamptz)
    WHERE q.id = r.id AND q.revision = r.expected RETURNING 1`,
};

export const removeQueue: TableWrite<{ id: string; expected: number }> = {
  name: 'remove_queue',
  guard: true,
  sql: (rows: Sql) => sql`
    DELETE FROM desk_queues q USING jsonb_to_recordset(${rows}) AS r (id uuid, expected integer)
    WHERE q.id = r.id AND q.revision = r.expected RETURNING 1`,
};
