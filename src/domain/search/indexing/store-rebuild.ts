/** SQL for rebuilding the index and comparing it, and the metrics of the index. */
import type { CommentVisibility } from '../../../contract/comment-visibility.ts';
import sql, { empty, raw, type Sql } from 'sql-template-tag';
import { isRebuilding, rebuiltRows } from '../../../platform/jobs/rebuilds.ts';
import type { ReadContext, TableWrite } from '../../../platform/unit-of-work/context.ts';
import { registry, storedCodes, type StoredValues } from '../../metadata/index.ts';
import type { CommentRow, RecordRow } from './store.ts';
import { boundedCount, type DatabaseMetric } from '../../../platform/observability/database-metrics.ts';

/** The profile ids of the stored rows. There are few; each takes one step in the index. */
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

/** The source of a row: a record or comment with its revision, by which concurrent changes are detected. */
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

/** Values are under the current codes. */
async function queryRecords(ctx: ReadContext, statement: Sql): Promise<StoredRecord[]> {
  const rows = await ctx.query<Omit<StoredRecord, 'values'> & { values: StoredValues }>(statement);
  const types = registry(ctx);
  return rows.map((row) => ({ ...row, values: storedCodes(types, row.typeId).decode(row.values) }));
}

/** By id, after `after`. */
export async function listRecords(ctx: ReadContext, after: string | null, limit: number): Promise<StoredRecord[]> {
  return await queryRecords(
    ctx,
    sql`SELECT ${RECORD} FROM objects o
    WHERE (${after}::uuid IS NULL OR o.id > ${after}::uuid) ORDER BY o.id LIMIT ${limit}::int`,
  );
}

/** The last updated records. */
export async function listNewest(ctx: ReadContext, limit: number): Promise<StoredRecord[]> {
  return await queryRecords(
    ctx,
    sql`SELECT ${RECORD} FROM objects o
    WHERE o.state = 'ACTIVE' ORDER BY o.updated_at DESC, o.id DESC LIMIT ${limit}::int`,
  );
}

/** Records whose row has this profile. */
export async function listOfForm(ctx: ReadContext, profile: number, limit: number): Promise<StoredRecord[]> {
  return await queryRecords(
    ctx,
    sql`SELECT ${RECORD} FROM objects o
    WHERE o.id IN (SELECT id FROM search_records WHERE profile_id = ${profile}::int ORDER BY id LIMIT ${limit}::int)`,
  );
}

/** Active comments by id, after `after`. */
export async function listComments(ctx: ReadContext, after: string | null, limit: number): Promise<StoredComment[]> {
  return await ctx.query<StoredComment>(sql`
    SELECT id, object_id AS "objectId", revision, body, visibility, updated_at AS "updatedAt"
    FROM comments WHERE state = 'ACTIVE' AND (${after}::uuid IS NULL OR id > ${after}::uuid) ORDER BY id LIMIT ${limit}::int`);
}

/**
 * Writes rows that were built from an earlier read, only if the record has not changed since; it is locked until the unit of
 * work ends. A record that changed meanwhile was indexed by its own change.
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

/** Approximate number of rows to build. */
export async function countToMake(ctx: ReadContext): Promise<number> {
  const [row] = await ctx.query<{ n: number }>(sql`SELECT (SELECT count(*) FROM objects)
    + (SELECT count(*) FROM comments WHERE state = 'ACTIVE') AS n`);
  return row?.n ?? 0;
}

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

export interface Gaps {
  /** Number of records and active comments without a row. */
  missing: number;
  /** Number of rows without a record or comment. */
  stray: number;
}

export async function countGaps(ctx: ReadContext): Promise<Gaps> {
  const [row] = await ctx.query<Gaps>(sql`SELECT
    (SELECT count(*) FROM objects o WHERE NOT EXISTS (SELECT 1 FROM search_records s WHERE s.id = o.id))
    + (SELECT count(*) FROM comments c WHERE c.state = 'ACTIVE'
        AND NOT EXISTS (SELECT 1 FROM search_comments s WHERE s.id = c.id)) AS missing,
    (SELECT count(*) FROM search_records s WHERE NOT EXISTS (SELECT 1 FROM objects o WHERE o.id = s.id))
    + (SELECT count(*) FROM search_comments s
        WHERE NOT EXISTS (SELECT 1 FROM comments c WHERE c.id = s.id AND c.state = 'ACTIVE')) AS stray`);
  return row ?? { missing: 0, stray: 0 };
}

export interface Made {
  id: string;
  revision: number;
  size: number;
  words: string;
}

const ROWS = {
  objects: { table: sql`search_records`, also: empty },
  comments: { table: sql`search_comments`, also: sql`OR s.visibility <> o.visibility` },
};

/** Ids of the records or comments whose row differs from the one built now. Those that changed meanwhile are left out. */
export async function differing(ctx: ReadContext, of: keyof typeof ROWS, made: readonly Made[]): Promise<string[]> {
  const { table, also } = ROWS[of];
  const rows = await ctx.query<{ id: string }>(sql`
    SELECT r.id FROM jsonb_to_recordset(${JSON.stringify(made)}::jsonb) AS r (id uuid, revision integer, size integer, words tsvector)
    JOIN ${raw(of)} o ON o.id = r.id AND o.revision = r.revision JOIN ${table} s ON s.id = r.id
    WHERE s.words <> r.words OR s.size <> r.size ${also}`);
  return rows.map(({ id }) => id);
}

/** The rebuild of the whole index. */
export const SEARCH_REBUILD = 'search';

export const searchMetrics: readonly DatabaseMetric[] = [
  {
    name: 'docket_search_rebuilding',
    help: '1 while the search index is being rebuilt.',
    sql: () => sql`SELECT ${isRebuilding(SEARCH_REBUILD)}::int`,
  },
  {
    name: 'docket_search_rebuilt_rows',
    help: 'Rows written by the running rebuild.',
    sql: () => rebuiltRows(SEARCH_REBUILD),
  },
  {
    name: 'docket_search_pending_words',
    help: 'Index rows whose words are not in the typo dictionary yet, counted up to 10,000.',
    sql: () => boundedCount(sql`search_pending_words`),
  },
];
