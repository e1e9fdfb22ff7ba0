/** Reads of imports: definitions, runs and the results of their rows. */
import { pageOf, type Paging, windowOf } from '../../contract/paging.ts';
import { type ContractDetail, contractDetails, Fault, type FaultDetail } from '../../lib/fault.ts';
import type { ReadContext } from '../../platform/unit-of-work/context.ts';
import { findType, registry } from '../metadata/index.ts';
import { notFound, visibleIds } from '../objects/index.ts';
import { definitions, type ImportDefinition, type TargetKind } from './registry.ts';
import { faultErrors } from './rules.ts';
import {
  countUndone,
  findRun,
  listRunRows,
  type RowStatus,
  type RunRow,
  rowWindows,
  type ShownRow,
  type UndoCounts,
} from './store.ts';

/** Maximum number of rows in the answer for a run. */
export const MAX_ROWS = 10_000;

export function definitionAnswer(ctx: ReadContext, id: string, definition: ImportDefinition, state = 'ACTIVE') {
  const { targetType, ...rest } = definition;
  const type = targetType === undefined ? undefined : findType(registry(ctx), targetType);
  return { id, ...rest, targetTypeId: type?.id ?? null, state };
}

/** Lists all definitions by code, including archived ones. @throws Fault RIGHT_MISSING */
export async function listDefinitions(ctx: ReadContext): Promise<ReturnType<typeof definitionAnswer>[]> {
  ctx.actor.require('import.manage');
  const all = [...definitions(ctx).values()].sort((a, b) => (a.definition.code < b.definition.code ? -1 : 1));
  return all.map(({ id, definition, active }) => definitionAnswer(ctx, id, definition, active ? 'ACTIVE' : 'ARCHIVED'));
}

interface RunSummary {
  id: string;
  definitionId: string;
  dryRun: boolean;
  state: 'RUNNING' | 'FINISHED';
  succeeded: number;
  failed: number;
  skipped: number;
  total: number;
  fileName?: string;
  startedAt: string;
  startedBy: { id: string; displayName: string } | null;
  finishedAt?: string;
  undoneAt?: string;
}

export interface RunAnswer extends RunSummary {
  /** Progress of the undo. */
  undo?: UndoCounts;
  rows: { row: number; externalId: string | null; status: RowStatus; id?: string; errors: ContractDetail[] }[];
  rowsTruncated: boolean;
}

function summary(run: RunRow): RunSummary {
  const { fileName, startedBy, startedByName, finishedAt, undoneAt, touchedAt: _touched, ...rest } = run;
  return {
    ...rest,
    ...(fileName === null ? {} : { fileName }),
    startedBy: startedBy === null ? null : { id: startedBy, displayName: startedByName ?? '' },
    ...(finishedAt === null ? {} : { finishedAt }),
    ...(undoneAt === null ? {} : { undoneAt }),
  };
}

/** @throws Fault NOT_FOUND */
export async function requireRun(ctx: ReadContext, id: string): Promise<RunRow> {
  const run = await findRun(ctx, id);
  if (run === undefined) throw new Fault('NOT_FOUND', 'There is no such import run.');
  return run;
}

function rowAnswer({ row, externalId, status, id, errors }: ShownRow): RunAnswer['rows'][number] {
  // A failed row changed nothing. Its target id is stored only to decide who may see the row.
  const target = id === null || status === 'FAILED' ? {} : { id };
  return { row, externalId, status, ...target, errors: contractDetails(errors ?? []) };
}

/**
 * The run with its rows. Rows whose record the caller may not read are hidden. The calling function checks the right to the
 * run.
 *
 * @throws Fault NOT_FOUND
 */
export async function readRun(ctx: ReadContext, id: string): Promise<RunAnswer> {
  const run = await requireRun(ctx, id);
  const rowsTruncated = run.succeeded + run.failed + run.skipped > MAX_ROWS;
  const rows: ShownRow[] = [];
  for await (const part of rowWindows(ctx, id, rowsTruncated)) {
    rows.push(...part.rows);
    if (rows.length >= MAX_ROWS) break;
  }
  rows.splice(MAX_ROWS);
  const undo = await countUndone(ctx, id);
  const kind = definitions(ctx).get(run.definitionId)?.definition.targetKind ?? 'object';
  const visible = await visibleTargets(
    ctx,
    kind,
    rows.map((row) => row.id),
  );
  return {
    ...summary(run),
    ...(undo === undefined ? {} : { undo }),
    rows: rows.map((stored) => rowAnswer(stored.id === null || visible.has(stored.id) ? stored : hiddenRow(stored))),
    rowsTruncated,
  };
}

/** @throws Fault RIGHT_MISSING, NOT_FOUND */
export async function getRun(ctx: ReadContext, id: string): Promise<RunAnswer> {
  ctx.actor.require('import.manage');
  return await readRun(ctx, id);
}

/** @throws Fault RIGHT_MISSING, INVALID_REQUEST */
export async function listRuns(
  ctx: ReadContext,
  paging: Paging,
): Promise<{ rows: RunSummary[]; page: number; pageSize: number; hasMore: boolean }> {
  ctx.actor.require('import.manage');
  const window = windowOf(paging);
  const page = pageOf(await listRunRows(ctx, window.limit, window.offset), window);
  return { ...page, rows: page.rows.map(summary) };
}

// ---------------------------------------------------------------- visibility of results
//
// Results are stored and shown later, also to users other than the importer. Only users who may read the record now see what a
// result says about it. For all others the row looks like one without a record.

/** The right that every operation on users, groups and units needs. */
const IDENTITY_RIGHT = 'user.administer';

/** Those of the targets that the caller may read now. */
export async function visibleTargets(
  ctx: ReadContext,
  kind: TargetKind,
  ids: Iterable<string | null>,
): Promise<ReadonlySet<string>> {
  const named = [...new Set(ids)].filter((id) => id !== null);
  if (kind === 'object') return await visibleIds(ctx, named);
  return new Set(ctx.actor.has(IDENTITY_RIGHT) ? named : []);
}

/** The errors of a row whose record the caller may not read: the same as for a missing record. */
export function hiddenErrors(status: string): FaultDetail[] {
  return status === 'FAILED' ? faultErrors(notFound()) : [];
}

/** The row as shown to a caller who may not read its record. */
export function hiddenRow<T extends { externalId: string | null; status: string; id: string | null; errors: unknown }>(
  row: T,
): T {
  return { ...row, externalId: null, id: null, errors: hiddenErrors(row.status) };
}
