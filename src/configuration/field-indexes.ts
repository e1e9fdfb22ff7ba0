/**
 * Creates and drops the indexes of workflow states, of fields that may be filtered, and of those that determine ownership of
 * records, to match the configuration (docs/spec/configuration.md#bundle), and indexes that later versions
 * added to other tables. It works outside transactions and concurrently, so that writers are not blocked; one process at a time. Indexes that an interrupted process left incomplete are dropped and rebuilt. It only compares
 * the wanted with the actual state, so it can be called at any time.
 */
import type { DataType } from '../lib/data-types/index.ts';
import {
  creatorIndex,
  type FieldIndex,
  fieldIndex,
  namedIndex,
  stateIndex,
  WORK_FIELDS,
} from '../platform/database/filter-sql.ts';
import type { Database } from '../platform/database/pool.ts';
import { tryNumberedLock } from '../platform/database/session-lock.ts';

/** The required information about the record types. */
export interface IndexedTypes {
  active: readonly {
    id: string;
    code: string;
    newest: {
      fields: ReadonlyMap<string, { code: string; dataType: DataType; multiple: boolean; search: { filter: boolean } }>;
      /** Null for types without a workflow. */
      workflow: object | null;
    };
  }[];
}

/** Type id → what read grants compare with the caller (`ownFieldView`). */
export type OwnFieldsByType = ReadonlyMap<string, { fields: ReadonlySet<string>; createdBy: boolean }>;

export interface PendingIndex {
  action: 'build' | 'drop';
  name: string;
  /** Absent for indexes to drop, whose field is no longer indexed, and for those that do not belong to a type. */
  type?: string;
  field?: string;
}

interface Wanted extends FieldIndex {
  type?: string;
  field?: string;
}

/** Lock number of the session that creates and drops indexes. */
const INDEX_LOCK = 7_236_823_411n;
const NAMES = '^(objects_field|later_index)_[0-9a-f]{24}$';
const STATISTICS = '^objects_known_[0-9a-f]{24}$';

/**
 * Indexes that versions after the first added to existing tables. They are created here, because a migration would block
 * writers until the index is complete.
 */
const LATER_INDEXES: readonly Wanted[] = [
  // Running SLA instances whose breach was notified: all overdue ones, apart from those of the last seconds.
  `ON sla_instances (object_id) WHERE status <> 'STOPPED' AND notified_thresholds @> '["breach"]'`,
].map((body) => {
  const { name, create } = namedIndex('later_index_', body);
  return { name, sql: create, statistics: null };
});

function wantedIndexes(types: IndexedTypes, owns: OwnFieldsByType): Map<string, Wanted> {
  const wanted = new Map<string, Wanted>();
  for (const type of types.active) {
    const own = owns.get(type.id);
    for (const field of type.newest.fields.values()) {
      const index = field.search.filter || own?.fields.has(field.code) === true ? fieldIndex(type.id, field) : null;
      if (index !== null) wanted.set(index.name, { ...index, type: type.code, field: field.code });
    }
    if (type.newest.workflow !== null) {
      const single = WORK_FIELDS.flatMap((code) => type.newest.fields.get(code) ?? []).filter(
        (field) => !field.multiple,
      );
      const index = stateIndex(type.id, single);
      wanted.set(index.name, { ...index, type: type.code, field: 'workflowState' });
    }
    if (own?.createdBy !== true) continue;
    const index = creatorIndex(type.id);
    wanted.set(index.name, { ...index, type: type.code, field: 'createdBy' });
  }
  for (const index of LATER_INDEXES) wanted.set(index.name, index);
  return wanted;
}

interface Client {
  query(text: string, values?: unknown[]): Promise<{ rows: unknown[] }>;
}

/** Name → whether the index is complete; an interrupted process leaves incomplete ones. */
async function presentIndexes(client: Client): Promise<Map<string, boolean>> {
  const { rows } = await client.query(
    `SELECT c.relname AS name, i.indisvalid AND i.indisready AS whole
     FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid
     WHERE c.relnamespace = current_schema()::regnamespace AND c.relname ~ $1`,
    [NAMES],
  );
  return new Map((rows as { name: string; whole: boolean }[]).map(({ name, whole }) => [name, whole]));
}

