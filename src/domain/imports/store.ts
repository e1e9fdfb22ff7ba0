/** SQL on `import_runs`, `import_rows` and `external_ids`; nothing else touches them. */
import { columns, omit, pick, type RowOf } from '../../platform/database/table.ts';
import { tables } from '../../platform/database/tables.ts';
import { deleteFrom, insertInto, update } from '../../platform/unit-of-work/table-writes.ts';
import { userName } from '../../platform/journal/journal.ts';
import sql, { empty } from 'sql-template-tag';
import { jsonSize, type RowWindow, readInOrder } from '../../platform/database/window.ts';
import type { ReadContext } from '../../platform/unit-of-work/context.ts';
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

/** Inserts in the order of external ids, so that concurrent imports of one source cannot deadlock. */
export const insertLink = insertInto(tables.external_ids, {
  name: 'insert_external_ids',
  order: sql`r."externalId" COLLATE "C"`,
  conflict: 'ignore',
});

export const deleteLink = deleteFrom(tables.external_ids, {
  name: 'delete_external_ids',
  guard: false,
  key: ['sourceCode', 'targetKind', 'externalId', 'targetId'],
});

// ---------------------------------------------------------------- runs

const RUN_COLUMNS = omit(tables.import_runs, ['contentKey', 'undoneBy']);

export interface RunRow extends RowOf<typeof RUN_COLUMNS> {
  startedByName: string | null;
}

const RUN = sql`${columns(RUN_COLUMNS, 'r')}, ${userName('r.started_by')} AS "startedByName"`;

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

export const insertRun = insertInto(tables.import_runs, {
  name: 'insert_import_runs',
  set: { touchedAt: sql`r."startedAt"` },
  defaults: ['state', 'succeeded', 'failed', 'skipped', 'finishedAt', 'undoneAt', 'undoneBy'],
});

export const countRows = update(tables.import_runs, {
  name: 'count_import_rows',
  set: ['touchedAt'],
  given: { succeeded: 'integer', failed: 'integer', skipped: 'integer' },
  also: {
    succeeded: sql`t.succeeded + r.succeeded`,
    failed: sql`t.failed + r.failed`,
    skipped: sql`t.skipped + r.skipped`,
  },
});

export const finishRun = update(tables.import_runs, {
  name: 'finish_import_runs',
  set: ['finishedAt'],
  also: { state: sql`'FINISHED'`, touchedAt: sql`r."finishedAt"` },
});

export const undoneRun = update(tables.import_runs, { name: 'undone_import_runs', set: ['undoneAt', 'undoneBy'] });

// ---------------------------------------------------------------- rows

/** Each row of a run is written once. A second writer fails the guard, and its transaction is retried. */
export const insertRow = insertInto(tables.import_rows, {
  name: 'insert_import_rows',
  defaults: ['undo', 'undoRevision'],
  conflict: 'ignore',
});

const ROW_COLUMNS = pick(tables.import_rows, ['row', 'externalId', 'status', 'revision', 'errors', 'before', 'undo']);

export interface StoredRow extends RowOf<typeof ROW_COLUMNS> {
  id: string | null;
}

const ROW = sql`${columns(ROW_COLUMNS, 'w')}, w.target_id AS id`;

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

export type UndoStatus = 'UNDONE' | 'SKIPPED' | 'FAILED';

/** Each row is undone once. A second writer fails the guard, and its transaction is retried. */
export const markUndone = update(tables.import_rows, {
  name: 'undo_import_rows',
  set: ['undo', 'undoRevision'],
  where: sql`t.undo IS DISTINCT FROM 'UNDONE'`,
});

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
