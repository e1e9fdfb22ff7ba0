/** SQL on the table `objects`. */
import { isActive, type ItemState } from '../../contract/state.ts';
import type { RecordAction } from '../../contract/rights.ts';
import sql, { empty, raw, type Sql } from 'sql-template-tag';
import type { ReadContext, TableWrite } from '../../platform/unit-of-work/context.ts';
import { registry, storedCodes, type StoredValues } from '../metadata/index.ts';
import { byId } from '../../platform/database/lookups.ts';
import type { QueryOptions } from '../../platform/database/pool.ts';
import { CONFIG_VERSION } from '../../platform/unit-of-work/snapshot.ts';
import { joinedUser, userName } from '../../platform/journal/journal.ts';

declare const needed: unique symbol;

/**
 * A write that needs a right on a record. `ctx.plan` does not take it; `planOn` does, and requires a record on which that right
 * was checked.
 */
export interface GuardedWrite<Row, Action extends RecordAction> {
  readonly write: TableWrite<Row>;
  readonly [needed]: Action;
}

export function guarded<Action extends RecordAction, Row>(
  _needed: Action | readonly Action[],
  write: TableWrite<Row>,
): GuardedWrite<Row, Action> {
  return { write } as GuardedWrite<Row, Action>;
}

export interface ObjectRow {
  id: string;
  typeId: string;
  typeVersion: number;
  number: string | null;
  title: string | null;
  revision: number;
  state: ItemState;
  workflowStateId: string | null;
  values: Record<string, unknown>;
  /**
   * Set only when it was just derived. It is never read back: it is as large as the texts, and deriving it again gives the
   * same.
   */
  folded?: Record<string, string | string[]>;
  createdAt: string;
  createdBy: string | null;
  createdByName: string | null;
  updatedAt: string;
  updatedBy: string | null;
  updatedByName: string | null;
  archivedAt: string | null;
}

const HEAD_COLUMNS = sql`o.id, o.type_id AS "typeId", o.type_version AS "typeVersion", o.number, o.title, o.revision, o.state,
  o.workflow_state_id AS "workflowStateId", o.created_at AS "createdAt", o.created_by AS "createdBy",
  o.updated_at AS "updatedAt", o.updated_by AS "updatedBy", o.archived_at AS "archivedAt"`;

export const OBJECT_COLUMNS = sql`${HEAD_COLUMNS}, o."values"`;

/** Reads rows with `OBJECT_COLUMNS`, with their values under the current codes. */
export async function queryObjects(
  ctx: Pick<ReadContext, 'query' | 'config'>,
  statement: Sql,
  options?: QueryOptions,
): Promise<ObjectRow[]> {
  const rows = await ctx.query<StoredObject>(statement, options);
  return rows.map((row) => withCurrentValues(ctx, row));
}

type StoredObject = Omit<ObjectRow, 'values'> & { values: StoredValues };

function withCurrentValues(ctx: Pick<ReadContext, 'config'>, row: StoredObject): ObjectRow {
  const current = row as ObjectRow;
  current.values = storedCodes(registry(ctx), row.typeId).decode(row.values);
  return current;
}

// Subqueries by primary key: a single record needs no join.
const NAMES = sql`${userName('o.created_by')} AS "createdByName", ${userName('o.updated_by')} AS "updatedByName"`;

export const objectById = byId<StoredObject>(
  (id) => sql`SELECT ${OBJECT_COLUMNS}, ${NAMES} FROM objects o WHERE o.id = ${id}`,
);

/** The record of a row that `objectById` found, without a check of read access. */
export function objectOf(ctx: ReadContext, found: object): ObjectRow {
  return withCurrentValues(ctx, found as StoredObject);
}

/** The record without a check of read access; callers evaluate the rights before they return any of it (`load.ts`). */
export async function findObject(ctx: ReadContext, id: string): Promise<ObjectRow | undefined> {
  const row = await ctx.find(objectById, { id });
  return row === undefined ? undefined : withCurrentValues(ctx, row);
}

/**
 * Predicate: the caller may read the record whose id is in the column. Null if the caller may read no record.
 *
 * @param more must hold for the record, as `o`, too
 */
