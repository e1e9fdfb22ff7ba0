/** `docket secrets …` and `docket webhooks …` */
import type { Command } from 'commander';
import { createSecret, redispatch, rotateSecret } from '../domain/webhooks/index.ts';
import type { Environment } from './environment.ts';
import { withTool, write } from './keys.ts';
import { requireMasterKey } from './master-key.ts';
import { output } from './output.ts';

interface Json {
  json?: boolean;
}

export function secretCommands(docket: Command, environment: Environment): void {
  const secrets = docket.command('secrets').description('Signing secrets of webhooks.');
  const quiet = (): void => {};
  secrets
    .command('create <code>')
    .description('Create a signing secret and show it once.')
    .option('--json', 'print {code, secret}')
    .action(async (code: string, options: Json) => {
      if (!/^[a-z][a-z0-9-]{0,62}$/.test(code)) throw new Error('A code is like main-2: a-z, 0-9 and "-", at most 63.');
      const shown = await withTool(environment, quiet, async (tool) => {
        const box = await requireMasterKey(environment.settings(), tool.db);
        return await write(tool, (ctx) => createSecret(ctx, box, code));
      });
      output(options.json === true).result(shown, [`Signing secret ${code}, shown this once:`, shown.secret]);
    });
  secrets
    .command('rotate <code>')
    .description('Create the next value of a signing secret and show it once.')
    .option('--overlap <duration>', 'how long the value before goes on signing beside it, ISO 8601', 'PT0S')
    .option(
      '--other-key',
      'the master key of the value before is lost: seal the next value with the key of the settings',
    )
    .option('--json', 'print {code, secret}')
    .action(async (code: string, options: Json & { overlap: string; otherKey?: boolean }, command: Command) => {
      const otherKey = options.otherKey === true;
      // A secret that cannot be opened cannot sign during an overlap.
      if (otherKey && options.overlap !== 'PT0S') command.error('--other-key allows no --overlap', { exitCode: 2 });
      const { secret } = await withTool(environment, quiet, async (tool) => {
        const box = await requireMasterKey(environment.settings(), tool.db, { otherKey });
        return await write(tool, (ctx) => rotateSecret(ctx, box, code, options.overlap));
      });
      output(options.json === true).result({ code, secret }, [`New value of ${code}, shown this once:`, secret]);
    });
}

export function webhookCommands(docket: Command, environment: Environment): void {
  docket
    .command('webhooks')
    .description('Deliveries of webhooks.')
    .command('redispatch')
    .description('Make the deliveries that docket doctor found missing; those that exist are not made again.')
    .option('--json', 'print {events}')
    .action(async (options: Json) => {
      const events = await withTool(
        environment,
        () => {},
        (tool) => redispatch(tool.db),
      );
      const line = events === 0 ? 'Every event has its deliveries.' : `${events} events wait for dispatch by a worker.`;
      output(options.json === true).result({ events }, [line]);
    });
}
