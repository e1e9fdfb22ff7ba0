/** Checks tables and indexes with PostgreSQL's extension amcheck, and finds idle transactions. */
import sql from 'sql-template-tag';
import { savepoint } from '../unit-of-work/transactions.ts';
import type { Database, Queryable, Transaction } from './pool.ts';

const IDLE_SECONDS = 15;
const MAX_NAMED = 5;

/** The result of a check. If it could not run, `ok` is true and `says` gives the reason in a sentence. */
export interface Integrity {
  ok: boolean;
  says: string;
}

interface Relation {
  oid: number;
  name: string;
  method: string;
}

/**
 * Checks every table, and every B-tree and GIN index against its table. The extension is created in a transaction that is
 * rolled back, so nothing of it remains.
 */
export async function examineIntegrity(db: Database): Promise<Integrity> {
  const available = await db.query<{ one: number }>(
    sql`SELECT 1 AS one FROM pg_available_extensions WHERE name = 'amcheck'`,
  );
  if (available.length === 0) return { ok: true, says: 'not looked at: this server has no extension amcheck' };
  return await db.transaction(
    'BEGIN',
    async (tx) => {
      try {
        await savepoint(tx, () => tx.query(sql`CREATE EXTENSION IF NOT EXISTS amcheck`));
      } catch {
        return { ok: true, says: 'not looked at: this user may not create the extension amcheck' };
      }
      await tx.query(sql`SELECT set_config('statement_timeout', '0', true)`);
      return await examineRelations(tx);
    },
    () => false,
  );
}

async function examineRelations(tx: Transaction): Promise<Integrity> {
  const gin = await tx.query<{ one: number }>(sql`SELECT 1 AS one FROM pg_proc WHERE proname = 'gin_index_check'`);
  const relations = await tx.query<Relation>(sql`
    SELECT c.oid::int AS oid, c.relname AS name, a.amname AS method FROM pg_class c JOIN pg_am a ON a.oid = c.relam
    LEFT JOIN pg_index i ON i.indexrelid = c.oid
    WHERE c.relnamespace = current_schema()::regnamespace AND a.amname IN ('heap', 'btree', 'gin') AND c.relkind IN ('r', 'i')
      AND coalesce(i.indisvalid, true) AND c.relpersistence = 'p'
    ORDER BY c.relname`);
  const errors: string[] = [];
  let looked = 0;
  for (const relation of relations) {
    if (relation.method === 'gin' && gin.length === 0) continue;
    looked++;
    const error = await errorOf(tx, relation);
    if (error !== undefined) errors.push(`${relation.name}: ${error}`);
  }
  if (errors.length === 0) return { ok: true, says: `${looked} tables and indexes are sound` };
  const more = errors.length > MAX_NAMED ? ` and ${errors.length - MAX_NAMED} more` : '';
  return { ok: false, says: `${errors.slice(0, MAX_NAMED).join('; ')}${more}; restore from a backup, or REINDEX` };
}

/** The error that the extension reports; it contains file positions, never values. */
async function errorOf(tx: Transaction, { oid, method }: Relation): Promise<string | undefined> {
  try {
    return await savepoint(tx, async () => {
      if (method === 'heap') {
        const rows = await tx.query<{ msg: string }>(
          sql`SELECT msg FROM verify_heapam(${oid}::int::oid::regclass) LIMIT 1`,
          { patient: true },
        );
        return rows[0]?.msg;
      }
      const index = sql`${oid}::int::oid::regclass`;
      const call = method === 'gin' ? sql`gin_index_check(${index})` : sql`bt_index_check(${index}, true)`;
      await tx.query(sql`SELECT ${call}::text AS done`, { patient: true });
      return undefined;
    });
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

/** Finds connections to this database that keep a transaction open without doing anything. */
export async function examineIdle(db: Queryable, seconds = IDLE_SECONDS): Promise<Integrity> {
  const rows = await db.query<{ what: string }>(sql`
    SELECT 'process ' || pid || ' (' || coalesce(application_name, '') || ')' AS what FROM pg_stat_activity
    WHERE datname = current_database() AND state LIKE 'idle in transaction%'
      AND now() - state_change > make_interval(secs => ${seconds}::int)`);
  const named = rows.map(({ what }) => what).join(', ');
  return rows.length === 0
    ? { ok: true, says: `none has been idle for more than ${seconds} s` }
    : { ok: false, says: `idle for more than ${seconds} s: ${named}` };
}
