/** Integrity checks of attachments. */
import sql, { type Sql } from 'sql-template-tag';
import {
  type Check,
  contentCheck,
  keptAnswersOf,
  namesOf,
  replayCheck,
  rowCheck,
} from '../../platform/audit/checks.ts';
import { recordMissing } from '../objects/index.ts';

const differs = namesOf({
  'history (object_id)': sql`h.id IS NULL`,
  comment_id: sql`b.comment_id::text IS DISTINCT FROM coalesce(h.data ->> 'commentId', h.taken_by)`,
  original_filename: sql`b.original_filename IS DISTINCT FROM h.data ->> 'originalFilename'`,
  media_type: sql`b.media_type IS DISTINCT FROM h.data ->> 'mediaType'`,
  size: sql`b.size::text IS DISTINCT FROM h.data ->> 'size'`,
  sha256: sql`b.sha256 IS DISTINCT FROM h.data ->> 'sha256'`,
  state: sql`b.state IS DISTINCT FROM CASE WHEN h.archived THEN 'ARCHIVED' ELSE 'ACTIVE' END`,
  revision: sql`b.revision IS DISTINCT FROM 1 + h.archived::int`,
  created_at: sql`b.created_at IS DISTINCT FROM h.at`,
  created_by: sql`b.created_by IS DISTINCT FROM h.actor_id`,
});

const replayed = (after: string, limit: number): Sql => sql`
  WITH b AS MATERIALIZED (
    SELECT * FROM attachments a WHERE a.id > ${after}::uuid ORDER BY a.id LIMIT ${limit}::int
  ), e AS MATERIALIZED (
    SELECT j.object_id, (j.data ->> 'attachmentId')::uuid AS id, j.type, j.at, j.actor_id, j.data FROM journal j
    WHERE j.object_id = ANY (SELECT b.object_id FROM b) AND j.type IN ('AttachmentAdded', 'AttachmentArchived')
  ), h AS (
    SELECT e.*, EXISTS (SELECT 1 FROM e x WHERE x.id = e.id AND x.type = 'AttachmentArchived') AS archived,
      (SELECT j.data ->> 'commentId' FROM journal j WHERE j.object_id = e.object_id AND j.type = 'CommentAdded'
        AND j.data -> 'attachmentIds' ? e.id::text) AS taken_by
    FROM e WHERE e.type = 'AttachmentAdded'
  )
  SELECT b.id, ${differs} AS differs FROM b LEFT JOIN h ON h.id = b.id AND h.object_id = b.object_id ORDER BY b.id`;

export const attachmentChecks: readonly Check[] = [
  replayCheck('I13 attachments are what their history says', 'attachment', replayed),
  rowCheck(
    'I13 no attachment of the history is gone',
    sql`SELECT 'attachment ' || (j.data ->> 'attachmentId') AS what FROM journal j
      LEFT JOIN attachments a ON a.id = (j.data ->> 'attachmentId')::uuid
      WHERE j.type = 'AttachmentAdded' AND a.id IS NULL`,
  ),
  rowCheck(
    'I4 no attachment without its record',
    sql`SELECT 'attachment ' || a.id AS what FROM attachments a WHERE ${recordMissing(sql`a.object_id`)}`,
  ),
  rowCheck(
    'I5 a kept answer has its attachment',
    sql`SELECT 'key ' || k.key AS what FROM (${keptAnswersOf('attachments.add')}) k LEFT JOIN attachments a ON a.id = k.id
      WHERE a.id IS NULL AND k.draft IS NULL
      UNION ALL SELECT 'attachment ' || k.id AS what FROM (${keptAnswersOf('attachments.add')}) k
      GROUP BY k.id HAVING count(*) > 1`,
  ),
  contentCheck(
    'I8 files are there, byte by byte',
    (after, limit) => sql`
      SELECT a.sha256, min(a.size) AS least, max(a.size) AS most, 'attachment ' || min(a.id::text) AS what
      FROM (SELECT id, sha256, size FROM attachments UNION ALL SELECT id, sha256, size FROM attachment_drafts) a
      WHERE a.sha256 > ${after} GROUP BY a.sha256 ORDER BY a.sha256 LIMIT ${limit}::int`,
  ),
];
