/** How planned rows travel to the database: as one JSON array, or, where a row comes alone, as parameters. */
import sql, { join, raw, type Sql } from 'sql-template-tag';
import type { TableWrite } from './context.ts';

/** What `sql` of the write is given: the JSON parameter, or with `columns` an item for FROM named `r`. */
export function rowSource({ columns }: TableWrite<unknown>, rows: readonly unknown[]): Sql {
  if (columns === undefined) return sql`${JSON.stringify(rows)}::jsonb`;
  const [row] = rows as readonly Record<string, unknown>[];
  const names = Object.keys(columns).map((name) => `"${name}"`);
  if (rows.length === 1 && row !== undefined) {
    const values = Object.entries(columns).map(([name, type]) => sql`${parameter(row[name], type)}::${raw(type)}`);
    return sql`(VALUES (${join(values)})) AS r (${raw(names.join(', '))})`;
  }
  const typed = Object.values(columns).map((type, index) => `${names[index]} ${type}`);
  return sql`jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) AS r (${raw(typed.join(', '))})`;
}

function parameter(value: unknown, type: string): unknown {
  if (value === undefined || value === null) return null;
  return type === 'jsonb' ? JSON.stringify(value) : value;
}
