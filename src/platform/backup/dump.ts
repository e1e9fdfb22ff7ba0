/**
 * Takes a backup of a running service: all tables in one snapshot, and the content of every file that the snapshot refers to.
 * It blocks nothing except the sweeper of files: the snapshot takes no locks that conflict with writers.
 */
import type { Readable } from 'node:stream';
import { to as copyTo } from 'pg-copy-streams';
import sql, { join } from 'sql-template-tag';
import { type BlobUse, holdSweeping } from '../blobs/register.ts';
import { BlobDamaged, BlobMissing, type BlobStore } from '../blobs/store.ts';
import type { Database, DatabaseClient } from '../database/pool.ts';
import { journalForBackup } from '../journal/positions.ts';
import { type ArchiveWriter, PART_BYTES, partNumber } from './archive.ts';
import { type BackupHead, FORMAT, layoutOf, quoted, sequencesOf, type TableLayout } from './layout.ts';

/** Table → the query that backs up its rows, with these columns. */
export type BackupSources = Readonly<Record<string, (columns: readonly string[]) => string>>;

export interface DumpOptions {
  db: Database;
  blobs: BlobStore;
  uses: readonly BlobUse[];
  /** For tables of modules whose values depend on the database. Other tables are copied. */
  sources: BackupSources;
  archive: ArchiveWriter;
  /** Time of the backup, RFC 3339. */
  at: string;
  /** Whether to continue if referenced content is missing or damaged. Otherwise that is an error. */
  allowMissing: boolean;
  /** Called after each part with the progress so far. */
  onPart: (done: DumpReport) => void;
}

export interface DumpReport {
  tables: number;
  rows: number;
  files: number;
  /** Uncompressed bytes of rows and files. */
  bytes: number;
  /** Referenced content that the store does not have: a defect of the store, not of the backup. */
  missing: string[];
  /** Content whose stored bytes do not match its hash. */
  damaged: string[];
}

const PAGE = 500;
const MAX_NAMED = 100;
/** Larger than any valid file. Longer content is damaged and must not fill the memory. */
const MAX_CONTENT = 64 * 1024 * 1024;

/** Writes everything into the archive, including its end. */
export async function dumpService(options: DumpOptions): Promise<DumpReport> {
  const { db, archive } = options;
  // Stop the sweeper first, on a separate connection: a snapshot taken earlier could refer to content that the sweeper then
  // removes.
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
    // After an error, the connection may be inside a COPY or have our settings, so it is not returned to the pool.
    client.release(broken);
    await release();
  }
}

async function headOf(client: DatabaseClient, at: string): Promise<BackupHead> {
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
  if (condition.values.length > 0) throw new Error('A BlobUse condition must not have parameters.');
  return `(${condition.text})`;
}

/** The query for the rows of a table to back up. Values that depend on the database are replaced. */
function sourceOf(table: TableLayout, { uses, sources }: Pick<DumpOptions, 'uses' | 'sources'>): string {
  const columns = table.columns.map(quoted).join(', ');
  if (table.name === 'journal' || table.name === 'journal_sealing') return journalForBackup(table.name, table.columns);
  const own = sources[table.name];
  if (own !== undefined) return own(table.columns);
  // Unused content is not backed up, so its rows must not be either.
  const where = table.name === 'blobs' ? `b WHERE ${used(uses)}` : '';
  return `SELECT ${columns} FROM ${quoted(table.name)} ${where}`;
}

async function dumpTable(
  client: DatabaseClient,
  table: TableLayout,
  options: DumpOptions,
  report: DumpReport,
): Promise<number> {
  const copy = client.query(copyTo(`COPY (${sourceOf(table, options)}) TO STDOUT`));
  await parts(copy, async (bytes, number) => {
    await options.archive.add(`tables/${table.name}/${partNumber(number)}`, bytes);
    report.bytes += bytes.length;
    options.onPart(report);
  });
  report.rows += copy.rowCount;
  return copy.rowCount;
}

async function dumpFiles(client: DatabaseClient, options: DumpOptions, report: DumpReport): Promise<void> {
  const { archive, blobs, uses } = options;
  const query = `SELECT b.sha256 FROM blobs b WHERE b.sha256 > $1 AND ${used(uses)} ORDER BY b.sha256 LIMIT ${PAGE}`;
  let after = '';
  for (;;) {
    const { rows } = await client.query<{ sha256: string }>(query, [after]);
    for (const { sha256 } of rows) {
      const content = await contentOf(blobs, sha256).catch((error: unknown) => {
        const list = error instanceof BlobMissing ? report.missing : error instanceof BlobDamaged && report.damaged;
        if (!list || !options.allowMissing) throw error;
        if (list.length < MAX_NAMED) list.push(sha256);
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
 * The whole content in parts. Nothing is written before the hash was verified.
 *
 * @throws BlobMissing, BlobDamaged
 */
async function contentOf(blobs: BlobStore, sha256: string): Promise<Buffer[]> {
  const held: Buffer[] = [];
  await parts(await blobs.read(sha256), async (bytes) => {
    if (held.length * PART_BYTES > MAX_CONTENT) throw new BlobDamaged(sha256);
    held.push(bytes);
  });
  return held;
}

/** Splits a stream into parts and passes them on one after another. Reading pauses while a part is processed. */
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
      // Copied because the stream may reuse its memory.
      held.push(Buffer.from(piece));
      size += piece.length;
      at += piece.length;
      if (size === PART_BYTES) await hand();
    }
  }
  if (size > 0) await hand();
}
