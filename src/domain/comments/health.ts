/** Integrity checks of comments. */
import sql, { type Sql } from 'sql-template-tag';
import { type Check, keptAnswersOf, namesOf, replayCheck, rowCheck } from '../../platform/audit/checks.ts';
import { saysStored, storedMember } from '../../platform/journal/journal.ts';
import { recordMissing } from '../objects/index.ts';

/** A predicate: no comment has this id. For modules whose rows refer to comments. */
export function commentMissing(id: Sql): Sql {
  return sql`NOT EXISTS (SELECT 1 FROM comments known WHERE known.id = ${id})`;
}

const differs = namesOf({
  'history (object_id)': sql`h.id IS NULL`,
  body: sql`h.body IS NOT NULL AND encode(sha256(convert_to(b.body, 'UTF8')), 'hex') <> h.body`,
  visibility: sql`b.visibility IS DISTINCT FROM h.visibility`,
  state: sql`b.state IS DISTINCT FROM h.state`,
  revision: sql`b.revision IS DISTINCT FROM h.events`,
  author_id: sql`b.author_id IS DISTINCT FROM h.author_id`,
  created_at: sql`b.created_at IS DISTINCT FROM h.created_at`,
  updated_at: sql`b.updated_at IS DISTINCT FROM h.updated_at`,
});

/** Compares comments with their events, which are part of the history of their record. */
const replayed = (after: string, limit: number): Sql => sql`
  WITH b AS MATERIALIZED (
    SELECT * FROM comments c WHERE c.id > ${after}::uuid ORDER BY c.id LIMIT ${limit}::int
  ), h AS (
    SELECT j.object_id, (j.data ->> 'commentId')::uuid AS id, count(*)::int AS events,
      (array_agg(j.at ORDER BY j.seq) FILTER (WHERE j.type = 'CommentAdded'))[1] AS created_at,
      (array_agg(j.actor_id ORDER BY j.seq) FILTER (WHERE j.type = 'CommentAdded'))[1] AS author_id,
      (array_agg(j.at ORDER BY coalesce((j.data ->> 'commentRevision')::int,
        CASE j.type WHEN 'CommentAdded' THEN 1 ELSE 2147483647 END) DESC))[1] AS updated_at,
      (array_agg(j.data ->> 'visibility' ORDER BY coalesce((j.data ->> 'commentRevision')::int,
        CASE j.type WHEN 'CommentAdded' THEN 1 ELSE 2147483647 END) DESC))[1] AS visibility,
      -- Of an edit from before history kept hashes nothing is known, nor by what was said before it.
      (array_agg(${storedMember('j', 'body')} ORDER BY coalesce((j.data ->> 'commentRevision')::int, 1) DESC)
        FILTER (WHERE ${saysStored('j', 'body')} OR j.type IN ('CommentAdded', 'CommentUpdated')))[1] AS body,
      CASE WHEN bool_or(j.type = 'CommentArchived') THEN 'ARCHIVED' ELSE 'ACTIVE' END AS state
    FROM journal j
    WHERE j.object_id = ANY (SELECT b.object_id FROM b) AND j.type IN ('CommentAdded', 'CommentUpdated', 'CommentArchived')
    GROUP BY j.object_id, j.data ->> 'commentId'
  )
  SELECT b.id, ${differs} AS differs FROM b LEFT JOIN h ON h.id = b.id AND h.object_id = b.object_id ORDER BY b.id`;

export const commentChecks: readonly Check[] = [
  replayCheck('I13 comments are what their history says', 'comment', replayed),
  rowCheck(
    'I13 no comment of the history is gone',
    sql`SELECT 'comment ' || (j.data ->> 'commentId') AS what FROM journal j
      WHERE j.type = 'CommentAdded' AND ${commentMissing(sql`(j.data ->> 'commentId')::uuid`)}`,
  ),
  rowCheck(
    'I4 no comment without its record',
    sql`SELECT 'comment ' || c.id AS what FROM comments c WHERE ${recordMissing(sql`c.object_id`)}`,
  ),
  rowCheck(
    'I5 a kept answer has its comment',
    sql`SELECT 'key ' || k.key AS what FROM (${keptAnswersOf('comments.add')}) k LEFT JOIN comments c ON c.id = k.id
      WHERE c.id IS NULL
      UNION ALL SELECT 'comment ' || k.id AS what FROM (${keptAnswersOf('comments.add')}) k GROUP BY k.id HAVING count(*) > 1`,
  ),
];
