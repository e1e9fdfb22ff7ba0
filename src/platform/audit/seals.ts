/**
 * The audit chain: a hash chain over the journal. Writers never wait for it. Rows carry their transaction id and their own
 * hash. A background task takes the rows of finished transactions, ordered by (transaction, row), and seals them in batches.
 * All transactions below the snapshot's horizon are finished, so no row can appear later among sealed ones.
 */
import { createHash } from 'node:crypto';
import sql from 'sql-template-tag';
import { instant } from '../clock.ts';
import type { Database, Queryable, Transaction } from '../database/pool.ts';

/** Maximum number of rows per seal. */
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

/** The hash of a seal, over the previous seal's hash, its number and time, and the position and hash of each row in order. */
export function sealHash(previous: string, number: number, at: string, rows: readonly SealedRow[]): string {
  const hash = createHash('sha256').update(`docket seal\n${previous}\n${number}\n${at}\n${rows.length}\n`);
  for (const row of rows) hash.update(`${row.seq} ${row.hash}\n`);
  return hash.digest('hex');
}

export function markOf(hash: string): string {
  return hash.slice(0, MARK_BYTES * 2);
}

/** The current end of the chain. */
export async function sealCursor(db: Queryable): Promise<Cursor> {
  const [row] = await db.query<Cursor>(
    sql`SELECT txid::text AS txid, seq, number, encode(hash, 'hex') AS hash FROM journal_sealing`,
  );
  if (row === undefined) throw new Error('the row that says how far the journal is sealed is missing');
  return row;
}

/**
 * Seals the next rows. Any number of processes may call this concurrently: one of them seals, the others do nothing.
 *
 * @returns the new seal, and whether more rows are pending; undefined if there was nothing to seal
 */
export async function sealJournal(db: Database, now: number): Promise<(SealHead & { more: boolean }) | undefined> {
  // Without a lock, which would be a write: a service with nothing to do writes nothing.
  const [pending] = await db.query(sql`
    SELECT 1 FROM journal_sealing s CROSS JOIN LATERAL (
      SELECT 1 FROM journal j WHERE (j.txid, j.seq) > (s.txid, s.seq) AND j.txid < pg_snapshot_xmin(pg_current_snapshot())
      ORDER BY j.txid, j.seq LIMIT 1) AS next`);
  if (pending === undefined) return undefined;
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
        INSERT INTO journal_seals (number, sealed_at, seqs, hash_prefixes, hash)
        VALUES (${number}::bigint, ${at}::timestamptz, ${rows.map((row) => row.seq)}::bigint[],
          decode(${rows.map((row) => markOf(row.hash)).join('')}, 'hex'), decode(${hash}, 'hex'))
      )
      UPDATE journal_sealing SET txid = ${last.txid}::xid8, seq = ${last.seq}::bigint, number = ${number}::bigint,
        hash = decode(${hash}, 'hex')`);
    return { number, hash, more: rows.length === SEAL_ROWS };
  });
}

// Horizon and rows come from the same statement and therefore the same snapshot: all committed rows below the horizon are
// visible.
async function unsealed(tx: Transaction, { txid, seq }: Cursor): Promise<(SealedRow & { txid: string })[]> {
  return await tx.query(sql`
    SELECT seq, txid::text AS txid, encode(hash, 'hex') AS hash FROM journal
    WHERE (txid, seq) > (${txid}::xid8, ${seq}::bigint) AND txid < pg_snapshot_xmin(pg_current_snapshot())
    ORDER BY journal.txid, journal.seq LIMIT ${SEAL_ROWS}::int`);
}

/**
 * Renumbers the rows of a journal that was copied from another cluster, for example by `pg_restore`. Their transaction ids may be
 * ones that this cluster has not used yet: such rows would look newer than all others, and new rows would look sealed. They
 * become rows of one transaction of this cluster; sealed ones precede all transactions. Call it before the service writes.
 *
 * @param alsoAdopt renumbers transactions that other tables name, in the same transaction
 * @returns how many rows were renumbered
 */
export async function adoptJournal(
  db: Database,
  alsoAdopt: (tx: Transaction) => Promise<void> = async () => undefined,
): Promise<number> {
  // A row that is visible was written by a transaction below the end of the snapshot, unless it came from elsewhere.
  const [row] = await db.query<{ foreign: boolean }>(sql`
    SELECT coalesce((SELECT j.txid FROM journal j ORDER BY j.txid DESC, j.seq DESC LIMIT 1)
      >= pg_snapshot_xmax(pg_current_snapshot()), false) AS foreign`);
  if (row?.foreign !== true) return 0;
  return await db.transaction('BEGIN', async (tx) => {
    await tx.query(sql`SELECT set_config('statement_timeout', '0', true)`);
    // Waits for other writers, so that no row of this cluster has a higher id than this transaction.
    await tx.query(sql`LOCK TABLE journal IN SHARE ROW EXCLUSIVE MODE`, { patient: true });
    const [moved] = await tx.query<{ count: number }>(
      sql`
        WITH moved AS (
          UPDATE journal j SET txid = CASE WHEN (j.txid, j.seq) <= (s.txid, s.seq) THEN '0'::xid8 ELSE pg_current_xact_id() END
          FROM journal_sealing s WHERE j.txid >= pg_current_xact_id() RETURNING 1
        ), cursor AS (
          UPDATE journal_sealing SET txid = pg_current_xact_id(), seq = 0 WHERE txid >= pg_current_xact_id()
        )
        SELECT count(*) AS count FROM moved`,
      { patient: true },
    );
    await alsoAdopt(tx);
    return moved?.count ?? 0;
  });
}

/**
 * The query that backs up the journal or its sealing progress. Transaction ids differ in the database that a backup is restored
 * to, so sealed rows get 0 and others get 1: both precede every new transaction.
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
