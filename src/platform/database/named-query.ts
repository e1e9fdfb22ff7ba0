/**
 * Runs prepared statements. The driver's own queries ask for the description of the result columns at every execution. A
 * prepared statement always has the same columns (PostgreSQL refuses to execute it otherwise), so these queries ask once per
 * connection. A read by id has 17 columns, and their description is as large as a small record.
 */
import { createRequire } from 'node:module';
import type pg from 'pg';

export interface NamedStatement {
  name: string;
  text: string;
  values: readonly unknown[];
  /** How long to wait for the response, in milliseconds; if absent, without a limit. */
  query_timeout?: number;
}

type Parse = (text: string) => unknown;
/** The parser of a type's text format. */
export type ParserOf = (oid: number) => Parse;
type Row = Record<string, unknown>;

/** The columns of a result. */
interface Columns {
  readonly all: readonly (readonly [name: string, parse: Parse])[];
  /** A row without values. A copy of it has all members at once, which is faster than to add one after another. */
  readonly empty: Row;
}

/** Connection → statement name → its columns. */
const described = new WeakMap<object, Map<string, Columns>>();

// Neither has type declarations.
const { prepareValue } = createRequire(import.meta.url)('pg/lib/utils.js') as { prepareValue(value: unknown): unknown };

/** The parts of the driver's connection that queries use. */
interface Connection {
  readonly stream: { cork(): void; uncork(): void };
  /** Statement name → its text, if the server has it. */
  readonly parsedStatements: Record<string, string | undefined>;
  readonly submittedNamedStatements: Record<string, string | undefined>;
  parse(statement: { name: string; text: string }): void;
  bind(given: { statement: string; values: readonly unknown[]; valueMapper: typeof prepareValue }): void;
  describe(given: { type: 'P' }): void;
  execute(given: object): void;
  sync(): void;
}

/** A query as the driver expects it: it calls `submit` when the connection is free, and a handler for each response message. */
class NamedQuery implements pg.Submittable {
  readonly name: string;
  readonly text: string;
  readonly query_timeout: number | undefined;
  /** The driver replaces it to limit the time. */
  callback: (error: Error | null, rows?: Row[]) => void;
  readonly #values: readonly unknown[];
  readonly #parserOf: ParserOf;
  readonly #rows: Row[] = [];
  #columns: Columns = { all: [], empty: {} };
  #known: Map<string, Columns> | undefined;
  #failed: Error | undefined;

  constructor(statement: NamedStatement, parserOf: ParserOf, callback: NamedQuery['callback']) {
    this.name = statement.name;
    this.text = statement.text;
    this.query_timeout = statement.query_timeout;
    this.callback = callback;
    this.#values = statement.values;
    this.#parserOf = parserOf;
  }

  submit(given: unknown): Error | null {
    const connection = given as Connection;
    const { name, text } = this;
    let known = described.get(connection);
    if (known === undefined) described.set(connection, (known = new Map()));
    this.#known = known;
    const columns = known.get(name);
    // One packet for all messages.
    connection.stream.cork();
    try {
      if ((connection.parsedStatements[name] ?? connection.submittedNamedStatements[name]) === undefined) {
        connection.parse({ name, text });
        connection.submittedNamedStatements[name] = text;
      }
      connection.bind({ statement: name, values: this.#values, valueMapper: prepareValue });
      if (columns === undefined) connection.describe({ type: 'P' });
      else this.#columns = columns;
      connection.execute({});
    } catch (error) {
      this.#failed = error as Error;
    } finally {
      connection.sync();
      connection.stream.uncork();
    }
    return null;
  }

  handleRowDescription({ fields }: { fields: readonly pg.FieldDef[] }): void {
    const all = fields.map((field) => [field.name, this.#parserOf(field.dataTypeID)] as const);
    this.#columns = { all, empty: Object.fromEntries(all.map(([name]) => [name, null])) };
    this.#known?.set(this.name, this.#columns);
  }

  handleDataRow({ fields }: { fields: readonly (string | null)[] }): void {
    if (this.#failed !== undefined) return;
    try {
      const { all, empty } = this.#columns;
      const row = { ...empty };
      let place = 0;
      for (const [name, parse] of all) {
        const text = fields[place++] ?? null;
        row[name] = text === null ? null : parse(text);
      }
      this.#rows.push(row);
    } catch (error) {
      this.#failed = error as Error;
    }
  }

  handleCommandComplete(): void {}

  handleEmptyQuery(): void {}

  handlePortalSuspended(): void {}

  handleError(error: Error): void {
    this.callback(this.#failed ?? error);
  }

  handleReadyForQuery(): void {
    if (this.#failed === undefined) this.callback(null, this.#rows);
    else this.callback(this.#failed);
  }
}

/** Runs a prepared statement and returns its rows. The connection prepares it if it has not done so before. */
export async function queryNamed(client: pg.ClientBase, statement: NamedStatement, parserOf: ParserOf): Promise<Row[]> {
  try {
    return await new Promise<Row[]>((resolve, reject) => {
      const settle = (error: Error | null, rows: Row[] = []): void => (error === null ? resolve(rows) : reject(error));
      client.query(new NamedQuery(statement, parserOf, settle));
    });
  } catch (error) {
    // The driver creates the error when it reads the response. This names the callers instead.
    Error.captureStackTrace(error as Error);
    throw error;
  }
}
