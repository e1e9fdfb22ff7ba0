/** Selects the service that a command works on, from its options and the environment. */
import { readFile } from 'node:fs/promises';
import type { Command } from 'commander';
import { remoteSettings } from '../settings.ts';
import { type Environment, warn } from './command.ts';
import type { Remote } from './remote.ts';
import type { ConfigurationTarget } from './target.ts';

/** Global options of the command line. */
interface RemoteFlags {
  url?: string;
  key?: string;
  keyFile?: string;
}

/** Commands that work with `--url`. The other ones read and write the database. */
const REMOTE_COMMANDS: ReadonlySet<string> = new Set([
  'plan',
  'apply',
  'export',
  'types',
  'import',
  'config',
  'why',
  'webhooks test',
  'webhooks listen',
]);

/** Ends with wrong usage if `--url` is given to a command that would ignore it. */
export function requireTarget(command: Command): void {
  const { url, key, keyFile } = command.optsWithGlobals<RemoteFlags>();
  if ((url ?? key ?? keyFile) === undefined) return;
  // The name of a group of commands stands for all of them: `config restore` is remote, `restore` is not.
  const { parent } = command;
  const group = parent === null || parent.parent === null ? command : parent;
  if (REMOTE_COMMANDS.has(group.name()) || REMOTE_COMMANDS.has(`${group.name()} ${command.name()}`)) return;
  command.error(`--url, --key-file and --key are for ${[...REMOTE_COMMANDS].join(', ')}`, { exitCode: 2 });
}

/** Runs `use` on the service that options and environment name. @param command the running command, for its global options */
export async function onTarget<T>(
  environment: Environment,
  command: Command,
  use: (target: ConfigurationTarget) => Promise<T>,
): Promise<T> {
  const remote = await remoteOf(environment.inherited, command);
  const target =
    remote === undefined
      ? await (await import('./local.ts')).LocalTarget.open(environment.settings())
      : new (await import('./remote.ts')).RemoteTarget(remote);
  try {
    return await use(target);
  } finally {
    await target.close();
  }
}

/**
 * The service that `--url` or DOCKET_URL names; undefined if neither is given.
 *
 * @throws Error if the URL or the key is missing or malformed
 */
export async function remoteOf(
  env: Readonly<Record<string, string | undefined>>,
  command: Command,
): Promise<Remote | undefined> {
  const flags = command.optsWithGlobals<RemoteFlags>();
  const environment = remoteSettings(env);
  const text = flags.url ?? environment.url;
  if (text === '') {
    if (flags.key === undefined && flags.keyFile === undefined) return undefined;
    return command.error('--key and --key-file need --url, or the variable DOCKET_URL', { exitCode: 2 });
  }
  if (flags.key !== undefined && flags.keyFile !== undefined) {
    return command.error('--key and --key-file exclude each other', { exitCode: 2 });
  }
  const url = baseUrl(text, flags.url === undefined ? 'DOCKET_URL' : '--url');
  const [key, keySource] = await keyOf(flags, environment.key);
  return { url, key, keySource };
}

function baseUrl(text: string, name: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !['http:', 'https:'].includes(url.protocol)) {
    throw new Error(`${name} must be the address of a service, such as https://docket.example.org.`);
  }
  if (url.username !== '' || url.password !== '' || url.search !== '' || url.hash !== '') {
    throw new Error(`${name} must have no user name, password, query or fragment. Give the key in DOCKET_KEY.`);
  }
  if (url.protocol === 'http:' && !/^(?:localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(url.hostname)) {
    warn(`the key is sent unencrypted to ${url.host}; use https.`);
  }
  return url.href.replace(/\/+$/, '');
}

async function keyOf(flags: RemoteFlags, fromEnvironment: string): Promise<[key: string, source: string]> {
  const [text, source] = await givenKey(flags, fromEnvironment);
  const key = text.trim();
  if (key === '') {
    throw new Error(`${source} holds no key. Give a key in DOCKET_KEY, or name its file with --key-file.`);
  }
  // Such a key would appear in the error of the HTTP library.
  if (!/^[\x21-\x7e]+$/.test(key))
    throw new Error(`${source} holds no API key: it contains blanks or other characters.`);
  return [key, source];
}

async function givenKey(flags: RemoteFlags, fromEnvironment: string): Promise<[text: string, source: string]> {
  if (flags.key !== undefined) {
    warn('--key is visible in process lists and shell histories; use DOCKET_KEY or --key-file.');
    return [flags.key, '--key'];
  }
  if (flags.keyFile === undefined) return [fromEnvironment, 'DOCKET_KEY'];
  return [await readFile(flags.keyFile, 'utf8'), flags.keyFile];
}
