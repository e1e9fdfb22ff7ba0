/** Consistency checks of relations. */
import sql, { type Sql } from 'sql-template-tag';
import { type Check, keptAnswersOf, namesOf, replayCheck, rowCheck } from '../../platform/audit/checks.ts';
import { storedMember } from '../../platform/journal/journal.ts';
import { recordMissing } from '../objects/index.ts';
import { type KnownDefinition, onlyOne, relationView } from './definitions.ts';

function idsOf(
  known: ReadonlyMap<string, KnownDefinition>,
  wanted: (definition: KnownDefinition) => boolean,
): string[] {
  return [...known.values()].filter(wanted).map(({ id }) => id);
}

const differs = namesOf({
  'history (source_id)': sql`h.id IS NULL`,
  target_id: sql`b.target_id::text IS DISTINCT FROM h.data ->> 'targetObjectId'`,
  definition_id: sql`h.definition IS NOT NULL AND b.definition_id::text <> h.definition`,
  state: sql`b.state IS DISTINCT FROM CASE WHEN h.archived THEN 'ARCHIVED' ELSE 'ACTIVE' END`,
  revision: sql`b.revision IS DISTINCT FROM 1 + h.archived::int`,
  created_at: sql`b.created_at IS DISTINCT FROM h.at`,
  created_by: sql`b.created_by IS DISTINCT FROM h.actor_id`,
  unique_source_id: sql`b.unique_source_id IS DISTINCT FROM b.source_id AND b.unique_source_id IS NOT NULL`,
  unique_target_id: sql`b.unique_target_id IS DISTINCT FROM b.target_id AND b.unique_target_id IS NOT NULL`,
});

const replayed = (after: string, limit: number): Sql => sql`
  WITH b AS MATERIALIZED (
    SELECT * FROM relations r WHERE r.id > ${after}::uuid ORDER BY r.id LIMIT ${limit}::int
  ), e AS MATERIALIZED (
    SELECT j.object_id, (j.data ->> 'relationId')::uuid AS id, j.type, j.at, j.actor_id, j.data FROM journal j
    WHERE j.object_id = ANY (SELECT b.source_id FROM b) AND j.type IN ('RelationAdded', 'RelationArchived')
  ), h AS (
    SELECT e.*, ${storedMember('e', 'definition')} AS definition,
      EXISTS (SELECT 1 FROM e x WHERE x.id = e.id AND x.type = 'RelationArchived') AS archived
    FROM e WHERE e.type = 'RelationAdded'
  )
  SELECT b.id, ${differs} AS differs FROM b LEFT JOIN h ON h.id = b.id AND h.object_id = b.source_id ORDER BY b.id`;

export const relationChecks: readonly Check[] = [
  replayCheck('I13 relations are what their history says', 'relation', replayed),
  rowCheck(
    'I13 no relation of the history is gone',
    sql`SELECT 'relation ' || (j.data ->> 'relationId') AS what FROM journal j
      LEFT JOIN relations r ON r.id = (j.data ->> 'relationId')::uuid WHERE j.type = 'RelationAdded' AND r.id IS NULL`,
  ),
  rowCheck(
    'I4 no relation without its records',
    sql`SELECT 'relation ' || r.id AS what FROM relations r
      WHERE ${recordMissing(sql`r.source_id`)} OR ${recordMissing(sql`r.target_id`)}`,
  ),
  rowCheck(
    'I5 a kept answer has its relation',
    sql`SELECT 'key ' || k.key AS what FROM (${keptAnswersOf('relations.add', ['relation', 'id'])}) k
      LEFT JOIN relations r ON r.id = k.id WHERE r.id IS NULL`,
  ),
  rowCheck('I10 a relation exists once, and each record has no more relations than the definition allows', (config) => {
    const known = config.get(relationView);
    const bySource = idsOf(known, (definition) => onlyOne(definition).source);
    const byTarget = idsOf(known, (definition) => onlyOne(definition).target);
    return sql`
      SELECT 'record ' || r.source_id || ' to ' || r.target_id AS what FROM relations r WHERE r.state = 'ACTIVE'
      GROUP BY r.definition_id, r.source_id, r.target_id HAVING count(*) > 1
      UNION ALL SELECT 'source ' || r.source_id FROM relations r
      WHERE r.state = 'ACTIVE' AND r.definition_id = ANY(${bySource}::uuid[])
      GROUP BY r.definition_id, r.source_id HAVING count(*) > 1
      UNION ALL SELECT 'target ' || r.target_id FROM relations r
      WHERE r.state = 'ACTIVE' AND r.definition_id = ANY(${byTarget}::uuid[])
      GROUP BY r.definition_id, r.target_id HAVING count(*) > 1`;
  }),
  rowCheck('I10 no cycle where the definition now forbids one', (config) => {
    const acyclic = idsOf(config.get(relationView), (definition) => definition.acyclic);
    return sql`
      WITH RECURSIVE walk AS (
        SELECT r.definition_id, r.source_id AS start, r.target_id AS at FROM relations r
        WHERE r.state = 'ACTIVE' AND r.definition_id = ANY(${acyclic}::uuid[])
        UNION SELECT w.definition_id, w.start, r.target_id FROM walk w
        JOIN relations r ON r.definition_id = w.definition_id AND r.source_id = w.at AND r.state = 'ACTIVE'
        WHERE w.at <> w.start)
      SELECT 'record ' || start AS what FROM walk WHERE at = start`;
  }),
];
