/**
 * Takes a backup of a service that runs: every table in one snapshot, and the content of every file that the snapshot names.
 * Nobody is held up: the snapshot takes no locks that writers mind, and the sweeper of files alone waits.
 */
import type { Readable } from 'node:stream';
import { to as copyTo } from 'pg-copy-streams';
import sql, { join } from 'sql-template-tag';
import type { BlobUse } from '../blobs/register.ts';
import { BlobDamaged, BlobMissing, type BlobStore } from '../blobs/store.ts';
import { holdSweeping } from '../blobs/sweep.ts';
import type { Database } from '../db/pool.ts';
import { journalForBackup } from '../seals.ts';
import { type ArchiveWriter, PART_BYTES, partNumber } from './archive.ts';
import { type BackupHead, FORMAT, layoutOf, quoted, sequencesOf, type TableLayout } from './layout.ts';

export interface DumpOptions {
  db: Database;
  blobs: BlobStore;
  uses: readonly BlobUse[];
  archive: ArchiveWriter;
  /** When the backup was made, RFC 3339. */
  at: string;
  /** Whether to go on when content that rows name is missing or damaged; else that is an error. */
  allowMissing: boolean;
  /** Called after each part, with what is done so far. */
  onPart: (done: DumpReport) => void;
}

export interface DumpReport {
  tables: number;
  rows: number;
  files: number;
  /** Bytes of rows and of files, before they are squeezed. */
  bytes: number;
  /** Content that rows name and the store does not have: a defect of the store, not of the backup. */
  missing: string[];
  /** Content whose stored bytes are not those that its hash names. */
  damaged: string[];
}

type Client = Awaited<ReturnType<Database['connect']>>;

const PAGE = 500;
const MOST_NAMED = 100;
/** More than any file may have: what is longer was damaged, and must not fill the memory. */
const MOST_CONTENT = 64 * 1024 * 1024;

/** Writes everything into the archive, its end included. */
export async function dumpService(options: DumpOptions): Promise<DumpReport> {
  const { db, archive } = options;
  // First, and on a connection of its own: a snapshot taken before the sweeper stands still could name what it takes away.
  const release = await holdSweeping(db);
  const client = await db.connect();
  let broken: Error | undefined;
  try {
    await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ, READ ONLY');
    await client.query('SET LOCAL statement_timeout = 0');
    await client.query('SET LOCAL idle_in_transaction_session_timeout = 0');
    await client.query("SET LOCAL extra_float_digits = 1; SET LOCAL intervalstyle = 'iso_8601'");
    const head = await headOf(client, options.at);
    await archive.addHead(head);
    const report: DumpReport = { tables: 0, rows: 0, files: 0, bytes: 0, missing: [], damaged: [] };
    const rows: Record<string, number> = {};
    for (const table of head.tables) {
      rows[table.name] = await dumpTable(client, table, options, report);
      report.tables++;
    }
    const before = report.bytes;
    await dumpFiles(client, options, report);
    await client.query('COMMIT');
    await archive.finish({ rows, files: report.files, fileBytes: report.bytes - before });
    return report;
  } catch (error) {
    broken = error as Error;
    throw error;
  } finally {
    // A connection in the middle of a COPY, or with settings of ours, does not go back among the others.
    client.release(broken);
    await release();
  }
}

async function headOf(client: Client, at: string): Promise<BackupHead> {
  const { rows } = await client.query<{ server: number }>(
    `SELECT current_setting('server_version_num')::int AS server`,
  );
  const migrations = await client.query<{ name: string; checksum: string }>(
    'SELECT name, checksum FROM schema_migrations ORDER BY name COLLATE "C"',
  );
  return {
    format: FORMAT,
    madeAt: at,
    server: rows[0]?.server ?? 0,
    migrations: migrations.rows,
    tables: await layoutOf(client),
    sequences: await sequencesOf(client),
  };
}

