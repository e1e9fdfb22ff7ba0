/**
 * The order in which changes are committed. This file is the only one that knows how PostgreSQL numbers transactions; all others
 * ask it which rows of the journal are committed, which a reader has not seen, and which were written together.
 *
 * There are three orders, each for another question:
 *
 * - **What have I not seen?** (`NOW`, `committedSince`) A snapshot says which transactions a statement sees. Those that it does not see
 *   have ids at or above its upper end, or were running in it. A reader that keeps its snapshot misses no row, however late it is
 *   committed, and waits for nobody.
 * - **What will nothing precede any more?** (`Position`, `isSettled`) Rows ordered by transaction and number, as far as all
 *   transactions have ended. An open transaction delays those after it.
 * - **What is the next number?** Places (`places.ts`) number committed rows without gaps. Consumers keep a place (`consumers.ts`).
 *
 * Transaction ids belong to one cluster. `STORAGE`, `EPOCH` and `HISTORY` say whether two ids can be compared at all, and
 * `adoptJournal` and `journalForBackup` give rows that come from another cluster ids that precede all new ones.
 */
import sql, { raw, type Sql } from 'sql-template-tag';
import type { Database, Queryable, Transaction } from '../database/pool.ts';

/** Identifies the storage. It changes if the data is in another cluster or database, or if the table was rewritten. */
export const STORAGE = sql`concat_ws('/', (SELECT system_identifier FROM pg_control_system()),
  (SELECT oid FROM pg_database WHERE datname = current_database()), pg_relation_filenode('journal_placing'))`;

/** Differs after each promotion of a standby. */
const TIMELINE = sql`left(pg_walfile_name(pg_current_wal_lsn()), 8)`;

/** Differs after each start of the server and after each promotion. */
export const RUN = sql`concat_ws('/', extract(epoch FROM pg_postmaster_start_time()), ${TIMELINE})`;

/** Within an epoch no committed change is lost. */
export const EPOCH = sql`concat_ws(' ', ${STORAGE}, ${RUN})`;

/**
 * The history of a storage goes on after a start of the server, unless the server may forget commits in a crash.
 */
export const HISTORY = sql`concat_ws(' ', ${STORAGE}, ${TIMELINE},
  CASE WHEN current_setting('fsync') = 'off' OR current_setting('synchronous_commit') = 'off' THEN ${RUN} END)`;

/** What the statement sees, as a `pg_snapshot`. */
export const NOW = sql`pg_current_snapshot()`;

/** The transactions of a reading: those below `oldestRunning` have ended, those from `nextId` on have not begun. */
export const TRANSACTIONS = sql`pg_snapshot_xmin(${NOW})::text::float8 AS "oldestRunning", pg_snapshot_xmax(${NOW})::text::float8 AS "nextId"`;

export interface SinceOptions {
  /** Columns of the rows `j`. */
  columns: Sql;
  /** Condition on `j`. */
  where?: Sql;
  /** The journal, or another table with an index on its transactions, and that index's other columns. */
  table?: Sql;
  order?: Sql;
  /** Maximum number of rows of each of the two parts. */
  limit?: Sql;
}

/**
 * Query for the rows that are visible now and were not visible in the snapshot `seen`. The ORDER BYs keep the planner from scanning
 * the journal. Rows of transactions that this cluster has not begun come from another one; `adoptJournal` renumbers them.
 */
export function committedSince(seen: Sql, options: SinceOptions): Sql {
  const { columns, where = sql`true`, table = sql`journal`, order = sql`, j.seq`, limit = sql`ALL` } = options;
  const of = (condition: Sql): Sql =>
    sql`(SELECT ${columns} FROM ${table} j WHERE ${condition} AND ${where} ORDER BY j.txid${order} LIMIT ${limit})`;
  return sql`${of(sql`j.txid >= pg_snapshot_xmax(${seen}) AND j.txid < pg_snapshot_xmax(${NOW})`)}
    UNION ALL ${of(sql`j.txid = ANY(ARRAY(SELECT pg_snapshot_xip(${seen})))`)}`;
}

/** A snapshot that `NOW` gave as text. */
export function seenAs(snapshot: string | null): Sql {
  return sql`${snapshot}::pg_snapshot`;
}

/** Whether the row `alias` was visible in the snapshot. */
export function wasVisible(alias: string, seen: Sql): Sql {
  return sql`pg_visible_in_snapshot(${raw(alias)}.txid, ${seen})`;
}

/** The transaction that wrote the row `alias`; rows with the same one were committed together. */
export function unitOf(alias: string): Sql {
  return raw(`${alias}.txid`);
}

/** The column of a table that has the transaction of its row. */
export const UNIT = raw('txid');

/** Sets the transaction of a row that is written again. For `ON CONFLICT DO UPDATE`. */
export const WRITTEN_NOW = raw('txid = EXCLUDED.txid');

/** The position of a row in the order of transactions. */
export interface Position {
  unit: string;
  seq: number;
}

/** Columns of the position of the row `alias`. */
export function positionColumns(alias: string): Sql {
  return sql`${raw(alias)}.txid::text AS unit, ${raw(alias)}.seq`;
}

/** Sets the position of the only row of a table of progress. */
export function positionValues({ unit, seq }: Position): Sql {
  return sql`txid = ${unit}::xid8, seq = ${seq}::bigint`;
}

