/** SQL on the table `relations`. */
import sql, { empty, raw, type Sql } from 'sql-template-tag';
import { byId } from '../../platform/database/lookups.ts';
import type { ReadContext } from '../../platform/unit-of-work/context.ts';
import type { OrderedWindow } from '../../contract/paging.ts';
import { inWindow, type RowWindow, readInOrder } from '../../platform/database/window.ts';
import { columns, omit, type RowOf } from '../../platform/database/table.ts';
import { tables } from '../../platform/database/tables.ts';
import { insertInto, update } from '../../platform/unit-of-work/table-writes.ts';
import { guarded, valuesBytes, visibleRecord } from '../objects/index.ts';
import { definitions } from './definitions.ts';

const RELATION = omit(tables.relations, ['uniqueSourceId', 'uniqueTargetId', 'createdBy']);
export type RelationRow = RowOf<typeof RELATION>;
const COLUMNS = columns(RELATION, 'r');

const relationById = byId<RelationRow>((id) => sql`SELECT ${COLUMNS} FROM relations r WHERE r.id = ${id}`);

export async function findRelation(ctx: ReadContext, id: string): Promise<RelationRow | undefined> {
  return await ctx.find(relationById, { id });
}

type Direction = 'incoming' | 'outgoing';

const endsOf = (direction: Direction): [own: string, other: string] =>
  direction === 'outgoing' ? ['r.source_id', 'r.target_id'] : ['r.target_id', 'r.source_id'];

/** A page of the relations in one direction whose other end the caller may read. */
export async function listRelations(
  ctx: ReadContext,
  objectId: string,
  direction: Direction,
  window: OrderedWindow,
): Promise<RelationRow[]> {
  const [own, other] = endsOf(direction);
  const visible = visibleRecord(ctx, other);
  if (visible === null) return [];
  return await ctx.query<RelationRow>(sql`
    SELECT ${COLUMNS} FROM relations r WHERE ${raw(own)} = ${objectId}::uuid AND r.state = 'ACTIVE' AND ${visible}
    ${inWindow(window, ['r.created_at', 'r.id'])}`);
}

/** The relations in one direction, oldest first, in windows that count the values of the records at the other end. */
export function relationWindows(
  ctx: ReadContext,
  objectId: string,
  direction: Direction,
): AsyncGenerator<RowWindow<RelationRow>> {
  const [own, other] = endsOf(direction);
  const columns = sql`${COLUMNS}, ${raw(other)} AS other_id`;
  const from = sql`relations r WHERE ${raw(own)} = ${objectId}::uuid AND r.state = 'ACTIVE'`;
  const size = sql`200 + ${valuesBytes('i.other_id')}`;
  const order = { by: sql`r.created_at`, byType: 'timestamptz', id: sql`r.id`, idType: 'uuid' } as const;
  return readInOrder<RelationRow>(ctx, { columns, from, size }, order);
}

/** A query for the links to the duplicates of a record (SQL of its id); null if no definition means duplicates. */
export function duplicatesOf(ctx: ReadContext, target: Sql): Sql | null {
  const ids = [...definitions(ctx).values()].flatMap(({ id, duplicate }) => (duplicate === true ? [id] : []));
  if (ids.length === 0) return null;
  return sql`SELECT r.id, r.source_id, r.created_at FROM relations r
    WHERE r.target_id = ${target} AND r.state = 'ACTIVE' AND r.definition_id = ANY(${ids}::uuid[])`;
}

/**
 * Active relations of the definition that prevent a new one: the same relation, and one at each end that allows only one. Reads
 * at most three rows, even if an end has many relations.
 */
export async function listInTheWay(
  ctx: ReadContext,
  definitionId: string,
  sourceId: string,
  targetId: string,
  once: { source: boolean; target: boolean },
): Promise<RelationRow[]> {
  const standing = sql`SELECT ${COLUMNS} FROM relations r WHERE r.definition_id = ${definitionId}::uuid AND r.state = 'ACTIVE'`;
  const atSource = sql`UNION ALL (${standing} AND r.source_id = ${sourceId}::uuid AND r.target_id <> ${targetId}::uuid LIMIT 1)`;
  const atTarget = sql`UNION ALL (${standing} AND r.target_id = ${targetId}::uuid AND r.source_id <> ${sourceId}::uuid LIMIT 1)`;
  return await ctx.query<RelationRow>(sql`
    ${standing} AND r.source_id = ${sourceId}::uuid AND r.target_id = ${targetId}::uuid
    ${once.source ? atSource : empty} ${once.target ? atTarget : empty}`);
}

/** Allows one writer at a time for an acyclic definition, until the unit of work ends. */
export function cycleLock(definitionId: string): Sql {
  return sql`SELECT pg_advisory_xact_lock(hashtextextended(${`relations:${definitionId}`}, 0))::text AS locked`;
}

/** Whether `toId` can be reached from `fromId` along active relations of the definition. */
export async function reaches(ctx: ReadContext, definitionId: string, fromId: string, toId: string): Promise<boolean> {
  const rows = await ctx.query<{ found: boolean }>(sql`
    WITH RECURSIVE reached AS (
      SELECT ${fromId}::uuid AS id
      UNION
      SELECT r.target_id FROM reached JOIN relations r ON r.source_id = reached.id
      WHERE r.definition_id = ${definitionId}::uuid AND r.state = 'ACTIVE'
    ) SELECT EXISTS (SELECT 1 FROM reached WHERE id = ${toId}::uuid) AS found`);
  return rows[0]?.found === true;
}

/** On a conflict with any unique index, the unit of work is retried and reads the conflicting relation. */
export const insertRelation = guarded(
  'relation.create',
  insertInto(tables.relations, {
    name: 'insert_relation',
    records: ({ sourceId, targetId }) => [sourceId, targetId],
    frequent: true,
    set: { revision: sql`1` },
    defaults: ['state'],
    conflict: 'ignore',
  }),
);

export const archiveRelation = guarded(
  'relation.delete',
  update(tables.relations, {
    name: 'archive_relation',
    next: 'revision',
    also: { state: sql`'ARCHIVED'` },
    where: sql`t.state = 'ACTIVE'`,
  }),
);
