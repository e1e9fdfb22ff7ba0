/**
 * The pool of connections to PostgreSQL: named prepared statements, typed results, and errors that never end the process.
 */
import pg from 'pg';
import { statementName, type Tracer } from '../traces.ts';

export interface QueryOptions {
  /**
   * Plans the statement for the very values it is sent with, each time. For statements whose best plan hangs on them: a kept
   * plan takes an unknown OFFSET for a tenth of the table and sorts all of it.
   */
  freshPlan?: boolean;
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
  onError?: (error: Error) => void;
}

/** A connection inside a transaction that `work.ts` opened; nothing else can make one. */
export interface Transaction extends Queryable {
  readonly transaction: true;
}

const INSTANT_OID = 1184;
const BIGINT_OID = 20;
const MOST_PREPARED = 2000;

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

export class Database implements Queryable {
  readonly #pool: pg.Pool;
  readonly #names = new Map<string, string>();
  /** Where statements are noted as spans; none are where it is absent. */
  tracer: Tracer | undefined;

  constructor(options: DatabaseOptions) {
    const onError = options.onError ?? (() => {});
    this.#pool = new pg.Pool({
      connectionString: options.url,
      max: options.max ?? 20,
      connectionTimeoutMillis: options.acquireMs ?? 1000,
      idleTimeoutMillis: 60_000,
      statement_timeout: options.statementMs ?? 30_000,
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

  #named(statement: Statement, options: QueryOptions = {}): pg.QueryConfig {
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

  /** Runs one statement on its own; it commits by itself. */
  async query<Row>(statement: Statement, options?: QueryOptions): Promise<Row[]> {
    const send = (): Promise<pg.QueryResult> => this.#pool.query(this.#named(statement, options));
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
      await client.query(begin);
      const tx: Transaction = {
        transaction: true,
        query: async <Row>(statement: Statement, options?: QueryOptions) => {
          const send = (): Promise<pg.QueryResult> => client.query(this.#named(statement, options));
          const sent = this.tracer === undefined ? send() : this.#traced(this.tracer, statement.text, send);
          return (await sent).rows as Row[];
        },
      };
      const result = await fn(tx);
      await client.query(keep(result) ? 'COMMIT' : 'ROLLBACK');
      return result;
    } catch (error) {
      try {
        await client.query('ROLLBACK');
      } catch (lost) {
        broken = lost as Error;
      }
      throw error;
    } finally {
      client.release(broken);
    }
  }

  /** For migrations and LISTEN: a raw connection that the caller must release. */
  async connect(): Promise<pg.PoolClient> {
    return await this.#pool.connect();
  }

  /** What server this is; also the cheapest way to know that it answers. */
  async facts(): Promise<{ version: string; number: number; now: string; fsync: string }> {
    const result = await this.#pool.query({
      name: 'facts',
      text: `SELECT current_setting('server_version') AS version, current_setting('server_version_num')::int AS number,
        now() AS now, current_setting('fsync') AS fsync`,
    });
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
