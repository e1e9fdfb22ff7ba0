/**
 * Runs an import. The content is read once for validation and then window by window. A dry run executes the same code in a
 * transaction that is rolled back; only the storage of results differs.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { type Fault, isFault } from '../../lib/fault.ts';
import type { ReadContext, WriteContext, Caller } from '../../platform/unit-of-work/context.ts';
import type { Runner } from '../../platform/unit-of-work/binding.ts';
import type { Units } from '../../platform/unit-of-work/work.ts';
import { notifyOfImport } from '../notifications/index.ts';
import { type Content, checkContent, readRows } from './content.ts';
import type { KnownDefinition } from './registry.ts';
import { type Candidate, candidateOf, type Done, failure, importRows, looksUpItself, type Outcome } from './rows.ts';
import { faultErrors, nextGroup } from './rules.ts';
import { countRows, findDone, findLinks, finishRun, insertRow, insertRun } from './store.ts';
import { targetOf } from './targets.ts';
import { hiddenRow, visibleTargets } from './queries.ts';

/** Limits of one transaction; sizes are in characters of the source. */
const GROUP = { rows: 200, size: 500_000 };
/** Rows held in memory. Within a window, rows may pass a row that waits for an earlier row with the same external id. */
const WINDOW = { rows: 1000, size: 2_500_000 };
/** Maximum number of dry-run results in memory before they are written. */
const HELD_RESULTS = 10_000;

/** Pauses between retries of a row that failed with OVERLOADED. */
const PAUSES_MS = [100, 400, 1000, 4000, 10_000, 30_000];
/** Limits of the total of all pauses in a run. A client waits for the answer to a call, so its limit is short. */
const PATIENCE_MS = { call: 3000, file: 300_000 };

/** What imports need from the process. */
export interface ImportParts {
  /** The same caller with the current rights and the current configuration. */
  freshCaller(caller: Caller): Promise<Caller>;
}

export interface Progress {
  done: number;
  /** Null during the first read, which validates the content. */
  total: number | null;
}

export interface ImportJob {
  work: Runner['work'];
  caller: Caller;
  parts: ImportParts;
  known: KnownDefinition;
  content: Content;
  dryRun: boolean;
  /** For files: their name, and a key that identifies file and definition. */
  file?: { name: string; key: string };
  /** An earlier, unfinished run of the same content. */
  resume?: { id: string; total: number };
  /** Called with the id of the run once the run is stored. */
  onBegun?(id: string): void;
  onProgress?(progress: Progress): void;
}

/** Stores the results of rows. */
interface Log {
  /** Plans the results in the transaction of the rows. */
  plan(ctx: WriteContext, outcomes: readonly Outcome[]): void;
  /** Called after that transaction. */
  add(outcomes: readonly Outcome[]): Promise<void>;
}

/**
 * @returns the id of the run
 * @throws Fault INVALID_REQUEST for malformed content, with nothing written; DATABASE_UNAVAILABLE
 */
export async function runImport(job: ImportJob): Promise<string> {
  const { work, content, known, dryRun, resume } = job;
  const caller: Caller = { ...job.caller, via: 'import' };
  const total =
    resume?.total ??
    (await checkContent(content, known.definition, (rows) => job.onProgress?.({ done: rows, total: null })));
  const id = resume?.id ?? (await begin(job, caller, total));
  job.onBegun?.(id);
  const onProgress = (done: number): void => job.onProgress?.({ done, total });
  const patienceMs = PATIENCE_MS[job.file === undefined ? 'call' : 'file'];
  const session: Session = { job, caller, runId: id, patienceMs };
  if (dryRun) {
    const held = dryRunLog(session);
    await work.dryRun(async (units) => {
      held.units = units;
      await importAll(session, units, held, onProgress);
      await held.filterVisible();
    });
    await held.flush();
  } else await importAll(session, work, storedLog(id), onProgress);
  await work.write(caller, async (ctx) => ctx.plan(finishRun, { id, at: ctx.now }));
  return id;
}