export function visibleRecord(ctx: ReadContext, column: string, more?: Sql): Sql | null {
  const visible = ctx.actor.visible('o', 'read', ctx.now);
  if (visible === null) return null;
  return sql`EXISTS (SELECT FROM objects o WHERE o.id = ${raw(column)} AND ${visible}${more === undefined ? empty : sql` AND ${more}`})`;
}

export async function findObjects(ctx: ReadContext, ids: readonly string[]): Promise<ObjectRow[]> {
  // A statement with a list is planned at each execution, because the planner assumes ten elements for an unknown list. For two
  // ids, as of the two ends of a relation, planning would cost several times as much as the lookup.
  const among =
    ids.length === 2 ? sql`o.id IN (${ids[0]}::uuid, ${ids[1]}::uuid)` : sql`o.id = ANY(${[...ids]}::uuid[])`;
  return await queryObjects(ctx, sql`SELECT ${OBJECT_COLUMNS}, ${NAMES} FROM objects o WHERE ${among}`);
}

export interface ListPage {
  /** Predicate for the rows that the caller may read. It is required, so that no list can be read without it. */
  visible: Sql;
  typeId?: string;
  state: ItemState;
  workflowStateIds?: readonly string[];
  limit: number;
  offset: number;
}

const CREATOR = joinedUser('o.created_by', 'uc');
const UPDATER = joinedUser('o.updated_by', 'uu');
export const JOINED_NAMES = sql`${CREATOR.name} AS "createdByName", ${UPDATER.name} AS "updatedByName"`;
export const JOINS = sql`${CREATOR.join} ${UPDATER.join}`;

/** Predicate on `o`. The state is a literal in the statement, so that the planner can use the partial index on it. */
export function whereState(state: ItemState): Sql {
  return isActive({ state }) ? sql`o.state = 'ACTIVE'` : sql`o.state = 'ARCHIVED'`;
}

/** The rows of a page as `o` with the joined names, newest first. @param columns what is selected of them; `only` limits them further */
function pageStatement(page: ListPage, columns: Sql, only = empty): { statement: Sql; options: QueryOptions } {
  const state = whereState(page.state);
  const states =
    page.workflowStateIds === undefined
      ? empty
      : sql`AND o.workflow_state_id = ANY(${[...page.workflowStateIds]}::uuid[])`;
  const type = page.typeId === undefined ? empty : sql`AND o.type_id = ${page.typeId}::uuid`;
  const chosen = sql`FROM objects o WHERE ${state} AND ${page.visible} ${type} ${states} ${only} ORDER BY o.created_at DESC, o.id DESC`;
  // The first page is by far the most frequent. Its limit is a literal, because with an unknown limit the statement would be
  // planned each time. For deeper pages, ids are selected first, so that only the shown rows are read in full.
  const rows =
    page.offset === 0
      ? sql`(SELECT o.* ${chosen} LIMIT ${raw(String(Math.trunc(page.limit)))}) AS o`
      : sql`(SELECT o.id ${chosen} LIMIT ${page.limit}::int OFFSET ${page.offset}::int) AS page JOIN objects o ON o.id = page.id`;
  return {
    statement: sql`SELECT ${columns}, ${JOINED_NAMES} FROM ${rows} ${JOINS} ORDER BY o.created_at DESC, o.id DESC`,
    // A generic plan would assume an unknown offset to be a tenth of the table and sort all of it.
    options: { freshPlan: page.offset > 0 },
  };
}

/** Records of a page, newest first. */
export async function listVisible(ctx: ReadContext, page: ListPage): Promise<ObjectRow[]> {
  const { statement, options } = pageStatement(page, OBJECT_COLUMNS);
  return await queryObjects(ctx, statement, options);
}

/** A record with its values as JSON text. */
export type TextRow = Omit<ObjectRow, 'values' | 'folded'> & { values: string };

/**
 * The same with the values as text, under the stored codes.
 *
 * @param hidden codes of the fields that are left out; null to include also fields that this process does not know yet
 * @returns no rows if `hidden` is given and the configuration has changed meanwhile: there may be more fields to leave out
 */
