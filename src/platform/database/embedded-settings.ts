/** Settings of the embedded server: fixed ones, and those that depend on the machine and the size of the database. */
import { readdir, stat } from 'node:fs/promises';
import { totalmem } from 'node:os';
import path from 'node:path';

const MIB = 1024 * 1024;
const STEP = 64;
const LEAST = 256;
const MAX = 1024;

const FIXED: Readonly<Record<string, string>> = {
  max_connections: '100',
  work_mem: '16MB',
  maintenance_work_mem: '128MB',
  fsync: 'on',
  synchronous_commit: 'on',
  full_page_writes: 'on',
  // The embedded server can only compress by pglz, which takes longer than the change that a page is written for.
  wal_compression: 'off',
  wal_level: 'replica',
  max_wal_size: '2GB',
  checkpoint_timeout: '15min',
  random_page_cost: '1.1',
  jit: 'off',
  autovacuum: 'on',
  timezone: 'UTC',
  log_timezone: 'UTC',
  datestyle: 'ISO, YMD',
  client_encoding: 'UTF8',
  default_text_search_config: 'pg_catalog.simple',
  // Messages and statements would write values of records to the log.
  log_min_messages: 'log',
  log_min_error_statement: 'panic',
  log_error_verbosity: 'terse',
  log_checkpoints: 'off',
  log_autovacuum_min_duration: '-1',
};

/**
 * Size of the buffer cache in MiB: the size of the database, at most a sixteenth of the memory, between 256 MiB and 1 GiB. With
 * a million records, searches read more than the minimum, and copying a page from the system's cache costs as much as
 * processing it. Pages are only allocated when used, but the page table is allocated at once, 25 MB for 1 GiB, which is too
 * much for a database of some thousand records.
 *
 * @param memory bytes available to this process
 * @param data size of the database in bytes, 0 if it does not exist yet
 */
export function sharedBuffers(memory: number, data: number): number {
  const steps = (bytes: number): number => STEP * Math.ceil(bytes / MIB / STEP);
  return Math.max(LEAST, Math.min(MAX, STEP * Math.floor(memory / MIB / 16 / STEP), steps(data)));
}

/** The settings for starting or creating the server of that cluster. */
export async function settingsOf(cluster: string): Promise<Readonly<Record<string, string>>> {
  const constrained = process.constrainedMemory();
  const memory = constrained > 0 ? Math.min(constrained, totalmem()) : totalmem();
  return {
    ...FIXED,
    shared_buffers: `${sharedBuffers(memory, await bytesBelow(path.join(cluster, 'base')))}MB`,
    // The system caches the files as well, so this depends on the available memory rather than the current size of the data.
    effective_cache_size: `${4 * sharedBuffers(memory, Number.POSITIVE_INFINITY)}MB`,
  };
}

async function bytesBelow(folder: string): Promise<number> {
  const names = await readdir(folder, { recursive: true }).catch(() => []);
  const sizes = await Promise.all(
    names.map(async (name) => {
      // The file may have been deleted meanwhile.
      const found = await stat(path.join(folder, name)).catch(() => undefined);
      return found?.isFile() === true ? found.size : 0;
    }),
  );
  return sizes.reduce((sum, size) => sum + size, 0);
}
