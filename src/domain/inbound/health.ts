/** Integrity checks of inbound calls. */
import sql from 'sql-template-tag';
import { type Check, keptAnswersOf, rowCheck } from '../../platform/audit/checks.ts';
import { commentMissing } from '../comments/index.ts';
import { recordMissing } from '../objects/index.ts';

export const inboundChecks: readonly Check[] = [
  rowCheck(
    'I5 a kept answer has the record or comment that it names',
    sql`SELECT 'key ' || k.key AS what FROM (${keptAnswersOf('inbound.run')}) k
      WHERE k.id IS NULL OR (${recordMissing(sql`k.id`)} AND ${commentMissing(sql`k.id`)})`,
  ),
];
