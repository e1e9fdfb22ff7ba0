/**
 * Loads single rows by key. Concurrent requests share statements: a statement costs the database and the driver much more than
 * one more key in it. Each request sees everything that was committed before it came, because its statement is sent afterwards.
 * Inside a transaction, every look-up is a statement of its own.
 */
import sql, { join, raw, type Sql } from 'sql-template-tag';
import { Batches } from './batches.ts';
import { Database, type Queryable, type Statement } from './pool.ts';
import { isConnectionLost, isOverdue } from './sqlstate.ts';

type Keys<Key> = Readonly<Record<keyof Key, string>>;

/** Selects at most one row by its key. */
export interface Lookup<Row, Key> {
  /** Column → SQL type. */
  readonly key: Keys<Key>;
  /**
   * The text depends on nothing else, and has no values of its own.
   *
   * @param key the key's columns as SQL expressions
   */
  sql(key: Readonly<Record<keyof Key, Sql>>): Sql;
  /** Phantom type. */
  readonly row?: Row;
}

/** A look-up by id. */
export function byId<Row>(select: (id: Sql) => Sql): Lookup<Row, { id: string }> {
  return { key: { id: 'uuid' }, sql: ({ id }) => select(id) };
}

/**
 * Finds also a second row, whose id is in the first one: one statement instead of two. The columns of both must have different
 * names. Those of a second row that does not exist are null.
 *
 * @param id SQL for the id, from the columns of the first row, which is called `f`
 */
export function joined<First, Key extends object, Second>(
  first: Lookup<First, Key>,
  second: Lookup<Second, { id: string }>,
  id: Sql,
): Lookup<First & { [Name in keyof Second]: Second[Name] | null }, Key> {
  return {
    key: first.key,
    sql: (key) => sql`
      SELECT f.*, s.* FROM (${first.sql(key)}) AS f LEFT JOIN LATERAL (${second.sql({ id })} LIMIT 1) AS s ON true`,
  };
}

const LIMITS = { size: 16, underWay: 2 };
/** Numbers of keys in a statement. A batch is filled up with nulls, so that each look-up has few prepared statements. */
const SIZES = [1, 2, 4, 8, 16];
/** Look-up → texts by number of keys. */
const texts = new WeakMap<object, Map<number, string>>();

function statementOf<Row, Key extends object>(lookup: Lookup<Row, Key>, keys: readonly Key[]): Statement {
  const names = Object.keys(lookup.key) as (keyof Key & string)[];
  const size = SIZES.find((most) => most >= keys.length) ?? keys.length;
  const values: unknown[] = [];
  for (let place = 0; place < size; place++) for (const name of names) values.push(keys[place]?.[name] ?? null);
  let built = texts.get(lookup);
  if (built === undefined) texts.set(lookup, (built = new Map()));
  let text = built.get(size);
  if (text === undefined) built.set(size, (text = textOf(lookup, names, size)));
  return { text, values };
}

function textOf<Row, Key extends object>(
  { key, sql: select }: Lookup<Row, Key>,
  names: readonly (keyof Key & string)[],
  size: number,
): string {
  const columns = (expression: (name: keyof Key & string) => Sql): Record<keyof Key, Sql> =>
    Object.fromEntries(names.map((name) => [name, expression(name)])) as Record<keyof Key, Sql>;
  if (size === 1) return select(columns((name) => sql`${null}::${raw(key[name])}`)).text;
  const lines = Array.from({ length: size }, (_, place) => {
    const cells = names.map((name) => sql`${null}::${raw(key[name])}`);
    return sql`(${raw(String(place))}, ${join(cells)})`;
  });
  // LIMIT keeps the planner from joining: each row is found as by the look-up of one key.
  return sql`
    SELECT k.place, f.* FROM (VALUES ${join(lines)}) AS k (place, ${raw(names.map((name) => `"${name}"`).join(', '))})
    CROSS JOIN LATERAL (${select(columns((name) => raw(`k."${name}"`)))} LIMIT 1) AS f`.text;
}

async function findAlone<Row, Key extends object>(
  db: Queryable,
  lookup: Lookup<Row, Key>,
  key: Key,
): Promise<Row | undefined> {
  return (await db.query<Row>(statementOf(lookup, [key])))[0];
}

async function findTogether<Row, Key extends object>(
  db: Queryable,
  lookup: Lookup<Row, Key>,
  keys: readonly Key[],
): Promise<(Row | undefined)[]> {
  if (keys.length === 1 && keys[0] !== undefined) return [await findAlone(db, lookup, keys[0])];
  const rows = await db.query<Row & { place: number }>(statementOf(lookup, keys));
  const found = new Map(rows.map(({ place, ...row }) => [place, row as unknown as Row]));
  return keys.map((_, place) => found.get(place));
}

/** Database → look-up → its batches. */
const batches = new WeakMap<Database, Map<object, Batches<object, unknown>>>();

function batchesOf<Row, Key extends object>(db: Database, lookup: Lookup<Row, Key>): Batches<object, unknown> {
  let ofDatabase = batches.get(db);
  if (ofDatabase === undefined) batches.set(db, (ofDatabase = new Map()));
  let found = ofDatabase.get(lookup);
  if (found === undefined) {
    found = new Batches<object, unknown>(LIMITS, {
      together: (keys) => findTogether(db, lookup, keys as Key[]),
      alone: (key) => findAlone(db, lookup, key as Key),
      isSeparable: (error, count) => count > 1 && !isConnectionLost(error) && !isOverdue(error),
    });
    ofDatabase.set(lookup, found);
  }
  return found;
}

/** The row with the key, or undefined. Look-ups outside of transactions may share a statement. */
export function find<Row, Key extends object>(
  db: Queryable,
  lookup: Lookup<Row, Key>,
  key: Key,
): Promise<Row | undefined> {
  if (!(db instanceof Database)) return findAlone(db, lookup, key);
  return batchesOf(db, lookup).ask(key) as Promise<Row | undefined>;
}
