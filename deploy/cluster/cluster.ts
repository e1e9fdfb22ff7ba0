/**
 * Docket with high availability on one machine: etcd, three PostgreSQL nodes under Patroni, HAProxy, an S3 store and two
 * processes of the service. It demonstrates how the parts work together and lets tests kill them. In production each node is a
 * machine, etcd has three nodes, and the store is any S3 service. docs/how-to/scale.md
 */
import { type ChildProcess, execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { chmod, chown, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import {
  databaseUser,
  debianBinaries,
  freePorts,
  haproxyFile,
  kill,
  launch,
  type Node,
  NODES,
  patroniFile,
  type Ports,
  serverProcesses,
  until,
} from './parts.ts';

const DOCKET = fileURLToPath(new URL('../../bin/docket.mjs', import.meta.url));
const BUCKET = 'docket';
const START_MS = 180_000;

const require = createRequire(import.meta.url);
const S3rver = require('@20minutes/s3rver') as new (
  options: Record<string, unknown>,
) => { run(): Promise<unknown>; close(): Promise<void> };

interface Member {
  role: string;
  state: string;
  sync: boolean;
  streaming: number;
}

export class Cluster {
  readonly folder: string;
  readonly ports: Ports;
  readonly services: ChildProcess[] = [];
  readonly #password = randomBytes(12).toString('hex');
  readonly #user = databaseUser();
  readonly #patroni = new Map<Node, ChildProcess>();
  readonly #others: ChildProcess[] = [];
  #s3: { close(): Promise<void> } | undefined;

  private constructor(folder: string, ports: Ports) {
    this.folder = folder;
    this.ports = ports;
  }

  static async up(say: (line: string) => void): Promise<Cluster> {
    const folder = await mkdtemp(path.join(tmpdir(), 'docket-cluster-'));
    await chmod(folder, 0o755);
    const ports = await freePorts(13);
    const [etcd = 0, etcdPeer = 0, s3 = 0, primary = 0, http = 0, ...more] = ports;
    const three = (from: number): Record<Node, number> => ({
      one: more[from] ?? 0,
      two: more[from + 1] ?? 0,
      three: more[from + 2] ?? 0,
    });
    const cluster = new Cluster(folder, {
      etcd,
      etcdPeer,
      s3,
      primary,
      http,
      postgres: three(0),
      patroni: three(3),
      service: [more[6] ?? 0, more[7] ?? 0],
    });
    try {
      await cluster.#start(say);
      return cluster;
    } catch (error) {
      await cluster.down();
      throw error;
    }
  }

  /** How the service reaches the primary, whichever node that is. */
  get databaseUrl(): string {
    return `postgres://docket:${this.#password}@127.0.0.1:${this.ports.primary}/docket`;
  }

  /** Addresses of the two service processes. HAProxy serves both at `ports.http`. */
  get addresses(): string[] {
    return this.ports.service.map((port) => `http://127.0.0.1:${port}`);
  }

  async #start(say: (line: string) => void): Promise<void> {
    const { folder, ports } = this;
    const etcd = `http://127.0.0.1:${ports.etcd}`;
    const peer = `http://127.0.0.1:${ports.etcdPeer}`;
    this.#others.push(
      launch(path.join(folder, 'etcd.log'), 'etcd', [
        '--name=etcd',
        `--data-dir=${path.join(folder, 'etcd')}`,
        `--listen-client-urls=${etcd}`,
        `--advertise-client-urls=${etcd}`,
        `--listen-peer-urls=${peer}`,
        `--initial-advertise-peer-urls=${peer}`,
        `--initial-cluster=etcd=${peer}`,
      ]),
    );
    await until('etcd', START_MS, async () => ((await fetch(`${etcd}/health`)).ok ? true : undefined));
    say('etcd answers');
    for (const node of NODES) {
      const home = path.join(folder, node);
      await mkdir(home);
      const file = path.join(home, 'patroni.yml');
      await writeFile(file, patroniFile(node, folder, ports, this.#password, debianBinaries()), { mode: 0o600 });
      if (this.#user !== undefined)
        for (const place of [home, file]) await chown(place, this.#user.uid, this.#user.gid);
      this.startNode(node);
    }
    const proxy = path.join(folder, 'haproxy.cfg');
    await writeFile(proxy, haproxyFile(ports));
    this.#others.push(launch(path.join(folder, 'haproxy.log'), 'haproxy', ['-db', '-f', proxy]));
    await this.whole();
    say('three PostgreSQL nodes: a primary, and two that follow it');
    await this.#makeDatabase();
    const s3 = new S3rver({
      port: ports.s3,
      address: '127.0.0.1',
      silent: true,
      directory: path.join(folder, 's3'),
      configureBuckets: [{ name: BUCKET }],
    });
    await s3.run();
    this.#s3 = s3;
    this.docket(['migrate']);
    // Each reads from one named node: a shared address could return positions of one node and data of another.
    for (const [index, node] of (['two', 'three'] as const).entries()) this.#startService(index, node);
    for (const address of this.addresses) {
      await until('the service', START_MS, async () => ((await fetch(`${address}/readyz`)).ok ? true : undefined));
    }
    say(`two processes of the service, behind http://127.0.0.1:${ports.http}`);
  }

  startNode(node: Node): void {
    const home = path.join(this.folder, node);
    const args = [path.join(home, 'patroni.yml')];
    this.#patroni.set(
      node,
      launch(path.join(home, 'patroni.log'), 'patroni', args, { user: this.#user, env: { HOME: home } }),
    );
  }

  /** Kills the node like a power failure: Patroni and all PostgreSQL processes at once. */
  killNode(node: Node): void {
    kill(this.#patroni.get(node)?.pid, 'SIGKILL');
    for (const pid of serverProcesses(path.join(this.folder, node, 'data'))) kill(pid, 'SIGKILL');
  }

  async #member(node: Node): Promise<Member | undefined> {
    const url = `http://127.0.0.1:${this.ports.patroni[node]}/patroni`;
    const response = await fetch(url, { signal: AbortSignal.timeout(3000) }).catch(() => undefined);
    if (response === undefined) return undefined;
    const said = (await response.json()) as {
      role?: string;
      state?: string;
      sync_standby?: boolean;
      replication?: { state: string }[];
    };
    return {
      role: said.role ?? '',
      state: said.state ?? '',
      sync: said.sync_standby === true,
      streaming: (said.replication ?? []).filter(({ state }) => state === 'streaming').length,
    };
  }

  async primary(): Promise<Node | undefined> {
    for (const node of NODES) {
      const member = await this.#member(node);
      if (member !== undefined && ['master', 'primary'].includes(member.role) && member.state === 'running')
        return node;
    }
    return undefined;
  }

  /** Waits for a primary that two nodes follow, one of them for certain. */
  async whole(): Promise<Node> {
    return await until('a whole cluster', START_MS, async () => {
      const primary = await this.primary();
      if (primary === undefined) return undefined;
      const members = await Promise.all(NODES.map((node) => this.#member(node)));
      const streaming = (await this.#member(primary))?.streaming ?? 0;
      return streaming >= 2 && members.some((member) => member?.sync === true) ? primary : undefined;
    });
  }

  async #makeDatabase(): Promise<void> {
    const { default: pg } = await import('pg');
    const connectionString = `postgres://postgres:${this.#password}@127.0.0.1:${this.ports.primary}/postgres`;
    await until('HAProxy before the primary', START_MS, async () => {
      const client = new pg.Client({ connectionString });
      client.on('error', () => {});
      await client.connect();
      try {
        await client.query(`CREATE ROLE docket LOGIN PASSWORD '${this.#password}'`);
        await client.query('CREATE DATABASE docket OWNER docket');
        return true;
      } finally {
        await client.end();
      }
    });
  }

  #environment(): Record<string, string> {
    return {
      DATABASE_URL: this.databaseUrl,
      DOCKET_DATA_DIR: path.join(this.folder, 'docket'),
      DOCKET_SECRET_KEY: this.#password.repeat(2),
      DOCKET_BLOBS: `s3://${BUCKET}?endpoint=${encodeURIComponent(`http://127.0.0.1:${this.ports.s3}`)}`,
      AWS_ACCESS_KEY_ID: 'S3RVER',
      AWS_SECRET_ACCESS_KEY: 'S3RVER',
    };
  }

  #startService(index: number, reads: Node): void {
    const readUrl = `postgres://docket:${this.#password}@127.0.0.1:${this.ports.postgres[reads]}/docket`;
    this.services.push(
      launch(path.join(this.folder, `docket${index + 1}.log`), process.execPath, [DOCKET, 'serve'], {
        env: {
          ...this.#environment(),
          DATABASE_READ_URL: readUrl,
          DOCKET_PORT: String(this.ports.service[index]),
          DOCKET_RATE_LIMIT: 'off',
          DOCKET_MIGRATE: 'off',
        },
      }),
    );
  }

  /** Runs a command of the command line on this cluster. @returns its output */
  docket(args: readonly string[]): string {
    const env = { PATH: process.env['PATH'] ?? '', ...this.#environment() };
    return execFileSync(process.execPath, [DOCKET, ...args], { env, encoding: 'utf8' });
  }

  async down(): Promise<void> {
    for (const service of this.services) kill(service.pid, 'SIGTERM');
    await Promise.all(
      this.services.map(
        (service) =>
          service.exitCode ??
          new Promise((resolve) => {
            service.once('exit', resolve);
            setTimeout(() => kill(service.pid, 'SIGKILL'), 15_000).unref();
          }),
      ),
    );
    for (const node of NODES) this.killNode(node);
    for (const child of this.#others) kill(child.pid, 'SIGKILL');
    await this.#s3?.close();
    await rm(this.folder, { recursive: true, force: true, maxRetries: 5 });
  }
}
