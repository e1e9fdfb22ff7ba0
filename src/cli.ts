/**
 * The command line (docs/spec/configuration.md#command-line). Every command prints text for users by default and JSON with
 * `--json`. Exit codes: 0 on success; 1 if the operation was refused or failed, with the reason on standard error; 2 on wrong
 * usage.
 */
import { Command, CommanderError, Option } from 'commander';
import { auditCommands } from './cli/audit.ts';
import { backupCommands } from './cli/backup.ts';
import { configurationCommands } from './cli/bundles.ts';
import { configCommands } from './cli/config-history.ts';
import { migrateCommands, reindexCommand } from './cli/database.ts';
import { doctorCommand } from './cli/doctor.ts';
import { type Environment, reasonOf, warn } from './cli/command.ts';
import { importCommand } from './cli/imports.ts';
import { initCommand } from './cli/init.ts';
import { keyCommands, userCommands } from './cli/keys.ts';
import { secretCommands } from './cli/secrets.ts';
import type { Role } from './cli/processes.ts';
import { requireTarget } from './cli/select-target.ts';
import { typesCommand } from './cli/types.ts';
import { versionText } from './cli/version.ts';
import { webhookCommands } from './cli/webhooks.ts';
import { whyCommand } from './cli/why.ts';
import { stopSignals } from './cli/stop-signals.ts';
import { misspeltSettings, readSettings, type Settings } from './settings.ts';

/** All commands. `tools/docs.ts` describes them from this. */
export function program(environment: Environment): Command {
  const docket = new Command('docket')
    .description('Docket: a self-hosted work-record service.')
    .version(versionText(), '--version', 'print the version of Docket and the commit it was made from')
    .option(
      '--url <url>',
      'service elsewhere, for plan, apply, export, types, import, config, why, webhooks test and webhooks listen; default: DOCKET_URL',
    )
    .option(
      '--key-file <file>',
      'file with the API key for --url, which needs the scope admin:manage except for webhooks listen; default: DOCKET_KEY',
    )
    .option('--key <key>', 'the API key itself; visible in process lists')
    .hook('preAction', (_docket, command) => requireTarget(command))
    .exitOverride()
    .showHelpAfterError('(run with --help for usage)')
    .configureHelp({ showGlobalOptions: true });
  docket
    .command('serve')
    .description('Start API, console and workers; SIGTERM stops gracefully.')
    .option('--role <role>', 'api, worker or all', 'all')
    .option(
      '--processes <n>',
      'number of serving processes, to use more cores; background work gets an additional one',
      '1',
    )
    .option('--json', 'no effect on serve')
    .addOption(new Option('--child', 'set by the supervisor for its child processes').hideHelp())
    .action(async (options: { role: string; processes: string; child?: true }, command: Command) => {
      if (!['api', 'worker', 'all'].includes(options.role))
        command.error('--role must be api, worker or all', { exitCode: 2 });
      const processes = /^[1-9]\d{0,2}$/.test(options.processes) ? Number(options.processes) : 0;
      if (processes === 0) command.error('--processes must be an integer from 1 to 999', { exitCode: 2 });
      const { inherited } = environment;
      const child = options.child === true;
      // Other commands start sooner without the HTTP server.
      const { serve } = await import('./cli/serve.ts');
      await serve(environment.settings(), options.role as Role, { processes, child, environment: inherited });
    });
  configurationCommands(docket, environment);
  configCommands(docket, environment);
  initCommand(docket);
  keyCommands(docket, environment);
  secretCommands(docket, environment);
  webhookCommands(docket, environment);
  userCommands(docket, environment);
  importCommand(docket, environment);
  backupCommands(docket, environment);
  migrateCommands(docket, environment);
  reindexCommand(docket, environment);
  auditCommands(docket, environment);
  typesCommand(docket, environment);
  whyCommand(docket, environment);
  doctorCommand(docket, environment);
  return docket;
}

/** Runs one command. @returns the exit code */
export async function run(args: readonly string[], env: Record<string, string | undefined>): Promise<number> {
  try {
    const settings = (): Settings => {
      // The processes of a supervisor inherit what it has remarked on.
      if (!args.includes('--child')) misspeltSettings(env).forEach(warn);
      return readSettings(env);
    };
    await program({ settings, inherited: env }).parseAsync([...args], { from: 'user' });
    return 0;
  } catch (error) {
    // A stop signal interrupted the command: this is no failure. The process ends by the signal after the cleanup.
    if (stopSignals.ending) await new Promise(() => {});
    if (error instanceof CommanderError) {
      // `--help` and `--version` are no errors; all other parser errors are wrong usage.
      return error.exitCode === 0 ? 0 : 2;
    }
    process.stderr.write(`docket: ${reasonOf(error)}\n`);
    return 1;
  }
}
