/** Tables as values: their columns with types. `tables.ts` describes all tables of the schema; it is generated. */
import { join, raw, type Sql } from 'sql-template-tag';

/**
 * A table, or some of its columns. Columns have the names that they have in rows: `objectId` is the column `object_id`.
 *
 * `Optional` are the columns that have a default, `Key` are those of the primary key.
 */
export interface Table<Row, Optional extends keyof Row = keyof Row, Key extends keyof Row = keyof Row> {
  readonly name: string;
  readonly key: readonly (keyof Row & string)[];
  /** Column → SQL type. */
  readonly types: Readonly<Record<keyof Row & string, string>>;
  /** Phantom types. */
  readonly row?: Row;
  readonly optional?: Optional;
  readonly primary?: Key;
}

/** For `tables.ts`. */
export function table<Row, Optional extends keyof Row, Key extends keyof Row>(
  name: string,
  key: readonly (keyof Row & string)[],
  types: Readonly<Record<keyof Row & string, string>>,
): Table<Row, Optional, Key> {
  return { name, key, types };
}

/** Types that the schema cannot express: `table.column` → type. `domain/column-types.ts` has them. */
export interface ColumnTypes {}

/** The type of a column: that of `ColumnTypes`, else the one that follows from its SQL type. */
export type Typed<Name extends string, Default> = Name extends keyof ColumnTypes ? ColumnTypes[Name] : Default;

/** The rows of a table or of some of its columns. */
export type RowOf<T> = T extends { readonly row?: infer Row } ? NonNullable<Row> : never;

/** The names of all columns but these. */
export function allBut<Row, const Name extends keyof Row & string>(
  { types }: Table<Row>,
  names: readonly Name[],
): Exclude<keyof Row & string, Name>[] {
  const left = Object.keys(types).filter((column) => !(names as readonly string[]).includes(column));
  return left as Exclude<keyof Row & string, Name>[];
}

/** Some columns of a table. */
export function pick<Row, const Name extends keyof Row & string>(
  { name, types }: Table<Row>,
  names: readonly Name[],
): Table<Pick<Row, Name>> {
  const picked = Object.fromEntries(names.map((column) => [column, types[column]])) as Record<Name, string>;
  return { name, key: [], types: picked };
}

/** The columns of a table but these. */
export function omit<Row, const Name extends keyof Row & string>(
  table: Table<Row>,
  names: readonly Name[],
): Table<Omit<Row, Name>> {
  return pick(table, allBut(table, names)) as unknown as Table<Omit<Row, Name>>;
}

/** The SQL name of a column: `objectId` → `"object_id"`. */
export function quoted(column: string): string {
  return `"${column.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)}"`;
}

/** A list of SELECT: the columns of the table under `alias`, with the names that they have in rows. */
export function columns<Row>({ types }: Table<Row>, alias: string): Sql {
  const list = Object.entries<string>(types).map(([column, type]) => {
    // The driver would make a date in the local time zone of it.
    const cast = type === 'date' ? '::text' : '';
    return raw(`${alias}.${quoted(column)}${cast} AS "${column}"`);
  });
  return join(list);
}
