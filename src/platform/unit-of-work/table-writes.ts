/** Writes of the rows of one table, derived from its columns (`database/table.ts`). */
import sql, { empty, join, raw, type Sql } from 'sql-template-tag';
import { quoted, type Table } from '../database/table.ts';
import type { TableWrite } from './context.ts';

/** A row as it is planned: bytes are hex. */
export type Planned<Row> = { readonly [Name in keyof Row]: PlannedValue<Row[Name]> };
type PlannedValue<Value> = Value extends Buffer ? string : Value extends (infer Item)[] ? readonly Item[] : Value;

type Nullable<Row> = { [Name in keyof Row]: null extends Row[Name] ? Name : never }[keyof Row];

interface SqlValues {
  uuid: string;
  text: string;
  timestamptz: string;
  integer: number;
  bigint: number;
  boolean: boolean;
  'uuid[]': readonly string[];
}
type SqlTypes = Readonly<Record<string, keyof SqlValues>>;
/** Planned values that are no columns. */
type More<Given extends SqlTypes> = { readonly [Name in keyof Given]: SqlValues[Given[Name]] | null };

type Common<Row> = Pick<TableWrite<Row>, 'name' | 'records' | 'frequent'> & {
  /** Whether each row must be written, so that the unit is tried again otherwise; true by default. */
  guard?: boolean;
};

/** The SQL types of planned columns. */
export function typesOf<Row>({ types }: Table<Row>, names: readonly (keyof Row & string)[]): Record<string, string> {
  return Object.fromEntries(names.map((name) => [name, types[name] === 'bytea' ? 'text' : types[name]]));
}

/** SQL of the planned value of a column. */
function planned<Row>({ types }: Table<Row>, name: keyof Row & string): Sql {
  return raw(types[name] === 'bytea' ? `decode(r."${name}", 'hex')` : `r."${name}"`);
}

function listOf(names: readonly string[], text: (name: string) => string): Sql {
  return raw(names.map(text).join(', '));
}

/**
 * Inserts rows. Each has all columns but those of `defaults` and `set`, so that the compiler names the places that give a value to
 * a new column.
 */
export function insertInto<
  Row,
  Optional extends keyof Row,
  Key extends keyof Row,
  const Default extends (Optional | Nullable<Row>) & string = never,
  const Set extends keyof Row & string = never,
  const Given extends SqlTypes = Record<never, never>,
>(
  table: Table<Row, Optional, Key>,
  options: Common<Planned<Omit<Row, Default | Set>> & More<Given>> & {
    /** Columns that keep their default, or NULL. */
    defaults?: readonly Default[];
    /** Column → SQL of its value, from the planned row `r`. */
    set?: Readonly<Record<Set, Sql>>;
    /** Further values of the planned row, for the other options. */
    given?: Given;
    /** A condition on the planned row `r`. */
    where?: Sql;
    /** What follows `ON CONFLICT`. `replace`: the row with the same primary key gets all values of this one. */
    conflict?: 'ignore' | 'replace' | Sql;
    /** The order in which rows are inserted, so that units cannot wait for each other in a cycle. */
    order?: Sql;
  },
): TableWrite<Planned<Omit<Row, Default | Set>> & More<Given>> {
  const { defaults = [], set, given = {}, where, conflict, order, guard = true, ...common } = options;
  const expressions: Readonly<Record<string, Sql>> = set ?? {};
  const names = (Object.keys(table.types) as (keyof Row & string)[]).filter(
    (column) => !(defaults as readonly string[]).includes(column),
  );
  const values = join(names.map((column) => expressions[column] ?? planned(table, column)));
  const ordered = order === undefined ? empty : sql`ORDER BY ${order}`;
  const replaced = names.filter((column) => !table.key.includes(column));
  const conflicts = {
    ignore: sql`ON CONFLICT DO NOTHING`,
    replace: sql`ON CONFLICT (${listOf(table.key, quoted)}) DO UPDATE SET
      ${listOf(replaced, (column) => `${quoted(column)} = EXCLUDED.${quoted(column)}`)}`,
  };
  const onConflict = typeof conflict === 'string' ? conflicts[conflict] : sql`ON CONFLICT ${conflict}`;
  return {
    ...common,
    guard,
    columns: {
      ...typesOf(
        table,
        names.filter((column) => expressions[column] === undefined),
      ),
      ...given,
    },
    sql: (rows) => sql`INSERT INTO ${raw(table.name)} AS t (${listOf(names, quoted)})
      SELECT ${values} FROM ${rows} ${where === undefined ? empty : sql`WHERE ${where}`} ${ordered} ${conflict === undefined ? empty : onConflict}
      RETURNING ${listOf(table.key, (column) => `t.${quoted(column)}`)}`,
  };
}

