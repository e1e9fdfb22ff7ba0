/**
 * Invariants of the stored data. Each module defines the checks of its own tables; `docket doctor --deep` runs all of them. A
 * check reads one snapshot, so that it can run while the service works.
 */
import sql, { join, type Sql } from 'sql-template-tag';
import type { BlobStore } from '../blobs/store.ts';
import { unitOf } from '../journal/positions.ts';
import type { Database, Queryable } from '../database/pool.ts';
import type { ConfigSnapshot } from '../unit-of-work/snapshot.ts';

/** What a check may read. */
export interface CheckParts {
  db: Queryable;
  config: ConfigSnapshot;
  blobs: BlobStore;
}

/** Violations of a rule: their number, and the names of the first ones. */
export interface Violations {
  total: number;
  named: string[];
}

export interface Check {
  /** The invariant's number and its statement. */
  name: string;
  find(parts: CheckParts): Promise<Violations>;
}

const MAX_NAMED = 5;
/** Differences between history and current values are listed up to a higher limit, because each must be investigated. */
const MAX_DIFFERENCES = 50;
const REPLAYED_AT_ONCE = 500;
const CONTENT_BATCH = 200;

/** A check by one statement. Its rows have the column `what`, which names one violation. */
export function rowCheck(name: string, query: Sql | ((config: ConfigSnapshot) => Sql)): Check {
  return {
    name,
    find: async ({ db, config }) => {
      const rows = await db.query<{ what: string; total: number }>(sql`
        SELECT v.what::text AS what, (count(*) OVER ())::int AS total
        FROM (${typeof query === 'function' ? query(config) : query}) v LIMIT ${MAX_NAMED}::int`);
      return { total: rows[0]?.total ?? 0, named: rows.map(({ what }) => what) };
    },
  };
}

/**
 * A check that compares current rows with their history. `batch` returns the rows after an id, ordered by id, with the columns
 * `id` and `differs`, the names of the columns that do not match the history. The required memory does not grow with the table.
 */
export function replayCheck(name: string, kind: string, batch: (after: string, limit: number) => Sql): Check {
  return {
    name,
    find: async ({ db }) => {
      const found: Violations = { total: 0, named: [] };
      for (let after = NIL; ; ) {
        const rows = await db.query<{ id: string; differs: string[] }>(batch(after, REPLAYED_AT_ONCE));
        for (const { id, differs } of rows)
          if (differs.length > 0) note(found, `${kind} ${id} (${differs.join(', ')})`);
        after = rows.at(-1)?.id ?? after;
        if (rows.length < REPLAYED_AT_ONCE) return found;
      }
    },
  };
}

/** Sorts before every id. */
export const NIL = '00000000-0000-0000-0000-000000000000';

/** Counts a difference, and lists it up to the limit. */
export function note(found: Violations, what: string): void {
  found.total++;
  if (found.named.length < MAX_DIFFERENCES) found.named.push(what);
}

/** The array of names whose condition is true, for the column `differs` of a replay check. */
export function namesOf(conditions: Readonly<Record<string, Sql>>): Sql {
  const items = Object.entries(conditions).map(
    ([name, condition]) => sql`CASE WHEN ${condition} THEN ${name}::text END`,
  );
  return sql`array_remove(ARRAY[${join(items)}], NULL)`;
}

/**
 * A check that compares rows with the stored bytes. `query` returns one row per content after the given one, in order, with the
 * columns `sha256`, `least` and `most` (the sizes given by rows) and `what` (one such row).
 */
export function contentCheck(name: string, query: (after: string, limit: number) => Sql): Check {
  return {
    name,
    find: async ({ db, blobs }) => {
      const wrong: string[] = [];
      for (let after = ''; ; ) {
        const rows = await db.query<{ sha256: string; least: number; most: number; what: string }>(
          query(after, CONTENT_BATCH),
        );
        for (const row of rows) {
          const error = await contentError(blobs, row.sha256, row.least, row.most);
          if (error !== undefined) wrong.push(`${row.what} (${error})`);
        }
        after = rows.at(-1)?.sha256 ?? after;
        if (rows.length < CONTENT_BATCH) break;
      }
      return { total: wrong.length, named: wrong.slice(0, MAX_NAMED) };
    },
  };
}

async function contentError(
  blobs: BlobStore,
  sha256: string,
  least: number,
  most: number,
): Promise<string | undefined> {
  let size = 0;
  try {
    for await (const chunk of await blobs.read(sha256)) size += (chunk as Uint8Array).byteLength;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
  return size === least && size === most ? undefined : `${size} bytes, not ${least === size ? most : least}`;
}

/**
 * Stored idempotent responses of an operation: `key` and the `id` of the created item, extracted from the response by `path`.
 */
export function keptAnswersOf(operationId: string, path: readonly string[] = ['id']): Sql {
  return sql`SELECT i.key, i.route, i.created_at, (i.answer::jsonb #>> ${[...path]}::text[])::uuid AS id,
      i.answer::jsonb ->> 'draft' AS draft
    FROM idempotency i WHERE (i.route = ${operationId} OR starts_with(i.route, ${`${operationId} `})) AND i.status < 300`;
}

/** Events that belong to a revision of a record: `id`, `object_id`, `revision`, `via`, and `unit`, its transaction. */
export function revisionsMade(): Sql {
  return sql`SELECT j.id, j.object_id, j.revision, j.via, ${unitOf('j')} AS unit FROM journal j WHERE j.object_id IS NOT NULL AND j.revision IS NOT NULL`;
}

/** The check of the journal itself. */
export const journalCheck = rowCheck(
  'I3 no event twice in the journal',
  sql`SELECT 'event ' || j.id AS what FROM journal j GROUP BY j.id HAVING count(*) > 1`,
);

/** Runs one check on one snapshot, without a time limit. */
export async function runCheck(db: Database, check: Check, parts: Omit<CheckParts, 'db'>): Promise<Violations> {
  return await db.transaction('BEGIN ISOLATION LEVEL REPEATABLE READ, READ ONLY', async (tx) => {
    await tx.query(sql`SELECT set_config('statement_timeout', '0', true)`);
    return await check.find({ ...parts, db: { query: (statement) => tx.query(statement, { patient: true }) } });
  });
}
