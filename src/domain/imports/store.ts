/** SQL on `import_runs`, `import_rows` and `external_ids`; nothing else touches them. */
import { userName } from '../../platform/journal/journal.ts';
import sql, { empty, type Sql } from 'sql-template-tag';
import type { FaultDetail } from '../../lib/fault.ts';
import { jsonSize, type RowWindow, readInOrder } from '../../platform/database/window.ts';
import type { ReadContext, TableWrite } from '../../platform/unit-of-work/context.ts';
import type { TargetKind } from './registry.ts';

export type RowStatus = 'CREATED' | 'UPDATED' | 'SKIPPED' | 'FAILED';

// ---------------------------------------------------------------- external ids

/** External id → id of the target that was imported under it. */
export async function findLinks(
  ctx: ReadContext,
  sourceCode: string,
  kind: TargetKind,
  externalIds: readonly string[],
): Promise<Map<string, string>> {
  if (externalIds.length === 0) return new Map();
  const rows = await ctx.query<{ external: string; id: string }>(sql`
    SELECT external_id AS external, target_id AS id FROM external_ids
    WHERE source_code = ${sourceCode} AND target_kind = ${kind} AND external_id = ANY(${[...externalIds]}::text[])`);
  return new Map(rows.map(({ external, id }) => [external, id]));
}

export interface LinkRow {
  source_code: string;
  target_kind: TargetKind;
  external_id: string;
  target_id: string;
  at: string;
}

/** Inserts in the order of external ids, so that concurrent imports of one source cannot deadlock. */
export const insertLink: TableWrite<LinkRow> = {
  name: 'insert_external_ids',
  guard: true,
  sql: (rows: Sql) => sql`
    INSERT INTO external_ids (source_code, target_kind, external_id, target_id, created_at)
    SELECT source_code, target_kind, external_id, target_id, at
    FROM jsonb_to_recordset(${rows}) AS r (source_code text, target_kind text, external_id text, target_id uuid, at timestamptz)
    ORDER BY external_id COLLATE "C"
    ON CONFLICT DO NOTHING RETURNING 1`,
};

export const deleteLink: TableWrite<Omit<LinkRow, 'at'>> = {
  name: 'delete_external_ids',
  guard: false,
  sql: (rows: Sql) => sql`
    DELETE FROM external_ids e
    USING jsonb_to_recordset(${rows}) AS r (source_code text, target_kind text, external_id text, target_id uuid)
    WHERE e.source_code = r.source_code AND e.target_kind = r.target_kind AND e.external_id = r.external_id
      AND e.target_id = r.target_id`,
};

// ---------------------------------------------------------------- runs

export interface RunRow {
  id: string;
  definitionId: string;
  dryRun: boolean;
  state: 'RUNNING' | 'FINISHED';
  succeeded: number;
  failed: number;
  skipped: number;
  total: number;
  fileName: string | null;
  startedAt: string;
  startedBy: string | null;
  startedByName: string | null;
  touchedAt: string;
  finishedAt: string | null;
  undoneAt: string | null;
}

const RUN = sql`r.id, r.definition_id AS "definitionId", r.dry_run AS "dryRun", r.state, r.succeeded, r.failed, r.skipped,
  r.total, r.file_name AS "fileName", r.started_at AS "startedAt", r.started_by AS "startedBy",
  ${userName('r.started_by')} AS "startedByName", r.touched_at AS "touchedAt",
  r.finished_at AS "finishedAt", r.undone_at AS "undoneAt"`;

export async function findRun(ctx: ReadContext, id: string): Promise<RunRow | undefined> {
  const rows = await ctx.query<RunRow>(sql`SELECT ${RUN} FROM import_runs r WHERE r.id = ${id}::uuid`);
  return rows[0];
}

/** The newest unfinished run of the same content. */
export async function findUnfinished(
  ctx: ReadContext,
  definitionId: string,
  contentKey: string,
): Promise<RunRow | undefined> {
  const rows = await ctx.query<RunRow>(sql`
    SELECT ${RUN} FROM import_runs r
    WHERE r.definition_id = ${definitionId}::uuid AND r.content_key = ${contentKey} AND r.state = 'RUNNING' AND NOT r.dry_run
    ORDER BY r.started_at DESC LIMIT 1`);
  return rows[0];
}

