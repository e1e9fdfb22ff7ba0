/** Rows of the configuration: items, versions of types, and ids of parts of items. */
import { setTimeout as sleep } from 'node:timers/promises';
import sql, { type Sql } from 'sql-template-tag';
import { Fault } from '../lib/fault.ts';
import type { Change, StoredItem, StoredVersion } from './section.ts';
import type { ReadContext, TableWrite, WriteContext } from '../platform/unit-of-work/context.ts';
import type { ItemState } from '../contract/state.ts';

/** Serialises applies, so that each one sees the result of the previous one. An arbitrary fixed number. */
const APPLY_LOCK = 7_236_823_410;

/** Opens the unit's transaction and blocks other applies until it ends. */
export async function lockConfiguration(ctx: WriteContext): Promise<void> {
  await ctx.lock(sql`SELECT pg_advisory_xact_lock(${APPLY_LOCK}::bigint)`);
}

/**
 * Like `lockConfiguration`, for a dry run: waits at most a second.
 *
 * @throws Fault OVERLOADED
 */
export async function tryLockConfiguration(ctx: WriteContext): Promise<void> {
  for (let tries = 0; tries < 20; tries++) {
    const [row] = await ctx.lock<{ locked: boolean }>(
      sql`SELECT pg_try_advisory_xact_lock(${APPLY_LOCK}::bigint) AS locked`,
    );
    if (row?.locked === true) return;
    await sleep(50);
  }
  throw new Fault('OVERLOADED', 'Another change of the configuration is running. Retry in a moment.', [], {
    headers: { 'Retry-After': '1' },
  });
}

export async function loadItems(ctx: Pick<ReadContext, 'query'>, section: string): Promise<StoredItem[]> {
  return await ctx.query<StoredItem>(sql`
    SELECT id, code, former_codes AS "formerCodes", state, version, definition, compiled, updated_at AS "updatedAt", updated_by AS "updatedBy"
    FROM config_items WHERE section = ${section} ORDER BY code`);
}

/** Item id → its stored versions, oldest first. */
export async function loadVersions(ctx: Pick<ReadContext, 'query'>): Promise<Map<string, StoredVersion[]>> {
  const rows = await ctx.query<{ id: string; version: number; compiled: unknown }>(sql`
    SELECT type_id AS id, version, compiled FROM type_versions ORDER BY type_id, version`);
  const found = new Map<string, StoredVersion[]>();
  for (const { id, ...version } of rows) {
    const list = found.get(id);
    if (list === undefined) found.set(id, [version]);
    else list.push(version);
  }
  return found;
}

export interface NestedId {
  id: string;
  scope: string;
  code: string;
}

export async function loadNestedIds(ctx: Pick<ReadContext, 'query'>): Promise<NestedId[]> {
  return await ctx.query<NestedId>(sql`SELECT id, scope, code FROM config_ids`);
}

export const insertNestedId: TableWrite<NestedId> = {
  name: 'insert_config_ids',
  guard: true,
  sql: (rows: Sql) => sql`
    INSERT INTO config_ids (id, scope, code)
    SELECT id, scope, code FROM jsonb_to_recordset(${rows}) AS r (id uuid, scope text, code text)
    ON CONFLICT (scope, code) DO NOTHING RETURNING 1`,
};

/** Moves the id of a part to its new code. Rows are few, and no two exchange their codes. */
export const moveNestedId: TableWrite<NestedId> = {
  name: 'move_config_ids',
  guard: true,
  sql: (rows: Sql) => sql`
    UPDATE config_ids c SET scope = r.scope, code = r.code
    FROM jsonb_to_recordset(${rows}) AS r (id uuid, scope text, code text) WHERE c.id = r.id RETURNING 1`,
};

interface ItemRow {
  id: string;
  section: string;
  code: string;
  definition: unknown;
  compiled: unknown;
  at: string;
  by: string | null;
}

const insertItem: TableWrite<ItemRow> = {
  name: 'insert_config_items',
  guard: true,
  sql: (rows: Sql) => sql`
    INSERT INTO config_items (id, section, code, definition, compiled, created_at, updated_at, updated_by)
    SELECT id, section, code, definition, compiled, at, at, by
    FROM jsonb_to_recordset(${rows}) AS r (id uuid, section text, code text, definition jsonb, compiled jsonb,
      at timestamptz, by uuid)
    ON CONFLICT (section, code) DO NOTHING RETURNING 1`,
};

