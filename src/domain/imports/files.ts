/**
 * Imports files of any size (docs/spec/configuration.md#command-line). After an interruption, also by a kill, the next import
 * of the same file with the same definition resumes the run: no row is imported twice.
 */
import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { isFault } from '../../lib/fault.ts';
import { canonicalJson } from '../../lib/json.ts';
import type { Caller, Work } from '../../platform/unit-of-work/work.ts';
import type { Content } from './content.ts';
import { type KnownDefinition, requireDefinition } from './definitions.ts';
import { type RunAnswer, readRun } from './queries.ts';
import { type ImportParts, type Progress, runImport } from './run.ts';
import { findUnfinished } from './store.ts';

/** A run waits while the database does not answer. After this time without progress it ends and can be resumed later. */
const PATIENCE_MS = 120_000;
const PAUSE_MS = 1000;

export interface FileImport {
  work: Work;
  caller: Caller;
  parts: ImportParts;
  /** Id or code of the definition. */
  definition: string;
  content: Content;
  file: { name: string; sha256: string };
  dryRun: boolean;
  /**
   * Takes a lock against concurrent imports of the same file; false if another process holds it. Called again after each
   * failure.
   */
  exclusive(name: string): Promise<boolean>;
  onProgress(progress: Progress): void;
}

/** The state that attempts of one import share. */
interface Known {
  definition: KnownDefinition;
  key: string;
  /** Id of the run that this import started or resumed. */
  runId?: string;
}

/**
 * @throws Fault NOT_FOUND (definition), RIGHT_MISSING, INVALID_REQUEST for malformed content, with nothing written;
 * DATABASE_UNAVAILABLE if the database did not answer for two minutes
 * @throws Error if another process imports the same file
 */
export async function importFile(input: FileImport): Promise<RunAnswer & { resumed: boolean }> {
  const { caller } = input;
  caller.actor.require('import.execute');
  const definition = requireDefinition(caller, input.definition);
  const said = `${input.file.sha256}\n${canonicalJson(definition.definition)}`;
  const known: Known = { definition, key: createHash('sha256').update(said).digest('hex') };
  let progressed = performance.now();
  let resumed: boolean | undefined;
  const onProgress = (progress: Progress): void => {
    progressed = performance.now();
    input.onProgress(progress);
  };
  for (;;) {
    try {
      const run = await attempt({ ...input, onProgress }, known, (before) => {
        resumed ??= before;
      });
      return { ...run, resumed: resumed === true };
    } catch (error) {
      const passing = isFault(error) && error.code === 'DATABASE_UNAVAILABLE' && !input.dryRun;
      if (!passing || performance.now() - progressed > PATIENCE_MS) throw error;
      await sleep(PAUSE_MS);
    }
  }
}

async function attempt(input: FileImport, known: Known, begun: (before: boolean) => void): Promise<RunAnswer> {
  const { work, caller, parts, content, dryRun, onProgress } = input;
  const { definition, key } = known;
  if (!dryRun && !(await input.exclusive(`import ${key}`))) {
    throw new Error('Another process is importing this file with this definition; wait until it has ended.');
  }
  const earlier = dryRun ? undefined : await work.read(caller, (ctx) => findUnfinished(ctx, definition.id, key));
  begun(earlier !== undefined);
  // If this run is no longer unfinished, it finished although its answer was lost.
  if (known.runId === undefined || earlier !== undefined) {
    known.runId = await runImport({
      work,
      caller,
      parts,
      known: definition,
      content,
      dryRun,
      file: { name: input.file.name, key },
      ...(earlier === undefined ? {} : { resume: earlier }),
      onBegun: (id) => {
        known.runId = id;
      },
      onProgress,
    });
  }
  const { runId } = known;
  return await work.read(caller, (ctx) => readRun(ctx, runId));
}
