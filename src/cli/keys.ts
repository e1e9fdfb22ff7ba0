/** `docket keys …` and `docket users …` */
import type { Command } from 'commander';
import type { Environment } from './environment.ts';
import { createKey, listKeys, revokeKey, rotateKey, setPassword } from '../domain/access/index.ts';
import type { WriteContext } from '../platform/unit-of-work/context.ts';
import { output } from './output.ts';
import { readSecret } from './secret-input.ts';
import { openTool, type Tool } from './service.ts';

export async function withTool<T>(
  environment: Environment,
  say: (line: string) => void,
  fn: (tool: Tool) => Promise<T>,
): Promise<T> {
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

interface Json {
  json?: boolean;
}

export function keyCommands(docket: Command, environment: Environment): void {
  const keys = docket.command('keys').description('Issue, list, revoke and rotate API keys.');
  keys
    .command('create')
    .description('Issue a key and show it once.')
    .requiredOption('--owner <login>', 'whose rights the key carries')
    .requiredOption('--name <name>', 'what the key is for')
    .requiredOption(
      '--scopes <list>',
      'scopes by comma; "all" gives the 26 of the specification; admin:manage is named apart',
    )
    .option('--expires <instant>', 'RFC 3339 instant after which the key is not accepted')
    .option('--allow <list>', 'address ranges (CIDR) by comma from which the key is accepted')
    .option('--json', 'print {id, key, owner, scopes, expiresAt}')
    .action(
      async (
        options: Json & { owner: string; name: string; scopes: string; expires?: string; allow?: string },
        command: Command,
      ) => {
        // An empty script variable must not create a key that is accepted from any address.
        if (options.allow !== undefined && list(options.allow).length === 0)
          command.error('--allow names one range at least; leave it out for a key that is accepted from anywhere', {
            exitCode: 2,
          });
        const out = output(options.json === true);
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
        out.result(shown, [`Key of ${shown.owner}, shown this once:`, shown.key, `Scopes: ${shown.scopes.join(', ')}`]);
      },
    );
  keys
    .command('list')
    .description('List keys.')
    .option('--json', 'print the list as JSON')
    .action(async (options: Json) => {
      const rows = await withTool(
        environment,
        () => {},
        (tool) => tool.work.read(tool.caller, (ctx) => listKeys(ctx)),
      );
      const lines = rows.map((key) => {
        const state = key.revokedAt === null ? `last used ${key.lastUsedAt ?? 'never'}` : `revoked ${key.revokedAt}`;
        const expires = key.expiresAt === null ? '' : `  expires ${key.expiresAt}`;
        const allow = key.allow.length === 0 ? '' : `  from ${key.allow.join(', ')} alone`;
        return `${key.id}  ${key.owner}  ${key.name}  ${state}${expires}${allow}`;
      });
      output(options.json === true).result(rows, lines.length === 0 ? ['There are no keys.'] : lines);
    });
  keys
    .command('revoke <id>')
    .description('Revoke a key; it is refused within a second.')
    .option('--json', 'print the key as JSON')
    .action(async (id: string, options: Json) => {
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
    .option('--overlap <duration>', 'how long the old secret goes on, ISO 8601', 'PT0S')
    .option('--json', 'print {id, key, owner, scopes, expiresAt}')
    .action(async (id: string, options: Json & { overlap: string }) => {
      const shown = await withTool(
        environment,
        () => {},
        (tool) => write(tool, (ctx) => rotateKey(ctx, id, options.overlap)),
      );
      output(options.json === true).result(shown, [`New key of ${shown.owner}, shown this once:`, shown.key]);
    });
}

export function userCommands(docket: Command, environment: Environment): void {
  const users = docket.command('users').description('People of the console.');
  users
    .command('set-password <login>')
    .description('Set a console password: typed twice at a terminal, which does not show it, or read from a pipe.')
    .option('--json', 'print {id}')
    .action(async (login: string, options: Json) => {
      const password = await readSecret('Password');
      const user = await withTool(
        environment,
        () => {},
        (tool) => write(tool, (ctx) => setPassword(ctx, login, password)),
      );
      output(options.json === true).result(user, [`Password of ${login} set.`]);
    });
}
