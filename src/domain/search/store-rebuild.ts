/** SQL for making the projection anew and for comparing it. */
import type { CommentVisibility } from '../../contract/comment-visibility.ts';
import sql, { type Sql } from 'sql-template-tag';
import type { ReadContext, TableWrite, WriteContext } from '../../platform/unit-of-work/context.ts';
import type { Queryable } from '../../platform/database/pool.ts';
import type { CommentRow, RecordRow } from './store.ts';

/** The forms that rows have: a few, found by as many steps in the index. */
export async function storedProfiles(ctx: Pick<ReadContext, 'query'>): Promise<number[]> {
  const rows = await ctx.query<{ profile_id: number }>(sql`
    WITH RECURSIVE present AS (
      (SELECT profile_id FROM search_records ORDER BY profile_id LIMIT 1)
      UNION ALL
      SELECT (SELECT s.profile_id FROM search_records s WHERE s.profile_id > p.profile_id ORDER BY s.profile_id LIMIT 1) FROM present p
      WHERE p.profile_id IS NOT NULL
    )
    SELECT profile_id FROM present WHERE profile_id IS NOT NULL`);
  return rows.map((row) => row.profile_id);
}

/** A record or a comment as it is made anew; `revision` tells whether it changed meanwhile. */
export interface StoredRecord {
  id: string;
  typeId: string;
  typeVersion: number;
  revision: number;
  number: string | null;
  values: Record<string, unknown>;
}

export interface StoredComment {
  id: string;
  objectId: string;
  revision: number;
  body: string;
  visibility: CommentVisibility;
  updatedAt: string;
}

const RECORD = sql`o.id, o.type_id AS "typeId", o.type_version AS "typeVersion", o.revision, o.number, o."values"`;

/** By id, from behind `after` on. */
export async function listRecords(ctx: ReadContext, after: string | null, limit: number): Promise<StoredRecord[]> {
  return await ctx.query<StoredRecord>(sql`SELECT ${RECORD} FROM objects o
    WHERE (${after}::uuid IS NULL OR o.id > ${after}::uuid) ORDER BY o.id LIMIT ${limit}::int`);
}

/** Records last updated. */
export async function listNewest(ctx: ReadContext, limit: number): Promise<StoredRecord[]> {
  return await ctx.query<StoredRecord>(sql`SELECT ${RECORD} FROM objects o
    WHERE o.state = 'ACTIVE' ORDER BY o.updated_at DESC, o.id DESC LIMIT ${limit}::int`);
}

/** Records whose row is of the form. */
export async function listOfForm(ctx: ReadContext, profile: number, limit: number): Promise<StoredRecord[]> {
  return await ctx.query<StoredRecord>(sql`SELECT ${RECORD} FROM objects o
    WHERE o.id IN (SELECT id FROM search_records WHERE profile_id = ${profile}::int ORDER BY id LIMIT ${limit}::int)`);
}

/** Active comments by id, from behind `after` on. */
export async function listComments(ctx: ReadContext, after: string | null, limit: number): Promise<StoredComment[]> {
  return await ctx.query<StoredComment>(sql`
    SELECT id, object_id AS "objectId", revision, body, visibility, updated_at AS "updatedAt"
    FROM comments WHERE state = 'ACTIVE' AND (${after}::uuid IS NULL OR id > ${after}::uuid) ORDER BY id LIMIT ${limit}::int`);
}

/**
 * Rows made of what was read a moment ago: only those whose record is still the same, and it stays the same until the unit
 * ends. What changed meanwhile was made anew by its own change.
 */
export const remakeRecord: TableWrite<RecordRow & { revision: number; type_version: number }> = {
  name: 'search_remake_record',
  guard: false,
  sql: (rows: Sql) => sql`
    INSERT INTO search_records (id, profile_id, size, words)
    SELECT id, profile_id, size, words FROM (
      SELECT r.* FROM jsonb_to_recordset(${rows}) AS r (id uuid, profile_id integer, size integer, words tsvector, revision integer,
        type_version integer)
      JOIN objects o ON o.id = r.id WHERE o.revision = r.revision AND o.type_version = r.type_version
      ORDER BY o.id FOR SHARE OF o
    ) AS same
    ON CONFLICT (id) DO UPDATE SET profile_id = EXCLUDED.profile_id, size = EXCLUDED.size, words = EXCLUDED.words`,
};

