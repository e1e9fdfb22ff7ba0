/**
 * `docket backup`, `docket backup verify`, `docket restore`: backs up the whole service to one file and restores it
 * (docs/spec/configuration.md#command-line).
 */
import type { Command } from 'commander';
import { type Environment, type Json, output } from './command.ts';

export function backupCommands(docket: Command, environment: Environment): void {
  const backup = docket
    .command('backup')
    .description('Back up the running service, database and attachments, to one file.')
    .argument('<file>', 'a new file')
    .option('--allow-missing', 'continue if referenced content is missing or damaged in the file store')
    .option('--json', 'print {file, at, tables, rows, files, bytes, size, missing, damaged}')
    .action(async (file: string, options: Json & { allowMissing?: boolean }) => {
      const { backUp } = await import('./backup-steps.ts');
      await backUp(environment.settings(), file, output(options.json === true), options.allowMissing === true);
    });
  backup
    .command('verify')
    .description('Restore a backup into a temporary database and check it.')
    .argument('<file>', 'a backup')
    .option('--json', 'print {madeAt, rows, files, checks}')
    .action(async (file: string, options: Json, command: Command) => {
      // The parent command has the same option and receives it where both define one.
      const out = output((options.json ?? command.parent?.opts<Json>().json) === true);
      const { verify } = await import('./backup-steps.ts');
      const found = await verify(environment.settings(), file, out);
      const lines = found.checks.map(({ name, ok, says }) => `${ok ? 'ok  ' : 'FAIL'}  ${name}: ${says}`);
      out.result(found, [`${found.rows} rows and ${found.files} files as of ${found.madeAt}`, ...lines]);
      if (found.checks.some(({ ok }) => !ok)) throw new Error('the backup is not valid; see the list above.');
    });
  docket
    .command('restore')
    .description('Restore a backup into the configured empty database and file store.')
    .argument('<file>', 'a backup')
    .option(
      '--other-key',
      'continue without the master key of the backed-up service; its signing secrets must be rotated',
    )
    .option('--json', 'print {madeAt, rows, files, applied, sealed}')
    .action(async (file: string, options: Json & { otherKey?: boolean }) => {
      const { restore } = await import('./backup-steps.ts');
      await restore(environment.settings(), file, output(options.json === true), options.otherKey === true);
    });
}
