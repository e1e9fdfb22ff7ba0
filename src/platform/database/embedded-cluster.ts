/**
 * Creates, starts and stops a PostgreSQL cluster and recovers it after a crash. `embedded.ts` decides which process does so;
 * tests run a separate cluster with the same functions.
 */
import { randomBytes } from 'node:crypto';
import { closeSync, openSync } from 'node:fs';
import { appendFile, mkdir, open, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { EmbeddedError, isRunning, isServerOf, recordedServer, waitForExit } from './embedded-process.ts';
import type { Launcher } from './embedded-launcher.ts';

/** The server's address: a socket in the cluster's folder, or a port of 127.0.0.1 if the socket's path would be too long. */
export interface Address {
  host: string;
  port: number;
}

export interface Credentials {
  user: string;
  password: string;
}

export const ADMIN_DATABASE = 'postgres';
const SETTINGS_FILE = 'docket.conf';
const SOCKET_PORT = 5432;
// The kernel limits the path of a socket to 107 bytes (103 on macOS).
const LONGEST_SOCKET = 103;
const LARGEST_LOG = 16 * 1024 * 1024;
// After the whole server was killed, its shared memory stays in use for about two seconds.
const RELEASE_MS = 30_000;
const STOP_MS = 120_000;

export function isSocket(address: Address): boolean {
  return address.host.startsWith('/');
}

/** The socket in the cluster's folder; null if its path would be too long. */
export function socketAddress(cluster: string): Address | null {
  const file = path.join(cluster, `.s.PGSQL.${SOCKET_PORT}`);
  return Buffer.byteLength(file) <= LONGEST_SOCKET ? { host: cluster, port: SOCKET_PORT } : null;
}

/** A connection string for `pg`. It is complete, so that PG* environment variables have no effect. */
export function connectionUrl(address: Address, credentials: Credentials, database: string): string {
  const { user, password } = credentials;
  const host = isSocket(address) ? 'localhost' : address.host;
  const query = isSocket(address) ? `?host=${encodeURIComponent(address.host)}` : '';
  return `postgres://${user}:${password}@${host}:${address.port}/${database}${query}`;
}

export function newPassword(): string {
  return randomBytes(24).toString('base64url');
}

/**
 * Creates a cluster at `launcher.cluster` and renames it into place when complete: UTF-8, the built-in locale C.UTF-8 (the same
 * order on every machine), checksums, passwords. `beforeReady` runs just before the rename. With `durable: false`, data is not
 * synced to disk.
 */
export async function createCluster(
  launcher: Launcher,
  credentials: Credentials,
  settings: Readonly<Record<string, string>>,
  options: { durable: boolean; beforeReady?: () => Promise<void>; signal?: AbortSignal | undefined },
): Promise<void> {
  await clearUnfinished(launcher.cluster);
  const unfinished = `${launcher.cluster}.new-${randomBytes(8).toString('hex')}`;
  await mkdir(unfinished, { mode: 0o700 });
  await launcher.own(unfinished);
  try {
    await fillCluster(launcher, unfinished, credentials, options);
    await appendFile(path.join(unfinished, 'postgresql.conf'), `\ninclude_if_exists '${SETTINGS_FILE}'\n`);
    await writeSettings(unfinished, settings);
    await launcher.own(unfinished);
    await options.beforeReady?.();
    await rename(unfinished, launcher.cluster);
  } catch (error) {
    await rm(unfinished, { recursive: true, force: true });
    throw error;
  }
}

async function fillCluster(
  launcher: Launcher,
  unfinished: string,
  credentials: Credentials,
  options: { durable: boolean; signal?: AbortSignal | undefined },
): Promise<void> {
  const passwordFile = `${unfinished}.password`;
  await writeFile(passwordFile, `${credentials.password}\n`, { mode: 0o600 });
  try {
    await launcher.own(passwordFile);
    const args = [
      `--pgdata=${unfinished}`,
      `--username=${credentials.user}`,
      `--pwfile=${passwordFile}`,
      '--auth=scram-sha-256',
      '--encoding=UTF8',
      '--locale=C',
      '--locale-provider=builtin',
      '--builtin-locale=C.UTF-8',
      '--data-checksums',
      '--no-instructions',
      ...(options.durable ? [] : ['--no-sync']),
    ];
    await launcher.run('initdb', args, { signal: options.signal });
  } finally {
    await rm(passwordFile, { force: true });
  }
}

// Removes what killed attempts left. Each attempt uses a unique name, because the initdb of a killed process may still be
// running.
async function clearUnfinished(cluster: string): Promise<void> {
  const folder = path.dirname(cluster);
  for (const entry of await readdir(folder)) {
    if (!entry.startsWith(`${path.basename(cluster)}.new-`)) continue;
    await rm(path.join(folder, entry), { recursive: true, force: true });
  }
}

/** Replaces our part of the configuration. Settings made with ALTER SYSTEM take precedence. */
export async function writeSettings(cluster: string, settings: Readonly<Record<string, string>>): Promise<void> {
  const lines = Object.entries(settings).map(([name, value]) => `${name} = '${value}'`);
  await writeFile(path.join(cluster, SETTINGS_FILE), `# Written by Docket at every start.\n${lines.join('\n')}\n`);
}

/** Major version of the server that created the cluster; null if there is no cluster. */
export async function clusterMajor(cluster: string): Promise<string | null> {
  try {
    return (await readFile(path.join(cluster, 'PG_VERSION'), 'utf8')).trim();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}

/** Process id of the cluster's server if it is running. */
export function runningServer(cluster: string): number | null {
  const pid = recordedServer(cluster);
  return pid !== null && isServerOf(pid, cluster) ? pid : null;
}

export type Answer = 'ready' | 'starting' | 'silent' | 'refused';

/** Tries to connect once. `starting` is also returned during recovery and shutdown, `refused` if the password is wrong. */
export async function askServer(address: Address, credentials: Credentials): Promise<Answer> {
  const client = new pg.Client({
    connectionString: connectionUrl(address, credentials, ADMIN_DATABASE),
    connectionTimeoutMillis: 5000,
  });
  // A server that shuts down meanwhile causes an error event, which would end the process without a listener.
  client.on('error', () => {});
  try {
    await client.connect();
    await client.end();
    return 'ready';
  } catch (error) {
    const code = (error as { code?: string }).code ?? '';
    if (code === '57P03') return 'starting';
    if (code.startsWith('28')) return 'refused';
    // Other errors reported by the server, such as too many connections, mean that it is running.
    return error instanceof pg.DatabaseError ? 'ready' : 'silent';
  }
}

export interface StartOptions {
  address: Address;
  credentials: Credentials;
  logFile: string;
  /** Additional `-c name=value` settings for this start. */
  flags?: readonly string[];
  log: (line: string) => void;
  /** If aborted, a starting server is stopped again, and the reason is thrown. */
  signal?: AbortSignal | undefined;
}

/**
 * Starts the server and waits until it accepts connections, however long recovery takes. Waits until the shared memory of a
 * killed predecessor is released. Returns the process id; throws `EmbeddedError` with the server's output.
 */
export async function startCluster(launcher: Launcher, options: StartOptions): Promise<number> {
  await forgetStrangers(launcher.cluster, options.log);
  const deadline = performance.now() + RELEASE_MS;
  let logged = false;
  for (;;) {
    options.signal?.throwIfAborted();
    const outcome = await startOnce(launcher, options);
    if (typeof outcome === 'number') return outcome;
    options.signal?.throwIfAborted();
    if (!isTransient(outcome) || performance.now() > deadline) throw startFailure(outcome, options);
    if (!logged) options.log('waiting for leftover processes of a killed database server');
    logged = true;
    await sleep(150);
  }
}

// The id in postmaster.pid may now belong to an unrelated process, which would prevent the server from starting.
async function forgetStrangers(cluster: string, log: (line: string) => void): Promise<void> {
  const pid = recordedServer(cluster);
  if (pid === null || !isRunning(pid) || isServerOf(pid, cluster)) return;
  log(`removing a stale database lock: process ${pid} is not the server`);
  await rm(path.join(cluster, 'postmaster.pid'), { force: true });
  await rm(path.join(cluster, `.s.PGSQL.${SOCKET_PORT}.lock`), { force: true });
}

async function startOnce(launcher: Launcher, options: StartOptions): Promise<number | string> {
  const { address, credentials, logFile } = options;
  const from = await makeRoom(logFile);
  const listen = isSocket(address)
    ? ['-k', address.host, '-c', 'listen_addresses=']
    : ['-c', 'unix_socket_directories=', '-c', `listen_addresses=${address.host}`];
  const flags = (options.flags ?? []).flatMap((flag) => ['-c', flag]);
  const output = openSync(logFile, 'a', 0o600);
  let failed: string | undefined;
  let ended = false;
  const args = ['-D', launcher.cluster, '-p', String(address.port), ...listen, ...flags];
  const child = launcher.start('postgres', args, ['ignore', output, output]);
  closeSync(output);
  child.on('error', (error) => {
    failed = error.message;
  });
  child.on('exit', () => {
    ended = true;
  });
  child.unref();
  const started = performance.now();
  let logged = false;
  for (let wait = 10; ; wait = Math.min(wait * 1.3, 250)) {
    await sleep(wait);
    if (failed !== undefined) return failed;
    if (ended) return await tail(logFile, from);
    if (options.signal?.aborted === true) {
      await stopCluster(child.pid ?? 0);
      throw options.signal.reason;
    }
    const answer = await askServer(address, credentials);
    if (answer === 'ready' && child.pid !== undefined) return child.pid;
    if (answer === 'refused') {
      await stopCluster(child.pid ?? 0);
      throw new EmbeddedError('The database does not accept the password that Docket keeps for it in postgres.json.');
    }
    if (!logged && performance.now() - started > 5000) {
      options.log('the database is recovering from an unclean shutdown; this can take a while');
      logged = true;
    }
  }
}

/** Rotates a large log. Returns the offset at which new output begins. */
async function makeRoom(logFile: string): Promise<number> {
  const size = (await stat(logFile).catch(() => null))?.size ?? 0;
  if (size <= LARGEST_LOG) return size;
  await rename(logFile, `${logFile}.1`);
  return 0;
}

async function tail(logFile: string, from: number): Promise<string> {
  const file = await open(logFile, 'r');
  try {
    const buffer = Buffer.alloc(16_384);
    const { bytesRead } = await file.read(buffer, 0, buffer.length, from);
    return buffer.toString('utf8', 0, bytesRead);
  } finally {
    await file.close();
  }
}

function isTransient(said: string): boolean {
  return /pre-existing shared memory block|lock file ".*" already exists|could not bind/.test(said);
}

function startFailure(said: string, options: StartOptions): EmbeddedError {
  const reason = said
    .split('\n')
    .map((line) => /(?:FATAL|PANIC|ERROR|error): +(.*)/.exec(line)?.[1])
    .find((message) => message !== undefined);
  const where = `its log is ${options.logFile}`;
  if (/No space left on device/.test(said)) {
    return new EmbeddedError(`The database does not start because the disk is full; ${where}.`);
  }
  if (/could not bind/.test(said)) {
    const place = isSocket(options.address) ? options.address.host : `port ${options.address.port}`;
    return new EmbeddedError(`The database cannot listen on ${place}, which is in use; ${where}.`);
  }
  return new EmbeddedError(`The database does not start: ${reason ?? said.trim().slice(-300)}; ${where}.`);
}

/**
 * Stops the server: open transactions are aborted, committed data is on disk. `how: 'abandon'` is for data that is no longer
 * needed. Returns false if the server is still running after two minutes.
 */
export async function stopCluster(pid: number, how: 'clean' | 'abandon' = 'clean'): Promise<boolean> {
  try {
    process.kill(pid, how === 'clean' ? 'SIGINT' : 'SIGQUIT');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ESRCH') return true;
    throw error;
  }
  return await waitForExit(pid, STOP_MS);
}
