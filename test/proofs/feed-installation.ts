/**
 * Three processes of the service on a chain of PostgreSQL servers: the second is a streaming replica of the first, the third of
 * the second. The service reaches the primary through a symbolic link to the folder of its socket, which a failover moves.
 */
import { chmod, cp, mkdir, mkdtemp, realpath, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { kill, serverProcesses, until } from '../../deploy/cluster/parts.ts';
import {
  ADMIN_DATABASE,
  connectionUrl,
  createCluster,
  newPassword,
  socketAddress,
  startCluster,
  writeSettings,
} from '../../src/platform/database/embedded-cluster.ts';
import { findLauncher, type Launcher } from '../../src/platform/database/embedded-launcher.ts';
import { docket, type Environment, freePort, type Service, startService } from './fault-service.ts';

const PROCESSES = 3;
const NODES = ['one', 'two', 'three'] as const;
const BACK_MS = 120_000;
const SENT_MS = 200;
const CONFIGURATION = `
settings: { defaultLocale: en-US, timezone: UTC }
types:
  - code: thing
    name: Thing
    title: title
    fields: [{ code: title, dataType: string, required: true }]
roles:
  - code: chief
    name: Chief
    records: [{ type: '*', actions: [read, create, update, history, comment.create], fields: { read: '*', write: '*' } }]
    assignedTo: { users: [chief] }
users: [{ login: chief, displayName: Chief }]
`;
const SETTINGS = {
  // Processes are killed, the machine is not.
  fsync: 'off',
  wal_level: 'replica',
  max_wal_senders: '10',
  hot_standby: 'on',
  wal_keep_size: '1GB',
  wal_retrieve_retry_interval: '200ms',
  shared_buffers: '64MB',
  max_connections: '100',
  jit: 'off',
  timezone: 'UTC',
};

interface DatabaseNode {
  launcher: Launcher;
  host: string;
}

export class FeedInstallation {
  readonly folder: string;
  readonly #credentials = { user: 'docket', password: newPassword() };
  readonly #nodes: DatabaseNode[] = [];
  readonly #environments: Environment[] = [];
  readonly #services: Service[] = [];
  /** Index of the primary. */
  #primary = 0;
  #restores = 0;
  key = '';

  readonly #settings: (process: number) => Environment;

  private constructor(folder: string, settings: (process: number) => Environment) {
    this.folder = folder;
    this.#settings = settings;
  }

  /** @param settings further settings of each process */
  static async start(settings: (process: number) => Environment = () => ({})): Promise<FeedInstallation> {
    const folder = await realpath(await mkdtemp(path.join(tmpdir(), 'docket-feed-')));
    await chmod(folder, 0o711);
    const made = new FeedInstallation(folder, settings);
    try {
      await made.#start();
      return made;
    } catch (error) {
      await made.close();
      throw error;
    }
  }

  async #start(): Promise<void> {
    for (const [index, name] of NODES.entries()) {
      const launcher = await findLauncher(this.folder, name, () => {});
      const address = socketAddress(launcher.cluster);
      if (address === null) throw new Error(`the path of ${launcher.cluster} is too long for a socket`);
      const before = this.#nodes[index - 1];
      if (before === undefined) await createCluster(launcher, this.#credentials, SETTINGS, { durable: false });
      else {
        // A copy made before the first start serves as a base backup: the replica reads the log from its beginning.
        await cp(before.launcher.cluster, launcher.cluster, { recursive: true, preserveTimestamps: true });
        await chmod(launcher.cluster, 0o700);
        const { user, password } = this.#credentials;
        const source = `host=${before.host} port=${address.port} user=${user} password=${password} application_name=${name}`;
        await writeSettings(launcher.cluster, { ...SETTINGS, primary_conninfo: source });
        await writeFile(path.join(launcher.cluster, 'standby.signal'), '');
        await launcher.own(launcher.cluster);
      }
      this.#nodes.push({ launcher, host: address.host });
    }
    for (const index of NODES.keys()) await this.#startNode(index);
    await this.#point();
    await this.rows(`CREATE DATABASE docket TEMPLATE template0 ENCODING 'UTF8'`, ADMIN_DATABASE);
    for (let index = 0; index < PROCESSES; index++) {
      const port = { DOCKET_PORT: String(await freePort()) };
      this.#environments.push({ ...this.#environment(`process-${index}`), ...port, ...this.#settings(index) });
    }
    await this.begin(0);
    const bundle = path.join(this.folder, 'bundle');
    await mkdir(bundle);
    await writeFile(path.join(bundle, 'world.yaml'), CONFIGURATION);
    await this.command(['apply', bundle]);
    const made = await this.command(['keys', 'create', '--owner', 'chief', '--name', 'x', '--scopes', 'all', '--json']);
    this.key = (JSON.parse(made) as { key: string }).key;
    for (let index = 1; index < PROCESSES; index++) await this.begin(index);
  }

  #environment(data: string): Environment {
    const address = { host: path.join(this.folder, 'primary'), port: 5432 };
    return {
      DATABASE_URL: connectionUrl(address, this.#credentials, 'docket'),
      DOCKET_DATA_DIR: path.join(this.folder, data),
      DOCKET_BLOBS: `file:${path.join(this.folder, `blobs-${this.#restores}`)}`,
      DOCKET_SECRET_KEY: 'the key of a service that is broken on purpose',
      DOCKET_RATE_LIMIT: 'off',
      DOCKET_STARTER: 'none',
    };
  }

  /** Addresses of the processes, also of those that do not run. */
  get urls(): string[] {
    return this.#environments.map((env) => `http://127.0.0.1:${env['DOCKET_PORT']}`);
  }

  async #startNode(index: number): Promise<void> {
    const node = this.#node(index);
    const address = { host: node.host, port: 5432 };
    const logFile = path.join(this.folder, `${NODES[index]}.log`);
    await startCluster(node.launcher, { address, credentials: this.#credentials, logFile, log: () => {} });
  }

  #node(index: number): DatabaseNode {
    const node = this.#nodes[index];
    if (node === undefined) throw new Error(`there is no server ${index}`);
    return node;
  }

  /** Sends new connections to the primary. */
  async #point(): Promise<void> {
    const link = path.join(this.folder, 'primary');
    await symlink(this.#node(this.#primary).host, `${link}.new`);
    await rename(`${link}.new`, link);
  }

  /** Runs a statement on a server, past the service. */
  async rows<Row>(text: string, database = 'docket', index = this.#primary): Promise<Row[]> {
    const address = { host: this.#node(index).host, port: 5432 };
    const connectionString = connectionUrl(address, this.#credentials, database);
    // The server may still be recovering from a kill.
    const client = await until('a connection', BACK_MS, async () => {
      const made = new pg.Client({ connectionString, connectionTimeoutMillis: 5000 });
      made.on('error', () => {});
      await made.connect();
      return made;
    });
    try {
      return (await client.query(text)).rows as Row[];
    } finally {
      await client.end().catch(() => {});
    }
  }

  /** @throws Error with its output unless it exits with 0 */
  async command(args: readonly string[]): Promise<string> {
    const ended = await docket(args, this.#environment('tool'));
    if (ended.code !== 0) throw new Error(`docket ${args.join(' ')}: ${ended.stdout}${ended.stderr}`);
    return ended.stdout;
  }

  /** The checks of the data that fail. */
  async defects(): Promise<string[]> {
    const { stdout } = await docket(['doctor', '--deep', '--json'], this.#environment('tool'));
    const checks = JSON.parse(stdout) as { name: string; ok: boolean; says: string }[];
    return checks
      .filter(({ name, ok }) => !ok && name !== 'durability')
      .map(({ name, says }) => `doctor: ${name}: ${says}`);
  }

  /** Starts the process; again if the database was not there. */
  async begin(index: number): Promise<void> {
    const env = this.#environments[index] as Environment;
    this.#services[index] = await until(`process ${index}`, BACK_MS, async () => await startService(env));
  }

  /** The last output of the processes without their lines about requests. */
  said(): string {
    const lines = this.#services.flatMap((service) => service.output().split('\n').slice(-200));
    return lines
      .filter((line) => !line.includes('"level":30'))
      .slice(-10)
      .join('\n');
  }

  async killService(index: number): Promise<void> {
    await this.#services[index]?.kill();
    await this.begin(index);
  }

  /** Kills the process of one connection of the service; PostgreSQL ends all others and recovers. */
  async killBackend(): Promise<void> {
    const [chosen] = await this.rows<{ pid: number }>(
      `SELECT pid FROM pg_stat_activity WHERE application_name LIKE 'docket _' ORDER BY state = 'active' DESC, random() LIMIT 1`,
    );
    kill(chosen?.pid, 'SIGKILL');
    await sleep(300);
    await this.#untilServed();
  }

  /** Kills the primary and all its processes, and starts it again. */
  async killDatabase(): Promise<void> {
    this.#killNode();
    await sleep(300);
    await this.#startNode(this.#primary);
    await this.#untilServed();
  }

  #killNode(): void {
    for (const pid of serverProcesses(this.#node(this.#primary).launcher.cluster)) kill(pid, 'SIGKILL');
  }

  async #untilServed(): Promise<void> {
    for (const url of this.urls) {
      await until(`an answer of ${url}`, BACK_MS, async () => {
        const response = await fetch(`${url}/readyz`, { signal: AbortSignal.timeout(3000) });
        return response.ok ? true : undefined;
      });
    }
  }

  /** Makes each commit wait for the replica, so that a failover loses nothing. */
  async synchronize(): Promise<void> {
    await this.rows(`ALTER SYSTEM SET synchronous_standby_names = '${NODES[this.#primary + 1]}'`);
    await this.rows('SELECT pg_reload_conf()');
    await until('a synchronous replica', BACK_MS, async () => {
      const [row] = await this.rows<{ state: string }>('SELECT sync_state AS state FROM pg_stat_replication');
      return row?.state === 'sync' ? true : undefined;
    });
    await this.caughtUp();
  }

  /** Waits until the replica has everything that is committed now. */
  async caughtUp(): Promise<void> {
    const [row] = await this.rows<{ lsn: string }>('SELECT pg_current_wal_flush_lsn() AS lsn');
    await until('the replica', BACK_MS, async () => {
      const [there] = await this.rows<{ has: boolean }>(
        `SELECT pg_last_wal_replay_lsn() >= '${row?.lsn}' AS has`,
        'docket',
        this.#primary + 1,
      );
      return there?.has === true ? true : undefined;
    });
  }

  /** Cuts the replica off: it gets no later commits. */
  async detachReplica(): Promise<void> {
    const replica = this.#primary + 1;
    await this.rows(`ALTER SYSTEM SET primary_conninfo = ''`, 'docket', replica);
    await this.rows('SELECT pg_reload_conf()', 'docket', replica);
    await until('the end of replication', BACK_MS, async () => {
      const rows = await this.rows('SELECT FROM pg_stat_replication');
      return rows.length === 0 ? true : undefined;
    });
  }

  /** Kills the primary for good, and promotes its replica. @param killed called between the two */
  async failOver(killed = (): void => {}): Promise<void> {
    this.#killNode();
    // Answers that were sent before the kill arrive.
    await sleep(SENT_MS);
    killed();
    this.#primary++;
    await this.rows('SELECT pg_promote(true, 60)');
    await this.#point();
    await this.#untilServed();
  }

  /** Replaces the database and the files by those of the backup. @param stopped called while the service does not run */
  async restore(file: string, stopped: () => void): Promise<void> {
    await Promise.all(this.#services.map((service) => service.stop()));
    await sleep(SENT_MS);
    stopped();
    await this.rows('ALTER DATABASE docket RENAME TO replaced', ADMIN_DATABASE);
    await this.rows(`CREATE DATABASE docket TEMPLATE template0 ENCODING 'UTF8'`, ADMIN_DATABASE);
    this.#restores++;
    await this.command(['restore', file]);
    for (const [index, env] of this.#environments.entries()) {
      this.#environments[index] = { ...env, ...this.#environment(`process-${index}`) };
      await this.begin(index);
    }
  }

  async close(): Promise<void> {
    for (const service of this.#services) if (service.alive()) await service.kill();
    for (const { launcher } of this.#nodes) {
      for (const pid of serverProcesses(launcher.cluster)) kill(pid, 'SIGKILL');
    }
    await sleep(300);
    await rm(this.folder, { recursive: true, force: true, maxRetries: 5 });
  }
}