async function begin(job: ImportJob, caller: Caller, total: number): Promise<string> {
  const result = await job.work.write(caller, async (ctx) => {
    const id = ctx.newId();
    ctx.plan(insertRun, {
      id,
      definition_id: job.known.id,
      dry_run: job.dryRun,
      total,
      file_name: job.file?.name ?? null,
      content_key: job.file?.key ?? null,
      at: ctx.now,
      by: ctx.actor.userId,
    });
    return { id };
  });
  if (result.kind !== 'done') throw new Error('a run has no idempotency key');
  return result.data.id;
}

interface Session {
  job: ImportJob;
  caller: Caller;
  runId: string;
  /** What is left of the time for pauses. */
  patienceMs: number;
}

async function importAll(session: Session, units: Units, log: Log, onProgress: (done: number) => void): Promise<void> {
  const { definition } = session.job.known;
  let window: Candidate[] = [];
  let size = 0;
  const finish = async (): Promise<void> => {
    const last = window.at(-1)?.row;
    if (last === undefined) return;
    await importWindow(session, units, log, window);
    onProgress(last);
    window = [];
    size = 0;
  };
  for await (const row of readRows(session.job.content, definition)) {
    window.push(candidateOf(row, definition));
    size += row.size;
    if (window.length === WINDOW.rows || size >= WINDOW.size) await finish();
  }
  await finish();
}

async function importWindow(session: Session, units: Units, log: Log, window: Candidate[]): Promise<void> {
  const { definition, mapping } = session.job.known;
  const ordered =
    targetOf(session.caller, definition).ordered || mapping.lookups.some((one) => looksUpItself(definition, one));
  let waiting = await withoutDone(session, window);
  while (waiting.length > 0) {
    const { group, rest } = nextGroup(waiting, GROUP, !ordered);
    const left = await importOrSplit(session, units, log, group);
    waiting = [...left, ...rest];
  }
}

/** Drops the rows that the interrupted run completed. */
async function withoutDone({ job, caller, runId }: Session, window: Candidate[]): Promise<Candidate[]> {
  if (job.resume === undefined) return window;
  const first = window[0]?.row ?? 0;
  const last = window.at(-1)?.row ?? 0;
  const done = await job.work.read(caller, (ctx) => findDone(ctx, runId, first, last));
  return window.filter(({ row }) => !done.has(row));
}

/**
 * Imports the group in one transaction. If this fails as a whole, imports each half on its own, so that only the failing row
 * fails.
 *
 * @returns rows that must wait for rows that were just written
 */
async function importOrSplit(session: Session, units: Units, log: Log, group: Candidate[]): Promise<Candidate[]> {
  try {
    const { outcomes } = await importGroup(session, units, log, group);
    await log.add(outcomes);
    return group.slice(outcomes.length);
  } catch (error) {
    if (!isFault(error) || error.code === 'DATABASE_UNAVAILABLE') throw error;
    const [first] = group;
    if (group.length === 1 && first !== undefined) {
      await importAlone(session, units, log, first, error);
      return [];
    }
    const middle = Math.ceil(group.length / 2);
    const left = await importOrSplit(session, units, log, group.slice(0, middle));
    if (left.length > 0) return [...left, ...group.slice(middle)];
    return await importOrSplit(session, units, log, group.slice(middle));
  }
}

/**
 * Handles a row that failed on its own. OVERLOADED is retried with pauses; after that the row is stored as failed, and the
 * client can send it again.
 */
async function importAlone(session: Session, units: Units, log: Log, row: Candidate, error: Fault): Promise<void> {
  let fault = error;
  for (const pause of PAUSES_MS) {
    if (fault.code !== 'OVERLOADED' || session.patienceMs < pause) break;
    session.patienceMs -= pause;
    await sleep(pause);
    try {
      const { outcomes } = await importGroup(session, units, log, [row]);
      await log.add(outcomes);
      return;
    } catch (again) {
      if (!isFault(again) || again.code === 'DATABASE_UNAVAILABLE') throw again;
      fault = again;
    }
  }
  await storeFailure(session, units, log, row, fault);
}

