/** SQL on the history of records, for the preview of a rule. */
import sql, { empty, join, type Sql } from 'sql-template-tag';
import type { ReadContext } from '../../platform/unit-of-work/context.ts';
import { ACTOR, shownData } from '../../platform/journal/journal.ts';
import { unitOf } from '../../platform/journal/positions.ts';
import type { HistoryRow } from '../objects/index.ts';

/** Rows of the journal that one statement looks at. The driver parses all rows of an answer at once. */
const PART = 2000;

/** Consecutive rows of the journal. */
export interface JournalRange {
  /** Place of the oldest row. */
  first: string;
  oldestAt: string;
  newestAt: string;
}

/** The newest part of the journal, or the one before a place; undefined at its beginning. */
export async function partBefore(ctx: ReadContext, place: string | undefined): Promise<JournalRange | undefined> {
  const older = place === undefined ? empty : sql`WHERE j.seq < ${place}::bigint`;
  const [part] = await ctx.query<{ [Key in keyof JournalRange]: JournalRange[Key] | null }>(sql`
    SELECT min(x.seq)::text AS first, min(x.at) AS "oldestAt", max(x.at) AS "newestAt"
    FROM (SELECT j.seq, j.at FROM journal j ${older} ORDER BY j.seq DESC LIMIT ${PART}::int) x`);
  return part === undefined || part.first === null ? undefined : (part as JournalRange);
}

export interface PastEvent extends HistoryRow {
  objectId: string;
  typeId: string;
  /** The unit of work that it was a part of. */
  unit: string;
}

/** Which events are read: changes of records, and those of the given types. */
export interface Wanted {
  typeIds: readonly string[];
  events: readonly string[];
  /** Limits the records `o`. */
  visible: Sql;
}

/** The predicate that all of these hold; null if one of them matches nothing. */
export function allOf(predicates: readonly (Sql | null)[]): Sql | null {
  const parts = predicates.filter((part) => part !== null);
  return parts.length < predicates.length ? null : sql`(${join(parts, ' AND ')})`;
}

/** The wanted events of a part, newest first, under the codes of their time. */
export async function eventsOf(
  ctx: ReadContext,
  { first }: JournalRange,
  before: string | undefined,
  { typeIds, events, visible }: Wanted,
): Promise<PastEvent[]> {
  return await ctx.query<PastEvent>(sql`
    SELECT j.id, j.type, j.at, j.actor_id AS "actorId", ${ACTOR.name} AS "actorName", j.via, j.revision, j.changes,
      ${shownData('j')} AS data, j.object_id AS "objectId", o.type_id AS "typeId", ${unitOf('j')}::text AS unit
    FROM journal j JOIN objects o ON o.id = j.object_id ${ACTOR.join}
    WHERE j.seq >= ${first}::bigint ${before === undefined ? empty : sql`AND j.seq < ${before}::bigint`}
      AND (j.revision IS NOT NULL OR j.type = ANY(${[...events]}::text[]))
      AND o.type_id = ANY(${[...typeIds]}::uuid[]) AND ${visible}
    ORDER BY j.seq DESC`);
}