function difference(wanted: ReadonlyMap<string, Wanted>, present: ReadonlyMap<string, boolean>): PendingIndex[] {
  const drop = [...present.keys()].filter((name) => !wanted.has(name));
  const build = [...wanted.values()].filter(({ name }) => present.get(name) !== true);
  return [
    ...build.map(
      ({ name, type, field }): PendingIndex => ({
        action: 'build',
        name,
        ...(type === undefined ? {} : { type }),
        ...(field === undefined ? {} : { field }),
      }),
    ),
    ...drop.map((name): PendingIndex => ({ action: 'drop', name })),
  ];
}

/** The remaining work of the reconciler, for `plan` and `doctor`. */
export async function pendingFieldIndexes(
  db: Pick<Database, 'connect'>,
  types: IndexedTypes,
  owns: OwnFieldsByType,
): Promise<PendingIndex[]> {
  const client = await db.connect();
  try {
    return difference(wantedIndexes(types, owns), await presentIndexes(client));
  } finally {
    client.release();
  }
}

/**
 * Creates missing indexes and drops unwanted ones, one after another. Does nothing while another process does it.
 *
 * @returns the steps done. The first failure is thrown after the other steps were done; the next call retries failed steps
 */
export async function reconcileFieldIndexes(
  db: Pick<Database, 'connect' | 'session'>,
  types: IndexedTypes,
  owns: OwnFieldsByType,
): Promise<PendingIndex[]> {
  const wanted = wantedIndexes(types, owns);
  // Behind a pooler without a direct URL there is no dedicated session: session settings would affect other clients.
  const session = await db.session();
  const client = session ?? (await db.connect());
  let broken: Error | undefined;
  try {
    if (difference(wanted, await presentIndexes(client)).length === 0) return [];
    const lock = await tryNumberedLock(db, INDEX_LOCK);
    if (lock === undefined) return [];
    try {
      return await reconcile(client, wanted, session !== undefined);
    } finally {
      await lock.release();
    }
  } catch (error) {
    broken = error as Error;
    throw error;
  } finally {
    // After an error, the session may still have our settings, so it is not returned to the pool.
    client.release(broken);
  }
}

async function reconcile(client: Client, wanted: ReadonlyMap<string, Wanted>, own: boolean): Promise<PendingIndex[]> {
  // Building an index on many records may take longer than the statement timeout.
  if (own) await client.query('SET statement_timeout = 0');
  const done: PendingIndex[] = [];
  const failures: unknown[] = [];
  try {
    const present = await presentIndexes(client);
    for (const step of difference(wanted, present)) {
      try {
        if (present.has(step.name)) await client.query(`DROP INDEX CONCURRENTLY IF EXISTS ${quoted(step.name)}`);
        const index = wanted.get(step.name);
        if (index !== undefined) await client.query(index.sql);
        done.push(step);
      } catch (error) {
        failures.push(error);
      }
    }
    await reconcileStatistics(client, wanted);
  } finally {
    if (own) await client.query('RESET statement_timeout');
  }
  if (failures.length > 0) throw failures[0];
  return done;
}

/**
 * Creates missing planner statistics on the indexed fields, drops unwanted ones, and analyses at once if there are new ones.
 */
async function reconcileStatistics(client: Client, wanted: ReadonlyMap<string, Wanted>): Promise<void> {
  const { rows } = await client.query(
    'SELECT stxname AS name FROM pg_statistic_ext WHERE stxrelid = $1::regclass AND stxname ~ $2',
    ['objects', STATISTICS],
  );
  const present = new Set((rows as { name: string }[]).map(({ name }) => name));
  const known = new Map(
    [...wanted.values()].flatMap(({ statistics }) =>
      statistics === null ? [] : [[statistics.name, statistics.sql] as const],
    ),
  );
  for (const name of present) if (!known.has(name)) await client.query(`DROP STATISTICS IF EXISTS "${name}"`);
  const missing = [...known].filter(([name]) => !present.has(name));
  for (const [, sql] of missing) await client.query(sql);
  if (missing.length > 0) await client.query('ANALYZE objects');
}

function quoted(name: string): string {
  if (!new RegExp(NAMES).test(name)) throw new Error('not the name of a field index');
  return `"${name}"`;
}
