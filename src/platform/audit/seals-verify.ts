/**
 * Verifies the journal against the audit chain. Finds rows that were altered, deleted, inserted or moved after they were
 * sealed, and reports their position. Reads in batches inside one snapshot, while the service may be running.
 */
import sql from 'sql-template-tag';
import type { Database, Queryable } from '../database/pool.ts';
import { type JournalRow, journalHash } from '../journal/journal.ts';
import { inOrder, isAfter, isUpTo, type Position, positionColumns } from '../journal/positions.ts';
import { type Cursor, markOf, type SealHead, sealCursor, sealHash } from '../journal/seals.ts';

export interface Finding {
  kind: 'altered' | 'deleted' | 'inserted' | 'moved' | 'seal';
  /** `row 17` (column `seq` of the journal) or `seal 3`. */
  place: string;
  says: string;
}

export interface Verification {
  rows: number;
  seals: number;
  /** Rows at the end that no seal covers yet. Each was verified against its own hash. */
  unsealed: number;
  head: SealHead;
  /** The first findings, in order; `more` counts the others. */
  findings: Finding[];
  more: number;
}

type StoredRow = JournalRow & { seq: number; sealed: boolean };

interface StoredSeal {
  number: number;
  at: string;
  seqs: string[];
  hashPrefixes: string;
  hash: string;
}

const SEALS_AT_ONCE = 20;
const ROWS_AT_ONCE = 2000;
const MAX_LISTED = 100;

const COLUMNS = sql`j.seq, j.id, j.at, j.type, j.object_id, j.subject, j.revision, j.actor_id, j.via, j.key_id,
  j.correlation_id, j.changes, j.data, encode(j.hash, 'hex') AS hash`;

class Verifier {
  readonly #db: Queryable;
  readonly #cursor: Cursor;
  readonly #onRows: (rows: number) => void;
  readonly result: Verification;

  constructor(db: Queryable, cursor: Cursor, onRows: (rows: number) => void) {
    this.#db = db;
    this.#cursor = cursor;
    this.#onRows = onRows;
    const head = { number: cursor.number, hash: cursor.hash };
    this.result = { rows: 0, seals: 0, unsealed: 0, head, findings: [], more: 0 };
  }