interface Which<Key extends string, Given> {
  /** Columns that find the row; by default the primary key. */
  key?: readonly Key[];
  /** Further values of the planned row, for the other options. */
  given?: Given;
  /** A further condition on the stored row `t` and the planned row `r`. */
  where?: Sql;
  /** Locks the rows in the order of their keys, so that units cannot wait for each other in a cycle. */
  ordered?: true;
}

/** The planned rows, and the condition on the stored row `t` and the planned row `r`. */
function found<Row>(
  table: Table<Row>,
  keys: readonly (keyof Row & string)[],
  { where, ordered, next }: { where?: Sql | undefined; ordered?: true | undefined; next?: string | undefined },
): { from: (rows: Sql, alone: boolean, lock: string) => Sql; condition: Sql } {
  const isRow = (alias: string): Sql[] =>
    keys.map((name) => sql`${raw(`${alias}.${quoted(name)}`)} = ${planned(table, name)}`);
  const parts = isRow('t');
  if (next !== undefined) parts.push(raw(`t.${quoted(next)} = r."${next}" - 1`));
  if (where !== undefined) parts.push(sql`(${where})`);
  return {
    from: (rows, alone, lock) =>
      ordered === true && !alone
        ? sql`(SELECT r.* FROM ${rows} JOIN ${raw(table.name)} l ON ${join(isRow('l'), ' AND ')}
            ORDER BY ${listOf(keys, (name) => `l.${quoted(name)}`)} FOR ${raw(lock)} OF l) AS r`
        : rows,
    condition: parts.length === 0 ? sql`true` : join(parts, ' AND '),
  };
}

/** Changes the columns of `set`. With `allBut`, the compiler names the places that give a value to a new column. */
export function update<
  Row,
  Optional extends keyof Row,
  Primary extends keyof Row,
  const Set extends keyof Row & string = never,
  const Key extends keyof Row & string = Primary & string,
  const Next extends keyof Row & string = never,
  const Given extends SqlTypes = Record<never, never>,
>(
  table: Table<Row, Optional, Primary>,
  options: Common<Planned<Pick<Row, Set | Key | Next>> & More<Given>> &
    Which<Key, Given> & {
      set?: readonly Set[];
      /** Column → SQL of its value, from the stored row `t` and the planned row `r`. */
      also?: { readonly [Name in keyof Row]?: Sql };
      /** The revision: the planned one must follow the stored one. */
      next?: Next;
    },
): TableWrite<Planned<Pick<Row, Set | Key | Next>> & More<Given>> {
  const { set = [], also = {}, next, key, given, where, ordered, guard = true, ...common } = options;
  const keys: readonly (keyof Row & string)[] = key ?? table.key;
  const sent = [...new Set<keyof Row & string>([...keys, ...set, ...(next === undefined ? [] : [next])])];
  const values = [
    ...sent.filter((name) => !keys.includes(name)).map((name) => sql`${raw(quoted(name))} = ${planned(table, name)}`),
    ...Object.entries<Sql | undefined>(also).map(([name, value]) => sql`${raw(quoted(name))} = ${value}`),
  ];
  const { from, condition } = found(table, keys, { where, ordered, next });
  return {
    ...common,
    guard,
    columns: { ...typesOf(table, sent), ...given },
    sql: (rows, alone) => sql`UPDATE ${raw(table.name)} t SET ${join(values)} FROM ${from(rows, alone, 'NO KEY UPDATE')}
      WHERE ${condition} ${guard ? sql`RETURNING 1` : empty}`,
  };
}

/** Deletes rows. */
export function deleteFrom<
  Row,
  Optional extends keyof Row,
  Primary extends keyof Row,
  const Key extends keyof Row & string = Primary & string,
  const Given extends SqlTypes = Record<never, never>,
>(
  table: Table<Row, Optional, Primary>,
  options: Common<Planned<Pick<Row, Key>> & More<Given>> & Which<Key, Given>,
): TableWrite<Planned<Pick<Row, Key>> & More<Given>> {
  const { key, given, where, ordered, guard = true, ...common } = options;
  const keys: readonly (keyof Row & string)[] = key ?? table.key;
  const { from, condition } = found(table, keys, { where, ordered });
  return {
    ...common,
    guard,
    columns: { ...typesOf(table, keys), ...given },
    sql: (rows, alone) => sql`DELETE FROM ${raw(table.name)} t USING ${from(rows, alone, 'UPDATE')}
      WHERE ${condition} ${guard ? sql`RETURNING 1` : empty}`,
  };
}
