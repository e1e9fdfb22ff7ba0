/**
 * The pool of connections to PostgreSQL: named prepared statements, typed results, and errors that never end the process.
 */
import pg from 'pg';
import type { Sql } from 'sql-template-tag';

export interface QueryOptions {
  /**
   * Plans the statement for the very values it is sent with, each time. For statements whose best plan hangs on them: a kept
   * plan takes an unknown OFFSET for a tenth of the table and sorts all of it.
   */
  freshPlan?: boolean;
  /** Waits for the answer however long it takes: for statements whose own time limit was lifted. */
  patient?: boolean;
}

export interface Queryable {
  query<Row>(statement: Sql, options?: QueryOptions): Promise<Row[]>;
}

export interface DatabaseOptions {
  url: string;
  /** Most connections at once. */
  max?: number;
  /** How long a caller waits for a free connection, in milliseconds. */
  acquireMs?: number;
  /** Longest statement, in milliseconds. */
  statementMs?: number;
  applicationName?: string;
  onError?: (error: Error) => void;
}

/** A connection inside a transaction that `work.ts` opened; nothing else can make one. */
export interface Transaction extends Queryable {
  readonly transaction: true;
}

const INSTANT_OID = 1184;
const BIGINT_OID = 20;
const MOST_PREPARED = 2000;
const STATEMENT_MS = 30_000;
/** The server ends a statement in time by itself; who hears nothing this long after that has lost the connection. */
const SILENT_MS = 2000;
/** What the driver says then. The connection may yet bring an answer that nobody waits for, so it cannot be used again. */
const SILENT = 'Query read timeout';

// `2026-11-21 09:15:00.123+00` (sessions run in UTC) → `2026-11-21T09:15:00.123Z`, without a Date in between.
function instantFromText(text: string): string {
  const [head = '', fraction = ''] = text.slice(0, -3).split('.');
  return `${head.replace(' ', 'T')}.${fraction.padEnd(3, '0').slice(0, 3)}Z`;
}

function typeParser(oid: number, format?: 'text' | 'binary'): (value: string) => unknown {
  if (oid === INSTANT_OID) return instantFromText;
  if (oid === BIGINT_OID) return Number;
  return pg.types.getTypeParser(oid, format as 'text');
}

function isSilent(error: unknown): boolean {
  return error instanceof Error && error.message === SILENT;
}

export class Database implements Queryable {
  readonly #pool: pg.Pool;
  readonly #names = new Map<string, string>();
  /** A connection through which nothing passes, not even its end, would otherwise be waited on for ever. */
  readonly #answerMs: number;

  constructor(options: DatabaseOptions) {
    const onError = options.onError ?? (() => {});
    const statementMs = options.statementMs ?? STATEMENT_MS;
    this.#answerMs = statementMs + SILENT_MS;
    this.#pool = new pg.Pool({
      connectionString: options.url,
      max: options.max ?? 20,
      connectionTimeoutMillis: options.acquireMs ?? 1000,
      idleTimeoutMillis: 60_000,
      statement_timeout: statementMs,
      idle_in_transaction_session_timeout: 15_000,
      application_name: options.applicationName ?? 'docket',
      keepAlive: true,
      // Many small statements at once: a query that took further processors, or compiled itself, would take them from others.
      options: '-c timezone=UTC -c datestyle=ISO -c jit=off -c max_parallel_workers_per_gather=0',
      types: { getTypeParser: typeParser as pg.CustomTypesConfig['getTypeParser'] },
    });
    // Both kinds of listener are needed: an idle or a checked-out connection that breaks would end the process.
    this.#pool.on('error', onError);
    this.#pool.on('connect', (client) => {
      client.on('error', onError);
    });
  }

  #named(statement: Sql, options: QueryOptions = {}): pg.QueryConfig {
    const text = statement.text;
    if (options.freshPlan === true) return { text, values: statement.values };
    let name = this.#names.get(text);
    if (name === undefined) {
      if (this.#names.size >= MOST_PREPARED) return { text, values: statement.values };
      name = `d${this.#names.size}`;
      this.#names.set(text, name);
    }
    return { name, text, values: statement.values };
  }

  #bounded<T extends pg.QueryConfig>(query: T, options?: QueryOptions): T {
    // The driver takes the limit with each query, though its types do not say so.
    return options?.patient === true ? query : { ...query, query_timeout: this.#answerMs };
  }

  /** Runs one statement on its own; it commits by itself. */
  async query<Row>(statement: Sql, options?: QueryOptions): Promise<Row[]> {
    const result = await this.#pool.query(this.#bounded(this.#named(statement, options), options));
    return result.rows as Row[];
  }

  /** For `work.ts`, migrations and the bundle alone: runs `fn` in one transaction, commits if `keep` says so. */
  async transaction<T>(
    begin: 'BEGIN' | 'BEGIN ISOLATION LEVEL REPEATABLE READ, READ ONLY',
    fn: (tx: Transaction) => Promise<T>,
    keep: (result: T) => boolean = () => true,
  ): Promise<T> {
    const client = await this.#pool.connect();
    let broken: Error | undefined;
    try {
      await client.query(this.#bounded({ text: begin }));
      const tx: Transaction = {
        transaction: true,
        query: async <Row>(statement: Sql, options?: QueryOptions) =>
          (await client.query(this.#bounded(this.#named(statement, options), options))).rows as Row[],
      };
      const result = await fn(tx);
      await client.query(this.#bounded({ text: keep(result) ? 'COMMIT' : 'ROLLBACK' }));
      return result;
    } catch (error) {
      broken = isSilent(error) ? (error as Error) : await this.#rollBack(client);
      throw error;
    } finally {
      client.release(broken);
    }
  }

  async #rollBack(client: pg.PoolClient): Promise<Error | undefined> {
    try {
      await client.query(this.#bounded({ text: 'ROLLBACK' }));
      return undefined;
    } catch (lost) {
      return lost as Error;
    }
  }

  /** For migrations and LISTEN: a raw connection that the caller must release. */
  async connect(): Promise<pg.PoolClient> {
    return await this.#pool.connect();
  }

  /** What server this is; also the cheapest way to know that it answers. */
  async facts(): Promise<{ version: string; number: number; now: string; fsync: string }> {
    const result = await this.#pool.query(
      this.#bounded({
        name: 'facts',
        text: `SELECT current_setting('server_version') AS version, current_setting('server_version_num')::int AS number,
        now() AS now, current_setting('fsync') AS fsync`,
      }),
    );
    return result.rows[0] as { version: string; number: number; now: string; fsync: string };
  }

  /** How many connections the server takes from ordinary users. */
  async capacity(): Promise<number> {
    const result = await this.#pool.query({
      text: `SELECT current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int AS most`,
    });
    return (result.rows[0] as { most: number }).most;
  }

  stats(): { total: number; idle: number; waiting: number; most: number } {
    const { totalCount, idleCount, waitingCount, options } = this.#pool;
    return { total: totalCount, idle: idleCount, waiting: waitingCount, most: options.max };
  }

  async close(): Promise<void> {
    await this.#pool.end();
  }
}
