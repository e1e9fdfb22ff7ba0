/**
 * Undoes an import run row by row, last first: created items are archived, changed items get their former values. A row is
 * skipped if its record was changed since, and so are the earlier rows on that record.
 */
import { Fault, type FaultDetail, isFault } from '../../lib/fault.ts';
import { problem, problemAt } from '../../lib/problem.ts';
import type { Runner } from '../../platform/unit-of-work/binding.ts';
import type { WriteContext, Caller } from '../../platform/unit-of-work/context.ts';
import { definitions, type KnownDefinition } from './registry.ts';
import { hiddenErrors, MAX_ROWS, visibleTargets, requireRun } from './queries.ts';
import { faultErrors } from './rules.ts';
import type { ImportParts } from './run.ts';
import {
  deleteLink,
  findUndone,
  listChanged,
  listUndone,
  markUndone,
  type StoredRow,
  type UndoCounts,
  type UndoStatus,
  undoneRun,
} from './store.ts';
import { targetOf } from './targets.ts';

const PAGE = 500;
/** A run with activity within this time may still be running. */
const LIVE_MS = 60_000;

export interface UndoneRow {
  row: number;
  /** Absent if the caller may not read the target of the row. */
  id?: string;
  status: UndoStatus;
  errors: FaultDetail[];
}

export interface UndoAnswer extends UndoCounts {
  id: string;
  rows: UndoneRow[];
  rowsTruncated: boolean;
}

/**
 * Undoes a run. After an interruption, call it again to resume. Concurrent calls undo each row once. `getRun` returns the
 * progress.
 *
 * @throws Fault RIGHT_MISSING, NOT_FOUND, STATE_CONFLICT for a dry run and for a run that is still running
 */
export async function undoRun(runner: Runner, runId: string, parts: ImportParts): Promise<UndoAnswer> {
  const { work, caller } = runner;
  caller.actor.require('import.manage');
  const known = await work.read(caller, async (ctx) => {
    const run = await requireRun(ctx, runId);
    if (run.dryRun) throw new Fault('STATE_CONFLICT', problem('DRY_RUN_UNDONE'));
    if (run.state === 'RUNNING' && Date.parse(ctx.now) - Date.parse(run.touchedAt) < LIVE_MS) {
      throw new Fault('STATE_CONFLICT', problem('RUN_IN_PROGRESS'));
    }
    const definition = definitions(ctx).get(run.definitionId);
    if (definition === undefined) throw new Fault('NOT_FOUND', problem('DEFINITION_OF_RUN_GONE'));
    return definition;
  });
  const answer: UndoAnswer = { id: runId, undone: 0, skipped: 0, failed: 0, rows: [], rowsTruncated: false };
  /** Record → its revision after the undo of a later row; null if a later row could not be undone. */
  const left = new Map<string, number | null>();
  for (const { id, revision } of await work.read(caller, (ctx) => listUndone(ctx, runId))) left.set(id, revision);
  let before: number | undefined;
  for (;;) {
    const rows = await work.read(caller, (ctx) => listChanged(ctx, runId, before, PAGE));
    for (const row of rows) {
      const fresh = await parts.freshCaller(caller);
      const undone = await undoRow(
        runner,
        { ...fresh, via: caller.via, reacts: known.definition.rules === true },
        known,
        runId,
        row,
        left,
      );
      answer[undone.status === 'UNDONE' ? 'undone' : undone.status === 'SKIPPED' ? 'skipped' : 'failed']++;
      if (answer.rows.length < MAX_ROWS) answer.rows.push(undone);
      else answer.rowsTruncated = true;
    }
    before = rows.at(-1)?.row;
    if (rows.length < PAGE) break;
  }
  await hideRows(runner, await parts.freshCaller(caller), known, answer);
  await work.write(caller, async (ctx) =>
    ctx.plan(undoneRun, { id: runId, undoneAt: ctx.now, undoneBy: ctx.actor.userId }),
  );
  return answer;
}

/** Hides rows whose target the caller may not read: another user may have imported them. */
async function hideRows(
  { work }: Runner,
  caller: Caller,
  { definition }: KnownDefinition,
  answer: UndoAnswer,
): Promise<void> {
  const ids = answer.rows.map(({ id }) => id ?? null);
  const visible = await work.read(caller, (ctx) => visibleTargets(ctx, definition.targetKind, ids));
  answer.rows = answer.rows.map((one) => {
    if (one.id === undefined || visible.has(one.id)) return one;
    const { id: _id, ...rest } = one;
    return { ...rest, errors: hiddenErrors(one.status) };
  });
}

const CHANGED_SINCE = problemAt('', 'CHANGED_SINCE');

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
  /** Does nothing if a concurrent call undid the row. */
  const once = async (
    decide: (ctx: WriteContext) => Promise<{ outcome: UndoneRow; revision: number | null }>,
  ): Promise<UndoneRow> => {
    const written = await work.write(caller, async (ctx) => {
      const before = await findUndone(ctx, runId, row.row);
      return before === undefined ? await decide(ctx) : { outcome: result('UNDONE'), revision: before };
    });
    if (written.kind !== 'done') throw new Error('an undo has no idempotency key');
    left.set(id, written.data.revision);
    return written.data.outcome;
  };
  const earlier = left.get(id);
  const expected = earlier === undefined ? row.revision : earlier;
  let absent = false;
  let outcome: UndoneRow = result('SKIPPED', [CHANGED_SINCE]);
  if (expected !== null) {
    try {
      return await once(async (ctx) => {
        const revision = await undoChange(ctx, known, row, id, expected);
        ctx.plan(markUndone, { runId, row: row.row, undo: 'UNDONE', undoRevision: revision });
        return { outcome: result('UNDONE'), revision };
      });
    } catch (error) {
      if (!isFault(error) || error.code === 'DATABASE_UNAVAILABLE') throw error;
      absent = error.code === 'NOT_FOUND';
      const since = error.code === 'REVISION_CONFLICT' || error.code === 'ARCHIVED';
      if (!since) outcome = result('FAILED', faultErrors(error));
    }
  }
  const marked = await once(async (ctx) => {
    ctx.plan(markUndone, { runId, row: row.row, undo: outcome.status, undoRevision: null });
    return { outcome, revision: null };
  });
  // If the caller may not see the record, its earlier rows get the same error; otherwise the results would show that they share
  // a record.
  if (absent) left.delete(id);
  return marked;
}

async function undoChange(
  ctx: WriteContext,
  { definition }: KnownDefinition,
  row: StoredRow,
  id: string,
  expected: number,
): Promise<number> {
  const target = targetOf(ctx, definition);
  if (row.status === 'UPDATED')
    return await target.restoreValues(ctx, { id, made: row.revision ?? 0, expected, before: row.before });
  const revision = await target.archive(ctx, id, expected);
  if (row.externalId !== null) {
    const { sourceCode, targetKind } = definition;
    ctx.plan(deleteLink, {
      sourceCode,
      targetKind,
      externalId: row.externalId,
      targetId: id,
    });
  }
  return revision;
}
