/** `docket keys …` and `docket users …` */
import type { Command } from 'commander';
import type { WriteContext } from '../platform/unit-of-work/context.ts';
import { type Environment, type Json, output } from './command.ts';
import { readSecret } from './secret-input.ts';
import type { Tool } from './service.ts';

/** Loaded when a command runs. */
const access = async () => await import('../domain/access/index.ts');

export async function withTool<T>(
  environment: Environment,
  say: (line: string) => void,
  fn: (tool: Tool) => Promise<T>,
): Promise<T> {
  const { openTool } = await import('./service.ts');
  const tool = await openTool(environment.settings(), say);
  try {
    return await fn(tool);
  } finally {
    await tool.close();
  }
}

export async function write<T>(tool: Tool, fn: (ctx: WriteContext) => Promise<T>): Promise<T> {
  const result = await tool.work.write(tool.caller, fn);
  if (result.kind !== 'done') throw new Error('a command without an idempotency key cannot be a replay');
  return result.data;
}

function list(text: string | undefined): string[] {
  return (text ?? '').split(',').flatMap((part) => part.trim() || []);
}

export function keyCommands(docket: Command, environment: Environment): void {
  const keys = docket.command('keys').description('Issue, list, revoke and rotate API keys.');
  keys
    .command('create')
    .description('Issue a key and show it once.')
    .requiredOption('--owner <login>', 'user whose rights the key has')
    .requiredOption('--name <name>', 'purpose of the key')
    .requiredOption(
      '--scopes <list>',
      'comma-separated scopes; "all" means the 26 of the specification, without admin:manage',
    )
    .option('--expires <instant>', 'RFC 3339 instant at which the key expires')
    .option('--allow <list>', 'comma-separated address ranges (CIDR) from which the key is accepted')
    .option('--json', 'print {id, key, owner, scopes, expiresAt}')
    .action(
      async (
        options: Json & { owner: string; name: string; scopes: string; expires?: string; allow?: string },
        command: Command,
      ) => {
        // An empty script variable must not create a key that is accepted from any address.
        if (options.allow !== undefined && list(options.allow).length === 0)
          command.error('--allow needs at least one range; omit it for a key that is accepted from any address', {
            exitCode: 2,
          });
        const out = output(options.json === true);
        const { createKey } = await access();
        const shown = await withTool(
          environment,
          () => {},
          (tool) =>
            write(tool, (ctx) =>
              createKey(ctx, {
                owner: options.owner,
                name: options.name,
                scopes: list(options.scopes),
                ...(options.expires === undefined ? {} : { expiresAt: options.expires }),
                ...(options.allow === undefined ? {} : { allow: list(options.allow) }),
              }),
            ),
        );
        out.result(shown, [`Key of ${shown.owner}, shown only once:`, shown.key, `Scopes: ${shown.scopes.join(', ')}`]);
      },
    );
  keys
    .command('list')
    .description('List keys.')
    .option('--json', 'print the list as JSON')
    .action(async (options: Json) => {
      const { listKeys } = await access();
      const rows = await withTool(
        environment,
        () => {},
        (tool) => tool.work.read(tool.caller, (ctx) => listKeys(ctx)),
      );
      const lines = rows.map((key) => {
        const state = key.revokedAt === null ? `last used ${key.lastUsedAt ?? 'never'}` : `revoked ${key.revokedAt}`;
        const expires = key.expiresAt === null ? '' : `  expires ${key.expiresAt}`;
        const allow = key.allow.length === 0 ? '' : `  only from ${key.allow.join(', ')}`;
        return `${key.id}  ${key.owner}  ${key.name}  ${state}${expires}${allow}`;
      });
      output(options.json === true).result(rows, lines.length === 0 ? ['There are no keys.'] : lines);
    });
  keys
    .command('revoke <id>')
    .description('Revoke a key; it is rejected within a second.')
    .option('--json', 'print the key as JSON')
    .action(async (id: string, options: Json) => {
      const { revokeKey } = await access();
      const key = await withTool(
        environment,
        () => {},
        (tool) => write(tool, (ctx) => revokeKey(ctx, id)),
      );
      output(options.json === true).result(key, [`Revoked ${key.id} (${key.name} of ${key.owner}).`]);
    });
  keys
    .command('rotate <id>')
    .description('Give a key a new secret and show it once.')
    .option('--overlap <duration>', 'how long the old secret remains valid, ISO 8601 duration', 'PT0S')
    .option('--json', 'print {id, key, owner, scopes, expiresAt}')
    .action(async (id: string, options: Json & { overlap: string }) => {
      const { rotateKey } = await access();
      const shown = await withTool(
        environment,
        () => {},
        (tool) => write(tool, (ctx) => rotateKey(ctx, id, options.overlap)),
      );
      output(options.json === true).result(shown, [`New key of ${shown.owner}, shown only once:`, shown.key]);
    });
}

export function userCommands(docket: Command, environment: Environment): void {
  const users = docket.command('users').description('Users of the console.');
  users
    .command('set-password <login>')
    .description('Set a console password: entered twice at a terminal without echo, or read from a pipe.')
    .option('--json', 'print {id}')
    .action(async (login: string, options: Json) => {
      const password = await readSecret('Password');
      const { setPassword } = await access();
      const user = await withTool(
        environment,
        () => {},
        (tool) => write(tool, (ctx) => setPassword(ctx, login, password)),
      );
      output(options.json === true).result(user, [`Password of ${login} set.`]);
    });
}