async function importGroup(session: Session, units: Units, log: Log, group: Candidate[]): Promise<Done> {
  const fresh = await session.job.parts.freshCaller(session.caller);
  const result = await units.write(
    { ...fresh, via: 'import', reacts: session.job.known.definition.rules === true },
    async (ctx) => {
      const done = await importRows(ctx, session.job.known, group);
      if (session.job.known.definition.notifications === true) notifyOfImport(ctx);
      log.plan(ctx, done.outcomes);
      return done;
    },
  );
  if (result.kind !== 'done') throw new Error('rows have no idempotency key');
  return result.data;
}

/** Stores the result of a row whose transaction failed. */
async function storeFailure(session: Session, units: Units, log: Log, row: Candidate, fault: Fault): Promise<void> {
  const { sourceCode, targetKind } = session.job.known.definition;
  const written = await units.write(session.caller, async (ctx) => {
    const { externalId } = row;
    const links = await findLinks(ctx, sourceCode, targetKind, typeof externalId === 'string' ? [externalId] : []);
    const refused = [failure(row, faultErrors(fault), links.get(externalId ?? '') ?? null)];
    log.plan(ctx, refused);
    return refused;
  });
  if (written.kind === 'done') await log.add(written.data);
}

function planResults(ctx: WriteContext, runId: string, outcomes: readonly Outcome[]): void {
  if (outcomes.length === 0) return;
  const counts = { succeeded: 0, failed: 0, skipped: 0 };
  for (const { row, externalId, status, id, revision, errors, before } of outcomes) {
    counts[status === 'FAILED' ? 'failed' : status === 'SKIPPED' ? 'skipped' : 'succeeded']++;
    ctx.plan(insertRow, {
      run_id: runId,
      row,
      external_id: externalId,
      status,
      target_id: id,
      revision,
      errors: errors.length === 0 ? null : errors,
      before: before ?? null,
    });
  }
  ctx.plan(countRows, { id: runId, ...counts, at: ctx.now });
}

/** Results are written in the transaction of their rows: after a crash both exist or neither. */
function storedLog(runId: string): Log {
  return { plan: (ctx, outcomes) => planResults(ctx, runId, outcomes), add: async () => {} };
}

/** Holds the results of a dry run. */
interface DryRunLog extends Log {
  /** The units of the dry run, while it runs. */
  units: Units | undefined;
  /** Decides which of the held results the caller could read after a real run. Called before the dry run is rolled back. */
  filterVisible(): Promise<void>;
  flush(): Promise<void>;
}

/**
 * A dry run stores only its results, so they are written outside its transaction. Targets that the dry run created get no id,
 * also in later rows on them. If the caller could not read a record after the real run, the row is stored as the real run would
 * show it.
 */
function dryRunLog({ job, caller, runId }: Session): DryRunLog {
  const { definition } = job.known;
  let held: Outcome[] = [];
  let visibleOutcomes: Outcome[] = [];
  const visible = (ctx: ReadContext, outcomes: readonly Outcome[]): Promise<ReadonlySet<string>> =>
    visibleTargets(
      ctx,
      definition.targetKind,
      outcomes.map(({ id }) => id),
    );
  const flush = async (): Promise<void> => {
    const there = await job.work.read(caller, (ctx) => visible(ctx, visibleOutcomes));
    const outcomes = visibleOutcomes.map((one) => (one.id === null || there.has(one.id) ? one : { ...one, id: null }));
    visibleOutcomes = [];
    for (let from = 0; from < outcomes.length; from += 1000) {
      await job.work.write(caller, async (ctx) => planResults(ctx, runId, outcomes.slice(from, from + 1000)));
    }
  };
  const log: DryRunLog = {
    units: undefined,
    plan: () => {},
    filterVisible: async () => {
      const outcomes = held;
      held = [];
      const fresh = await job.parts.freshCaller(caller);
      const found = await log.units?.write(fresh, (ctx) => visible(ctx, outcomes));
      const after = found?.kind === 'done' ? found.data : new Set<string>();
      for (const one of outcomes) visibleOutcomes.push(one.id === null || after.has(one.id) ? one : hiddenRow(one));
    },
    add: async (outcomes) => {
      for (const { before: _before, ...kept } of outcomes)
        held.push({ ...kept, valuesBefore: null, valuesAfter: null });
      if (held.length < HELD_RESULTS) return;
      await log.filterVisible();
      await flush();
    },
    flush,
  };
  return log;
}
