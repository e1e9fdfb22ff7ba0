/**
 * What must hold of stored data after whatever happened (reliability, 5.1): each room says it of its own tables, `docket doctor
 * --deep` asks all. A check reads one instant, so that it can be asked while the service works.
 */
import sql, { join, type Sql } from 'sql-template-tag';
import type { BlobStore } from './blobs/store.ts';
import type { Database, Queryable } from './db/pool.ts';
import type { ConfigSnapshot } from './snapshot.ts';

/** What a check may look at. */
export interface CheckParts {
  db: Queryable;
  config: ConfigSnapshot;
  blobs: BlobStore;
}

/** What breaks a rule: so many things, the first of them named. */
export interface Violations {
  total: number;
  named: string[];
}

export interface Check {
  /** The invariant's number and what it says. */
  name: string;
  find(parts: CheckParts): Promise<Violations>;
}

const MOST_NAMED = 5;
/** A difference between history and present is named one by one, since each must be looked into. */
const MOST_DIFFERENCES = 50;
const REPLAYED_AT_ONCE = 500;
const CONTENT_BATCH = 200;

/** A check by one statement, whose rows have the column `what`: a name for one thing that breaks the rule. */
export function rowCheck(name: string, query: Sql | ((config: ConfigSnapshot) => Sql)): Check {
  return {
    name,
    find: async ({ db, config }) => {
      const rows = await db.query<{ what: string; total: number }>(sql`
        SELECT v.what::text AS what, (count(*) OVER ())::int AS total
        FROM (${typeof query === 'function' ? query(config) : query}) v LIMIT ${MOST_NAMED}::int`);
      return { total: rows[0]?.total ?? 0, named: rows.map(({ what }) => what) };
    },
  };
}

/**
 * A check of current rows against what their history says. `batch` gives the rows after an id, in the order of their ids, each
 * with `id` and `differs`: the names of the columns that are not what the history says. So the memory that it takes does not
 * grow with the table.
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

/** Before every id. */
export const NIL = '00000000-0000-0000-0000-000000000000';

/** Adds a difference; as many are named as somebody can look into. */
export function note(found: Violations, what: string): void {
  found.total++;
  if (found.named.length < MOST_DIFFERENCES) found.named.push(what);
}

/** The list of the names whose condition holds, for the column `differs` of a replay. */
export function namesOf(conditions: Readonly<Record<string, Sql>>): Sql {
  const items = Object.entries(conditions).map(
    ([name, condition]) => sql`CASE WHEN ${condition} THEN ${name}::text END`,
  );
  return sql`array_remove(ARRAY[${join(items)}], NULL)`;
}

/**
 * A check of content: what rows say of it against the very bytes. `query` has `sha256`, `least` and `most` (sizes that rows give
 * it) and `what` (one such row), a row for each content after the one given, in its order.
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
          const flaw = await contentFlaw(blobs, row.sha256, row.least, row.most);
          if (flaw !== undefined) wrong.push(`${row.what} (${flaw})`);
        }
        after = rows.at(-1)?.sha256 ?? after;
        if (rows.length < CONTENT_BATCH) break;
      }
      return { total: wrong.length, named: wrong.slice(0, MOST_NAMED) };
    },
  };
}

async function contentFlaw(blobs: BlobStore, sha256: string, least: number, most: number): Promise<string | undefined> {
  let size = 0;
  try {
    for await (const chunk of await blobs.read(sha256)) size += (chunk as Uint8Array).byteLength;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
  return size === least && size === most ? undefined : `${size} bytes, not ${least === size ? most : least}`;
}

/** Kept answers of an operation: `key` and the `id` of what the call made, found in the answer along `path`. */
export function keptAnswersOf(operationId: string, path: readonly string[] = ['id']): Sql {
  return sql`SELECT i.key, i.route, i.created_at, (i.answer::jsonb #>> ${[...path]}::text[])::uuid AS id
    FROM idempotency i WHERE (i.route = ${operationId} OR starts_with(i.route, ${`${operationId} `})) AND i.status < 300`;
}

/** Events that made a revision of a record: `object_id`, `revision`. */
export function revisionsMade(): Sql {
  return sql`SELECT j.id, j.object_id, j.revision FROM journal j WHERE j.object_id IS NOT NULL AND j.revision IS NOT NULL`;
}

/** Whether the event waits in the outbox: a predicate over its id. */
export function waiting(eventId: Sql): Sql {
  return sql`EXISTS (SELECT 1 FROM outbox x WHERE x.event_id = ${eventId})`;
}

/** Checks of what no room owns: journal and outbox. */
export const journalChecks: readonly Check[] = [
  rowCheck(
    'I3 no event twice, in the journal or the outbox',
    sql`SELECT 'event ' || j.id AS what FROM journal j GROUP BY j.id HAVING count(*) > 1
      UNION ALL SELECT 'outbox row of event ' || x.event_id FROM outbox x GROUP BY x.event_id HAVING count(*) > 1`,
  ),
  rowCheck(
    'I4 no outbox row without its event',
    sql`SELECT 'outbox row ' || x.seq AS what FROM outbox x LEFT JOIN journal j ON j.id = x.event_id WHERE j.id IS NULL`,
  ),
];

/** Asks one check, at one instant and however long it takes. */
export async function runCheck(db: Database, check: Check, parts: Omit<CheckParts, 'db'>): Promise<Violations> {
  return await db.transaction('BEGIN ISOLATION LEVEL REPEATABLE READ, READ ONLY', async (tx) => {
    await tx.query(sql`SELECT set_config('statement_timeout', '0', true)`);
    return await check.find({ ...parts, db: { query: (statement) => tx.query(statement, { patient: true }) } });
  });
}
