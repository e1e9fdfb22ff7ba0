/**
 * `docket import`: imports a file with a progress bar. Through the database, the file is streamed and may have any size; an
 * interrupted import resumes when it is repeated. To a service elsewhere, it is sent in one request.
 */
import { open } from 'node:fs/promises';
import type { Command } from 'commander';
import type { Progress } from '../domain/imports/index.ts';
import { type Environment, output, type Output, progressKeeper } from './command.ts';
import { onTarget } from './select-target.ts';

const BAR = 30;
const MAX_LISTED = 20;

/** @throws Error with a message for the user, before a service is asked */
async function requireReadable(file: string): Promise<void> {
  try {
    const handle = await open(file, 'r');
    await handle.read(Buffer.alloc(1)).finally(() => handle.close());
  } catch {
    throw new Error(`${file} cannot be read; give the name of a readable file.`);
  }
}

/** Shows progress: a bar on a terminal, else a line at intervals. */
function progressOf(out: Output, json: boolean): (progress: Progress) => void {
  const isDue = progressKeeper();
  return ({ done, total }) => {
    const due = isDue();
    const part = total === null ? 0 : total === 0 ? 1 : done / total;
    const rows = done.toLocaleString('en');
    const says = total === null ? `reading: ${rows} rows` : `${rows} of ${total.toLocaleString('en')} rows`;
    if (!json && process.stderr.isTTY) {
      const filled = Math.round(part * BAR);
      const bar = `[${'#'.repeat(filled)}${'.'.repeat(BAR - filled)}]`;
      process.stderr.write(`\r${bar} ${Math.floor(part * 100)}%  ${says}${done === total ? '\n' : ''}`);
    } else if (due) out.say(`${Math.floor(part * 100)}%  ${says}`);
  };
}

interface Flags {
  definition: string;
  dryRun?: boolean;
  strict?: boolean;
  json?: boolean;
}

export function importCommand(docket: Command, environment: Environment): void {
  docket
    .command('import <file>')
    .description('Import a CSV or JSON file of any size; repeat the command to resume after an interruption.')
    .requiredOption('--definition <code>', 'code or id of the import definition')
    .option('--dry-run', 'validate without saving changes')
    .option('--strict', 'exit with 1 if a row failed; the other rows are imported all the same')
    .option('--json', 'print the run as JSON')
    .action(async (file: string, flags: Flags, command: Command) => {
      const json = flags.json === true;
      const out = output(json);
      await requireReadable(file);
      const run = await onTarget(environment, command, (target) =>
        target.importFile({
          file,
          definition: flags.definition,
          dryRun: flags.dryRun === true,
          onProgress: progressOf(out, json),
        }),
      );
      const failed = run.rows.filter(({ status }) => status === 'FAILED');
      const listed = failed.slice(0, MAX_LISTED);
      out.result(run, [
        `${run.dryRun ? 'Dry run' : run.resumed === true ? 'Resumed run' : 'Run'} ${run.id} of ${run.total} rows:`,
        `  ${run.succeeded} created or updated, ${run.skipped} skipped, ${run.failed} failed.`,
        ...listed.flatMap(({ row, errors }) => errors.map((error) => `  row ${row}: ${error.path} ${error.message}`)),
        ...(run.failed > listed.length ? [`  … GET /import-runs/${run.id} lists more.`] : []),
      ]);
      if (flags.strict === true && run.failed > 0) throw new Error(`${run.failed} of ${run.total} rows failed.`);
    });
}
