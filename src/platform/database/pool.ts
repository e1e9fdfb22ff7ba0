/**
 * The pool of connections to PostgreSQL: named prepared statements, typed results, and error handlers that keep the process
 * alive.
 */
import sql from 'sql-template-tag';
import pg from 'pg';
import { statementName, type Tracer } from '../observability/traces.ts';
import { parseStoredJson } from '../../lib/json.ts';
import { queryNamed } from './named-query.ts';
import { leavesConnectionUsable } from './sqlstate.ts';

export interface QueryOptions {
  /**
   * Plans the statement for its actual values each time. Use it for statements whose best plan depends on the values: a generic
   * plan assumes that an unknown OFFSET skips a tenth of the table, and sorts all of it.
   */
  freshPlan?: boolean;
  /** Waits for the response without a time limit. For statements whose `statement_timeout` was lifted. */
  patient?: boolean;
}

/** A statement with its values. `Sql` implements it. */
export interface Statement {
  readonly text: string;
  readonly values: unknown[];
}

export interface Queryable {
  query<Row>(statement: Statement, options?: QueryOptions): Promise<Row[]>;
}

/** Limits each further statement of the transaction, which is then cancelled with SQLSTATE 57014. */
export async function limitTime(transaction: Queryable, milliseconds: number): Promise<void> {
  await transaction.query(sql`SELECT set_config('statement_timeout', ${String(milliseconds)}, true)`);
}

/** The milliseconds that the statement sets as the time limit of further ones; undefined if it does something else. */
export function timeLimitOf({ text, values }: Statement): number | undefined {
  if (!text.startsWith("SELECT set_config('statement_timeout', ")) return undefined;
  const limit = Number(values[0] ?? 0);
  return limit > 0 ? limit : Number.POSITIVE_INFINITY;
}

/** Lets further statements of the transaction that read much use parallel workers. Ordinary statements are too short for them. */
export async function allowParallel(transaction: Queryable, workers: number): Promise<void> {
  await transaction.query(sql`SELECT set_config('max_parallel_workers_per_gather', ${String(workers)}, true),
    set_config('parallel_setup_cost', '100', true), set_config('parallel_tuple_cost', '0.01', true)`);
}

export interface DatabaseOptions {
  url: string;
  /** Maximum number of connections. */
  max?: number;
  /** How long a caller waits for a free connection, in milliseconds. */
  acquireMs?: number;
  /** Maximum duration of a statement, in milliseconds. */
  statementMs?: number;
  applicationName?: string;
  /**
   * Whether connections pass through a pooler (`server.ts` detects it), which may switch sessions after each transaction.
   * Statements are then sent without names, and session settings must come from the server or the pooler.
   */
  pooled?: boolean;
  /** A URL that bypasses the pooler, for the few operations that need a session. */
  directUrl?: string | undefined;
  onError?: (error: Error) => void;
}

/** A connection inside a transaction that `work.ts` opened. No other code can create one. */
export interface Transaction extends Queryable {
  readonly transaction: true;
}

const INSTANT_OID = 1184;
const BIGINT_OID = 20;
const JSON_OID = 114;
const JSONB_OID = 3802;
const FLOATS_OID: number = 1022;
const MAX_PREPARED = 2000;
const STATEMENT_MS = 30_000;
/**
 * The server enforces the statement timeout itself. A client that hears nothing for this much longer has lost the connection.
 */
const SILENT_MS = 2000;
/** The driver's error message in that case. The connection may still deliver the late response, so it cannot be reused. */
const SILENT = 'Query read timeout';

// Converts `2026-11-21 09:15:00.123+00` (sessions run in UTC) to `2026-11-21T09:15:00.123Z` without creating a Date.
function instantFromText(text: string): string {
  // Nearly all have a year of four digits and milliseconds.
  if (text.length === 26 && text[19] === '.') return `${text.slice(0, 10)}T${text.slice(11, 23)}Z`;
  const [head = '', fraction = ''] = text.slice(0, -3).split('.');
  return `${head.replace(' ', 'T')}.${fraction.padEnd(3, '0').slice(0, 3)}Z`;
}

