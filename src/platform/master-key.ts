/**
 * Ensures that all processes of a database use the same master key (table `master_key`, one row). Otherwise processes could not
 * decrypt each other's secrets. Statements that store encrypted secrets name the key, and the database rejects a different one.
 */
import sql, { type Sql } from 'sql-template-tag';
import type { TableWrite, WriteContext } from './unit-of-work/context.ts';
import type { Queryable, Transaction } from './database/pool.ts';
import type { SecretBox } from './secrets.ts';

/** The master key of this process differs from the one that the database is used with. */
export class OtherMasterKey extends Error {
  constructor() {
    super(
      'This process has another master key than the one that the database is used with. Give every process the same ' +
        'DOCKET_SECRET_KEY (or the same master.key), and restart this one.',
    );
    this.name = 'OtherMasterKey';
  }
}

/** The fingerprint of the database's master key, in hex; undefined if none is set yet. */
export async function masterKeyOf(db: Queryable): Promise<string | undefined> {
  const rows = await db.query<{ fingerprint: string }>(
    sql`SELECT encode(fingerprint, 'hex') AS fingerprint FROM master_key`,
  );
  return rows[0]?.fingerprint;
}

/** Blocks storing of secrets and setting of the key until the transaction ends. */
export async function lockMasterKey(tx: Transaction): Promise<void> {
  await tx.query(sql`LOCK TABLE master_key IN SHARE ROW EXCLUSIVE MODE`);
}

/** Sets the database's master key. With undefined, the next process that stores a secret sets it. */
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

/** Commands that store encrypted secrets must call this. @throws OtherMasterKey */
export async function useMasterKey(ctx: WriteContext, box: SecretBox): Promise<void> {
  const used = await masterKeyOf(ctx);
  if (used !== undefined && used !== box.fingerprint) throw new OtherMasterKey();
  ctx.plan(sameKey, { fingerprint: box.fingerprint });
}
