/**
 * Builds the statement of a unit of work from parts. The text depends on which writes take part and on the row count of small
 * writes, and hardly ever on the values. Parts are therefore built once, with a slot for each value, and whole texts are cached.
 * Each text is one prepared statement of a connection.
 *
 * What this gains: for a create (3.3 KB of text, 40 values) the service spends 20 µs on the statement instead of 93 µs, of about
 * 600 µs per create (best of four runs of 5,000 builds; docs/reference/performance.md has the other figures). Rows sent as
 * parameters cost the database a third less than rows extracted from JSON.
 */
import sql, { type Sql, join, raw } from 'sql-template-tag';
import type { Statement } from '../database/pool.ts';
import type { TableWrite } from './context.ts';

/** A position in a part whose value is taken from the data that the part writes. */
export class Slot<Source> {
  readonly take: (source: Source) => unknown;

  constructor(take: (source: Source) => unknown) {
    this.take = take;
  }
}

/** A built part: text between positions, and for each position a slot or a fixed value. */
export interface StatementPart {
  key: string;
  strings: readonly string[];
  values: readonly unknown[];
}

/** Maximum number of cached texts. Further texts are built each time. */
const MAX_TEXTS = 2000;

/** Created once per process: the cached parts and texts depend only on the code. */
export class Statements {
  readonly #parts = new WeakMap<object, Map<string, StatementPart>>();
  readonly #texts = new Map<string, string>();
  #made = 0;

  /**
   * The part that `build` returns for this owner and variant; built once.
   *
   * @param isShared whether other owners build parts with the same text; their statements then share one cached text
   */
  part(owner: object, variant: string, build: () => Sql, isShared = false): StatementPart {
    let variants = this.#parts.get(owner);
    if (variants === undefined) {
      variants = new Map();
      this.#parts.set(owner, variants);
    }
    let part = variants.get(variant);
    if (part === undefined) {
      const { strings, values } = build();
      part = { key: isShared ? `(${strings.join('?')})` : `#${this.#made++}`, strings, values };
      variants.set(variant, part);
    }
    return part;
  }

  /** Joins parts, each with the source of its values, into one statement. */
  whole(parts: readonly (readonly [StatementPart, unknown])[]): Statement {
    let key = '';
    const values: unknown[] = [];
    for (const [part, source] of parts) {
      key += part.key;
      for (const value of part.values) values.push(value instanceof Slot ? value.take(source) : value);
    }
    let text = this.#texts.get(key);
    if (text === undefined) {
      text = textOf(parts.map(([part]) => part));
      if (this.#texts.size < MAX_TEXTS) this.#texts.set(key, text);
    }
    return { text, values };
  }
}

function textOf(parts: readonly StatementPart[]): string {
  let text = '';
  let place = 0;
  for (const { strings } of parts) {
    text += strings[0] ?? '';
    for (let index = 1; index < strings.length; index++) text += `$${++place}${strings[index]}`;
  }
  return text;
}

type Rows = readonly unknown[];

/** More rows than this are sent as JSON, which limits the number of distinct statements. */
const FEW = 4;

/**
 * The CTE that writes the rows. `guarded` names the unit's writes with a guard.
 *
 * @param asJson sends the rows as JSON however few they are, so that the text does not depend on their number
 */
export function writePart(
  statements: Statements,
  write: TableWrite<unknown>,
  rows: Rows,
  guarded: readonly string[],
  asJson = false,
): StatementPart {
  const few = !asJson && write.frequent === true && rows.length <= FEW ? rows.length : 0;
  const names = write.guard === 'awaited' ? guarded : [];
  const build = (): Sql => sql`${raw(write.name)} AS (${write.sql(rowSource(write, few), few === 1, ready(names))})`;
  return statements.part(write, [few, ...names].join(' '), build, write.varies);
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
  if (columns === undefined) return sql`${new Slot((rows: Rows) => JSON.stringify(rows))}::jsonb`;
  const entries = Object.entries(columns);
  const names = Object.keys(columns).map((name) => `"${name}"`);
  if (few > 0) {
    const lines = Array.from({ length: few }, (_, index) => {
      const cells = entries.map(([name, type]) => sql`${cell(index, name, type)}::${raw(type)}`);
      return sql`(${join(cells)})`;
    });
    return sql`(VALUES ${join(lines)}) AS r (${raw(names.join(', '))})`;
  }
  // A planned row can have more members than columns.
  const picked = (row: unknown): unknown =>
    Object.fromEntries(entries.map(([name]) => [name, (row as Readonly<Record<string, unknown>>)[name]]));
  const all = new Slot((rows: Rows) => JSON.stringify(rows.map(picked)));
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

export function isGuard({ guard }: TableWrite<unknown>): boolean {
  return guard === true || guard === 'revision';
}

/** The guard that the write returned one row per planned row. */
export function writeGuard(statements: Statements, write: TableWrite<unknown>): StatementPart {
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