/** The driver's own parser of arrays reads them letter by letter. It is needed only for NULL, NaN and infinity. */
function floatsFromText(text: string): unknown {
  return /^\{[-+\d.e,]*\}$/.test(text)
    ? JSON.parse(`[${text.slice(1, -1)}]`)
    : pg.types.getTypeParser(FLOATS_OID, 'text')(text);
}

function typeParser(oid: number, format?: 'text' | 'binary'): (value: string) => unknown {
  if (oid === INSTANT_OID) return instantFromText;
  if (oid === BIGINT_OID) return Number;
  if (oid === FLOATS_OID) return floatsFromText;
  if (oid === JSON_OID || oid === JSONB_OID) return parseStoredJson;
  return pg.types.getTypeParser(oid, format as 'text');
}

/** A statement for the driver; one with a name is prepared. */
interface Query {
  name?: string;
  text: string;
  values?: unknown[];
  /** The driver's limit on waiting for the response, which its types do not declare. */
  query_timeout?: number;
}

async function run(client: pg.PoolClient, query: Query): Promise<unknown[]> {
  const { name, text, values = [] } = query;
  if (name !== undefined) return await queryNamed(client, { ...query, name, text, values }, typeParser);
  return (await client.query(query)).rows as unknown[];
}

function isSilent(error: unknown): boolean {
  return error instanceof Error && error.message === SILENT;
}

export class Database implements Queryable {
  readonly #pool: pg.Pool;
  readonly #direct: pg.Pool | undefined;
  readonly #pooled: boolean;
  readonly #names = new Map<string, string>();
  /**
   * Limit on waiting for a response. Without it, a dead connection whose end is never reported would block its caller for ever.
   */
  readonly #answerMs: number;
  /** Records statements as spans, if present. */
  tracer: Tracer | undefined;

  constructor(options: DatabaseOptions) {
    this.#answerMs = (options.statementMs ?? STATEMENT_MS) + SILENT_MS;
    this.#pooled = options.pooled === true;
    this.#pool = openPool(options, options.url, options.max ?? 20, this.#pooled);
    this.#direct = options.directUrl === undefined ? undefined : openPool(options, options.directUrl, 3, false);
  }