/** Newest first. */
export async function listRunRows(ctx: ReadContext, limit: number, offset: number): Promise<RunRow[]> {
  return await ctx.query<RunRow>(sql`
    SELECT ${RUN} FROM import_runs r ORDER BY r.started_at DESC, r.id DESC LIMIT ${limit}::int OFFSET ${offset}::int`);
}

export interface NewRun {
  id: string;
  definition_id: string;
  dry_run: boolean;
  total: number;
  file_name: string | null;
  content_key: string | null;
  at: string;
  by: string | null;
}

export const insertRun: TableWrite<NewRun> = {
  name: 'insert_import_runs',
  guard: true,
  sql: (rows: Sql) => sql`
    INSERT INTO import_runs (id, definition_id, dry_run, total, file_name, content_key, started_at, started_by, touched_at)
    SELECT id, definition_id, dry_run, total, file_name, content_key, at, by, at
    FROM jsonb_to_recordset(${rows}) AS r (id uuid, definition_id uuid, dry_run boolean, total integer, file_name text,
      content_key text, at timestamptz, by uuid) RETURNING 1`,
};

export interface RunCounts {
  id: string;
  succeeded: number;
  failed: number;
  skipped: number;
  at: string;
}

export const countRows: TableWrite<RunCounts> = {
  name: 'count_import_rows',
  guard: true,
  sql: (rows: Sql) => sql`
    UPDATE import_runs i SET succeeded = i.succeeded + r.succeeded, failed = i.failed + r.failed,
      skipped = i.skipped + r.skipped, touched_at = r.at
    FROM jsonb_to_recordset(${rows}) AS r (id uuid, succeeded integer, failed integer, skipped integer, at timestamptz)
    WHERE i.id = r.id RETURNING 1`,
};

export const finishRun: TableWrite<{ id: string; at: string }> = {
  name: 'finish_import_runs',
  guard: true,
  sql: (rows: Sql) => sql`
    UPDATE import_runs i SET state = 'FINISHED', finished_at = r.at, touched_at = r.at
    FROM jsonb_to_recordset(${rows}) AS r (id uuid, at timestamptz) WHERE i.id = r.id RETURNING 1`,
};

export const undoneRun: TableWrite<{ id: string; at: string; by: string | null }> = {
  name: 'undone_import_runs',
  guard: true,
  sql: (rows: Sql) => sql`
    UPDATE import_runs i SET undone_at = r.at, undone_by = r.by
    FROM jsonb_to_recordset(${rows}) AS r (id uuid, at timestamptz, by uuid) WHERE i.id = r.id RETURNING 1`,
};

// ---------------------------------------------------------------- rows

export interface RowRow {
  run_id: string;
  row: number;
  external_id: string | null;
  status: RowStatus;
  target_id: string | null;
  revision: number | null;
  errors: FaultDetail[] | null;
  before: unknown;
}

/** Each row of a run is written once. A second writer fails the guard, and its transaction is retried. */
export const insertRow: TableWrite<RowRow> = {
  name: 'insert_import_rows',
  guard: true,
  sql: (rows: Sql) => sql`
    INSERT INTO import_rows (run_id, row, external_id, status, target_id, revision, errors, before)
    SELECT run_id, row, external_id, status, target_id, revision, errors, before
    FROM jsonb_to_recordset(${rows}) AS r (run_id uuid, row integer, external_id text, status text, target_id uuid,
      revision integer, errors jsonb, before jsonb)
    ON CONFLICT DO NOTHING RETURNING 1`,
};

export interface StoredRow {
  row: number;
  externalId: string | null;
  status: RowStatus;
  id: string | null;
  revision: number | null;
  errors: FaultDetail[] | null;
  before: unknown;
  undo: string | null;
}

const ROW = sql`w.row, w.external_id AS "externalId", w.status, w.target_id AS id, w.revision, w.errors, w.before, w.undo`;

/** A row as answers show it. */
export type ShownRow = Pick<StoredRow, 'row' | 'externalId' | 'status' | 'id' | 'errors'>;

