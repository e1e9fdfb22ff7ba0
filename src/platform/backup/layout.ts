/** The layout of a backup: the tables and their order, the sequences, and the schema version. */
import type { Database } from '../database/pool.ts';

export const FORMAT = 1;

export interface TableLayout {
  name: string;
  /** Stored columns, in order; generated columns are excluded. */
  columns: string[];
}

export interface SequenceLayout {
  name: string;
  /** The last value drawn; null if none was. */
  last: string | null;
  /** Whether a column owns it. The configuration creates the other sequences. */
  owned: boolean;
}

export interface BackupHead {
  format: number;
  madeAt: string;
  /** `server_version_num` of the database. */
  server: number;
  migrations: { name: string; checksum: string }[];
  /** Referenced tables come first. */
  tables: TableLayout[];
  sequences: SequenceLayout[];
}

type Client = Pick<Awaited<ReturnType<Database['connect']>>, 'query'>;

export function quoted(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

/** Tables of the service with their columns. Unlogged tables are excluded: they are emptied by a crash anyway. */
export async function layoutOf(client: Client): Promise<TableLayout[]> {
  const { rows } = await client.query<{ name: string; columns: string[]; needs: string[] }>(`
    SELECT c.relname AS name,
      (SELECT array_agg(a.attname::text ORDER BY a.attnum) FROM pg_attribute a
       WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped AND a.attgenerated = '') AS columns,
      ARRAY(SELECT DISTINCT k.confrelid::regclass::text FROM pg_constraint k
        WHERE k.conrelid = c.oid AND k.contype = 'f' AND k.confrelid <> c.oid) AS needs
    FROM pg_class c
    WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind = 'r' AND c.relpersistence = 'p'
      AND c.relname <> 'schema_migrations'
    ORDER BY c.relname`);
  const waiting = new Map(rows.map((row) => [row.name, row]));
  const ordered: TableLayout[] = [];
  while (waiting.size > 0) {
    const free = [...waiting.values()].filter((row) => !row.needs.some((name) => waiting.has(name)));
    if (free.length === 0) throw new Error('tables refer to one another in a ring, which a restore could not fill');
    for (const { name, columns } of free) {
      waiting.delete(name);
      ordered.push({ name, columns });
    }
  }
  return ordered;
}

/**
 * Sequences are not transactional. Read after the snapshot began, their values are at or beyond those in the snapshot's rows.
 */
export async function sequencesOf(client: Client): Promise<SequenceLayout[]> {
  const { rows } = await client.query<{ name: string; owned: boolean }>(`
    SELECT c.relname AS name,
      EXISTS (SELECT 1 FROM pg_depend d WHERE d.objid = c.oid AND d.classid = 'pg_class'::regclass AND d.deptype IN ('a', 'i')) AS owned
    FROM pg_class c WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind = 'S' AND c.relpersistence = 'p'
    ORDER BY c.relname`);
  const sequences: SequenceLayout[] = [];
  for (const { name, owned } of rows) {
    const found = await client.query<{ last: string | null }>(
      `SELECT CASE WHEN is_called THEN last_value::text END AS last FROM ${quoted(name)}`,
    );
    sequences.push({ name, owned, last: found.rows[0]?.last ?? null });
  }
  return sequences;
}
