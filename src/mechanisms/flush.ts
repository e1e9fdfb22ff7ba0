/** The one statement by which a unit of work writes all that it planned (architecture, section 3e). */
import sql, { raw, type Sql } from 'sql-template-tag';
import type { LateValue, TableWrite } from './context.ts';
import type { Statement } from './db/pool.ts';
import { type Claimed, claimParts } from './idempotency.ts';
import { writeGuard, writePart } from './row-source.ts';
import type { Part, Statements } from './statement.ts';

export interface Planned {
  write: TableWrite<unknown>;
  rows: unknown[];
}

export interface Flushed {
  planned: Iterable<Planned>;
  claimed: Claimed | undefined;
  late: { key: string; value: LateValue } | undefined;
  raised: ReadonlySet<'rights' | 'config'>;
}

/** A part with what it takes its values from. */
type Filled = readonly [Part, unknown];

/** Writes as CTEs in the order in which they were planned, then in one row what must hold of them: a guard that is not met undoes all. */
export function flushStatement(statements: Statements, { planned, claimed, late, raised }: Flushed): Statement {
  const ctes: Filled[] = [];
  const outputs: Filled[] = [];
  if (claimed !== undefined) {
    const { busy, kept } = claimParts(statements, late);
    outputs.push([busy, claimed], [kept, claimed]);
  }
  const writes = [...planned];
  const guarded = writes.flatMap(({ write }) => (write.guard ? [write.name] : []));
  for (const { write, rows } of writes) {
    ctes.push([writePart(statements, write, rows, guarded), rows]);
    if (write.guard) outputs.push([writeGuard(statements, write), rows]);
  }
  if (claimed !== undefined) ctes.push([claimParts(statements, late).ctes, claimed]);
  if (late !== undefined) {
    const { write } = late.value;
    const build = (): Sql => sql`(SELECT to_jsonb(late_value) FROM ${raw(write)} LIMIT 1) AS late`;
    outputs.push([statements.part(flushStatement, `late ${write}`, build), null]);
  }
  // Last, so that the one row that all such units share is locked as briefly as can be.
  if (raised.size > 0) {
    const config = raised.has('config') ? 1 : 0;
    const build = (): Sql =>
      sql`epoch_raised AS (UPDATE epoch SET config = config + ${raw(String(config))}, rights = rights + 1)`;
    ctes.push([statements.part(flushStatement, `epoch ${config}`, build), null]);
  }
  const glue = (text: string): Filled => [statements.part(flushStatement, text, () => raw(text)), null];
  const all: Filled[] = [];
  for (const [index, cte] of ctes.entries()) all.push(glue(index === 0 ? 'WITH ' : ',\n'), cte);
  if (outputs.length === 0) all.push(glue(' SELECT 1'));
  for (const [index, output] of outputs.entries()) all.push(glue(index === 0 ? ' SELECT ' : ',\n'), output);
  return statements.whole(all);
}
