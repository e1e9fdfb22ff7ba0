/** Record numbers. Each prefix has one database sequence, so numbers rise across all processes and are unique. */
import { raw } from 'sql-template-tag';
import type { Queryable } from '../../platform/database/pool.ts';
import type { ConfigSnapshot } from '../../platform/unit-of-work/snapshot.ts';
import { typeView } from './registry.ts';

/** Name of the prefix's sequence. Prefixes consist of upper-case ASCII letters, digits and hyphens. */
export function numberSequence(prefix: string): string {
  return `"number_${prefix}"`;
}

/**
 * Creates the sequences that the configuration needs and that do not exist yet. It runs outside the apply's transaction, before
 * a process uses a new snapshot. Concurrent calls are safe.
 */
export async function ensureNumbering(db: Queryable, snapshot: ConfigSnapshot): Promise<void> {
  const prefixes = new Set(
    [...snapshot.get(typeView).byId.values()].flatMap((type) => type.newest.definition.numbering?.prefix ?? []),
  );
  for (const prefix of prefixes) {
    if (!/^[A-Z][A-Z0-9-]{0,15}$/.test(prefix)) throw new Error('a numbering prefix of unexpected shape was stored');
    try {
      await db.query(raw(`CREATE SEQUENCE IF NOT EXISTS ${numberSequence(prefix)}`));
    } catch (error) {
      // IF NOT EXISTS can still fail if another process creates the sequence at the same time. The sequence exists then.
      const { code } = error as { code?: unknown };
      if (code !== '23505' && code !== '42P07') throw error;
    }
  }
}
