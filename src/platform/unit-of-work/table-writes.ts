/** Writes of the rows of one table, derived from its columns (`database/table.ts`). */
import sql, { empty, join, raw, type Sql } from 'sql-template-tag';
import { quoted, type Table } from '../database/table.ts';
import type { TableWrite } from './context.ts';

/** A row as it is planned: bytes are hex. */
export type Planned<Row> = { readonly [Name in keyof Row]: PlannedValue<Row[Name]> };
type PlannedValue<Value> = Value extends Buffer ? string : Value extends (infer Item)[] ? readonly Item[] : Value;

type Nullable<Row> = { [Name in keyof Row]: null extends Row[Name] ? Name : never }[keyof Row];

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
>(
  table: Table<Row, Optional, Key>,
  options: Common<Planned<Omit<Row, Default | Set>>> & {
    /** Columns that keep their default, or NULL. */
    defaults?: readonly Default[];
    /** Column → SQL of its value, from the planned row `r`. */
    set?: Readonly<Record<Set, Sql>>;
    /** What follows `ON CONFLICT`. `replace`: the row with the same primary key gets all values of this one. */
    conflict?: 'ignore' | 'replace' | Sql;
    /** The order in which rows are inserted, so that units cannot wait for each other in a cycle. */
    order?: Sql;
  },
): TableWrite<Planned<Omit<Row, Default | Set>>> {
  const { defaults = [], set, conflict, order, guard = true, ...common } = options;
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
    columns: typesOf(
      table,
      names.filter((column) => expressions[column] === undefined),
    ),
    sql: (rows) => sql`INSERT INTO ${raw(table.name)} AS t (${listOf(names, quoted)})
      SELECT ${values} FROM ${rows} ${ordered} ${conflict === undefined ? empty : onConflict}
      RETURNING ${listOf(table.key, (column) => `t.${quoted(column)}`)}`,
  };
}

interface Which<Key extends string, Next extends string> {
  /** Columns that find the row; by default the primary key. */
  key?: readonly Key[];
  /** The revision: the planned one must follow the stored one. */
  next?: Next;
  /** A further condition on the stored row `t` and the planned row `r`. */
  where?: Sql;
}

function found<Row>(
  table: Table<Row>,
  { key = table.key, next, where }: Which<keyof Row & string, keyof Row & string>,
): { names: (keyof Row & string)[]; condition: Sql } {
  const parts = key.map((name) => sql`t.${raw(quoted(name))} = ${planned(table, name)}`);
  if (next !== undefined) parts.push(raw(`t.${quoted(next)} = r."${next}" - 1`));
  if (where !== undefined) parts.push(sql`(${where})`);
  const names = next === undefined ? key : [...key, next];
  return { names: [...names], condition: parts.length === 0 ? sql`true` : join(parts, ' AND ') };
}

/** Changes the columns of `set`. With `allBut`, the compiler names the places that give a value to a new column. */
export function update<
  Row,
  Optional extends keyof Row,
  Primary extends keyof Row,
  const Set extends keyof Row & string = never,
  const Key extends keyof Row & string = Primary & string,
  const Next extends keyof Row & string = never,
>(
  table: Table<Row, Optional, Primary>,
  options: Common<Planned<Pick<Row, Set | Key | Next>>> &
    Which<Key, Next> & {
      set?: readonly Set[];
      /** Column → SQL of its value, from the stored row `t` and the planned row `r`. */
      also?: { readonly [Name in keyof Row]?: Sql };
      /** Locks the rows in the order of their keys, so that units cannot wait for each other in a cycle. */
      ordered?: true;
    },
): TableWrite<Planned<Pick<Row, Set | Key | Next>>> {
  const { set = [], also = {}, ordered, key, next, where, guard = true, ...common } = options;
  const { names, condition } = found(table, { ...(key && { key }), ...(next && { next }), ...(where && { where }) });
  const changed = [...new Set<keyof Row & string>([...set, ...(next === undefined ? [] : [next])])].filter(
    (column) => !(key ?? table.key).includes(column as Key),
  );
  const values = [
    ...changed.map((column) => sql`${raw(quoted(column))} = ${planned(table, column)}`),
    ...Object.entries<Sql | undefined>(also).map(([column, value]) => sql`${raw(quoted(column))} = ${value}`),
  ];
  const keys = (key ?? table.key) as readonly (keyof Row & string)[];
  const locked = (rows: Sql): Sql => sql`(SELECT r.* FROM ${rows} JOIN ${raw(table.name)} l
    ON ${join(
      keys.map((name) => sql`l.${raw(quoted(name))} = ${planned(table, name)}`),
      ' AND ',
    )} ORDER BY ${listOf(keys, (name) => `l.${quoted(name)}`)} FOR NO KEY UPDATE OF l) AS r`;
  return {
    ...common,
    guard,
    columns: typesOf(table, [...new Set([...names, ...set])]),
    sql: (rows, alone) => sql`UPDATE ${raw(table.name)} t SET ${join(values)}
      FROM ${ordered === true && !alone ? locked(rows) : rows} WHERE ${condition} ${guard ? sql`RETURNING 1` : empty}`,
  };
}

/** Deletes rows. */
export function deleteFrom<
  Row,
  Optional extends keyof Row,
  Primary extends keyof Row,
  const Key extends keyof Row & string = Primary & string,
  const Next extends keyof Row & string = never,
>(
  table: Table<Row, Optional, Primary>,
  options: Common<Planned<Pick<Row, Key | Next>>> & Which<Key, Next>,
): TableWrite<Planned<Pick<Row, Key | Next>>> {
  const { key, next, where, guard = true, ...common } = options;
  const { names, condition } = found(table, { ...(key && { key }), ...(next && { next }), ...(where && { where }) });
  return {
    ...common,
    guard,
    columns: typesOf(table, names),
    sql: (rows) =>
      sql`DELETE FROM ${raw(table.name)} t USING ${rows} WHERE ${condition} ${guard ? sql`RETURNING 1` : empty}`,
  };
}
