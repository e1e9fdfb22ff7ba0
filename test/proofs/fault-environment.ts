/**
 * Two processes of the real service on one embedded database on disk, with the configuration of `fault-configuration.ts`. The
 * first process keeps the database running; the second connects to it by URL.
 */
import { readFileSync } from 'node:fs';
import { mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { docket, type Environment, freePort, type Service, startService } from './fault-service.ts';
import { FAULT_CONFIGURATION, type FaultIds } from './fault-configuration.ts';
import { attempt } from './fault-client.ts';

/** The service starts, and the database recovers from its log, within this on a machine that does much else. */
const BACK_MS = 120_000;

interface Connection {
  host: string;
  port: number;
  user: string;
  password: string;
}

export interface FaultEnvironmentOptions {
  /** `api` leaves background work undone. */
  role?: 'api' | 'all';
  processes?: 1 | 2;
  /** The folder of the database and the files; one of its own unless given. */
  folder?: string;
  /** Where the second process reaches the database: given the true address, answers the one to use. */
  through?: (connection: Connection) => Promise<string>;
  settings?: Environment;
}

export class FaultEnvironment {
  readonly folder: string;
  readonly #options: FaultEnvironmentOptions;
  readonly #own: boolean;
  readonly #services: Service[] = [];
  /** Output of processes that have ended. */
  readonly #gone: string[] = [];
  readonly #environments: Environment[] = [];
  key = '';
  ids!: FaultIds;

  private constructor(folder: string, options: FaultEnvironmentOptions) {
    this.folder = folder;
    this.#options = options;
    this.#own = options.folder === undefined;
  }

  static async start(options: FaultEnvironmentOptions = {}): Promise<FaultEnvironment> {
    const folder = options.folder ?? (await realpath(await mkdtemp(path.join(tmpdir(), 'docket-fault-'))));
    const environment = new FaultEnvironment(folder, options);
    try {
      await environment.#start();
      return environment;
    } catch (error) {
      await environment.close();
      throw error;
    }
  }

  async #start(): Promise<void> {
    const shared: Environment = {
      DOCKET_STARTER: 'none',
      DOCKET_RATE_LIMIT: 'off',
      DOCKET_SECRET_KEY: 'the key of a service that is broken on purpose',
      ...this.#options.settings,
    };
    const data = path.join(this.folder, 'data');
    this.#environments.push({ ...shared, DOCKET_DATA_DIR: data, DOCKET_PORT: String(await freePort()) });
    await this.begin(0);
    if (this.#options.processes !== 1) {
      const url = (await this.#options.through?.(this.connection())) ?? this.#databaseUrl();
      this.#environments.push({
        ...shared,
        DOCKET_BLOBS: shared['DOCKET_BLOBS'] ?? `file:${path.join(data, 'blobs')}`,
        DOCKET_DATA_DIR: path.join(this.folder, 'second'),
        DATABASE_URL: url,
        DOCKET_PORT: String(await freePort()),
      });
      await this.begin(1);
    }
    const bundle = path.join(this.folder, 'bundle');
    await mkdir(bundle, { recursive: true });
    await writeFile(path.join(bundle, 'world.yaml'), FAULT_CONFIGURATION);
    await this.command(['apply', bundle]);
    this.key = await this.newKey('alice');
    this.ids = await this.#findIds();
    for (let turn = 0; turn < this.processes; turn++) await this.untilAnswered(turn);
  }

  get processes(): number {
    return this.#environments.length;
  }

  /** The settings of the process that has the database: what a command of the command line needs. */
  get env(): Environment {
    return this.#environments[0] ?? {};
  }

  get blobFolder(): string {
    return path.join(this.folder, 'data', 'blobs');
  }

  /** @throws Error with its output unless it exits with 0 */
  async command(args: readonly string[]): Promise<string> {
    const ended = await docket(args, this.env);
    if (ended.code !== 0) throw new Error(`docket ${args.join(' ')}: ${ended.stdout}${ended.stderr}`);
    return ended.stdout;
  }

  async newKey(owner: string): Promise<string> {
    const made = await this.command(['keys', 'create', '--owner', owner, '--name', 'x', '--scopes', 'all', '--json']);
    return (JSON.parse(made) as { key: string }).key;
  }

  connection(): Connection {
    return JSON.parse(readFileSync(path.join(this.folder, 'data', 'postgres.json'), 'utf8')) as Connection;
  }

  #databaseUrl(): string {
    const { host, port, user, password } = this.connection();
    return `postgres://${user}:${password}@localhost:${port}/docket?host=${encodeURIComponent(host)}`;
  }

  service(turn: number): Service {
    const service = this.#services[turn];
    if (service === undefined) throw new Error(`there is no process ${turn}`);
    return service;
  }

  /** Addresses of the processes, including killed ones: they restart at the same address. */
  urls(): string[] {
    return this.#environments.map((env) => `http://127.0.0.1:${env['DOCKET_PORT']}`);
  }

  async begin(turn: number): Promise<void> {
    const env = this.#environments[turn] as Environment;
    this.#services[turn] = await startService(env, ['--role', this.#options.role ?? 'api']);
  }

  async killService(turn: number): Promise<void> {
    await this.service(turn).kill();
    this.#gone.push(this.service(turn).output());
    await this.begin(turn);
  }

  /** The main process of the database server; 0 until one is reported. */
  serverPid(): number {
    try {
      return Number(readFileSync(path.join(this.folder, 'data', 'postgres', 'postmaster.pid'), 'utf8').split('\n')[0]);
    } catch {
      return 0;
    }
  }

  /** Kills the database server and all its processes, and waits until the service has started it again. */
  async killDatabase(): Promise<number> {
    const pid = this.serverPid();
    for (const one of this.serverPids()) killQuietly(one);
    const began = performance.now();
    while (this.serverPid() === pid || this.serverPid() === 0) {
      if (performance.now() - began > BACK_MS) throw new Error(`the database was not started again:\n${this.said()}`);
      await sleep(20);
    }
    for (let turn = 0; turn < this.processes; turn++) await this.untilAnswered(turn);
    return Math.round(performance.now() - began);
  }

  /** The processes of the database server, the first first. */
  serverPids(): number[] {
    const pid = this.serverPid();
    const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ').map(Number);
    return [pid, ...children].filter((one) => one > 0);
  }

  /** Kills one connection's process of the database; PostgreSQL then ends all others itself and recovers. */
  async killBackend(random: () => number): Promise<number> {
    const began = performance.now();
    const rows = await this.rows<{ pid: number }>(
      `SELECT pid FROM pg_stat_activity WHERE application_name LIKE 'docket _' AND pid <> pg_backend_pid() ORDER BY state = 'active' DESC`,
    ).catch(() => []);
    const chosen = rows[Math.floor(random() * random() * rows.length)];
    if (chosen === undefined) return 0;
    killQuietly(chosen.pid);
    await sleep(30);
    for (let turn = 0; turn < this.processes; turn++) await this.untilAnswered(turn);
    return Math.round(performance.now() - began);
  }

  /** True if all processes still run; otherwise their output. */
  said(): string {
    return this.#services.map((service) => service.output().slice(-1500)).join('\n--\n');
  }

  /** Lines of the log about defects (answers of 500), also of processes that were killed since. */
  defects(): string[] {
    const said = [...this.#gone, ...this.#services.map((service) => service.output())];
    return said.flatMap((output) => output.split('\n')).filter((line) => line.includes('"level":50'));
  }

  alive(): boolean {
    return this.#services.every((service) => service.alive());
  }

  async untilAnswered(turn: number): Promise<number> {
    const began = performance.now();
    for (;;) {
      const url = this.urls()[turn] as string;
      const answer = await attempt(url, this.key, 'GET', '/api/v1/objects?pageSize=1');
      const ms = performance.now() - began;
      if (answer?.status === 200) return ms;
      if (ms > BACK_MS) throw new Error(`no answer ${Math.round(ms)} ms after the fault:\n${this.said()}`);
      await sleep(20);
    }
  }

  /** Rows of a statement, past the service. */
  async rows<Row>(statement: string, values: readonly unknown[] = []): Promise<Row[]> {
    const { host, port, user, password } = this.connection();
    const client = new pg.Client({ host, port, user, password, database: 'docket', connectionTimeoutMillis: 20_000 });
    client.on('error', () => {});
    await client.connect();
    try {
      return (await client.query(statement, [...values])).rows as Row[];
    } finally {
      await client.end().catch(() => {});
    }
  }

  async #findIds(): Promise<FaultIds> {
    const rows = await this.rows<{ code: string; id: string }>(
      `SELECT section || '/' || code AS code, id::text FROM config_items UNION ALL SELECT scope || '/' || code, id::text FROM config_ids
      UNION ALL SELECT 'user/' || login, id::text FROM users`,
    );
    const id = (ending: string): string => {
      const found = rows.find(({ code }) => code.endsWith(`/${ending}`));
      if (found === undefined)
        throw new Error(`nothing is called ${ending}: ${rows.map(({ code }) => code).join(' ')}`);
      return found.id;
    };
    return {
      alice: id('alice'),
      item: id('any-thing'),
      make: id('make'),
      alter: id('alter'),
      rows: id('rows'),
      titles: id('titles'),
      about: id('about'),
      take: id('take'),
      drop: id('drop'),
    };
  }

  async close(): Promise<void> {
    for (const service of this.#services.toReversed()) if (service.alive()) await service.stop();
    if (this.#own) await rm(this.folder, { recursive: true, force: true });
  }
}

function killQuietly(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It was gone already.
  }
}
