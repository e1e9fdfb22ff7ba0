/**
 * The single statement with which units of work write everything that they planned (ADR 0001): one round trip and one commit for
 * record, journal, outbox and stored response. `statement.ts` builds and caches the parts.
 */
import sql, { raw, type Sql } from 'sql-template-tag';
import type { ReturnedValue, TableWrite } from './context.ts';
import type { Statement } from '../database/pool.ts';
import { type Claimed, claimParts, claimRow } from './idempotency.ts';
import { writeGuard, writePart, type Part, type Statements } from './statement.ts';

export interface Planned {
  write: TableWrite<unknown>;
  rows: unknown[];
}

/** What one unit writes. */
export interface Flushed {
  planned: readonly Planned[];
  claimed: Claimed | undefined;
  returned: { key: string; value: ReturnedValue } | undefined;
  invalidated: ReadonlySet<'rights' | 'config'>;
}

/** A part and the source of its values. */
type Filled = readonly [Part, unknown];

/**
 * Builds one CTE per write, in the order of planning, and one output row with the guards. A failed guard rolls back the whole
 * statement.
 *
 * @param units one or more units of the same kind (`groups.ts`)
 * @param lockMs how long the statement waits for a lock; if absent, as long as the server allows
 */
export function flushStatement(statements: Statements, units: readonly Flushed[], lockMs?: number): Statement {
  const [first] = units;
  if (first === undefined) throw new Error('there is no unit to write');
  const { claimed, returned, invalidated, planned } = first;
  const ctes: Filled[] = [];
  const outputs: Filled[] = [];
  // Outputs are computed in their order, and the writes with them.
  if (lockMs !== undefined) {
    const build = (): Sql => sql`set_config('lock_timeout', ${raw(`'${lockMs}'`)}, true)`;
    outputs.push([statements.part(flushStatement, `lock ${lockMs}`, build), null]);
  }
  const claims = units.flatMap((unit) => (unit.claimed === undefined ? [] : [claimRow(unit.claimed, unit.returned)]));
  const claim = claimed === undefined ? undefined : claimParts(statements, returned?.value.write, claims);
  if (claim !== undefined) outputs.push(...claim.guards.map((part): Filled => [part, claims]));
  const writes = planned.map(({ write }, at) => ({
    write,
    rows: units.flatMap((unit) => unit.planned[at]?.rows ?? []),
  }));
  const guarded = writes.flatMap(({ write }) => (write.guard ? [write.name] : []));
  for (const { write, rows } of writes) {
    ctes.push([writePart(statements, write, rows, guarded), rows]);
    if (write.guard) outputs.push([writeGuard(statements, write), rows]);
  }
  if (claim !== undefined) ctes.push(...claim.ctes.map((part): Filled => [part, claims]));
  if (returned !== undefined) {
    const { write } = returned.value;
    const build = (): Sql => sql`(SELECT jsonb_object_agg(id, returned_value) FROM ${raw(write)}) AS returned`;
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
