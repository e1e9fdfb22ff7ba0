/** SQL on the table `desk_queues`. */
import { allBut, columns, omit, type RowOf } from '../../platform/database/table.ts';
import { tables } from '../../platform/database/tables.ts';
import { deleteFrom, insertInto, update } from '../../platform/unit-of-work/table-writes.ts';
import sql, { type Sql } from 'sql-template-tag';
import { withCurrentCodes } from '../../configuration/current-codes.ts';
import type { NamingSchema } from '../../configuration/naming.ts';
import type { ReadContext } from '../../platform/unit-of-work/context.ts';

export interface QueueDefinition {
  type?: string;
  state?: string;
  q?: string;
  filter?: unknown;
  sort?: string;
  sla?: string;
  done?: string;
  slaPolicy?: string;
  columns?: string[];
}

const QUEUE = omit(tables.desk_queues, ['createdAt']);
/** `groupId`: the group whose members see the queue; null if it is shared with everybody or private. */
export type QueueRow = RowOf<typeof QUEUE>;

const COLUMNS = columns(QUEUE, 'q');

/** The queues that a user may see: their own, those of their groups, and shared ones. */
function whereSeen(userId: string, groups: readonly string[]): Sql {
  return sql`(q.owner_id = ${userId}::uuid OR q.shared OR q.group_id = ANY(${[...groups]}::uuid[]))`;
}

/** @param groups ids of the user's groups. Private queues of other users are never returned. */
export async function listQueues(ctx: ReadContext, userId: string, groups: readonly string[]): Promise<QueueRow[]> {
  const rows = await ctx.query<QueueRow>(sql`
    SELECT ${COLUMNS} FROM desk_queues q WHERE ${whereSeen(userId, groups)}
    ORDER BY q.name COLLATE "und-x-icu", q.id LIMIT 500`);
  return rows.map((row) => withCurrentNames(ctx, row));
}

/** What the codes of a queue mean. `state` and `sort` are taken apart: they are not always codes. */
const QUEUE_NAMES: NamingSchema = {
  type: 'object',
  typesAt: 'type',
  properties: {
    type: { names: { kind: 'item', section: 'types' } },
    filter: { names: { kind: 'condition' } },
    slaPolicy: { names: { kind: 'item', section: 'slaPolicies' } },
    columns: { names: { kind: 'field' } },
    sortField: { names: { kind: 'field' } },
    inState: { names: { kind: 'condition' } },
  },
};

/** The queue as its owner wrote it, under the current codes. */
/** The queue with the current codes of everything that it names. */
export function withCurrentNames(ctx: ReadContext, row: QueueRow): QueueRow {
  const { state, sort = '', ...rest } = row.definition;
  const [, sign = '', sortField = ''] = /^(-?)(.*)$/.exec(sort) ?? [];
  const inState = { field: 'workflowState', operator: 'equals', value: state };
  const named = withCurrentCodes(ctx, QUEUE_NAMES, { ...rest, sortField, inState });
  const { sortField: field, inState: condition, ...definition } = named;
  const current = typeof condition.value === 'string' ? condition.value : state;
  return {
    ...row,
    definition: {
      ...definition,
      ...(current === undefined ? {} : { state: current }),
      ...(sort === '' ? {} : { sort: `${sign}${field}` }),
    },
  };
}

/** The queues of all users. Their names must not be shown to others. */
export async function allQueues(ctx: ReadContext): Promise<QueueRow[]> {
  return await ctx.query<QueueRow>(sql`SELECT ${COLUMNS} FROM desk_queues q ORDER BY q.id LIMIT 10000`);
}

export async function findQueue(
  ctx: ReadContext,
  id: string,
  userId: string,
  groups: readonly string[],
): Promise<QueueRow | undefined> {
  const rows = await ctx.query<QueueRow>(sql`
    SELECT ${COLUMNS} FROM desk_queues q WHERE q.id = ${id}::uuid AND ${whereSeen(userId, groups)}`);
  return rows[0] === undefined ? undefined : withCurrentNames(ctx, rows[0]);
}

export const insertQueue = insertInto(tables.desk_queues, {
  name: 'insert_queue',
  set: { createdAt: sql`r."updatedAt"` },
});

export const updateQueue = update(tables.desk_queues, {
  name: 'update_queue',
  set: allBut(tables.desk_queues, ['ownerId', 'createdAt']),
  next: 'revision',
});

export const removeQueue = deleteFrom(tables.desk_queues, { name: 'remove_queue', key: ['id', 'revision'] });
