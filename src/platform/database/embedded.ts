/**
 * The embedded PostgreSQL of a data folder (docs/spec/configuration.md#command-line). It is a real server, created on first
 * use, started unless it is running, and stopped by its last user.
 *
 * The server keeps running if the service is killed, and the next start takes it over. Contents of the folder:
 *   postgres/        the cluster, with its socket
 *   postgres.json    connection data (mode 0600)
 *   postgres.log     log of the server, without statements and values
 *   postgres.lock/   tickets of the processes that use it
 */
import { mkdir, readFile, realpath, rename, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import {
  ADMIN_DATABASE,
  type Address,
  askServer,
  type Credentials,
  clusterMajor,
  connectionUrl,
  createCluster,
  isSocket,
  newPassword,
  runningServer,
  socketAddress,
  startCluster,
  stopCluster,
  writeSettings,
} from './embedded-cluster.ts';
import { EmbeddedError } from './embedded-process.ts';
import { findLauncher, type Launcher } from './embedded-launcher.ts';
import { type Ticket, Tickets } from './embedded-lock.ts';
import { settingsOf } from './embedded-settings.ts';

export interface EmbeddedOptions {
  /** The data folder; created if it does not exist. */
  dataDir: string;
  /** Receives one line for each slow or unusual step. */
  log: (line: string) => void;
  /**
   * `service`: only one at a time; it monitors the server and restarts it if it dies. `tool` (the default): any number, with or
   * without a service.
   */
  use?: 'service' | 'tool';
  /**
   * If aborted, opening ends early with its reason: what was started is stopped, tickets are released. It has no effect once
   * the database is open.
   */
  signal?: AbortSignal | undefined;
}

export interface Embedded {
  /** Connection string of the database `docket`; does not change while this is open. */
  url: string;
  /** Whether this call started the server; false if it was already running. */
  startedHere: boolean;
  /** Ends the use; the last user stops the server. May be called more than once. */
  stop(): Promise<void>;
}

interface Connection extends Address, Credentials {
  pid: number;
}

const USER = 'docket';
const DATABASE = 'docket';
const TURN_MS = 300_000;
const WATCH_MS = 500;
const REVIVE_AGAIN_MS = 5000;
const SILENT_MS = 60_000;

/** Opens the database of a data folder. Throws `EmbeddedError`, whose message says what is wrong and what to do. */
export async function openEmbedded(options: EmbeddedOptions): Promise<Embedded> {
  const embedded = new OpenEmbedded(await dataFolder(options.dataDir), options);
  await embedded.open();
  return embedded;
}

async function dataFolder(dataDir: string): Promise<string> {
  try {
    // Root may have to run the server as another user, who must be able to traverse the folder but not list it.
    await mkdir(dataDir, { recursive: true, mode: process.getuid?.() === 0 ? 0o711 : 0o700 });
    return await realpath(dataDir);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new EmbeddedError(`The data folder ${dataDir} cannot be created or read (${code}). Check DOCKET_DATA_DIR.`, {
      cause: error,
    });
  }
}

function connectionFile(folder: string): string {
  return path.join(folder, 'postgres.json');
}

async function readConnection(folder: string): Promise<Connection | null> {
  const file = connectionFile(folder);
  try {
    return JSON.parse(await readFile(file, 'utf8')) as Connection;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || error instanceof SyntaxError) return null;
    throw new EmbeddedError(`${file} cannot be read (${code}): run as the user who started Docket in this folder.`, {
      cause: error,
    });
  }
}

async function writeConnection(folder: string, connection: Connection): Promise<void> {
  const file = connectionFile(folder);
  await writeFile(`${file}.new`, `${JSON.stringify(connection, null, 2)}\n`, { mode: 0o600 });
  await rename(`${file}.new`, file);
}

/** `wanted` if it is free, otherwise any free port of 127.0.0.1. */
async function freePort(wanted: number): Promise<number> {
  const server = createServer();
  const taken = await new Promise<boolean>((resolve) => {
    server.once('error', () => resolve(true));
    server.listen(wanted, '127.0.0.1', () => resolve(false));
  });
  if (taken && wanted !== 0) return await freePort(0);
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  if (address === null || typeof address === 'string') throw new EmbeddedError('No free port on 127.0.0.1 was found.');
  return address.port;
}

// The folder may have been moved or copied since the file was written, so only the port of a server without a socket is taken
// from it.
function addressNow(cluster: string, known: Connection): Address | null {
  const socket = socketAddress(cluster);
  if (socket !== null) return socket;
  return isSocket(known) ? null : { host: known.host, port: known.port };
}

