/**
 * Imports files of any size (configuration, section 2, `docket import`). A run that was interrupted, by a kill too, is gone on
 * with by the next import of the same file with the same definition: no row is done twice.
 */
import { createHash } from 'node:crypto';
import { canonicalJson } from '../../lib/json.ts';
import type { Caller, Work } from '../../mechanisms/work.ts';
import type { Content } from './content.ts';
import { requireDefinitionByCode } from './definitions.ts';
import { type RunAnswer, readRun } from './queries.ts';
import { type ImportParts, type Progress, runImport } from './run.ts';
import { findUnfinished } from './store.ts';

export interface FileImport {
  work: Work;
  caller: Caller;
  parts: ImportParts;
  /** Code of the definition. */
  code: string;
  content: Content;
  file: { name: string; sha256: string };
  dryRun: boolean;
  /** Keeps others from importing the same at once; false when another does so already. */
  exclusive(name: string): Promise<boolean>;
  onProgress(progress: Progress): void;
}

/**
 * @throws Fault NOT_FOUND (definition), RIGHT_MISSING, INVALID_REQUEST for malformed content, with nothing written
 * @throws Error when another process imports the same file
 */
export async function importFile(input: FileImport): Promise<RunAnswer & { resumed: boolean }> {
  const { work, caller, parts, content, dryRun, onProgress } = input;
  caller.actor.require('import.execute');
  const known = requireDefinitionByCode(caller, input.code);
  const said = `${input.file.sha256}\n${canonicalJson(known.definition)}`;
  const key = createHash('sha256').update(said).digest('hex');
  if (!dryRun && !(await input.exclusive(`import ${key}`))) {
    throw new Error('Another process is importing this file with this definition; wait until it has ended.');
  }
  const earlier = dryRun ? undefined : await work.read(caller, (ctx) => findUnfinished(ctx, known.id, key));
  const runId = await runImport({
    work,
    caller,
    parts,
    known,
    content,
    dryRun,
    file: { name: input.file.name, key },
    ...(earlier === undefined ? {} : { resume: earlier }),
    onProgress,
  });
  const run = await work.read(caller, (ctx) => readRun(ctx, runId));
  return { ...run, resumed: earlier !== undefined };
}