/** The rows of a run in order, in windows. With `failedFirst`, failed rows come first. */
export function rowWindows(ctx: ReadContext, runId: string, failedFirst: boolean): AsyncGenerator<RowWindow<ShownRow>> {
  const columns = sql`w.row, w.external_id AS "externalId", w.status, w.target_id AS id, w.errors`;
  const by = failedFirst ? sql`(CASE WHEN w.status = 'FAILED' THEN 0 ELSE 1 END)` : sql`w.row`;
  const from = sql`import_rows w WHERE w.run_id = ${runId}::uuid`;
  const size = sql`100 + (${jsonSize('i.errors')})`;
  return readInOrder<ShownRow>(
    ctx,
    { columns, from, size },
    { by, byType: 'integer', id: sql`w.row`, idType: 'integer' },
  );
}

/** The rows of a run that changed something and were not undone, last first, below `before`. */
export async function listChanged(
  ctx: ReadContext,
  runId: string,
  before: number | undefined,
  limit: number,
): Promise<StoredRow[]> {
  const below = before === undefined ? empty : sql`AND w.row < ${before}::int`;
  return await ctx.query<StoredRow>(sql`
    SELECT ${ROW} FROM import_rows w
    WHERE w.run_id = ${runId}::uuid AND w.status IN ('CREATED', 'UPDATED') AND w.undo IS DISTINCT FROM 'UNDONE' ${below}
    ORDER BY w.row DESC LIMIT ${limit}::int`);
}

export interface UndoMark {
  run_id: string;
  row: number;
  undo: UndoStatus;
  /** The revision of the record after the undo. */
  undo_revision: number | null;
}

export type UndoStatus = 'UNDONE' | 'SKIPPED' | 'FAILED';

/** Each row is undone once. A second writer fails the guard, and its transaction is retried. */
export const markUndone: TableWrite<UndoMark> = {
  name: 'undo_import_rows',
  guard: true,
  sql: (rows: Sql) => sql`
    UPDATE import_rows w SET undo = r.undo, undo_revision = r.undo_revision
    FROM jsonb_to_recordset(${rows}) AS r (run_id uuid, row integer, undo text, undo_revision integer)
    WHERE w.run_id = r.run_id AND w.row = r.row AND w.undo IS DISTINCT FROM 'UNDONE' RETURNING 1`,
};

/** The revision after the undo of a row; undefined if it was not undone. */
export async function findUndone(ctx: ReadContext, runId: string, row: number): Promise<number | undefined> {
  const rows = await ctx.query<{ revision: number }>(sql`
    SELECT undo_revision AS revision FROM import_rows
    WHERE run_id = ${runId}::uuid AND row = ${row}::int AND undo = 'UNDONE'`);
  return rows[0]?.revision;
}

/** For each record, its revision after the undo of the earliest undone row. */
export async function listUndone(ctx: ReadContext, runId: string): Promise<{ id: string; revision: number | null }[]> {
  return await ctx.query<{ id: string; revision: number | null }>(sql`
    SELECT DISTINCT ON (target_id) target_id AS id, undo_revision AS revision FROM import_rows
    WHERE run_id = ${runId}::uuid AND undo = 'UNDONE' ORDER BY target_id, row`);
}

/** Progress of the undo of a run; undefined if none was started. */
export async function countUndone(ctx: ReadContext, runId: string): Promise<UndoCounts | undefined> {
  const rows = await ctx.query<{ undo: UndoStatus; n: number }>(sql`
    SELECT undo, count(*)::int AS n FROM import_rows WHERE run_id = ${runId}::uuid AND undo IS NOT NULL GROUP BY undo`);
  if (rows.length === 0) return undefined;
  const of = (status: UndoStatus): number => rows.find(({ undo }) => undo === status)?.n ?? 0;
  return { undone: of('UNDONE'), skipped: of('SKIPPED'), failed: of('FAILED') };
}

export interface UndoCounts {
  undone: number;
  skipped: number;
  failed: number;
}

/** Which of the rows from `first` to `last` are done already. */
export async function findDone(ctx: ReadContext, runId: string, first: number, last: number): Promise<Set<number>> {
  const rows = await ctx.query<{ row: number }>(sql`
    SELECT row FROM import_rows WHERE run_id = ${runId}::uuid AND row BETWEEN ${first}::int AND ${last}::int`);
  return new Set(rows.map(({ row }) => row));
}
