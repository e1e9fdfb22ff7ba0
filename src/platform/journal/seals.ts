/**
 * The audit chain: a hash chain over the journal. Writers never wait for it. Rows carry their transaction id and their own
 * hash. A background task takes the rows of finished transactions, ordered by (transaction, row), and seals them in batches.
 * All transactions below the snapshot's horizon are finished, so no row can appear later among sealed ones.
 */
import { createHash } from 'node:crypto';
import sql from 'sql-template-tag';
import { instant } from '../clock.ts';
import type { Database, Queryable, Transaction } from '../database/pool.ts';
import { inOrder, isAfter, isSettled, type Position, positionColumns, positionValues } from './positions.ts';

/** Maximum number of rows per seal. */
export const SEAL_ROWS = 1000;
const MARK_BYTES = 8;

export interface SealHead {
  number: number;
  /** Hex SHA-256; zeros before the first seal. */
  hash: string;
}

/** The newest seal, and the position of its last row. */
export interface Cursor extends SealHead, Position {}

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

const CURSOR = sql`SELECT ${positionColumns('s')}, s.number, encode(s.hash, 'hex') AS hash FROM journal_sealing s`;

/** The current end of the chain. */
export async function sealCursor(db: Queryable): Promise<Cursor> {
  const [row] = await db.query<Cursor>(CURSOR);
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
      SELECT 1 FROM journal j WHERE ${isAfter('j', 's')} AND ${isSettled('j')} ORDER BY ${inOrder('j')} LIMIT 1) AS next`);
  if (pending === undefined) return undefined;
  return await db.transaction('BEGIN', async (tx) => {
    const [cursor] = await tx.query<Cursor>(sql`${CURSOR} FOR UPDATE SKIP LOCKED`);
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
      UPDATE journal_sealing SET ${positionValues(last)}, number = ${number}::bigint, hash = decode(${hash}, 'hex')`);
    return { number, hash, more: rows.length === SEAL_ROWS };
  });
}

async function unsealed(tx: Transaction, cursor: Cursor): Promise<(SealedRow & Position)[]> {
  return await tx.query(sql`
    SELECT ${positionColumns('j')}, encode(j.hash, 'hex') AS hash FROM journal j
    WHERE ${isAfter('j', cursor)} AND ${isSettled('j')} ORDER BY ${inOrder('j')} LIMIT ${SEAL_ROWS}::int`);
}