export async function listTexts(
  ctx: ReadContext,
  page: ListPage,
  hidden: readonly string[] | null,
): Promise<TextRow[]> {
  const values = hidden === null || hidden.length === 0 ? sql`o."values"` : sql`(o."values" - ${[...hidden]}::text[])`;
  const only = hidden === null ? empty : sql`AND ${CONFIG_VERSION} = ${ctx.config.version}::bigint`;
  const { statement, options } = pageStatement(page, sql`${HEAD_COLUMNS}, ${values}::text AS "values"`, only);
  return await ctx.query<TextRow>(statement, options);
}

export interface NewObject {
  id: string;
  type_id: string;
  type_version: number;
  /** Sequence, prefix and digits of the numbering; null without numbering. */
  sequence: string | null;
  prefix: string | null;
  digits: number | null;
  title: string | null;
  workflow_state_id: string | null;
  values: StoredValues;
  folded: StoredValues;
  at: string;
  by: string | null;
  /** Who changed it last, in the same unit of work. */
  updated_by: string | null;
}

/** The ids of the records, in any state, that satisfy the condition. */
export async function listAdmitted(ctx: ReadContext, ids: readonly string[], visible: Sql): Promise<string[]> {
  const rows = await ctx.query<{ id: string }>(sql`
    SELECT o.id FROM objects o WHERE o.id = ANY(${[...ids]}::uuid[]) AND ${visible}`);
  return rows.map(({ id }) => id);
}

// A process may have an older configuration for a moment. It must not write what a change of the type has replaced: the apply
// counted the records that hold removed fields and options.
function isCurrentVersion(typeId: Sql, newest: Sql): Sql {
  return sql`NOT EXISTS (SELECT FROM type_versions v WHERE v.type_id = ${typeId} AND v.version > ${newest})`;
}

/** Likewise, no record enters a state that was removed. */
function isPresentState(stateId: Sql): Sql {
  return sql`NOT EXISTS (SELECT FROM removed_states s WHERE s.id = ${stateId})`;
}

export const insertObject: GuardedWrite<NewObject, 'create'> = guarded('create', {
  name: 'insert_object',
  guard: true,
  records: ({ id }) => [id],
  frequent: true,
  columns: {
    id: 'uuid',
    type_id: 'uuid',
    type_version: 'integer',
    sequence: 'text',
    prefix: 'text',
    digits: 'integer',
    title: 'text',
    workflow_state_id: 'uuid',
    values: 'jsonb',
    folded: 'jsonb',
    at: 'timestamptz',
    by: 'uuid',
    updated_by: 'uuid',
  },
  sql: (rows: Sql) => sql`
    INSERT INTO objects (id, type_id, type_version, number, title, revision, workflow_state_id, "values", folded, created_at,
      created_by, updated_at, updated_by)
    SELECT id, type_id, type_version,
      CASE WHEN sequence IS NULL THEN NULL
        -- What is undone in any case draws no number: sequences do not go back.
        WHEN current_setting('docket.dry_run', true) = 'on' THEN NULL
        ELSE (SELECT prefix || lpad(n, greatest(digits, length(n)), '0')
          FROM (SELECT nextval(sequence::regclass)::text AS n) AS next) END,
      title, 1, workflow_state_id, "values", folded, at, by, at, updated_by
    FROM ${rows} WHERE ${isCurrentVersion(sql`r.type_id`, sql`r.type_version`)} AND ${isPresentState(sql`r.workflow_state_id`)}
    RETURNING id, number AS returned_value`,
});

export interface ObjectChange {
  id: string;
  expected: number;
  type_version: number;
  /** The newest version of the type that the decision was made on. */
  newest: number;
  title: string | null;
  state: ItemState;
  workflow_state_id: string | null;
  /**
   * All values of the record. The revision is the condition of the write, so no concurrent change can be overwritten. Null if
   * no value changes: then they are not sent, read and compressed again.
   */
  values: StoredValues | null;
  folded: StoredValues | null;
  at: string;
  by: string | null;
  archived_at: string | null;
}

