/**
 * `docket doctor`: diagnoses a running or stopped service and says how to fix each problem
 * (docs/spec/configuration.md#command-line).
 */
import type { Command } from 'commander';
import { type Environment, output } from './command.ts';

export function doctorCommand(docket: Command, environment: Environment): void {
  docket
    .command('doctor')
    .description(
      'Check data folder, file store, database, clock, migrations, indexes and webhooks, and how to fix problems.',
    )
    .option('--json', 'print the checks as JSON')
    .option('--deep', 'check every invariant of the stored data: history, responses, files, search, indexes; slow')
    .action(async (options: { json?: boolean; deep?: boolean }) => {
      const { examine } = await import('./doctor-checks.ts');
      const checks = await examine(environment.settings(), options.deep === true);
      const lines = checks.map((check) => `${check.ok ? 'ok  ' : 'FAIL'}  ${check.name}: ${check.says}`);
      output(options.json === true).result(checks, lines);
      if (checks.some((check) => !check.ok)) throw new Error('some checks failed; see the list above.');
    });
}
