/** What must hold of comments after whatever happened (reliability, 5.1). */
import sql, { type Sql } from 'sql-template-tag';
import { type Check, keptAnswersOf, rowCheck } from '../../mechanisms/checks.ts';
import { recordMissing } from '../objects/door.ts';

/** Whether there is no comment of that id: a predicate for rooms whose rows name one. */
export function commentMissing(id: Sql): Sql {
  return sql`NOT EXISTS (SELECT 1 FROM comments known WHERE known.id = ${id})`;
}

export const commentChecks: readonly Check[] = [
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