interface ItemUpdate extends Omit<ItemRow, 'section'> {
  /** The code before; the same unless the item is renamed. */
  former_code: string;
  state: ItemState;
  version: number;
  expected_version: number;
  expected_state: ItemState;
}

const updateItem: TableWrite<ItemUpdate> = {
  name: 'update_config_items',
  guard: true,
  sql: (rows: Sql) => sql`
    UPDATE config_items i SET code = r.code, definition = r.definition,
      former_codes = CASE WHEN r.code = r.former_code THEN i.former_codes
        ELSE array_append(array_remove(i.former_codes, r.code), r.former_code) END, compiled = r.compiled, state = r.state, version = r.version,
      updated_at = r.at, updated_by = r.by
    FROM jsonb_to_recordset(${rows}) AS r (id uuid, code text, former_code text, definition jsonb, compiled jsonb, state text, version integer,
      expected_version integer, expected_state text, at timestamptz, by uuid)
    WHERE i.id = r.id AND i.version = r.expected_version AND i.state = r.expected_state RETURNING 1`,
};

/** The configuration version that the statement creates. The configuration lock is held, so no other unit creates it. */
const NEXT_VERSION = sql`(SELECT config + 1 FROM cache_versions)`;

const insertConfigVersion: TableWrite<{ at: string; by: string | null }> = {
  name: 'insert_config_versions',
  guard: false,
  sql: (rows: Sql) => sql`
    INSERT INTO config_versions (version, changed_at, changed_by)
    SELECT DISTINCT ${NEXT_VERSION}, at, by FROM jsonb_to_recordset(${rows}) AS r (at timestamptz, by uuid)`,
};

const insertItemVersion: TableWrite<Pick<ItemRow, 'id' | 'section' | 'code' | 'definition'> & { state: ItemState }> = {
  name: 'insert_config_item_versions',
  guard: true,
  sql: (rows: Sql) => sql`
    INSERT INTO config_item_versions (item_id, version, section, code, state, definition)
    SELECT id, ${NEXT_VERSION}, section, code, state, definition
    FROM jsonb_to_recordset(${rows}) AS r (id uuid, section text, code text, state text, definition jsonb)
    ON CONFLICT (item_id, version) DO NOTHING RETURNING 1`,
};

/**
 * Plans the row of an item, its row in the history of the configuration, and the next configuration version. The unit holds
 * the configuration lock. The item's own version is incremented if its definition changes.
 */
export function planItem(ctx: WriteContext, change: Change): void {
  const { id, section, code, definition, compiled, stored, before, state } = change;
  const by = ctx.actor.userId;
  ctx.invalidate('config');
  ctx.plan(insertConfigVersion, { at: ctx.now, by });
  ctx.plan(insertItemVersion, { id, section, code, state, definition });
  if (stored === undefined) {
    ctx.plan(insertItem, { id, section, code, definition, compiled, at: ctx.now, by });
    return;
  }
  ctx.plan(updateItem, {
    id,
    code,
    former_code: before?.code ?? code,
    definition,
    compiled,
    state,
    version: change.action === 'archive' ? stored.version : stored.version + 1,
    expected_version: stored.version,
    expected_state: stored.state,
    at: ctx.now,
    by,
  });
}

export interface VersionRow {
  type_id: string;
  version: number;
  compiled: unknown;
  at: string;
}

export const insertVersion: TableWrite<VersionRow> = {
  name: 'insert_type_versions',
  guard: true,
  sql: (rows: Sql) => sql`
    INSERT INTO type_versions (type_id, version, compiled, created_at)
    SELECT type_id, version, compiled, at
    FROM jsonb_to_recordset(${rows}) AS r (type_id uuid, version integer, compiled jsonb, at timestamptz)
    ON CONFLICT (type_id, version) DO NOTHING RETURNING 1`,
};

export const updateVersion: TableWrite<Omit<VersionRow, 'at'>> = {
  name: 'update_type_versions',
  guard: true,
  sql: (rows: Sql) => sql`
    UPDATE type_versions v SET compiled = r.compiled
    FROM jsonb_to_recordset(${rows}) AS r (type_id uuid, version integer, compiled jsonb)
    WHERE v.type_id = r.type_id AND v.version = r.version RETURNING 1`,
};
