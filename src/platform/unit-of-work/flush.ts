/**
 * The single statement with which a unit of work writes everything that it planned (ADR 0001): one round trip and one commit for
 * record, journal, outbox and stored response. `statement.ts` builds and caches the parts.
 */
import sql, { raw, type Sql } from 'sql-template-tag';
import type { ReturnedValue, TableWrite } from './context.ts';
import type { Statement } from '../database/pool.ts';
import { type Claimed, claimParts } from './idempotency.ts';
import { writeGuard, writePart, type Part, type Statements } from './statement.ts';

export interface Planned {
  write: TableWrite<unknown>;
  rows: unknown[];
}

export interface Flushed {
  planned: Iterable<Planned>;
  claimed: Claimed | undefined;
  returned: { key: string; value: ReturnedValue } | undefined;
  invalidated: ReadonlySet<'rights' | 'config'>;
}

/** A part and the source of its values. */
type Filled = readonly [Part, unknown];

/**
 * Builds one CTE per write, in the order of planning, and one output row with the guards. A failed guard rolls back the whole
 * statement.
 */
export function flushStatement(
  statements: Statements,
  { planned, claimed, returned, invalidated }: Flushed,
): Statement {
  const ctes: Filled[] = [];
  const outputs: Filled[] = [];
  if (claimed !== undefined) {
    const { busy, kept } = claimParts(statements, returned);
    outputs.push([busy, claimed], [kept, claimed]);
  }
  const writes = [...planned];
  const guarded = writes.flatMap(({ write }) => (write.guard ? [write.name] : []));
  for (const { write, rows } of writes) {
    ctes.push([writePart(statements, write, rows, guarded), rows]);
    if (write.guard) outputs.push([writeGuard(statements, write), rows]);
  }
  if (claimed !== undefined) ctes.push([claimParts(statements, returned).ctes, claimed]);
  if (returned !== undefined) {
    const { write } = returned.value;
    const build = (): Sql => sql`(SELECT to_jsonb(returned_value) FROM ${raw(write)} LIMIT 1) AS returned`;
    outputs.push([statements.part(flushStatement, `returned ${write}`, build), null]);
  }
  // Comes last, to hold the lock on the row that all such units share as briefly as possible.
  if (invalidated.size > 0) {
    const config = invalidated.has('config') ? 1 : 0;
    const build = (): Sql =>
      sql`cache_versions_update AS (UPDATE cache_versions SET config = config + ${raw(String(config))}, rights = rights + 1)`;
    ctes.push([statements.part(flushStatement, `cache versions ${config}`, build), null]);
  }
  const glue = (text: string): Filled => [statements.part(flushStatement, text, () => raw(text)), null];
  const all: Filled[] = [];
  for (const [index, cte] of ctes.entries()) all.push(glue(index === 0 ? 'WITH ' : ',\n'), cte);
  if (outputs.length === 0) all.push(glue(' SELECT 1'));
  for (const [index, output] of outputs.entries()) all.push(glue(index === 0 ? ' SELECT ' : ',\n'), output);
  return statements.whole(all);
}