class OpenEmbedded implements Embedded {
  url = '';
  startedHere = false;
  readonly #folder: string;
  readonly #use: 'service' | 'tool';
  readonly #log: (line: string) => void;
  readonly #tickets: Tickets;
  readonly #signal: AbortSignal | undefined;
  #ticket: Ticket | undefined;
  #watch: NodeJS.Timeout | undefined;
  #stopped: Promise<void> | undefined;

  constructor(folder: string, options: EmbeddedOptions) {
    this.#folder = folder;
    this.#use = options.use ?? 'tool';
    this.#log = options.log;
    this.#signal = options.signal;
    this.#tickets = new Tickets(path.join(folder, 'postgres.lock'));
  }

  async open(): Promise<void> {
    this.#signal?.throwIfAborted();
    await this.#inTurn(async () => {
      try {
        await this.#enter();
        this.#signal?.throwIfAborted();
      } catch (error) {
        // Also stops a server that a killed service left running, since no other process would.
        if (this.#ticket !== undefined || this.#signal?.aborted === true) await this.#leave();
        throw error;
      }
    }, this.#signal);
  }

  async #enter(): Promise<void> {
    const known = await readConnection(this.#folder);
    const launcher = await findLauncher(this.#folder, 'postgres', this.#log);
    this.#signal?.throwIfAborted();
    const running = await this.#running(launcher.cluster, known);
    if (running === null) await this.#forgetUnknown();
    if (this.#use === 'service') await this.#refuseSecond();
    this.#ticket = await this.#tickets.put(this.#use);
    const connection = running ?? (await this.#start(launcher, known));
    this.startedHere = running === null;
    this.url = connectionUrl(connection, connection, DATABASE);
    await ensureDatabase(connection);
    if (this.#use === 'service' && this.#signal?.aborted !== true) this.#keepAlive(launcher, connection);
  }

  stop(): Promise<void> {
    this.#stopped ??= this.#stop();
    return this.#stopped;
  }

  async #stop(): Promise<void> {
    clearTimeout(this.#watch);
    await this.#inTurn(() => this.#leave());
  }

  async #leave(): Promise<void> {
    await this.#ticket?.release();
    const users = [...(await this.#tickets.others('service')), ...(await this.#tickets.others('tool'))];
    if (users.length > 0) return;
    const cluster = await realpath(path.join(this.#folder, 'postgres')).catch(() => null);
    const pid = cluster === null ? null : runningServer(cluster);
    if (pid !== null && !(await stopCluster(pid))) {
      throw new EmbeddedError(
        `The database server (process ${pid}) has not stopped after two minutes and is still running. Stop it and retry.`,
      );
    }
  }

  // Only the tickets of an ended container remain: if one of its processes were alive, the server would answer.
  async #forgetUnknown(): Promise<void> {
    for (const other of [...(await this.#tickets.others('service')), ...(await this.#tickets.others('tool'))]) {
      if (other.liveness === 'unknown') await this.#tickets.discard(other);
    }
  }

  async #inTurn<T>(fn: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    const onWait = (pid: number): void => {
      this.#log(`waiting for process ${pid}, which is starting or stopping the database`);
    };
    const turn = await this.#tickets.turn(TURN_MS, onWait, signal);
    try {
      return await fn();
    } finally {
      await turn.release();
    }
  }

  async #refuseSecond(): Promise<void> {
    const [other] = await this.#tickets.others('service');
    if (other === undefined) return;
    throw new EmbeddedError(
      `The data folder ${this.#folder} is in use by another Docket service (process ${other.owner.pid}): ` +
        'stop that one, or give this one a folder of its own with DOCKET_DATA_DIR.',
    );
  }

  /** Connection data of the running server, once it accepts connections; null if none is running. */
  async #running(cluster: string, known: Connection | null): Promise<Connection | null> {
    const since = performance.now();
    for (let logged = false; ; logged = true) {
      const pid = runningServer(cluster);
      const address = known === null ? null : addressNow(cluster, known);
      // Process ids of another container have no meaning here, but its socket in our folder can be used.
      if (pid === null && (address === null || !isSocket(address))) return null;
      if (known === null || address === null) throw new EmbeddedError(this.#lostConnection(pid));
      const answer = await askServer(address, known);
      if (answer === 'ready') {
        const adopted = { ...known, ...address, pid: pid ?? known.pid };
        await writeConnection(this.#folder, adopted);
        return adopted;
      }
      if (answer === 'refused') throw new EmbeddedError(this.#lostConnection(pid));
      if (pid === null && answer === 'silent') return null;
      if (answer === 'silent' && performance.now() - since > SILENT_MS) {
        throw new EmbeddedError(
          `The database server (process ${pid}) runs but does not answer: stop it and try again.`,
        );
      }
      this.#signal?.throwIfAborted();
      if (!logged) this.#log('waiting for the running database server to accept connections');
      await sleep(50);
    }
  }

  #lostConnection(pid: number | null): string {
    const server = pid === null ? 'A server' : `The database server (process ${pid})`;
    return (
      `${server} runs on ${this.#folder}/postgres, but ${connectionFile(this.#folder)} does not hold its password: ` +
      'stop that server, then start Docket again, which sets a new one.'
    );
  }

  async #start(launcher: Launcher, known: Connection | null): Promise<Connection> {
    const { cluster, binaries } = launcher;
    const major = await clusterMajor(cluster);
    if (major !== null && major !== binaries.major) {
      throw new EmbeddedError(
        `The data folder ${this.#folder} holds a database of PostgreSQL ${major}, and this Docket brings ${binaries.version}: ` +
          'make a backup with the Docket that wrote it, and restore that into a new data folder.',
      );
    }
    const credentials = known ?? { user: USER, password: newPassword() };
    const usedPort = known === null || isSocket(known) ? 0 : known.port;
    const address = socketAddress(cluster) ?? { host: '127.0.0.1', port: await freePort(usedPort) };
    const connection: Connection = { ...address, user: credentials.user, password: credentials.password, pid: 0 };
    if (major === null) {
      this.#log('creating a database');
      const beforeReady = () => writeConnection(this.#folder, connection);
      const options = { durable: true, beforeReady, signal: this.#signal };
      await createCluster(launcher, credentials, await settingsOf(cluster), options);
    } else if (known === null) {
      await resetPassword(launcher, connection, this.#signal);
      await writeConnection(this.#folder, connection);
    }
    return await this.#launch(launcher, connection, this.#signal);
  }

  async #launch(launcher: Launcher, connection: Connection, signal?: AbortSignal): Promise<Connection> {
    await writeSettings(launcher.cluster, await settingsOf(launcher.cluster));
    await launcher.own(launcher.cluster);
    const pid = await startCluster(launcher, {
      address: connection,
      credentials: connection,
      logFile: path.join(this.#folder, 'postgres.log'),
      log: this.#log,
      signal,
    });
    const started = { ...connection, pid };
    await writeConnection(this.#folder, started);
    return started;
  }

  // Without its database, a service could only answer 503 until an operator restarts it. Restarting the database takes a
  // second.
  #keepAlive(launcher: Launcher, connection: Connection): void {
    const check = async () => {
      let pause = WATCH_MS;
      try {
        if (runningServer(launcher.cluster) === null) await this.#revive(launcher, connection);
      } catch (error) {
        this.#log(`failed to restart the database: ${(error as Error).message}`);
        pause = REVIVE_AGAIN_MS;
      }
      if (this.#stopped === undefined) this.#watch = setTimeout(check, pause).unref();
    };
    this.#watch = setTimeout(check, WATCH_MS).unref();
  }

  async #revive(launcher: Launcher, connection: Connection): Promise<void> {
    await this.#inTurn(async () => {
      if (this.#stopped !== undefined || (await this.#running(launcher.cluster, connection)) !== null) return;
      this.#log('the database server ended; restarting it');
      await this.#launch(launcher, connection);
    });
  }
}

// If the password is lost, it can only be reset in single-user mode, while no client can connect.
async function resetPassword(launcher: Launcher, credentials: Credentials, signal?: AbortSignal): Promise<void> {
  const statement = `ALTER ROLE "${credentials.user}" PASSWORD '${credentials.password}';\n`;
  const args = ['--single', '-D', launcher.cluster, ADMIN_DATABASE];
  await launcher.run('postgres', args, { input: statement, signal });
}

async function ensureDatabase(connection: Connection): Promise<void> {
  const client = new pg.Client({ connectionString: connectionUrl(connection, connection, ADMIN_DATABASE) });
  client.on('error', () => {});
  await client.connect();
  try {
    const { rowCount } = await client.query('SELECT 1 FROM pg_database WHERE datname = $1', [DATABASE]);
    if (rowCount === 0) await client.query(`CREATE DATABASE ${DATABASE} TEMPLATE template0 ENCODING 'UTF8'`);
  } finally {
    await client.end();
  }
}
