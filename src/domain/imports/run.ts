/**
 * Runs an import. The content is read once for validation and then window by window. A dry run executes the same code in parts
 * that are undone; only the storage of results differs.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { type Fault, isFault } from '../../lib/fault.ts';
import type { ReadContext, WriteContext, Caller } from '../../platform/unit-of-work/context.ts';
import type { Runner } from '../../platform/unit-of-work/binding.ts';
import type { TriedUnits, Units, WriteResult } from '../../platform/unit-of-work/work.ts';
import { notifyOfImport } from '../notifications/index.ts';
import { type Content, checkContent, externalIdOf, readRows, type SourceRow } from './content.ts';
import type { KnownDefinition } from './registry.ts';
import { RepeatedIds } from './repeated-ids.ts';
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

/** Runs groups of rows, each in one transaction, and stores the results of the rows. */
type RunGroup = (caller: Caller, rows: number, fn: (ctx: WriteContext) => Promise<Done>) => Promise<Done>;

/**
 * @returns the id of the run
 * @throws Fault INVALID_REQUEST for malformed content, with nothing written; DATABASE_UNAVAILABLE
 */
export async function runImport(job: ImportJob): Promise<string> {
  const { work, content, known, dryRun, resume } = job;
  const caller: Caller = { ...job.caller, via: 'import' };
  const repeated = dryRun ? new RepeatedIds() : undefined;
  const note = (row: SourceRow): void => {
    const externalId = externalIdOf(row, known.definition);
    if (typeof externalId === 'string') repeated?.add(externalId);
  };
  const read = (rows: number): void => job.onProgress?.({ done: rows, total: null });
  const total = resume?.total ?? (await checkContent(content, known.definition, read, note));
  const id = resume?.id ?? (await begin(job, caller, total));
  job.onBegun?.(id);
  const onProgress = (done: number): void => job.onProgress?.({ done, total });
  const patienceMs = PATIENCE_MS[job.file === undefined ? 'call' : 'file'];
  const session: Session = { job, caller, runId: id, patienceMs, onProgress };
  if (repeated === undefined) await importAll(session, storing(work, id), () => true);
  else await tryAll(session, repeated);
  await work.write(caller, async (ctx) => ctx.plan(finishRun, { id, finishedAt: ctx.now }));
  return id;
}

