/** Imports of content in the request body (docs/spec/import-export-bulk.md#import-runs). */
import type { Runner } from '../../platform/unit-of-work/binding.ts';
import { contentOf } from './content.ts';
import { requireDefinition } from './definitions.ts';
import { type RunAnswer, readRun } from './queries.ts';
import { type ImportParts, runImport } from './run.ts';

export interface RunInput {
  definitionId: string;
  content: string;
  dryRun: boolean;
}

/**
 * Imports the rows of the content.
 *
 * @throws Fault RIGHT_MISSING, NOT_FOUND, INVALID_REQUEST for malformed content, with nothing written
 */
export async function runContent(runner: Runner, input: RunInput, parts: ImportParts): Promise<RunAnswer> {
  const { work, caller } = runner;
  caller.actor.require('import.execute');
  const known = requireDefinition(caller, input.definitionId);
  const { dryRun } = input;
  const runId = await runImport({ work, caller, parts, known, content: contentOf(input.content), dryRun });
  // The run may have taken minutes: answer with the rights that the caller has now.
  const fresh = await parts.freshCaller(caller);
  return await work.read(fresh, (ctx) => readRun(ctx, runId));
}
