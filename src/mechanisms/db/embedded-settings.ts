/** How the embedded server is set: what always holds, and what goes by the machine and by what there is to keep. */
import { readdir, stat } from 'node:fs/promises';
import { totalmem } from 'node:os';
import path from 'node:path';

const MIB = 1024 * 1024;
const STEP = 64;
const LEAST = 256;
const MOST = 1024;

const FIXED: Readonly<Record<string, string>> = {
  max_connections: '100',
  work_mem: '16MB',
  maintenance_work_mem: '128MB',
  fsync: 'on',
  synchronous_commit: 'on',
  full_page_writes: 'on',
  wal_compression: 'on',
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
  // Texts of errors and statements would carry records' values into the log.
  log_min_messages: 'log',
  log_min_error_statement: 'panic',
  log_error_verbosity: 'terse',
  log_checkpoints: 'off',
  log_autovacuum_min_duration: '-1',
};

/**
 * MiB of pages that the server keeps: as many as there are data, up to a sixteenth of the memory, between 256 MiB and 1 GiB. Of a
 * million records, searches read more than the least, and to bring a page from the system's memory into the server's costs as
 * much as to look at it. Only what is read is taken, but the list of pages itself is there at once, 25 MB for 1 GiB: too much
 * for a database of some thousand records.
 *
 * @param memory bytes that this process may have
 * @param data bytes of the database, 0 for one that is not made yet
 */
export function sharedBuffers(memory: number, data: number): number {
  const steps = (bytes: number): number => STEP * Math.ceil(bytes / MIB / STEP);
  return Math.max(LEAST, Math.min(MOST, STEP * Math.floor(memory / MIB / 16 / STEP), steps(data)));
}

/** The settings for a server that is about to start on that cluster, or that is to be made there. */
export async function settingsOf(cluster: string): Promise<Readonly<Record<string, string>>> {
  const constrained = process.constrainedMemory();
  const memory = constrained > 0 ? Math.min(constrained, totalmem()) : totalmem();
  return {
    ...FIXED,
    shared_buffers: `${sharedBuffers(memory, await bytesBelow(path.join(cluster, 'base')))}MB`,
    // What the system keeps of the files beside it is as good as there: the memory decides, not what is in it today.
    effective_cache_size: `${4 * sharedBuffers(memory, Number.POSITIVE_INFINITY)}MB`,
  };
}

async function bytesBelow(folder: string): Promise<number> {
  const names = await readdir(folder, { recursive: true }).catch(() => []);
  const sizes = await Promise.all(
    names.map(async (name) => {
      // A file may be gone again: what it was then is of no use.
      const found = await stat(path.join(folder, name)).catch(() => undefined);
      return found?.isFile() === true ? found.size : 0;
    }),
  );
  return sizes.reduce((sum, size) => sum + size, 0);
}
