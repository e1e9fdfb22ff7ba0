/** Readable record numbers: one sequence a prefix, so that numbers rise over all processes and none is given twice. */
import { raw } from 'sql-template-tag';
import type { Queryable } from '../../mechanisms/db/pool.ts';
import type { ConfigSnapshot } from '../../mechanisms/snapshot.ts';
import { typeSlice } from './registry.ts';

/** Name of the prefix's sequence; prefixes are upper-case ASCII letters, digits and hyphens. */
export function numberSequence(prefix: string): string {
  return `"number_${prefix}"`;
}

/**
 * Creates the sequences that the configuration needs and the database lacks. It runs outside of the apply's transaction,
 * before a process uses a new snapshot; two processes at once do no harm.
 */
export async function ensureNumbering(db: Queryable, snapshot: ConfigSnapshot): Promise<void> {
  const prefixes = new Set(
    [...snapshot.get(typeSlice).byId.values()].flatMap((type) => type.newest.definition.numbering?.prefix ?? []),
  );
  for (const prefix of prefixes) {
    if (!/^[A-Z][A-Z0-9-]{0,15}$/.test(prefix)) throw new Error('a numbering prefix of unexpected shape was stored');
    try {
      await db.query(raw(`CREATE SEQUENCE IF NOT EXISTS ${numberSequence(prefix)}`));
    } catch (error) {
      // IF NOT EXISTS can still collide with another process at the same instant; then the sequence is there.
      const { code } = error as { code?: unknown };
      if (code !== '23505' && code !== '42P07') throw error;
    }
  }
}