export const remakeComment: TableWrite<CommentRow & { revision: number }> = {
  name: 'search_remake_comment',
  guard: false,
  sql: (rows: Sql) => sql`
    INSERT INTO search_comments (id, object_id, visibility, updated_at, size, words)
    SELECT id, object_id, visibility, at, size, words FROM (
      SELECT r.* FROM jsonb_to_recordset(${rows}) AS r (id uuid, object_id uuid, visibility text, at timestamptz, size integer,
        words tsvector, revision integer)
      JOIN comments c ON c.id = r.id WHERE c.revision = r.revision AND c.state = 'ACTIVE'
      ORDER BY c.id FOR SHARE OF c
    ) AS same
    ON CONFLICT (id) DO UPDATE SET visibility = EXCLUDED.visibility, updated_at = EXCLUDED.updated_at, size = EXCLUDED.size,
      words = EXCLUDED.words`,
};

export interface RebuildState {
  part: 'records' | 'comments' | 'articles';
  after: string | null;
  done: number;
}

/** The rebuilding under way, held until the unit ends, so that nobody else takes the same step; undefined where there is none. */
export async function lockRebuild(ctx: WriteContext): Promise<RebuildState | undefined> {
  const rows = await ctx.lock<RebuildState>(sql`SELECT part, after_id AS after, done FROM search_rebuild FOR UPDATE`);
  return rows[0];
}

export async function findRebuild(ctx: ReadContext): Promise<RebuildState | undefined> {
  const rows = await ctx.query<RebuildState>(sql`SELECT part, after_id AS after, done FROM search_rebuild`);
  return rows[0];
}

/** How many rows there are to make, about. */
export async function countToMake(ctx: ReadContext): Promise<number> {
  const [row] = await ctx.query<{ n: number }>(sql`SELECT (SELECT count(*) FROM objects)
    + (SELECT count(*) FROM comments WHERE state = 'ACTIVE') AS n`);
  return row?.n ?? 0;
}

export const startRebuild: TableWrite<{ at: string }> = {
  name: 'search_start_rebuild',
  guard: false,
  sql: (rows: Sql) => sql`INSERT INTO search_rebuild (started_at)
    SELECT at FROM jsonb_to_recordset(${rows}) AS r (at timestamptz) ON CONFLICT (only_row) DO NOTHING`,
};

export const moveRebuild: TableWrite<RebuildState> = {
  name: 'search_move_rebuild',
  guard: false,
  sql: (rows: Sql) => sql`UPDATE search_rebuild SET part = r.part, after_id = r.after, done = r.done
    FROM jsonb_to_recordset(${rows}) AS r (part text, after uuid, done bigint)`,
};

/** Takes away the rows of what is not there any more, and ends the rebuilding. */
export const endRebuild: TableWrite<Record<string, never>> = {
  name: 'search_end_rebuild',
  guard: false,
  sql: () => sql`DELETE FROM search_rebuild`,
};

export const dropStray: TableWrite<Record<string, never>> = {
  name: 'search_drop_stray',
  guard: false,
  sql: () => sql`DELETE FROM search_comments s
    WHERE NOT EXISTS (SELECT 1 FROM comments c WHERE c.id = s.id AND c.state = 'ACTIVE')`,
};

export const dropStrayRecords: TableWrite<Record<string, never>> = {
  name: 'search_drop_stray_records',
  guard: false,
  sql: () => sql`DELETE FROM search_records s WHERE NOT EXISTS (SELECT 1 FROM objects o WHERE o.id = s.id)`,
};

/** Learns the words of rows that were written: of letters, and no shorter than what may hold a typing error. @returns rows taken */
export async function learnWords(db: Queryable, limit: number): Promise<number> {
  const [row] = await db.query<{ taken: number }>(sql`
    WITH taken AS (
      DELETE FROM search_pending_words WHERE ctid IN (SELECT ctid FROM search_pending_words LIMIT ${limit}::int FOR UPDATE SKIP LOCKED)
      RETURNING id
    ), written AS (
      SELECT r.words FROM taken t JOIN search_records r ON r.id = t.id
      UNION ALL SELECT c.words FROM taken t JOIN search_comments c ON c.id = t.id
      UNION ALL SELECT a.words FROM taken t JOIN search_articles a ON a.id = t.id
    ), found AS (
      SELECT DISTINCT CASE WHEN starts_with(u.lexeme, chr(1)) THEN chr(1) || split_part(u.lexeme, chr(1), 2) || chr(1) ELSE '' END AS field_token,
        CASE WHEN starts_with(u.lexeme, chr(1)) THEN split_part(u.lexeme, chr(1), 3) ELSE u.lexeme END AS word
      FROM written CROSS JOIN LATERAL unnest(words) AS u WHERE NOT starts_with(u.lexeme, chr(2))
    ), learnt AS (
      INSERT INTO search_words (field_token, word)
      SELECT field_token, word FROM found WHERE length(word) BETWEEN 4 AND 40 AND word !~ '[0-9]'
      ORDER BY field_token COLLATE "C", word COLLATE "C" ON CONFLICT DO NOTHING
    )
    SELECT count(*) AS taken FROM taken`);
  return row?.taken ?? 0;
}