  #find(kind: Finding['kind'], place: string, says: string): void {
    if (this.result.findings.length < MAX_LISTED) this.result.findings.push({ kind, place, says });
    else this.result.more++;
  }

  /** Verifies the chain. @returns the number of rows that it names, and how many of them exist */
  async seals(): Promise<{ said: number; present: number }> {
    let previous: SealHead = { number: 0, hash: '0'.repeat(64) };
    const counts = { said: 0, present: 0 };
    for (;;) {
      const seals = await this.#db.query<StoredSeal>(sql`
        SELECT number, sealed_at AS at, seqs::text[] AS seqs, encode(hash_prefixes, 'hex') AS "hashPrefixes", encode(hash, 'hex') AS hash
        FROM journal_seals WHERE number > ${previous.number}::bigint ORDER BY number LIMIT ${SEALS_AT_ONCE}::int`);
      for (const seal of seals) {
        this.#gap(previous.number, seal.number);
        counts.said += seal.seqs.length;
        counts.present += await this.#seal(seal, previous.hash);
        previous = { number: seal.number, hash: seal.hash };
        this.result.seals++;
        this.#onRows(this.result.rows);
      }
      if (seals.length < SEALS_AT_ONCE) break;
    }
    const { number, hash } = this.#cursor;
    this.#gap(previous.number, number + 1);
    if (previous.number === number && previous.hash !== hash) {
      this.#find('seal', `seal ${number}`, 'the newest seal is not the one that was made last');
    }
    if (previous.number > number) this.#find('seal', `seal ${previous.number}`, 'it was not made by the sealer');
    return counts;
  }

  #gap(before: number, number: number): void {
    if (number <= before + 1) return;
    const [first, last] = [before + 1, number - 1];
    const place = first === last ? `seal ${first}` : `seals ${first} to ${last}`;
    this.#find('seal', place, 'missing from the chain');
  }

  async #seal(seal: StoredSeal, previous: string): Promise<number> {
    const seqs = seal.seqs.map(Number);
    const rows = await this.#db.query<StoredRow>(sql`
      SELECT ${COLUMNS}, ${isUpTo('j', this.#cursor)} AS sealed
      FROM journal j WHERE j.seq = ANY (${seqs}::bigint[])`);
    const stored = new Map(rows.map((row) => [row.seq, row]));
    const before = this.result.findings.length + this.result.more;
    const hashPrefixes = seqs.map((_, index) => seal.hashPrefixes.slice(index * 16, index * 16 + 16));
    for (const [index, place] of seqs.entries()) this.#row(place, stored.get(place), hashPrefixes, index, seal.number);
    const listed = seqs.map((place) => ({ seq: place, hash: stored.get(place)?.hash ?? '' }));
    const untouched = this.result.findings.length + this.result.more === before;
    if (untouched && sealHash(previous, seal.number, seal.at, listed) !== seal.hash) {
      this.#find('seal', `seal ${seal.number}`, 'it was altered, or the one before it was, or the order of its rows');
    }
    this.result.rows += rows.length;
    return rows.length;
  }

  #row(place: number, row: StoredRow | undefined, hashPrefixes: readonly string[], index: number, seal: number): void {
    const where = `row ${place}`;
    if (row === undefined) {
      this.#find('deleted', where, `deleted after it was sealed (seal ${seal})`);
      return;
    }
    const mark = markOf(row.hash);
    if (mark !== hashPrefixes[index]) {
      const moved = hashPrefixes.includes(mark) && journalHash(contentOf(row)) === row.hash;
      if (moved)
        this.#find('moved', where, `a row from another position of seal ${seal} was found here (event ${row.id})`);
      else this.#find('altered', where, `altered together with its hash after it was sealed (event ${row.id})`);
    } else if (journalHash(contentOf(row)) !== row.hash) {
      this.#find('altered', where, `altered after it was written (event ${row.id})`);
    }
    if (!row.sealed) this.#find('altered', where, 'its transaction was altered, so that it would be sealed once more');
  }

  /** Finds rows within the sealed part of the journal that no seal names. */
  async strangers(expected: number): Promise<void> {
    const sealed = isUpTo('j', this.#cursor);
    const [counted] = await this.#db.query<{ rows: number }>(
      sql`SELECT count(*) AS rows FROM journal j WHERE ${sealed}`,
    );
    if ((counted?.rows ?? 0) <= expected) return;
    const found = await this.#db.query<{ seq: number; id: string }>(sql`
      WITH named AS MATERIALIZED (SELECT unnest(seqs) AS seq FROM journal_seals)
      SELECT j.seq, j.id FROM journal j
      WHERE ${sealed} AND NOT EXISTS (SELECT 1 FROM named WHERE named.seq = j.seq)
      ORDER BY j.seq LIMIT ${MAX_LISTED}::int`);
    for (const row of found) {
      this.#find('inserted', `row ${row.seq}`, `put in behind the seals (event ${row.id})`);
    }
  }

  /** Verifies the rows that no seal covers yet. */
  async tail(): Promise<void> {
    let position: Position = this.#cursor;
    for (;;) {
      const rows = await this.#db.query<StoredRow & Position>(sql`
        SELECT ${COLUMNS}, ${positionColumns('j')} FROM journal j WHERE ${isAfter('j', position)}
        ORDER BY ${inOrder('j')} LIMIT ${ROWS_AT_ONCE}::int`);
      for (const row of rows) {
        if (journalHash(contentOf(row)) === row.hash) continue;
        this.#find('altered', `row ${row.seq}`, `altered after it was written (event ${row.id})`);
      }
      this.result.rows += rows.length;
      this.result.unsealed += rows.length;
      this.#onRows(this.result.rows);
      const last = rows.at(-1);
      if (last === undefined || rows.length < ROWS_AT_ONCE) return;
      position = last;
    }
  }

  /**
   * Compares with heads stored elsewhere, newest first. Only this detects a chain that was rebuilt or truncated. A matching
   * head covers all heads before it.
   */
  async anchor(heads: readonly SealHead[]): Promise<void> {
    const rows = await this.#db.query<SealHead>(sql`
      SELECT number, encode(hash, 'hex') AS hash FROM journal_seals
      WHERE number = ANY (${heads.map(({ number }) => number)}::bigint[])`);
    const stored = new Map(rows.map(({ number, hash }) => [number, hash]));
    for (const { number, hash } of heads) {
      const place = `seal ${number}`;
      const found = stored.get(number);
      if (found === hash) return;
      if (found === undefined) this.#find('seal', place, 'it is not there, though it was noted elsewhere');
      else this.#find('seal', place, 'its hash is not the one that was noted elsewhere');
    }
  }
}

function contentOf(row: StoredRow): Omit<JournalRow, 'hash'> {
  const { id, at, type, object_id, subject, revision, actor_id, via, key_id, correlation_id, changes, data } = row;
  return { id, at, type, object_id, subject, revision, actor_id, via, key_id, correlation_id, changes, data };
}

/**
 * Verifies everything in one snapshot.
 *
 * @param expected heads stored earlier outside the database, newest first
 */
export async function verifyJournal(
  db: Database,
  expected: readonly SealHead[] = [],
  onRows: (rows: number) => void = () => {},
): Promise<Verification> {
  return await db.transaction('BEGIN ISOLATION LEVEL REPEATABLE READ, READ ONLY', async (tx) => {
    await tx.query(sql`SET LOCAL statement_timeout = 0`);
    const verifier = new Verifier(tx, await sealCursor(tx), onRows);
    const { present } = await verifier.seals();
    await verifier.strangers(present);
    await verifier.tail();
    if (expected.length > 0) await verifier.anchor(expected);
    return verifier.result;
  });
}
