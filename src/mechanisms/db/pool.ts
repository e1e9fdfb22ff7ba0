/**
 * The pool of connections to PostgreSQL: named prepared statements, typed results, and errors that never end the process.
 */
import pg from 'pg';
import { statementName, type Tracer } from '../traces.ts';
import { parseStoredJson } from '../../lib/json.ts';

export interface QueryOptions {
  /**
   * Plans the statement for the very values it is sent with, each time. For statements whose best plan hangs on them: a kept
   * plan takes an unknown OFFSET for a tenth of the table and sorts all of it.
   */
  freshPlan?: boolean;
  /** Waits for the answer however long it takes: for statements whose own time limit was lifted. */
  patient?: boolean;
}

/** A statement with its values; a `Sql` is one. */
export interface Statement {
  readonly text: string;
  readonly values: unknown[];
}

export interface Queryable {
  query<Row>(statement: Statement, options?: QueryOptions): Promise<Row[]>;
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
  /**
   * A pooler stands between (`server.ts` finds out): a session is another after each transaction. Statements are then sent
   * without names, and what is set for the session is set by the server or the pooler.
   */
  pooled?: boolean;
  /** The way past the pooler, for the few things that need a session. */
  directUrl?: string | undefined;
  onError?: (error: Error) => void;
}

/** A connection inside a transaction that `work.ts` opened; nothing else can make one. */
export interface Transaction extends Queryable {
  readonly transaction: true;
}

const INSTANT_OID = 1184;
const BIGINT_OID = 20;
const JSON_OID = 114;
const JSONB_OID = 3802;
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
  if (oid === JSON_OID || oid === JSONB_OID) return parseStoredJson;
  return pg.types.getTypeParser(oid, format as 'text');
}

function isSilent(error: unknown): boolean {
  return error instanceof Error && error.message === SILENT;
}

export class Database implements Queryable {
  readonly #pool: pg.Pool;
  readonly #direct: pg.Pool | undefined;
  readonly #pooled: boolean;
  readonly #names = new Map<string, string>();
  /** A connection through which nothing passes, not even its end, would otherwise be waited on for ever. */
  readonly #answerMs: number;
  /** Where statements are noted as spans; none are where it is absent. */
  tracer: Tracer | undefined;

  constructor(options: DatabaseOptions) {
    this.#answerMs = (options.statementMs ?? STATEMENT_MS) + SILENT_MS;
    this.#pooled = options.pooled === true;
    this.#pool = openPool(options, options.url, options.max ?? 20, this.#pooled);
    this.#direct = options.directUrl === undefined ? undefined : openPool(options, options.directUrl, 3, false);
  }

  #named(statement: Statement, options: QueryOptions = {}): pg.QueryConfig {
    const text = statement.text;
    if (options.freshPlan === true || this.#pooled) return { text, values: statement.values };
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
  async query<Row>(statement: Statement, options?: QueryOptions): Promise<Row[]> {
    const send = (): Promise<pg.QueryResult> =>
      this.#pool.query(this.#bounded(this.#named(statement, options), options));
    const result = await (this.tracer === undefined ? send() : this.#traced(this.tracer, statement.text, send));
    return result.rows as Row[];
  }

  #traced<T>(tracer: Tracer, text: string, send: () => Promise<T>): Promise<T> {
    const start = () => {
      const name = statementName(text);
      return {
        name,
        kind: 'client',
        attributes: { 'db.system.name': 'postgresql', 'db.query.summary': name },
      } as const;
    };
    return tracer.within(start, send);
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
        query: async <Row>(statement: Statement, options?: QueryOptions) => {
          const send = (): Promise<pg.QueryResult> =>
            client.query(this.#bounded(this.#named(statement, options), options));
          const sent = this.tracer === undefined ? send() : this.#traced(this.tracer, statement.text, send);
          return (await sent).rows as Row[];
        },
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

  /** A session of one's own, which the caller must release; undefined where a pooler is in the way. */
  async session(): Promise<pg.PoolClient | undefined> {
    if (this.#direct !== undefined) return await this.#direct.connect();
    return this.#pooled ? undefined : await this.#pool.connect();
  }

  /** For migrations and locks: a raw connection that the caller must release. */
  async connect(): Promise<pg.PoolClient> {
    return await this.#pool.connect();
  }

  /** What server this is; also the cheapest way to know that it answers. */
  async facts(): Promise<{ version: string; number: number; now: string; fsync: string; encoding: string }> {
    const result = await this.#pool.query(
      this.#bounded({
        name: 'facts',
        text: `SELECT current_setting('server_version') AS version, current_setting('server_version_num')::int AS number,
        now() AS now, current_setting('fsync') AS fsync, current_setting('server_encoding') AS encoding`,
      }),
    );
    return result.rows[0] as { version: string; number: number; now: string; fsync: string; encoding: string };
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
    await Promise.all([this.#pool.end(), this.#direct?.end()]);
  }
}

function openPool(options: DatabaseOptions, url: string, max: number, pooled: boolean): pg.Pool {
  const onError = options.onError ?? (() => {});
  const statementMs = options.statementMs ?? 30_000;
  const pool = new pg.Pool({
    connectionString: url,
    max,
    connectionTimeoutMillis: options.acquireMs ?? 1000,
    idleTimeoutMillis: 60_000,
    application_name: options.applicationName ?? 'docket',
    keepAlive: true,
    types: { getTypeParser: typeParser as pg.CustomTypesConfig['getTypeParser'] },
    ...(pooled
      ? {
          // Poolers know these two, and hand them from session to session.
          onConnect: async (client: pg.ClientBase) => {
            await client.query("SET timezone = 'UTC'; SET datestyle = 'ISO'");
          },
          query_timeout: statementMs + 5000,
        }
      : {
          statement_timeout: statementMs,
          idle_in_transaction_session_timeout: 15_000,
          // Many small statements at once: a query that took further processors, or compiled itself, would take them from
          // others.
          options: '-c timezone=UTC -c datestyle=ISO -c jit=off -c max_parallel_workers_per_gather=0',
        }),
  });
  // Both kinds of listener are needed: an idle or a checked-out connection that breaks would end the process.
  pool.on('error', onError);
  pool.on('connect', (client) => {
    client.on('error', onError);
  });
  return pool;
}
