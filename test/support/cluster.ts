/**
 * A PostgreSQL cluster for one test run: in memory if there is space, without durability. It is removed with the process that
 * started it, however that ends.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { chmod, mkdtemp, realpath, rm, statfs } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import {
  ADMIN_DATABASE,
  connectionUrl,
  createCluster,
  newPassword,
  socketAddress,
  startCluster,
  stopCluster,
} from '../../src/platform/database/embedded-cluster.ts';
import { findLauncher } from '../../src/platform/database/embedded-launcher.ts';

export interface TestCluster {
  /** Connects to the administrative database; its user may create databases. */
  url: string;
  stop(): Promise<void>;
}

const MEMORY = '/dev/shm';
const ROOM_BYTES = 2 * 1024 ** 3;

const SETTINGS = {
  fsync: 'off',
  synchronous_commit: 'off',
  full_page_writes: 'off',
  autovacuum: 'off',
  wal_level: 'minimal',
  max_wal_senders: '0',
  max_wal_size: '4GB',
  checkpoint_timeout: '1h',
  shared_buffers: '128MB',
  max_connections: '200',
  jit: 'off',
  timezone: 'UTC',
  log_timezone: 'UTC',
  file_copy_method: 'clone',
};

// Waits for the pipe from this process to close, which also happens when it is killed.
const CLEANER = 'read -r line; kill -QUIT "$1" 2>/dev/null; sleep 0.3; rm -rf "$2"';

async function roomyFolder(): Promise<string> {
  if (!existsSync(MEMORY)) return tmpdir();
  const { bavail, bsize } = await statfs(MEMORY);
  return bavail * bsize >= ROOM_BYTES ? MEMORY : tmpdir();
}

export async function startTestCluster(): Promise<TestCluster> {
  const folder = await realpath(await mkdtemp(path.join(await roomyFolder(), 'docket-test-')));
  await chmod(folder, 0o711);
  const launcher = await findLauncher(folder, 'pg', () => {});
  const credentials = { user: 'docket', password: newPassword() };
  await createCluster(launcher, credentials, SETTINGS, { durable: false });
  const address = socketAddress(launcher.cluster);
  if (address === null) throw new Error(`the path of ${folder} is too long for a socket`);
  const pid = await startCluster(launcher, {
    address,
    credentials,
    logFile: path.join(folder, 'postgres.log'),
    log: () => {},
  });
  const cleaner = guard(pid, folder);
  return {
    url: connectionUrl(address, credentials, ADMIN_DATABASE),
    stop: async () => {
      await stopCluster(pid, 'abandon');
      await rm(folder, { recursive: true, force: true });
      cleaner.stdin?.end();
    },
  };
}

function guard(pid: number, folder: string): ChildProcess {
  const cleaner = spawn('/bin/sh', ['-c', CLEANER, 'sh', String(pid), folder], {
    stdio: ['pipe', 'ignore', 'ignore'],
    detached: true,
  });
  cleaner.unref();
  // A pipe keeps the process alive unless it is unreferenced; its declared type does not show that it is a socket.
  (cleaner.stdin as unknown as { unref(): void }).unref();
  return cleaner;
}