/**
 * Changes values, state, workflow state and type version. It requires the revision that the decision was made on. Otherwise the
 * unit of work is rolled back and retried; the retry reads the new revision and `requireRevision` reports the conflict. Rows are
 * locked in the order of their ids.
 */
export const changeObject: GuardedWrite<ObjectChange, 'update' | 'archive' | 'transition'> = guarded(
  ['update', 'archive', 'transition'],
  {
    name: 'change_object',
    guard: 'revision',
    records: ({ id }) => [id],
    frequent: true,
    columns: {
      id: 'uuid',
      expected: 'integer',
      type_version: 'integer',
      newest: 'integer',
      title: 'text',
      state: 'text',
      workflow_state_id: 'uuid',
      values: 'jsonb',
      folded: 'jsonb',
      at: 'timestamptz',
      by: 'uuid',
      archived_at: 'timestamptz',
    },
    sql: (rows: Sql, alone: boolean) => sql`
    UPDATE objects o SET revision = o.revision + 1, type_version = r.type_version, title = r.title, state = r.state,
      workflow_state_id = r.workflow_state_id, "values" = coalesce(r."values", o."values"), folded = coalesce(r.folded, o.folded),
      updated_at = r.at, updated_by = r.by, archived_at = r.archived_at
    FROM ${
      alone
        ? rows
        : sql`(SELECT r.* FROM ${rows} JOIN objects l ON l.id = r.id ORDER BY r.id FOR NO KEY UPDATE OF l) AS r`
    }
    WHERE o.id = r.id AND o.revision = r.expected AND ${isCurrentVersion(sql`o.type_id`, sql`r.newest`)}
      AND (r.workflow_state_id IS NOT DISTINCT FROM o.workflow_state_id OR ${isPresentState(sql`r.workflow_state_id`)})
    RETURNING 1`,
  },
);

/** Records of the type with an older version, by id, after `after`. */
export async function listOlderVersions(
  ctx: ReadContext,
  typeId: string,
  newest: number,
  after: string | null,
  limit: number,
): Promise<ObjectRow[]> {
  return await queryObjects(
    ctx,
    sql`
    SELECT ${OBJECT_COLUMNS}, ${NAMES} FROM objects o
    WHERE o.type_id = ${typeId}::uuid AND o.type_version < ${newest}::int AND (${after}::uuid IS NULL OR o.id > ${after}::uuid)
    ORDER BY o.id LIMIT ${limit}::int`,
  );
}

/** Sets a newer type version without a change of values; the revision stays. */
export const moveVersion: TableWrite<{
  id: string;
  expected: number;
  type_version: number;
  /** Which fields are text can differ between versions. */
  folded: StoredValues;
}> = {
  name: 'move_version',
  guard: true,
  sql: (rows: Sql) => sql`
    UPDATE objects o SET type_version = r.type_version, folded = r.folded
    FROM jsonb_to_recordset(${rows}) AS r (id uuid, expected integer, type_version integer, folded jsonb)
    WHERE o.id = r.id AND o.revision = r.expected RETURNING 1`,
};

/**
 * Locks the record as active until the unit of work ends, so that it cannot be archived while a comment, attachment or relation
 * is added. It takes a shared lock, so such writers do not wait for each other.
 */
export const holdActive: TableWrite<{ id: string }> = {
  name: 'hold_active',
  guard: true,
  records: ({ id }) => [id],
  frequent: true,
  columns: { id: 'uuid' },
  sql: (rows: Sql) => sql`
    SELECT o.id FROM objects o JOIN ${rows} ON r.id = o.id
    WHERE o.state = 'ACTIVE' ORDER BY o.id FOR SHARE OF o`,
};

/** Locks the record at the revision that a decision was made on, until the unit of work ends. */
export const holdRevision: TableWrite<{ id: string; expected: number }> = {
  name: 'hold_revision',
  guard: true,
  records: ({ id }) => [id],
  frequent: true,
  columns: { id: 'uuid', expected: 'integer' },
  sql: (rows: Sql) => sql`
    SELECT o.id FROM objects o JOIN ${rows} ON r.id = o.id
    WHERE o.revision = r.expected ORDER BY o.id FOR SHARE OF o`,
};
