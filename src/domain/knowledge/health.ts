/** Consistency checks of articles. */
import sql from 'sql-template-tag';
import { type Check, contentCheck, rowCheck } from '../../platform/audit/checks.ts';

export const knowledgeChecks: readonly Check[] = [
  rowCheck(
    'I4 an article has one draft and one active version of a locale at most',
    sql`SELECT 'article ' || v.article_id || ' ' || v.locale AS what FROM kb_versions v WHERE v.state IN ('DRAFT', 'ACTIVE')
      GROUP BY v.article_id, v.locale, v.state HAVING count(*) > 1`,
  ),
  contentCheck(
    'I8 images of articles are there, byte by byte',
    (after, limit) => sql`
      SELECT k.sha256, min(k.size) AS least, max(k.size) AS most, 'an image of article ' || min(k.article_id::text) AS what
      FROM kb_images k WHERE k.sha256 > ${after} GROUP BY k.sha256 ORDER BY k.sha256 LIMIT ${limit}::int`,
  ),
];
