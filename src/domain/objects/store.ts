/** SQL on the table `objects` and on a record's rows of the journal; nothing else touches them. */
import sql, { empty, raw, type Sql } from 'sql-template-tag';
import type { ReadContext, TableWrite } from '../../mechanisms/context.ts';
import { shownData } from '../../mechanisms/journal.ts';

export interface ObjectRow {
  id: string;
  typeId: string;
  typeVersion: number;
  number: string | null;
  title: string | null;
  revision: number;
  state: 'ACTIVE' | 'ARCHIVED';
  workflowStateId: string | null;
  values: Record<string, unknown>;
  /** Known where it was just derived, never read: it is as large as the texts, and what is derived again is the same. */
  folded?: Record<string, string | string[]>;
  createdAt: string;
  createdBy: string | null;
  createdByName: string | null;
  updatedAt: string;
  updatedBy: string | null;
  updatedByName: string | null;
  archivedAt: string | null;
}

export const OBJECT_COLUMNS = sql`o.id, o.type_id AS "typeId", o.type_version AS "typeVersion", o.number, o.title, o.revision, o.state,
  o.workflow_state_id AS "workflowStateId", o."values", o.created_at AS "createdAt", o.created_by AS "createdBy",
  o.updated_at AS "updatedAt", o.updated_by AS "updatedBy", o.archived_at AS "archivedAt"`;

// People are read by primary key beside the record: their names are as fresh as the record itself.
const NAMES = sql`(SELECT display_name FROM users WHERE id = o.created_by) AS "createdByName",
  (SELECT display_name FROM users WHERE id = o.updated_by) AS "updatedByName"`;

/** The record whoever may read it: callers judge it before anything of it leaves (`load.ts`). */
export async function findObject(ctx: ReadContext, id: string): Promise<ObjectRow | undefined> {
  const rows = await ctx.query<ObjectRow>(
    sql`SELECT ${OBJECT_COLUMNS}, ${NAMES} FROM objects o WHERE o.id = ${id}::uuid`,
  );
  return rows[0];
}

/** The predicate that the record whose id stands in the column may be read by the caller; null where none may be. */
export function readableRecord(ctx: ReadContext, column: string): Sql | null {
  const visible = ctx.actor.visible('o', 'read', ctx.now);
  return visible === null ? null : sql`EXISTS (SELECT FROM objects o WHERE o.id = ${raw(column)} AND ${visible})`;
}

export async function findObjects(ctx: ReadContext, ids: readonly string[]): Promise<ObjectRow[]> {
  // A list is planned anew at each execution, since the planner takes it to be ten long when it does not look; of two, the two
  // ends of a relation, that would cost several times the look-up.
  const among =
    ids.length === 2 ? sql`o.id IN (${ids[0]}::uuid, ${ids[1]}::uuid)` : sql`o.id = ANY(${[...ids]}::uuid[])`;
  return await ctx.query<ObjectRow>(sql`SELECT ${OBJECT_COLUMNS}, ${NAMES} FROM objects o WHERE ${among}`);
}

export interface ListPage {
  /** The rows that the caller may read; a list cannot be asked for without it. */
  visible: Sql;
  typeId?: string;
  state: 'ACTIVE' | 'ARCHIVED';
  workflowStateIds?: readonly string[];
  limit: number;
  offset: number;
}

// A page names few people: joined, so that the planner may remember those it found.
export const JOINED_NAMES = sql`uc.display_name AS "createdByName", uu.display_name AS "updatedByName"`;
export const JOINS = sql`LEFT JOIN users uc ON uc.id = o.created_by LEFT JOIN users uu ON uu.id = o.updated_by`;

/** Newest first. */
export async function listVisible(ctx: ReadContext, page: ListPage): Promise<ObjectRow[]> {
  // The state is part of the statement's text, so that the partial index over it can be chosen.
  const state = page.state === 'ACTIVE' ? sql`o.state = 'ACTIVE'` : sql`o.state = 'ARCHIVED'`;
  const states =
    page.workflowStateIds === undefined
      ? empty
      : sql`AND o.workflow_state_id = ANY(${[...page.workflowStateIds]}::uuid[])`;
  const type = page.typeId === undefined ? empty : sql`AND o.type_id = ${page.typeId}::uuid`;
  const chosen = sql`FROM objects o WHERE ${state} AND ${page.visible} ${type} ${states} ORDER BY o.created_at DESC, o.id DESC`;
  // The first page, by far the most frequent, has its limit in the text: with one that the planner does not know, the
  // statement would be planned anew each time. Of a deep page ids are chosen first, so that it reads only what it shows.
  const rows =
    page.offset === 0
      ? sql`(SELECT o.* ${chosen} LIMIT ${raw(String(Math.trunc(page.limit)))}) AS o`
      : sql`(SELECT o.id ${chosen} LIMIT ${page.limit}::int OFFSET ${page.offset}::int) AS page JOIN objects o ON o.id = page.id`;
  return await ctx.query<ObjectRow>(
    sql`SELECT ${OBJECT_COLUMNS}, ${JOINED_NAMES} FROM ${rows} ${JOINS} ORDER BY o.created_at DESC, o.id DESC`,
    // A kept plan would take an unknown offset for a tenth of the table and sort all of it.
    { freshPlan: page.offset > 0 },
  );
}

export interface NewObject {
  id: string;
  type_id: string;
  type_version: number;
  /** Sequence of the numbering, its prefix and digits; null without numbering. */
  sequence: string | null;
  prefix: string | null;
  digits: number | null;
  title: string | null;
  workflow_state_id: string | null;
  values: Record<string, unknown>;
  folded: Record<string, unknown>;
  at: string;
  by: string | null;
}

