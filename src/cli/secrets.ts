/** `docket secrets …` */
import type { Command } from 'commander';
import { type Environment, type Json, output } from './command.ts';
import { withTool, write } from './keys.ts';
import { readSecret } from './secret-input.ts';

/** Loaded when a command runs. */
const parts = async () => ({
  ...(await import('../domain/webhooks/index.ts')),
  ...(await import('./master-key.ts')),
});

const LONGEST_SECRET = 1000;

/** @throws Error */
function requireCode(code: string): void {
  if (!/^[a-z][a-z0-9-]{0,62}$/.test(code))
    throw new Error('A code has 1 to 63 characters a-z, 0-9 and "-" and starts with a letter, for example main-2.');
}

export function secretCommands(docket: Command, environment: Environment): void {
  const secrets = docket.command('secrets').description('Signing secrets of webhooks, and passwords of mailboxes.');
  const quiet = (): void => {};
  secrets
    .command('create <code>')
    .description('Create a signing secret and show it once.')
    .option('--json', 'print {code, secret}')
    .action(async (code: string, options: Json) => {
      requireCode(code);
      const { createSecret, requireMasterKey } = await parts();
      const shown = await withTool(environment, quiet, async (tool) => {
        const box = await requireMasterKey(environment.settings(), tool.db);
        return await write(tool, (ctx) => createSecret(ctx, box, code));
      });
      output(options.json === true).result(shown, [`Signing secret ${code}, shown only once:`, shown.secret]);
    });
  secrets
    .command('set <code>')
    .description('Store a secret that another system gave out, such as the password of a mailbox.')
    .addHelpText('after', '\nThe secret is typed at a prompt or read from standard input.')
    .action(async (code: string) => {
      requireCode(code);
      const value = await readSecret('Secret');
      if (value === '' || value.length > LONGEST_SECRET || /\p{Cc}/u.test(value))
        throw new Error(`A secret has 1 to ${LONGEST_SECRET} characters in one line.`);
      const { requireMasterKey, setSecret } = await parts();
      await withTool(environment, quiet, async (tool) => {
        const box = await requireMasterKey(environment.settings(), tool.db);
        return await write(tool, (ctx) => setSecret(ctx, box, code, value));
      });
      output(false).result({ code }, [`Stored the secret ${code}.`]);
    });
  secrets
    .command('rotate <code>')
    .description('Create the next value of a signing secret and show it once.')
    .option('--overlap <duration>', 'how long the previous value also signs, ISO 8601 duration', 'PT0S')
    .option('--other-key', 'the master key of the previous value is lost: seal the next value with the configured key')
    .option('--json', 'print {code, secret}')
    .action(async (code: string, options: Json & { overlap: string; otherKey?: boolean }, command: Command) => {
      const otherKey = options.otherKey === true;
      // A secret that cannot be opened cannot sign during an overlap.
      if (otherKey && options.overlap !== 'PT0S')
        command.error('--other-key cannot be combined with --overlap', { exitCode: 2 });
      const { requireMasterKey, rotateSecret } = await parts();
      const { secret } = await withTool(environment, quiet, async (tool) => {
        const box = await requireMasterKey(environment.settings(), tool.db, { otherKey });
        return await write(tool, (ctx) => rotateSecret(ctx, box, code, options.overlap));
      });
      output(options.json === true).result({ code, secret }, [`New value of ${code}, shown only once:`, secret]);
    });
}
