/** Metrics of the journal: rows without a place or a seal. Those of its consumers are with the consumers. */
import sql, { raw, type Sql } from 'sql-template-tag';
import { boundedCount, COUNT_BOUND, type DatabaseMetric, secondsSince } from '../observability/database-metrics.ts';
import { unplacedRows } from './places.ts';
import { inOrder, isAfter } from './positions.ts';

/** The first rows of the journal without a seal. */
const unsealed = (limit: number): Sql => sql`journal_sealing s CROSS JOIN LATERAL (
  SELECT j.at FROM journal j WHERE ${isAfter('j', 's')} ORDER BY ${inOrder('j')} LIMIT ${raw(String(limit))}) AS unsealed`;

export const journalMetrics: readonly DatabaseMetric[] = [
  {
    name: 'docket_feed_pending',
    help: 'Events without a place in the changes feed, counted up to 10,000.',
    sql: () => boundedCount(sql`(${unplacedRows(COUNT_BOUND)}) AS unplaced`),
  },
  {
    name: 'docket_feed_lag_seconds',
    help: 'Age of the oldest event without a place in the changes feed.',
    sql: (now) => secondsSince(now, sql`SELECT min(at) FROM (${unplacedRows(COUNT_BOUND)}) AS unplaced`),
  },
  {
    name: 'docket_audit_unsealed_rows',
    help: 'Journal rows without a seal, counted up to 10,000.',
    sql: () => boundedCount(unsealed(COUNT_BOUND)),
  },
  {
    name: 'docket_audit_seal_lag_seconds',
    help: 'Age of the oldest journal row without a seal.',
    sql: (now) => secondsSince(now, sql`SELECT at FROM ${unsealed(1)}`),
  },
  {
    name: 'docket_audit_seals',
    help: 'Number of the newest seal of the journal.',
    sql: () => sql`SELECT number FROM journal_sealing`,
  },
  {
    name: 'docket_audit_heads_pending',
    help: 'Seals whose heads are not yet written to DOCKET_AUDIT_HEADS.',
    sql: () => sql`SELECT s.number - max(h.number) FROM audit_heads h CROSS JOIN journal_sealing s GROUP BY s.number`,
  },
];