/** Those of the records, in whatever state, that satisfy the condition. */
export async function listAdmitted(ctx: ReadContext, ids: readonly string[], visible: Sql): Promise<string[]> {
  const rows = await ctx.query<{ id: string }>(sql`
    SELECT o.id FROM objects o WHERE o.id = ANY(${[...ids]}::uuid[]) AND ${visible}`);
  return rows.map(({ id }) => id);
}

export const insertObject: TableWrite<NewObject> = {
  name: 'insert_object',
  guard: true,
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
  },
  sql: (rows: Sql) => sql`
    INSERT INTO objects (id, type_id, type_version, number, title, revision, workflow_state_id, "values", folded, created_at,
      created_by, updated_at, updated_by)
    SELECT id, type_id, type_version,
      CASE WHEN sequence IS NULL THEN NULL
        -- What is undone in any case draws no number: sequences do not go back.
        WHEN current_setting('docket.rehearsal', true) = 'on' THEN prefix || id
        ELSE (SELECT prefix || lpad(n, greatest(digits, length(n)), '0')
          FROM (SELECT nextval(sequence::regclass)::text AS n) AS next) END,
      title, 1, workflow_state_id, "values", folded, at, by, at, by
    FROM ${rows}
    RETURNING id, number AS late_value`,
};

export interface ObjectChange {
  id: string;
  expected: number;
  type_version: number;
  title: string | null;
  state: 'ACTIVE' | 'ARCHIVED';
  workflow_state_id: string | null;
  /**
   * All values: the revision is the condition, so nothing that another wrote can be written over. Null where they stay as they
   * are: then they are not sent, read and compressed again.
   */
  values: Record<string, unknown> | null;
  folded: Record<string, unknown> | null;
  at: string;
  by: string | null;
  archived_at: string | null;
}

/**
 * The one statement that changes records: exactly the revision that the decision was made on, or the unit is undone
 * (`mechanisms/revision.ts` turns that into the honest conflict). Rows are locked in the order of their ids.
 */
export const changeObject: TableWrite<ObjectChange> = {
  name: 'change_object',
  guard: true,
  columns: {
    id: 'uuid',
    expected: 'integer',
    type_version: 'integer',
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
    WHERE o.id = r.id AND o.revision = r.expected RETURNING 1`,
};

export interface HistoryRow {
  id: string;
  type: string;
  at: string;
  actorId: string | null;
  actorName: string | null;
  via: string;
  revision: number | null;
  changes: Record<string, [unknown, unknown]> | null;
  data: Record<string, unknown> | null;
}

/** A record's events in the order in which they took effect; with `after`, only those that made a later revision. */
export async function listEvents(ctx: ReadContext, objectId: string, after?: number): Promise<HistoryRow[]> {
  return await ctx.query<HistoryRow>(sql`
    SELECT j.id, j.type, j.at, j.actor_id AS "actorId", u.display_name AS "actorName", j.via, j.revision, j.changes,
      ${shownData('j')} AS data
    FROM journal j LEFT JOIN users u ON u.id = j.actor_id
    WHERE j.object_id = ${objectId}::uuid ${after === undefined ? empty : sql`AND j.revision > ${after}::bigint`}
    ORDER BY j.seq`);
}

/** Records of the type on an older version, by id from `after` on. */
export async function listOlderVersions(
  ctx: ReadContext,
  typeId: string,
  newest: number,
  after: string | null,
  limit: number,
): Promise<ObjectRow[]> {
  return await ctx.query<ObjectRow>(sql`
    SELECT ${OBJECT_COLUMNS}, ${NAMES} FROM objects o
    WHERE o.type_id = ${typeId}::uuid AND o.type_version < ${newest}::int AND (${after}::uuid IS NULL OR o.id > ${after}::uuid)
    ORDER BY o.id LIMIT ${limit}::int`);
}

/** A newer type version that changes no value: the revision stays. */
export const moveVersion: TableWrite<{
  id: string;
  expected: number;
  type_version: number;
  /** What is text in the newest version may not have been in the one before. */
  folded: Record<string, unknown>;
}> = {
  name: 'move_version',
  guard: true,
  sql: (rows: Sql) => sql`
    UPDATE objects o SET type_version = r.type_version, folded = r.folded
    FROM jsonb_to_recordset(${rows}) AS r (id uuid, expected integer, type_version integer, folded jsonb)
    WHERE o.id = r.id AND o.revision = r.expected RETURNING 1`,
};

/**
 * Holds the record as it is until the unit ends: what is put beside a record (comments, files, relations) cannot slip in while
 * another archives it. Writers of such things do not wait for one another.
 */
export const holdActive: TableWrite<{ id: string }> = {
  name: 'hold_active',
  guard: true,
  columns: { id: 'uuid' },
  sql: (rows: Sql) => sql`
    SELECT o.id FROM objects o JOIN ${rows} ON r.id = o.id
    WHERE o.state = 'ACTIVE' ORDER BY o.id FOR SHARE OF o`,
};

/** Holds the very revision that a decision was made on, until the unit ends. */
export const holdRevision: TableWrite<{ id: string; expected: number }> = {
  name: 'hold_revision',
  guard: true,
  columns: { id: 'uuid', expected: 'integer' },
  sql: (rows: Sql) => sql`
    SELECT o.id FROM objects o JOIN ${rows} ON r.id = o.id
    WHERE o.revision = r.expected ORDER BY o.id FOR SHARE OF o`,
};
