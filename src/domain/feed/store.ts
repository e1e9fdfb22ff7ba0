/** SQL of the changes feed. Rights are part of the statement that selects the events of a page. */
import sql, { empty, join, type Sql } from 'sql-template-tag';
import { EVENTS, type WebhookEvent } from '../../contract/events.ts';
import { ACTOR, shownData } from '../../platform/journal/journal.ts';
import type { ReadContext } from '../../platform/unit-of-work/context.ts';
import { commentOfFile } from '../attachments/index.ts';
import { visibleComments } from '../comments/index.ts';
import { articleSource } from '../knowledge/index.ts';
import type { HistoryRow } from '../objects/index.ts';

export interface PlacedEvent extends HistoryRow {
  place: number;
  objectId: string | null;
  /** Stored bytes of the changes and, if asked for, of the values of the record. */
  bytes: number;
}

/** Events of a page: those after a place, up to another one, of these kinds and types. */
export interface FeedRange {
  after: number;
  upTo: number;
  kinds: readonly WebhookEvent[];
  /** Undefined for all types and articles. */
  typeIds: readonly string[] | undefined;
  limit: number;
  /** Whether the records are read, too. */
  withObject?: boolean;
  /** Whether the last events are selected, last first. */
  isBackward?: boolean;
}

type Subject = (typeof EVENTS)[WebhookEvent]['subject'];

/** The other end of a relation, as an event of the relation names both. */
const OTHER_END = sql`CASE WHEN (j.data ->> 'sourceObjectId')::uuid = j.object_id
  THEN (j.data ->> 'targetObjectId')::uuid ELSE (j.data ->> 'sourceObjectId')::uuid END`;

/**
 * The events of the range that the caller may see now: `read` and `history` on the record, and a visible comment, also of a file,
 * or other end of a relation. An event whose changed fields are all hidden is still among them. Places are walked in order, so that the
 * statement ends with the last event of the page.
 */
export async function listPlaced(ctx: ReadContext, range: FeedRange): Promise<PlacedEvent[]> {
  const shown = visibleEvents(ctx, range);
  if (shown === null) return [];
  const order = range.isBackward === true ? sql`DESC` : sql`ASC`;
  return await ctx.query<PlacedEvent>(
    sql`
      SELECT j.place, j.id, j.type, j.at, j.actor_id AS "actorId", ${ACTOR.name} AS "actorName", j.via, j.revision, j.changes,
        ${shownData('j')} AS data, j.object_id AS "objectId",
        coalesce(pg_column_size(j.changes), 0) ${range.withObject === true ? sql`+ coalesce(pg_column_size(o."values"), 0)` : empty} AS bytes
      FROM (
        SELECT p.place, r.id, r.type, r.at, r.actor_id, r.via, r.revision, r.changes, r.data, r.object_id
        FROM journal_places p JOIN journal r ON r.seq = p.seq
        WHERE p.place > ${range.after}::bigint AND p.place <= ${range.upTo}::bigint
        -- The limit keeps the planner from starting at the records, of which it expects few to match.
        ORDER BY p.place ${order} LIMIT ${range.upTo - range.after}::bigint
      ) AS j ${ACTOR.join}
        LEFT JOIN objects o ON o.id = j.object_id
        LEFT JOIN comments c ON c.id = coalesce((j.data ->> 'commentId')::uuid, ${commentOfFile('j.data')})
      WHERE ${shown}
      ORDER BY j.place ${order} LIMIT ${range.limit}::int`,
    // The cost depends on the range: a generic plan would assume a part of the whole journal.
    { freshPlan: true },
  );
}

/** Predicate on `j`, its record `o` and its comment `c`; null if the caller sees no event. */
function visibleEvents(ctx: ReadContext, { kinds, typeIds }: FeedRange): Sql | null {
  const { actor, now } = ctx;
  const bySubject = Map.groupBy(kinds, (kind): Subject => EVENTS[kind].subject);
  const about = (subject: Subject): readonly string[] => bySubject.get(subject) ?? [];
  const parts: Sql[] = [];
  const read = actor.visible('o', 'read', now, typeIds);
  const history = actor.visible('o', 'history', now, typeIds);
  if (read !== null && history !== null) {
    const ofRecord: Sql[] = [];
    const plain = [...about('record'), ...about('sla')];
    if (plain.length > 0) ofRecord.push(isOneOf(plain));
    const comment = visibleComments(ctx, 'c', 'o');
    if (about('comment').length > 0) ofRecord.push(sql`(${isOneOf(about('comment'))} AND ${comment})`);
    if (about('attachment').length > 0) {
      ofRecord.push(sql`(${isOneOf(about('attachment'))} AND (c.id IS NULL OR ${comment}))`);
    }
    const other = actor.visible('x', 'read', now);
    if (about('relation').length > 0 && other !== null) {
      const end = sql`EXISTS (SELECT FROM objects x WHERE x.id = ${OTHER_END} AND ${other})`;
      ofRecord.push(sql`(${isOneOf(about('relation'))} AND ${end})`);
    }
    if (ofRecord.length > 0) parts.push(sql`(${read} AND ${history} AND (${join(ofRecord, ' OR ')}))`);
  }
  const article = typeIds === undefined ? articleSource.wasVisible(ctx, sql`(j.data ->> 'versionId')::uuid`) : null;
  if (about('article').length > 0 && article !== null) parts.push(sql`(${isOneOf(about('article'))} AND ${article})`);
  return parts.length === 0 ? null : sql`(${join(parts, ' OR ')})`;
}

function isOneOf(kinds: readonly string[]): Sql {
  return sql`j.type = ANY(${[...kinds]}::text[])`;
}