  #named(statement: Statement, options: QueryOptions = {}): Query {
    const text = statement.text;
    if (options.freshPlan === true || this.#pooled) return { text, values: statement.values };
    let name = this.#names.get(text);
    if (name === undefined) {
      if (this.#names.size >= MAX_PREPARED) return { text, values: statement.values };
      name = `d${this.#names.size}`;
      this.#names.set(text, name);
    }
    return { name, text, values: statement.values };
  }

  #bounded(query: Query, options?: QueryOptions): Query {
    return options?.patient === true ? query : { ...query, query_timeout: this.#answerMs };
  }

  /** Runs one statement with autocommit. */
  async query<Row>(statement: Statement, options?: QueryOptions): Promise<Row[]> {
    const send = (): Promise<unknown[]> => this.#send(this.#bounded(this.#named(statement, options), options));
    return (await (this.tracer === undefined ? send() : this.#traced(this.tracer, statement.text, send))) as Row[];
  }

  /**
   * Sends one statement on a free connection. The pool's own `query` ends the connection on any error, also when the server
   * merely refused the statement, and starting another one costs more than most statements.
   */
  async #send(query: Query): Promise<unknown[]> {
    const client = await this.#pool.connect();
    try {
      const rows = await run(client, query);
      client.release();
      return rows;
    } catch (error) {
      releaseAfter(error as Error, client);
      throw error;
    }
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

  /** Only for `work.ts`, migrations and the bundle: runs `fn` in one transaction and commits if `keep` returns true. */
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
          const send = (): Promise<unknown[]> => run(client, this.#bounded(this.#named(statement, options), options));
          return (await (this.tracer === undefined
            ? send()
            : this.#traced(this.tracer, statement.text, send))) as Row[];
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

  /** A dedicated session that the caller must release; undefined behind a pooler without a direct URL. */
  async session(): Promise<pg.PoolClient | undefined> {
    if (this.#direct !== undefined) return await this.#direct.connect();
    return this.#pooled ? undefined : await this.#pool.connect();
  }

  /** For migrations and locks: a raw connection that the caller must release. */
  async connect(): Promise<pg.PoolClient> {
    return await this.#pool.connect();
  }

  /** Facts about the server; also the cheapest health check. */
  async facts(): Promise<{ version: string; number: number; now: string; fsync: string; encoding: string }> {
    const [row] = await this.#send(
      this.#bounded({
        name: 'facts',
        text: `SELECT current_setting('server_version') AS version, current_setting('server_version_num')::int AS number,
        now() AS now, current_setting('fsync') AS fsync, current_setting('server_encoding') AS encoding`,
      }),
    );
    return row as { version: string; number: number; now: string; fsync: string; encoding: string };
  }

  /** The number of connections that the server allows for ordinary users. */
  async capacity(): Promise<number> {
    const [row] = await this.#send({
      text: `SELECT current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int AS most`,
    });
    return (row as { most: number }).most;
  }

  stats(): { total: number; idle: number; waiting: number; most: number } {
    const { totalCount, idleCount, waitingCount, options } = this.#pool;
    return { total: totalCount, idle: idleCount, waiting: waitingCount, most: options.max };
  }

  async close(): Promise<void> {
    await Promise.all([this.#pool.end(), this.#direct?.end()]);
  }
}

/** Whether the server has said, after all statements, that it is ready and in no transaction. The driver's types lack the member. */
function isIdle(client: pg.PoolClient): boolean {
  return Reflect.get(client, 'readyForQuery') === true && client.getTransactionStatus() === 'I';
}

/**
 * Gives a connection back to the pool after an error outside of a transaction. The server reports an error before it is ready
 * for the next statement, so this waits until it is. If it never is, the connection is broken and is ended.
 */
function releaseAfter(error: Error, client: pg.PoolClient): void {
  if (isSilent(error) || !leavesConnectionUsable(error)) return client.release(error);
  if (isIdle(client)) return client.release();
  const settle = (): void => {
    clearTimeout(patience);
    client.off('drain', settle).off('end', settle);
    client.release(isIdle(client) ? undefined : error);
  };
  const patience = setTimeout(settle, SILENT_MS);
  client.on('drain', settle).on('end', settle);
}

/** Names of the connections of services and of commands in `pg_stat_activity`. */
export const SERVICE_NAME = 'docket';
export const TOOL_NAME = 'docket-tool';

/** The driver prefers an `application_name` in the URL. Here it is added to our name. */
function withName(url: string, name: string): Pick<pg.PoolConfig, 'connectionString' | 'application_name'> {
  const [, added] = /[?&]application_name=([^&]*)/.exec(url) ?? [];
  if (added === undefined) return { connectionString: url, application_name: name };
  const connectionString = url.replace(/([?&])application_name=[^&]*&?/, '$1').replace(/[?&]$/, '');
  return { connectionString, application_name: `${name} ${decodeURIComponent(added)}` };
}

function openPool(options: DatabaseOptions, url: string, max: number, pooled: boolean): pg.Pool {
  const onError = options.onError ?? (() => {});
  const statementMs = options.statementMs ?? 30_000;
  const pool = new pg.Pool({
    ...withName(url, options.applicationName ?? SERVICE_NAME),
    max,
    connectionTimeoutMillis: options.acquireMs ?? 1000,
    idleTimeoutMillis: 60_000,
    keepAlive: true,
    types: { getTypeParser: typeParser as pg.CustomTypesConfig['getTypeParser'] },
    ...(pooled
      ? {
          // Poolers track these two parameters and carry them over between sessions.
          onConnect: async (client: pg.ClientBase) => {
            await client.query("SET timezone = 'UTC'; SET datestyle = 'ISO'");
          },
          query_timeout: statementMs + 5000,
        }
      : {
          statement_timeout: statementMs,
          idle_in_transaction_session_timeout: 15_000,
          // Docket runs many small statements concurrently: parallel workers and JIT compilation of one query would take
          // processors from others.
          options: '-c timezone=UTC -c datestyle=ISO -c jit=off -c max_parallel_workers_per_gather=0',
        }),
  });
  // Both listeners are needed: without them, an error on an idle or a checked-out connection would end the process.
  pool.on('error', onError);
  pool.on('connect', (client) => {
    client.on('error', onError);
  });
  return pool;
}

/** A connection outside of the statements of the pool. */
export type DatabaseClient = Awaited<ReturnType<Database['connect']>>;
