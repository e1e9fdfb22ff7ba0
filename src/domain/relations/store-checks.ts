/** What must hold of relations after whatever happened (reliability, 5.1). */
import sql from 'sql-template-tag';
import { type Check, keptAnswersOf, rowCheck } from '../../mechanisms/checks.ts';
import { recordMissing } from '../objects/door.ts';
import { type KnownDefinition, onlyOne, relationSlice } from './definitions.ts';

function idsOf(
  known: ReadonlyMap<string, KnownDefinition>,
  wanted: (definition: KnownDefinition) => boolean,
): string[] {
  return [...known.values()].filter(wanted).map(({ id }) => id);
}

export const relationChecks: readonly Check[] = [
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
  rowCheck('I10 a relation stands once, and no more at an end than its definition allows now', (config) => {
    const known = config.get(relationSlice);
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
    const acyclic = idsOf(config.get(relationSlice), (definition) => definition.acyclic);
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
