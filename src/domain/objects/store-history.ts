/** SQL on the journal rows of a record. */
import { mapInTurns } from '../../lib/yielding.ts';
import sql, { empty } from 'sql-template-tag';
import type { ReadContext } from '../../platform/unit-of-work/context.ts';
import { registry, storedCodes, type TypeRegistry } from '../metadata/index.ts';
import { jsonSize, type RowWindow, readWindows } from '../../platform/database/window.ts';
import { withCurrentCodes } from '../../configuration/current-codes.ts';
import type { NamingSchema } from '../../configuration/naming.ts';
import { ACTOR, changedNames, type LastChange, lastChanges, shownData } from '../../platform/journal/journal.ts';
import type { ObjectRow } from './store.ts';

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

const EVENT = sql`j.seq::text AS key, j.id, j.type, j.at, j.actor_id AS "actorId", ${ACTOR.name} AS "actorName", j.via, j.revision,
  j.changes, ${shownData('j')} AS data`;

export const EVENT_SIZE = sql`(${jsonSize('j.changes')}) + (${jsonSize('j.data')}) AS "windowBytes"`;

export type EventRow = HistoryRow & { key: string };

/**
 * The events of a record of the type in the order in which they took effect, under the current codes, in windows; oldest or newest
 * first, behind the key `after`.
 */
export async function* eventWindows(
  ctx: ReadContext,
  { id: objectId, typeId }: Pick<ObjectRow, 'id' | 'typeId'>,
  { after: start, newestFirst = false }: { after?: string | undefined; newestFirst?: boolean },
): AsyncGenerator<RowWindow<EventRow>> {
  const decode = eventDecoder(ctx, typeId);
  const order = newestFirst ? sql`DESC` : empty;
  const windows = readWindows<EventRow>(ctx, (reached, limit) => {
    const after = reached ?? start;
    const behind =
      after === undefined ? empty : newestFirst ? sql`AND j.seq < ${after}::bigint` : sql`AND j.seq > ${after}::bigint`;
    return sql`SELECT ${EVENT}, ${EVENT_SIZE} FROM journal j ${ACTOR.join}
      WHERE j.object_id = ${objectId}::uuid ${behind} ORDER BY j.seq ${order} LIMIT ${limit}::int`;
  });
  for await (const { rows, isLast } of windows) yield { rows: await mapInTurns(rows, decode), isLast };
}

/** The event of the record with this id. */
export async function findEvent(
  ctx: ReadContext,
  { id: objectId, typeId }: Pick<ObjectRow, 'id' | 'typeId'>,
  eventId: string,
): Promise<EventRow | undefined> {
  const [row] = await ctx.query<EventRow>(sql`
    SELECT ${EVENT} FROM journal j ${ACTOR.join} WHERE j.object_id = ${objectId}::uuid AND j.id = ${eventId}::uuid`);
  return row === undefined ? undefined : eventDecoder(ctx, typeId)(row);
}

/** The last change of each field after the revision, oldest first, under the current codes. Values are not read. */
export async function listChangedFields(
  ctx: ReadContext,
  { id, typeId }: Pick<ObjectRow, 'id' | 'typeId'>,
  after: number,
): Promise<LastChange[]> {
  const changes = await lastChanges(
    ctx,
    sql`SELECT k.field, j.seq FROM journal j CROSS JOIN LATERAL unnest(${changedNames('j')}) AS k (field)
      WHERE j.object_id = ${id}::uuid AND j.revision > ${after}::bigint`,
  );
  const codes = storedCodes(registry(ctx), typeId);
  const last = new Map<string, LastChange>();
  for (const change of changes) {
    const [field = change.field] = Object.keys(codes.decodeChanges({ [change.field]: [null, null] }));
    last.delete(field);
    last.set(field, { ...change, field });
  }
  return [...last.values()];
}

/** @returns a function that puts a stored event of a record of the type under the current codes */
export function eventDecoder(ctx: Pick<ReadContext, 'config'>, typeId: string): <T extends HistoryRow>(row: T) => T {
  const types = registry(ctx);
  const codes = storedCodes(types, typeId);
  return (row) => ({
    ...row,
    changes: row.changes === null ? null : codes.decodeChanges(row.changes),
    data: withCurrentCodes(ctx, DATA_NAMES, withCurrentTransition(types, row.data)),
  });
}

/** When the records came to their workflow states: the times of the last events that set them. */
export async function stateTimes(ctx: ReadContext, ids: readonly string[]): Promise<ReadonlyMap<string, string>> {
  const rows = await ctx.query<{ id: string; at: string }>(sql`
    SELECT DISTINCT ON (j.object_id) j.object_id AS id, j.at FROM journal j
    WHERE j.object_id = ANY(${[...ids]}::uuid[]) AND (j.type = 'ObjectCreated' OR 'workflowState' = ANY(${changedNames('j')}))
    ORDER BY j.object_id, j.seq DESC`);
  return new Map(rows.map(({ id, at }) => [id, at]));
}

/** The data of the record's first event. */
export async function findCreationData(ctx: ReadContext, objectId: string): Promise<HistoryRow['data']> {
  const [row] = await ctx.query<Pick<HistoryRow, 'data'>>(sql`
    SELECT ${shownData('j')} AS data FROM journal j WHERE j.object_id = ${objectId}::uuid AND j.type = 'ObjectCreated'`);
  return row?.data ?? null;
}

/** What events name by codes of that time, apart from the transition. */
const DATA_NAMES: NamingSchema = {
  properties: {
    definitionCode: { names: { kind: 'item', section: 'relationDefinitions' } },
    policyCode: { names: { kind: 'item', section: 'slaPolicies' } },
  },
};

/** The data of a transition names it by its code at that time. */
function withCurrentTransition({ transitions }: TypeRegistry, data: HistoryRow['data']): HistoryRow['data'] {
  const transition = data?.['transition'] as { id?: string; code?: string } | undefined;
  const code = transition?.id === undefined ? undefined : transitions.get(transition.id);
  return code === undefined || code === transition?.code ? data : { ...data, transition: { ...transition, code } };
}