function positionOf(position: Position | string): Sql {
  if (typeof position === 'string') return raw(`(${position}.txid, ${position}.seq)`);
  return sql`(${position.unit}::xid8, ${position.seq}::bigint)`;
}

/** Whether the row `alias` comes after the position. @param position alias of a row that has one, or the position itself */
export function isAfter(alias: string, position: Position | string): Sql {
  return sql`${positionOf(alias)} > ${positionOf(position)}`;
}

/** Whether the row `alias` does not come after the position. */
export function isUpTo(alias: string, position: Position | string): Sql {
  return sql`${positionOf(alias)} <= ${positionOf(position)}`;
}

/** For `ORDER BY`: by transaction, and within it by number. */
export function inOrder(alias: string): Sql {
  return raw(`${alias}.txid, ${alias}.seq`);
}

/**
 * Whether all transactions up to that of the row `alias` have ended. Horizon and rows must come from one statement and therefore one
 * snapshot: then all committed rows below the horizon are visible, and none can appear among them later.
 */
export function isSettled(alias: string): Sql {
  return sql`${raw(alias)}.txid < pg_snapshot_xmin(${NOW})`;
}

/** The version of the row `alias`: each write of the row makes a new one. */
export function rowVersion(alias: string): Sql {
  return raw(`${alias}.xmin::text::bigint`);
}

/** All columns of the row `alias`, with what `rowVersion` needs. */
export function withVersion(alias: string): Sql {
  return raw(`${alias}.*, ${alias}.xmin`);
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
  if (!(await isForeign(db))) return 0;
  return await db.transaction('BEGIN', async (tx) => {
    await tx.query(sql`SELECT set_config('statement_timeout', '0', true)`);
    // Waits for other writers, so that no row of this cluster has a higher id than this transaction.
    await tx.query(sql`LOCK TABLE journal IN SHARE ROW EXCLUSIVE MODE`, { patient: true });
    const [moved] = await tx.query<{ count: number }>(
      sql`
        WITH moved AS (
          UPDATE journal j SET txid = CASE WHEN ${isUpTo('j', 's')} THEN '0'::xid8 ELSE pg_current_xact_id() END
          FROM journal_sealing s WHERE ${isAdopted('j')} RETURNING 1
        ), cursor AS (
          UPDATE journal_sealing s SET txid = pg_current_xact_id(), seq = 0 WHERE ${isAdopted('s')}
        )
        SELECT count(*) AS count FROM moved`,
      { patient: true },
    );
    await alsoAdopt(tx);
    return moved?.count ?? 0;
  });
}

/** A row that is visible was written by a transaction below the end of the snapshot, unless it came from elsewhere. */
async function isForeign(db: Queryable): Promise<boolean> {
  const [row] = await db.query<{ foreign: boolean }>(sql`
    SELECT coalesce((SELECT j.txid FROM journal j ORDER BY j.txid DESC, j.seq DESC LIMIT 1) >= pg_snapshot_xmax(${NOW}), false) AS foreign`);
  return row?.foreign === true;
}

/** Whether `adoptJournal` renumbers the row `alias`. */
export function isAdopted(alias: string): Sql {
  return sql`${raw(alias)}.txid >= pg_current_xact_id()`;
}

/** The transactions that `adoptJournal` gives rows: sealed ones, others. A FROM item with the column `txid`. */
export const ADOPTED = sql`(VALUES ('0'::xid8), (pg_current_xact_id()))`;

/** The transactions of rows of the journal in a backup: sealed ones, others. Both precede every new transaction. */
const BACKED_UP = [`'0'::xid8`, `'1'::xid8`] as const;

/**
 * The query that backs up the journal or its sealing progress. Transaction ids differ in the database that a backup is restored
 * to, so rows get those of `BACKED_UP`.
 */
export function journalForBackup(table: 'journal' | 'journal_sealing', columns: readonly string[]): string {
  const [sealed, other] = BACKED_UP;
  const kept =
    table === 'journal'
      ? { txid: `CASE WHEN (j.txid, j.seq) <= (s.txid, s.seq) THEN ${sealed} ELSE ${other} END` }
      : { txid: sealed, seq: '9007199254740991::bigint' };
  const list = columns.map((column) => (Object.hasOwn(kept, column) ? kept[column as 'txid'] : `j."${column}"`));
  const from = table === 'journal' ? 'journal j CROSS JOIN journal_sealing s' : 'journal_sealing j';
  return `SELECT ${list.join(', ')} FROM ${from}`;
}

/**
 * The query that backs up marks of transactions of the journal: each gets both transactions that a backup gives rows.
 *
 * @param key the column that identifies a mark within a transaction
 * @param newest the column by which the newest of several is kept
 */
export function marksForBackup(table: string, columns: readonly string[], key: string, newest: string): string {
  const list = columns.map((column) => (column === 'txid' ? 't.txid' : `i."${column}"`));
  return `SELECT DISTINCT ON (i.${key}, t.txid) ${list.join(', ')} FROM ${table} i
    CROSS JOIN (VALUES ${BACKED_UP.map((id) => `(${id})`).join(', ')}) AS t (txid) ORDER BY i.${key}, t.txid, i.${newest} DESC`;
}
