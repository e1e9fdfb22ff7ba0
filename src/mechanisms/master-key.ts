/**
 * Which master key a database is used with: table `master_key`, one row. All processes on a database must have the same key,
 * or what one seals is closed to the others, so that sealing names the key in the same statement and the database refuses
 * another one.
 */
import sql, { type Sql } from 'sql-template-tag';
import type { TableWrite, WriteContext } from './context.ts';
import type { Queryable, Transaction } from './db/pool.ts';
import type { SecretBox } from './secrets.ts';

/** This process has another master key than the database is used with. */
export class OtherMasterKey extends Error {
  constructor() {
    super(
      'This process has another master key than the one that the database is used with. Give every process the same ' +
        'DOCKET_SECRET_KEY (or the same master.key), and restart this one.',
    );
    this.name = 'OtherMasterKey';
  }
}

/** The fingerprint of the key that the database is used with, in hex; undefined where none was named yet. */
export async function masterKeyOf(db: Queryable): Promise<string | undefined> {
  // A restored database of an older version has no such table yet.
  const [table] = await db.query<{ there: boolean }>(sql`SELECT to_regclass('master_key') IS NOT NULL AS there`);
  if (table?.there !== true) return undefined;
  const rows = await db.query<{ fingerprint: string }>(
    sql`SELECT encode(fingerprint, 'hex') AS fingerprint FROM master_key`,
  );
  return rows[0]?.fingerprint;
}

/** Nobody seals and nobody else names a key until the transaction ends. */
export async function lockMasterKey(tx: Transaction): Promise<void> {
  await tx.query(sql`LOCK TABLE master_key IN SHARE ROW EXCLUSIVE MODE`);
}

/** From now on the database is used with this key; undefined: with the key of whoever comes next. */
export async function setMasterKey(db: Queryable, box: SecretBox | undefined): Promise<void> {
  if (box === undefined) await db.query(sql`DELETE FROM master_key`);
  else {
    await db.query(sql`
      INSERT INTO master_key (fingerprint) VALUES (decode(${box.fingerprint}, 'hex'))
      ON CONFLICT (only_row) DO UPDATE SET fingerprint = excluded.fingerprint`);
  }
}

const sameKey: TableWrite<{ fingerprint: string }> = {
  name: 'same_master_key',
  guard: true,
  sql: (rows: Sql) => sql`
    INSERT INTO master_key AS k (fingerprint)
    SELECT decode(r.fingerprint, 'hex') FROM jsonb_to_recordset(${rows}) AS r (fingerprint text)
    ON CONFLICT (only_row) DO UPDATE SET fingerprint = k.fingerprint WHERE k.fingerprint = excluded.fingerprint
    RETURNING 1`,
};

/** Must be called by a command that stores something sealed. @throws OtherMasterKey */
export async function useMasterKey(ctx: WriteContext, box: SecretBox): Promise<void> {
  const used = await masterKeyOf(ctx);
  if (used !== undefined && used !== box.fingerprint) throw new OtherMasterKey();
  ctx.plan(sameKey, { fingerprint: box.fingerprint });
}
