/** Processes of the cluster on one machine and their configuration. Uses Debian packages. */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { closeSync, openSync, readdirSync, readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

export const NODES = ['one', 'two', 'three'] as const;
export type Node = (typeof NODES)[number];

export interface Ports {
  etcd: number;
  etcdPeer: number;
  s3: number;
  /** The primary and the service, behind HAProxy. */
  primary: number;
  http: number;
  postgres: Record<Node, number>;
  patroni: Record<Node, number>;
  service: [number, number];
}

export async function freePorts(count: number): Promise<number[]> {
  const servers = await Promise.all(
    Array.from({ length: count }, async () => {
      const server = createServer();
      await new Promise<void>((resolve) => {
        server.listen(0, '127.0.0.1', resolve);
      });
      return server;
    }),
  );
  const ports = servers.map((server) => (server.address() as { port: number }).port);
  await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))));
  return ports;
}

/** One Patroni node. `synchronous_mode`: acknowledged data is on two nodes, and only such a node is promoted. */
export function patroniFile(node: Node, folder: string, ports: Ports, password: string, binaries: string): string {
  return `scope: docket
name: ${node}
restapi: { listen: "127.0.0.1:${ports.patroni[node]}", connect_address: "127.0.0.1:${ports.patroni[node]}" }
etcd3: { host: "127.0.0.1:${ports.etcd}" }
bootstrap:
  dcs:
    ttl: 12
    loop_wait: 2
    retry_timeout: 4
    maximum_lag_on_failover: 33554432
    master_start_timeout: 0
    synchronous_mode: true
    postgresql:
      use_pg_rewind: true
      parameters:
        max_connections: 100
        synchronous_commit: "on"
        wal_level: replica
        hot_standby: "on"
        max_wal_senders: 10
        wal_keep_size: 256MB
        shared_buffers: 64MB
        jit: "off"
        timezone: UTC
  initdb: [ { encoding: UTF8 }, { locale: C.UTF-8 }, data-checksums ]
  pg_hba: [ "host all all 127.0.0.1/32 md5", "host replication replicator 127.0.0.1/32 md5", "local all all trust" ]
postgresql:
  listen: "127.0.0.1:${ports.postgres[node]}"
  connect_address: "127.0.0.1:${ports.postgres[node]}"
  data_dir: ${path.join(folder, node, 'data')}
  bin_dir: ${binaries}
  pgpass: ${path.join(folder, node, 'pgpass')}
  authentication:
    superuser: { username: postgres, password: "${password}" }
    replication: { username: replicator, password: "${password}" }
    rewind: { username: postgres, password: "${password}" }
  parameters: { unix_socket_directories: "${path.join(folder, node)}" }
`;
}

/** Routes writers to the current primary, and users to any ready process of the service. */
export function haproxyFile(ports: Ports): string {
  const nodes = NODES.map(
    (node) => `  server ${node} 127.0.0.1:${ports.postgres[node]} maxconn 100 check port ${ports.patroni[node]}`,
  );
  const services = ports.service.map((port, index) => `  server docket${index + 1} 127.0.0.1:${port} check`);
  return `global
  maxconn 2000
defaults
  timeout connect 3s
  timeout client 10m
  timeout server 10m
listen primary
  mode tcp
  bind 127.0.0.1:${ports.primary}
  option httpchk GET /primary
  http-check expect status 200
  default-server inter 1s fall 2 rise 1 on-marked-down shutdown-sessions
${nodes.join('\n')}
listen docket
  mode http
  bind 127.0.0.1:${ports.http}
  option httpchk GET /readyz
  default-server inter 1s fall 2 rise 1
${services.join('\n')}
`;
}

/** The user that the databases run as: PostgreSQL refuses to run as root. */
export function databaseUser(): { uid: number; gid: number } | undefined {
  if (process.getuid?.() !== 0) return undefined;
  const id = (flag: string): number => Number(execFileSync('id', [flag, 'postgres'], { encoding: 'utf8' }));
  return { uid: id('-u'), gid: id('-g') };
}

/** The newest of Debian's PostgreSQL. */
export function debianBinaries(): string {
  const root = '/usr/lib/postgresql';
  const newest = readdirSync(root)
    .map(Number)
    .sort((a, b) => b - a)[0];
  return path.join(root, String(newest), 'bin');
}

/** Starts a program in a group of its own, its words in `log`. */
export function launch(
  log: string,
  file: string,
  args: readonly string[],
  options: { env?: Record<string, string>; user?: { uid: number; gid: number } | undefined } = {},
): ChildProcess {
  const output = openSync(log, 'a');
  const child = spawn(file, args, {
    cwd: '/',
    detached: true,
    stdio: ['ignore', output, output],
    env: { PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin', LC_ALL: 'C.UTF-8', ...options.env },
    ...options.user,
  });
  closeSync(output);
  return child;
}

export function kill(pid: number | undefined, signal: NodeJS.Signals): void {
  if (pid === undefined) return;
  try {
    process.kill(pid, signal);
  } catch {
    // It is gone already.
  }
}

/** The PostgreSQL server of a data folder and all its processes; nothing where none runs. */
export function serverProcesses(data: string): number[] {
  let postmaster: number;
  try {
    postmaster = Number(readFileSync(path.join(data, 'postmaster.pid'), 'utf8').split('\n')[0]);
  } catch {
    return [];
  }
  const children = readdirSync('/proc').flatMap((name) => {
    if (!/^\d+$/.test(name)) return [];
    try {
      const stat = readFileSync(`/proc/${name}/stat`, 'utf8');
      return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]) === postmaster ? [Number(name)] : [];
    } catch {
      return [];
    }
  });
  return [postmaster, ...children];
}

/** Polls until the function returns a value. @throws Error that names what did not happen */
export async function until<T>(what: string, ms: number, look: () => Promise<T | undefined>): Promise<T> {
  const began = performance.now();
  for (;;) {
    const found = await look().catch(() => undefined);
    if (found !== undefined) return found;
    if (performance.now() - began > ms) throw new Error(`${what}: not within ${ms / 1000} s`);
    await sleep(250);
  }
}