function used(uses: readonly BlobUse[]): string {
  const condition = join(
    uses.map((use) => use(sql`b.sha256`)),
    ' OR ',
  );
  if (condition.values.length > 0) throw new Error('a use of content must be told by columns alone');
  return `(${condition.text})`;
}

/** What of a table is kept, as a query: all of it, but for what would mean something else in another database. */
function sourceOf(table: TableLayout, uses: readonly BlobUse[]): string {
  const columns = table.columns.map(quoted).join(', ');
  if (table.name === 'journal' || table.name === 'journal_sealing') return journalForBackup(table.name, table.columns);
  // Content that nobody uses is not kept, so that nothing may say that it is there.
  const where = table.name === 'blobs' ? `b WHERE ${used(uses)}` : '';
  return `SELECT ${columns} FROM ${quoted(table.name)} ${where}`;
}

async function dumpTable(
  client: Client,
  table: TableLayout,
  options: DumpOptions,
  report: DumpReport,
): Promise<number> {
  const copy = client.query(copyTo(`COPY (${sourceOf(table, options.uses)}) TO STDOUT`));
  await parts(copy, async (bytes, number) => {
    await options.archive.add(`tables/${table.name}/${partNumber(number)}`, bytes);
    report.bytes += bytes.length;
    options.onPart(report);
  });
  report.rows += copy.rowCount;
  return copy.rowCount;
}

async function dumpFiles(client: Client, options: DumpOptions, report: DumpReport): Promise<void> {
  const { archive, blobs, uses } = options;
  const query = `SELECT b.sha256 FROM blobs b WHERE b.sha256 > $1 AND ${used(uses)} ORDER BY b.sha256 LIMIT ${PAGE}`;
  let after = '';
  for (;;) {
    const { rows } = await client.query<{ sha256: string }>(query, [after]);
    for (const { sha256 } of rows) {
      const content = await contentOf(blobs, sha256).catch((error: unknown) => {
        const flaw = error instanceof BlobMissing ? report.missing : error instanceof BlobDamaged && report.damaged;
        if (!flaw || !options.allowMissing) throw error;
        if (flaw.length < MOST_NAMED) flaw.push(sha256);
        return undefined;
      });
      if (content === undefined) continue;
      for (const [index, bytes] of content.entries()) {
        await archive.add(`files/${sha256}/${partNumber(index + 1)}`, bytes);
        report.bytes += bytes.length;
        options.onPart(report);
      }
      report.files++;
    }
    after = rows.at(-1)?.sha256 ?? after;
    if (rows.length < PAGE) return;
  }
}

/**
 * The whole content in parts: nothing of it is written before it was compared with its hash.
 *
 * @throws BlobMissing, BlobDamaged
 */
async function contentOf(blobs: BlobStore, sha256: string): Promise<Buffer[]> {
  const held: Buffer[] = [];
  await parts(await blobs.read(sha256), async (bytes) => {
    if (held.length * PART_BYTES > MOST_CONTENT) throw new BlobDamaged(sha256);
    held.push(bytes);
  });
  return held;
}

/** Cuts a stream into parts and hands them on one after the other; while one is taken, nothing more is read. */
async function parts(source: Readable, take: (bytes: Buffer, number: number) => Promise<void>): Promise<void> {
  let held: Buffer[] = [];
  let size = 0;
  let number = 0;
  const hand = async (): Promise<void> => {
    const bytes = Buffer.concat(held);
    held = [];
    size = 0;
    number++;
    await take(bytes, number);
  };
  for await (const chunk of source as AsyncIterable<Buffer>) {
    for (let at = 0; at < chunk.length; ) {
      const piece = chunk.subarray(at, at + PART_BYTES - size);
      // A copy: the stream may use its memory again.
      held.push(Buffer.from(piece));
      size += piece.length;
      at += piece.length;
      if (size === PART_BYTES) await hand();
    }
  }
  if (size > 0) await hand();
}
