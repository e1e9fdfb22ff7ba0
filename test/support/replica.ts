/** A primary and a streaming replica of it, in memory, for tests of reads from a replica. */
import { cp, mkdtemp, realpath, rm, writeFile, chmod } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import pg from 'pg';
import {
  ADMIN_DATABASE,
  connectionUrl,
  createCluster,
  newPassword,
  socketAddress,
  startCluster,
  stopCluster,
  writeSettings,
} from '../../src/platform/database/embedded-cluster.ts';
import { findLauncher } from '../../src/platform/database/embedded-launcher.ts';
import { migrate } from '../../src/platform/database/migrate.ts';

export interface ReplicatedPair {
  url: string;
  readUrl: string;
  /** Runs one statement as the owner, on the primary or on the replica. */
  ask(where: 'primary' | 'replica', text: string): Promise<Record<string, unknown>[]>;
  /** Ends the replica; the primary goes on. */
  stopReplica(): Promise<void>;
  startReplica(): Promise<void>;
  stop(): Promise<void>;
}

const SETTINGS = {
  fsync: 'off',
  full_page_writes: 'off',
  wal_level: 'replica',
  max_wal_senders: '10',
  hot_standby: 'on',
  autovacuum: 'off',
  shared_buffers: '64MB',
  max_connections: '100',
  jit: 'off',
  timezone: 'UTC',
  wal_receiver_status_interval: '1s',
  max_standby_streaming_delay: '30s',
};

/** The primary has a migrated database `docket`; the replica follows it. */
export async function startReplicatedPair(): Promise<ReplicatedPair> {
  const folder = await realpath(await mkdtemp(path.join(tmpdir(), 'docket-pair-')));
  await chmod(folder, 0o711);
  const credentials = { user: 'docket', password: newPassword() };
  const log = (): void => {};
  const first = await findLauncher(folder, 'one', log);
  await createCluster(first, credentials, SETTINGS, { durable: false });
  const addressOf = (cluster: string): NonNullable<ReturnType<typeof socketAddress>> => {
    const address = socketAddress(cluster);
    if (address === null) throw new Error(`the path of ${cluster} is too long for a socket`);
    return address;
  };
  const one = addressOf(first.cluster);
  // A copy made before the first start is as good as a base backup: the replica reads the log from its beginning.
  const start = (launcher: typeof first, name: string): Promise<number> =>
    startCluster(launcher, {
      address: addressOf(launcher.cluster),
      credentials,
      logFile: path.join(folder, `${name}.log`),
      log,
    });
  const second = await findLauncher(folder, 'two', log);
  await cp(first.cluster, second.cluster, { recursive: true, preserveTimestamps: true });
  await chmod(second.cluster, 0o700);
  await writeSettings(second.cluster, {
    ...SETTINGS,
    primary_conninfo: `host=${one.host} port=${one.port} user=${credentials.user} password=${credentials.password}`,
  });
  await writeFile(path.join(second.cluster, 'standby.signal'), '');
  await second.own(second.cluster);
  const primaryPid = await start(first, 'one');
  const admin = connectionUrl(one, credentials, ADMIN_DATABASE);
  const url = connectionUrl(one, credentials, 'docket');
  const readUrl = connectionUrl(addressOf(second.cluster), credentials, 'docket');
  const asking = async <T>(at: string, fn: (client: pg.Client) => Promise<T>): Promise<T> => {
    const client = new pg.Client({ connectionString: at });
    client.on('error', () => {});
    await client.connect();
    try {
      return await fn(client);
    } finally {
      await client.end();
    }
  };
  await asking(admin, (client) => client.query("CREATE DATABASE docket TEMPLATE template0 ENCODING 'UTF8'"));
  await asking(url, (client) => migrate(client));
  let replicaPid: number | undefined = await start(second, 'two');
  const self: ReplicatedPair = {
    url,
    readUrl,
    ask: (where, text) =>
      asking(where === 'primary' ? url : readUrl, async (client) => (await client.query(text)).rows as never[]),
    stopReplica: async () => {
      if (replicaPid !== undefined) await stopCluster(replicaPid, 'abandon');
      replicaPid = undefined;
    },
    startReplica: async () => {
      replicaPid ??= await start(second, 'two');
    },
    stop: async () => {
      await self.stopReplica();
      await stopCluster(primaryPid, 'abandon');
      await rm(folder, { recursive: true, force: true });
    },
  };
  return self;
}