async function begin(job: ImportJob, caller: Caller, total: number): Promise<string> {
  const result = await job.work.write(caller, async (ctx) => {
    const id = ctx.newId();
    ctx.plan(insertRun, {
      id,
      definitionId: job.known.id,
      dryRun: job.dryRun,
      total,
      fileName: job.file?.name ?? null,
      contentKey: job.file?.key ?? null,
      startedAt: ctx.now,
      startedBy: ctx.actor.userId,
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
  onProgress(done: number): void;
}

/** Whether rows build on earlier rows with other external ids. */
function isOrdered({ caller, job }: Session): boolean {
  const { definition, mapping } = job.known;
  return targetOf(caller, definition).ordered || mapping.lookups.some((one) => looksUpItself(definition, one));
}

/**
 * A dry run. Rows on which no other row builds are judged in parts that are undone, so that others wait for few records and not
 * for long; then the others are judged together.
 *
 * @throws Fault OVERLOADED if others wait for the rows that are judged together
 */
async function tryAll(session: Session, repeated: RepeatedIds): Promise<void> {
  const results = new TriedResults(session);
  const ordered = isOrdered(session);
  const builds = ({ externalId }: Candidate): boolean => typeof externalId === 'string' && repeated.has(externalId);
  const judge = session.job.work.dryRun(async (units) => {
    if (!ordered) await importAll(session, results.apart(units), (row) => !builds(row));
    if (!ordered && !repeated.any) return;
    // No pauses while others may wait.
    const impatient = { ...session, patienceMs: 0 };
    await units.part(GROUP.rows, async (part) => {
      await importAll(impatient, results.together(part), (row) => ordered || builds(row));
      await results.show(part);
    });
  });
  await judge.catch((error: unknown) => {
    throw error instanceof GaveWay ? error.fault : error;
  });
  await results.flush();
}

async function importAll(session: Session, run: RunGroup, takes: (row: Candidate) => boolean): Promise<void> {
  const { definition } = session.job.known;
  let window: Candidate[] = [];
  let size = 0;
  const finish = async (): Promise<void> => {
    const last = window.at(-1)?.row;
    if (last === undefined) return;
    await importWindow(session, run, window);
    session.onProgress(last);
    window = [];
    size = 0;
  };
  for await (const row of readRows(session.job.content, definition)) {
    const candidate = candidateOf(row, definition);
    if (!takes(candidate)) continue;
    window.push(candidate);
    size += row.size;
    if (window.length === WINDOW.rows || size >= WINDOW.size) await finish();
  }
  await finish();
}

async function importWindow(session: Session, run: RunGroup, window: Candidate[]): Promise<void> {
  const ordered = isOrdered(session);
  let waiting = await withoutDone(session, window);
  while (waiting.length > 0) {
    const { group, rest } = nextGroup(waiting, GROUP, !ordered);
    const left = await importOrSplit(session, run, group);
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
async function importOrSplit(session: Session, run: RunGroup, group: Candidate[]): Promise<Candidate[]> {
  try {
    const { outcomes } = await importGroup(session, run, group);
    return group.slice(outcomes.length);
  } catch (error) {
    if (!isFault(error) || error.code === 'DATABASE_UNAVAILABLE') throw error;
    const [first] = group;
    if (group.length === 1 && first !== undefined) {
      await importAlone(session, run, first, error);
      return [];
    }
    const middle = Math.ceil(group.length / 2);
    const left = await importOrSplit(session, run, group.slice(0, middle));
    if (left.length > 0) return [...left, ...group.slice(middle)];
    return await importOrSplit(session, run, group.slice(middle));
  }
}

/**
 * Handles a row that failed on its own. OVERLOADED is retried with pauses; after that the row is stored as failed, and the
 * client can send it again.
 */
async function importAlone(session: Session, run: RunGroup, row: Candidate, error: Fault): Promise<void> {
  let fault = error;
  for (const pause of PAUSES_MS) {
    if (fault.code !== 'OVERLOADED' || session.patienceMs < pause) break;
    session.patienceMs -= pause;
    await sleep(pause);
    try {
      await importGroup(session, run, [row]);
      return;
    } catch (again) {
      if (!isFault(again) || again.code === 'DATABASE_UNAVAILABLE') throw again;
      fault = again;
    }
  }
  await storeFailure(session, run, row, fault);
}

async function importGroup(session: Session, run: RunGroup, group: Candidate[]): Promise<Done> {
  const fresh = await session.job.parts.freshCaller(session.caller);
  const { definition } = session.job.known;
  return await run({ ...fresh, via: 'import', reacts: definition.rules === true }, group.length, async (ctx) => {
    const done = await importRows(ctx, session.job.known, group);
    if (definition.notifications === true) notifyOfImport(ctx);
    return done;
  });
}

/** Stores the result of a row whose transaction failed. */
async function storeFailure(session: Session, run: RunGroup, row: Candidate, fault: Fault): Promise<void> {
  const { sourceCode, targetKind } = session.job.known.definition;
  await run(session.caller, 1, async (ctx) => {
    const { externalId } = row;
    const links = await findLinks(ctx, sourceCode, targetKind, typeof externalId === 'string' ? [externalId] : []);
    return { outcomes: [failure(row, faultErrors(fault), links.get(externalId ?? '') ?? null)] };
  });
}

function planResults(ctx: WriteContext, runId: string, outcomes: readonly Outcome[]): void {
  if (outcomes.length === 0) return;
  const counts = { succeeded: 0, failed: 0, skipped: 0 };
  for (const { row, externalId, status, id, revision, errors, before } of outcomes) {
    counts[status === 'FAILED' ? 'failed' : status === 'SKIPPED' ? 'skipped' : 'succeeded']++;
    ctx.plan(insertRow, {
      runId,
      row,
      externalId,
      status,
      targetId: id,
      revision,
      errors: errors.length === 0 ? null : errors,
      before: before ?? null,
    });
  }
  ctx.plan(countRows, { id: runId, ...counts, touchedAt: ctx.now });
}

/** Results are written in the transaction of their rows: after a crash both exist or neither. */
function storing(work: Units, runId: string): RunGroup {
  return async (caller, _rows, fn) => {
    const result = await work.write(caller, async (ctx) => {
      const done = await fn(ctx);
      planResults(ctx, runId, done.outcomes);
      return done;
    });
    return dataOf(result);
  };
}

function dataOf<T>(result: WriteResult<T>): T {
  if (result.kind !== 'done') throw new Error('an import has no idempotency key');
  return result.data;
}

/** The dry run must end at once, since others wait for it. */
class GaveWay extends Error {
  readonly fault: Fault;

  constructor(fault: Fault) {
    super(fault.message);
    this.fault = fault;
  }
}

/**
 * A dry run stores only its results, so they are written outside its transaction. Targets that the dry run created get no id,
 * also in later rows on them. If the caller could not read a record after the real run, the row is stored as the real run would
 * show it.
 */
class TriedResults {
  readonly #session: Session;
  /** Those of which it is not decided yet whether the caller could read their records. */
  #unseen: Outcome[] = [];
  #shown: Outcome[] = [];

  constructor(session: Session) {
    this.#session = session;
  }

  /** Each group is undone before the next one. */
  apart(units: TriedUnits): RunGroup {
    return async (caller, rows, fn) => {
      const [done, shown] = await units.part(rows, async (part) => {
        const found = dataOf(await part.write(caller, fn));
        return [found, await this.#visible(part, found.outcomes.map(withoutValues))] as const;
      });
      this.#shown.push(...shown);
      await this.#flushIfMany();
      return done;
    };
  }

  /** Each group builds on those before it. */
  together(units: TriedUnits): RunGroup {
    return async (caller, _rows, fn) => {
      try {
        const done = dataOf(await units.write(caller, fn));
        this.#unseen.push(...done.outcomes.map(withoutValues));
        if (this.#unseen.length >= HELD_RESULTS) await this.show(units);
        return done;
      } catch (error) {
        // Its locks are released only when all is undone, so no row is tried again.
        if (isFault(error) && error.reason === 'DRY_RUN_GAVE_WAY') throw new GaveWay(error);
        throw error;
      }
    };
  }

  /** Decides which of the results the caller could read after a real run. Called before they are undone. */
  async show(units: TriedUnits): Promise<void> {
    const outcomes = this.#unseen;
    this.#unseen = [];
    this.#shown.push(...(await this.#visible(units, outcomes)));
    await this.#flushIfMany();
  }

  async #visible(units: TriedUnits, outcomes: readonly Outcome[]): Promise<Outcome[]> {
    const fresh = await this.#session.job.parts.freshCaller(this.#session.caller);
    const after = dataOf(await units.write(fresh, (ctx) => this.#readable(ctx, outcomes)));
    return outcomes.map((one) => (one.id === null || after.has(one.id) ? one : hiddenRow(one)));
  }

  #readable(ctx: ReadContext, outcomes: readonly Outcome[]): Promise<ReadonlySet<string>> {
    const ids = outcomes.map(({ id }) => id);
    return visibleTargets(ctx, this.#session.job.known.definition.targetKind, ids);
  }

  async #flushIfMany(): Promise<void> {
    if (this.#shown.length >= HELD_RESULTS) await this.flush();
  }

  async flush(): Promise<void> {
    const { job, caller, runId } = this.#session;
    const there = await job.work.read(caller, (ctx) => this.#readable(ctx, this.#shown));
    const outcomes = this.#shown.map((one) => (one.id === null || there.has(one.id) ? one : { ...one, id: null }));
    this.#shown = [];
    for (let from = 0; from < outcomes.length; from += 1000) {
      await job.work.write(caller, async (ctx) => planResults(ctx, runId, outcomes.slice(from, from + 1000)));
    }
  }
}

function withoutValues({ before: _before, ...kept }: Outcome): Outcome {
  return { ...kept, valuesBefore: null, valuesAfter: null };
}
