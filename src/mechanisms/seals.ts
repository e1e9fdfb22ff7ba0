/**
 * The chain of seals over the journal (architecture, section 3d). Writers never wait for it: rows carry their transaction and
 * their own hash, and a sealer in the background takes those whose transactions are over, in order of (transaction, row), and
 * chains them in portions. A transaction below the snapshot's horizon is over for good, so that nothing can come in behind.
 */
import { createHash } from 'node:crypto';
import sql from 'sql-template-tag';
import { instant } from './clock.ts';
import type { Database, Queryable, Transaction } from './db/pool.ts';

/** Rows of one seal at most. */
export const SEAL_ROWS = 1000;
const MARK_BYTES = 8;

export interface SealHead {
  number: number;
  /** Hex SHA-256; zeros before the first seal. */
  hash: string;
}

export interface Cursor extends SealHead {
  txid: string;
  seq: number;
}

export interface SealedRow {
  seq: number;
  /** Hex. */
  hash: string;
}

/** The hash of a seal: over the seal before it, its number and instant, and place and hash of each row in order. */
export function sealHash(previous: string, number: number, at: string, rows: readonly SealedRow[]): string {
  const hash = createHash('sha256').update(`docket seal\n${previous}\n${number}\n${at}\n${rows.length}\n`);
  for (const row of rows) hash.update(`${row.seq} ${row.hash}\n`);
  return hash.digest('hex');
}

export function markOf(hash: string): string {
  return hash.slice(0, MARK_BYTES * 2);
}

/** How far the chain is. */
export async function sealCursor(db: Queryable): Promise<Cursor> {
  const [row] = await db.query<Cursor>(
    sql`SELECT txid::text AS txid, seq, number, encode(hash, 'hex') AS hash FROM journal_sealing`,
  );
  if (row === undefined) throw new Error('the row that says how far the journal is sealed is missing');
  return row;
}

/**
 * Seals the next rows. Any number of processes may do this at once: one does, the others find nothing to do.
 *
 * @returns the seal that was made, and whether more rows wait; undefined when there was nothing to seal
 */
export async function sealJournal(db: Database, now: number): Promise<(SealHead & { more: boolean }) | undefined> {
  return await db.transaction('BEGIN', async (tx) => {
    const [cursor] = await tx.query<Cursor>(sql`
      SELECT txid::text AS txid, seq, number, encode(hash, 'hex') AS hash FROM journal_sealing FOR UPDATE SKIP LOCKED`);
    if (cursor === undefined) return undefined;
    const rows = await unsealed(tx, cursor);
    const last = rows.at(-1);
    if (last === undefined) return undefined;
    const number = cursor.number + 1;
    const at = instant(now);
    const hash = sealHash(cursor.hash, number, at, rows);
    await tx.query(sql`
      WITH sealed AS (
        INSERT INTO journal_seals (number, sealed_at, seqs, marks, hash)
        VALUES (${number}::bigint, ${at}::timestamptz, ${rows.map((row) => row.seq)}::bigint[],
          decode(${rows.map((row) => markOf(row.hash)).join('')}, 'hex'), decode(${hash}, 'hex'))
      )
      UPDATE journal_sealing SET txid = ${last.txid}::xid8, seq = ${last.seq}::bigint, number = ${number}::bigint,
        hash = decode(${hash}, 'hex')`);
    return { number, hash, more: rows.length === SEAL_ROWS };
  });
}

// Horizon and rows are of one statement, and so of one snapshot: what is below it and committed is seen.
async function unsealed(tx: Transaction, { txid, seq }: Cursor): Promise<(SealedRow & { txid: string })[]> {
  return await tx.query(sql`
    SELECT seq, txid::text AS txid, encode(hash, 'hex') AS hash FROM journal
    WHERE (txid, seq) > (${txid}::xid8, ${seq}::bigint) AND txid < pg_snapshot_xmin(pg_current_snapshot())
    ORDER BY journal.txid, journal.seq LIMIT ${SEAL_ROWS}::int`);
}

/**
 * What a backup keeps of the journal and of how far it is sealed. Transactions have other numbers in the database that it is
 * restored into, so that 0 stands for all that are sealed and 1 for those that are not: both lie before every new one.
 */
export function journalForBackup(table: 'journal' | 'journal_sealing', columns: readonly string[]): string {
  const kept =
    table === 'journal'
      ? { txid: `CASE WHEN (j.txid, j.seq) <= (s.txid, s.seq) THEN '0'::xid8 ELSE '1'::xid8 END` }
      : { txid: `'0'::xid8`, seq: '9007199254740991::bigint' };
  const list = columns.map((column) => (Object.hasOwn(kept, column) ? kept[column as 'txid'] : `j."${column}"`));
  const from = table === 'journal' ? 'journal j CROSS JOIN journal_sealing s' : 'journal_sealing j';
  return `SELECT ${list.join(', ')} FROM ${from}`;
}
