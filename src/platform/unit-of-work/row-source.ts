/** Sends planned rows to the database: as one JSON array, or as parameters if there are few. */
import sql, { join, raw, type Sql } from 'sql-template-tag';
import type { TableWrite } from './context.ts';
import { loosePart, type Part, Slot, type Statements } from './statement.ts';

type Rows = readonly unknown[];

/** More rows than this are sent as JSON, which limits the number of distinct statements. */
const FEW = 4;

/** The CTE that writes the rows. `guarded` names the unit's writes with a guard. */
export function writePart(
  statements: Statements,
  write: TableWrite<unknown>,
  rows: Rows,
  guarded: readonly string[],
): Part {
  const few = write.columns !== undefined && rows.length <= FEW ? rows.length : 0;
  const names = write.afterGuards === true ? guarded : [];
  const build = (): Sql => sql`${raw(write.name)} AS (${write.sql(rowSource(write, few), few === 1, ready(names))})`;
  return write.varies === true ? loosePart(build()) : statements.part(write, [few, ...names].join(' '), build);
}

/**
 * A condition that is true once the named writes ran. PostgreSQL does not define the order of the writes of one statement,
 * except that a write that reads what others return waits for them.
 */
function ready(names: readonly string[]): Sql {
  if (names.length === 0) return sql`true`;
  return join(
    names.map((name) => sql`(SELECT count(*) FROM ${raw(name)}) >= 0`),
    ' AND ',
  );
}

/** The argument for the write's `sql`: the JSON parameter, or, with `columns`, a FROM item named `r`. */
function rowSource({ columns }: TableWrite<unknown>, few: number): Sql {
  const all = new Slot((rows: Rows) => JSON.stringify(rows));
  if (columns === undefined) return sql`${all}::jsonb`;
  const entries = Object.entries(columns);
  const names = Object.keys(columns).map((name) => `"${name}"`);
  if (few > 0) {
    const lines = Array.from({ length: few }, (_, index) => {
      const cells = entries.map(([name, type]) => sql`${cell(index, name, type)}::${raw(type)}`);
      return sql`(${join(cells)})`;
    });
    return sql`(VALUES ${join(lines)}) AS r (${raw(names.join(', '))})`;
  }
  const typed = entries.map(([, type], index) => `${names[index]} ${type}`);
  return sql`jsonb_to_recordset(${all}::jsonb) AS r (${raw(typed.join(', '))})`;
}

function cell(index: number, name: string, type: string): Slot<Rows> {
  const json = type === 'jsonb';
  return new Slot((rows: Rows) => {
    const value = (rows[index] as Readonly<Record<string, unknown>>)[name];
    if (value === undefined || value === null) return null;
    return json ? JSON.stringify(value) : value;
  });
}

/** The guard that the write returned one row per planned row. */
export function writeGuard(statements: Statements, write: TableWrite<unknown>): Part {
  return statements.part(write.varies === true ? writeGuard : write, `guard ${write.name}`, () =>
    required(
      write.name,
      sql`(SELECT count(*) FROM ${raw(write.name)}) = ${new Slot((rows: Rows) => rows.length)}::bigint`,
    ),
  );
}

/** Rolls the statement back if the condition is false. The database function is called only in that case. */
export function required(guard: string, holds: Sql): Sql {
  return sql`CASE WHEN ${holds} THEN NULL ELSE docket_require(${raw(`'${guard}'`)}, 0, 1) END`;
}
