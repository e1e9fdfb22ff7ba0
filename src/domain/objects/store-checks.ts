/** Consistency checks of records. */
import sql, { type Sql } from 'sql-template-tag';
import { type Check, contentCheck, keptAnswersOf, revisionsMade, rowCheck } from '../../platform/audit/checks.ts';
import { objectReplays } from './store-replay.ts';

/** Predicate: there is no record with that id. For modules whose rows belong to a record. */
export function recordMissing(id: Sql): Sql {
  return sql`NOT EXISTS (SELECT 1 FROM objects known WHERE known.id = ${id})`;
}

/** Stored responses of the operation whose record does not exist. */
function effects(operationId: string): Sql {
  return sql`
    SELECT 'key ' || k.key AS what FROM (${keptAnswersOf(operationId)}) k WHERE k.id IS NULL OR ${recordMissing(sql`k.id`)}`;
}

export const objectChecks: readonly Check[] = [
  ...objectReplays,
  rowCheck(
    'I2 a record has as many revisions as events made, from 1 without a gap',
    sql`SELECT 'record ' || o.id AS what FROM objects o LEFT JOIN (
        SELECT made.object_id, count(*) AS events, count(DISTINCT made.revision) AS revisions, min(made.revision) AS first,
          max(made.revision) AS last
        FROM (${revisionsMade()}) made GROUP BY made.object_id) m ON m.object_id = o.id
      WHERE (m.events, m.revisions, m.first, m.last) IS DISTINCT FROM (o.revision::bigint, o.revision::bigint, 1, o.revision)`,
  ),
  rowCheck(
    'I3 one event for each revision of a record',
    sql`SELECT 'revision ' || made.revision || ' of record ' || made.object_id AS what FROM (${revisionsMade()}) made
      GROUP BY made.object_id, made.revision HAVING count(*) > 1`,
  ),
  rowCheck(
    'I4 no event of a record or revision that is not there',
    sql`SELECT 'event ' || made.id AS what FROM (${revisionsMade()}) made LEFT JOIN objects o ON o.id = made.object_id
      WHERE o.id IS NULL OR made.revision > o.revision`,
  ),
  rowCheck(
    'I5 a kept answer has its record',
    sql`
    ${effects('objects.create')} UNION ALL ${effects('catalog.request')}
    UNION ALL SELECT 'record ' || k.id AS what FROM (${keptAnswersOf('objects.create')}) k GROUP BY k.id HAVING count(*) > 1
    UNION ALL SELECT 'record ' || k.id AS what FROM (${keptAnswersOf('catalog.request')}) k GROUP BY k.id HAVING count(*) > 1`,
  ),
  contentCheck(
    'I8 images in rich text are there, byte by byte',
    (after, limit) => sql`
      SELECT i.sha256, min(i.size) AS least, max(i.size) AS most, 'an image of record ' || min(i.object_id::text) AS what
      FROM inline_images i WHERE i.sha256 > ${after} GROUP BY i.sha256 ORDER BY i.sha256 LIMIT ${limit}::int`,
  ),
];
