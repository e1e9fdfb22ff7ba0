/** What must hold of files after whatever happened (reliability, 5.1). */
import sql from 'sql-template-tag';
import { type Check, contentCheck, keptAnswersOf, rowCheck } from '../../mechanisms/checks.ts';
import { recordMissing } from '../objects/door.ts';

export const attachmentChecks: readonly Check[] = [
  rowCheck(
    'I4 no attachment without its record',
    sql`SELECT 'attachment ' || a.id AS what FROM attachments a WHERE ${recordMissing(sql`a.object_id`)}`,
  ),
  rowCheck(
    'I5 a kept answer has its attachment',
    sql`SELECT 'key ' || k.key AS what FROM (${keptAnswersOf('attachments.add')}) k LEFT JOIN attachments a ON a.id = k.id
      WHERE a.id IS NULL
      UNION ALL SELECT 'attachment ' || k.id AS what FROM (${keptAnswersOf('attachments.add')}) k
      GROUP BY k.id HAVING count(*) > 1`,
  ),
  contentCheck(
    'I8 files are there, byte by byte',
    (after, limit) => sql`
      SELECT a.sha256, min(a.size) AS least, max(a.size) AS most, 'attachment ' || min(a.id::text) AS what
      FROM attachments a WHERE a.sha256 > ${after} GROUP BY a.sha256 ORDER BY a.sha256 LIMIT ${limit}::int`,
  ),
];
