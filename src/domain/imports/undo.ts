/**
 * Takes an import run back, row by row, the last first: what was created is archived, what was changed gets its former values.
 * A row whose record was changed since is left alone, and so are the earlier rows on that record.
 */
import { Fault, type FaultDetail, isFault } from '../../lib/fault.ts';
import type { Runner } from '../../mechanisms/binding.ts';
import type { WriteContext } from '../../mechanisms/context.ts';
import type { Caller } from '../../mechanisms/work.ts';
import { definitions, type KnownDefinition } from './definitions.ts';
import { MOST_ROWS, requireRun } from './queries.ts';
import { faultErrors } from './rules.ts';
import type { ImportParts } from './run.ts';
import { deleteLink, listChanged, markUndone, type StoredRow, undoneRun } from './store.ts';
import { targetOf } from './targets.ts';

const PAGE = 500;
/** A run that moved within this time may still be under way. */
const LIVE_MS = 60_000;

export interface UndoneRow {
  row: number;
  id: string;
  status: 'UNDONE' | 'SKIPPED' | 'FAILED';
  errors: FaultDetail[];
}

export interface UndoAnswer {
  id: string;
  undone: number;
  skipped: number;
  failed: number;
  rows: UndoneRow[];
  rowsTruncated: boolean;
}

/**
 * @throws Fault RIGHT_MISSING, NOT_FOUND, STATE_CONFLICT for a dry run and for a run that is under way
 */
export async function undoRun(runner: Runner, runId: string, parts: ImportParts): Promise<UndoAnswer> {
  const { work, caller } = runner;
  caller.actor.require('import.manage');
  const known = await work.read(caller, async (ctx) => {
    const run = await requireRun(ctx, runId);
    if (run.dryRun) throw new Fault('STATE_CONFLICT', 'A dry run changed nothing that could be taken back.');
    if (run.state === 'RUNNING' && Date.parse(ctx.now) - Date.parse(run.touchedAt) < LIVE_MS) {
      throw new Fault('STATE_CONFLICT', 'The run is under way; take it back when it has ended.');
    }
    const definition = definitions(ctx).get(run.definitionId);
    if (definition === undefined) throw new Fault('NOT_FOUND', 'The definition of this run is gone.');
    return definition;
  });
  const answer: UndoAnswer = { id: runId, undone: 0, skipped: 0, failed: 0, rows: [], rowsTruncated: false };
  /** Record → its revision after the undo of a later row; null where a later row could not be undone. */
  const left = new Map<string, number | null>();
  let before: number | undefined;
  for (;;) {
    const rows = await work.read(caller, (ctx) => listChanged(ctx, runId, before, PAGE));
    for (const row of rows) {
      const fresh = await parts.freshCaller(caller);
      const undone = await undoRow(runner, { ...fresh, via: caller.via }, known, runId, row, left);
      answer[undone.status === 'UNDONE' ? 'undone' : undone.status === 'SKIPPED' ? 'skipped' : 'failed']++;
      if (answer.rows.length < MOST_ROWS) answer.rows.push(undone);
      else answer.rowsTruncated = true;
    }
    before = rows.at(-1)?.row;
    if (rows.length < PAGE) break;
  }
  await work.write(caller, async (ctx) => ctx.plan(undoneRun, { id: runId, at: ctx.now, by: ctx.actor.userId }));
  return answer;
}

const CHANGED_SINCE = { path: '', code: 'CHANGED_SINCE', message: 'It was changed since; it stays as it is.' };

async function undoRow(
  { work }: Runner,
  caller: Caller,
  known: KnownDefinition,
  runId: string,
  row: StoredRow,
  left: Map<string, number | null>,
): Promise<UndoneRow> {
  const id = row.id ?? '';
  const result = (status: UndoneRow['status'], errors: FaultDetail[] = []): UndoneRow => ({
    row: row.row,
    id,
    status,
    errors,
  });
  const earlier = left.get(id);
  const expected = earlier === undefined ? row.revision : earlier;
  let outcome: UndoneRow;
  if (expected === null) outcome = result('SKIPPED', [CHANGED_SINCE]);
  else {
    try {
      const written = await work.write(caller, async (ctx) => {
        const revision = await takeBack(ctx, known, row, id, expected);
        ctx.plan(markUndone, { run_id: runId, row: row.row, undo: 'UNDONE' });
        return { revision };
      });
      if (written.kind === 'done') left.set(id, written.data.revision);
      return result('UNDONE');
    } catch (error) {
      if (!isFault(error) || error.code === 'DATABASE_UNAVAILABLE') throw error;
      const since = error.code === 'REVISION_CONFLICT' || error.code === 'ARCHIVED';
      outcome = since ? result('SKIPPED', [CHANGED_SINCE]) : result('FAILED', faultErrors(error));
    }
  }
  left.set(id, null);
  await work.write(caller, async (ctx) => {
    ctx.plan(markUndone, { run_id: runId, row: row.row, undo: outcome.status });
  });
  return outcome;
}

async function takeBack(
  ctx: WriteContext,
  { definition }: KnownDefinition,
  row: StoredRow,
  id: string,
  expected: number,
): Promise<number> {
  const target = targetOf(ctx, definition);
  if (row.status === 'UPDATED')
    return await target.putBack(ctx, { id, made: row.revision ?? 0, expected, before: row.before });
  const revision = await target.archive(ctx, id, expected);
  if (row.externalId !== null) {
    const { sourceCode, targetKind } = definition;
    ctx.plan(deleteLink, {
      source_code: sourceCode,
      target_kind: targetKind,
      external_id: row.externalId,
      target_id: id,
    });
  }
  return revision;
}
