/**
 * Brings the database schema up to date (configuration, section 2: `docket migrate`): plain SQL files, forward only, each
 * applied once in a transaction of its own, and never changed after it was applied.
 */
import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

/** The part of a connection that migrations need. It must be one connection, not a pool: transactions span queries. */
export interface MigrationClient {
  query(text: string, values?: unknown[]): Promise<{ rows: unknown[] }>;
}

export interface Migration {
  /** The file's name without its ending, for example `0001-foundations`. */
  name: string;
  sql: string;
  /** SHA-256 of the text, with line ends as LF, in hexadecimal. */
  checksum: string;
}

/** The files and the database do not fit together; the message says what to do. */
export class MigrationError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'MigrationError';
  }
}

interface Applied {
  name: string;
  checksum: string;
}

const FILE_NAME = /^(\d{4}-[a-z0-9]+(?:-[a-z0-9]+)*)\.sql$/;
// Any number will do, as long as nothing else in this database locks on it.
const LOCK = 'SELECT pg_advisory_xact_lock(7236823401)';
/**
 * A migration that waits for a table's lock makes everybody else wait behind it, so that it gives up soon and tries again; what
 * it does once it has the lock may take its time.
 */
const LIMITS = "SET LOCAL lock_timeout = '2s'; SET LOCAL statement_timeout = 0";
/** As `server_version_num` has it. */
export const OLDEST_SERVER = 150_000;
const LOCK_NOT_AVAILABLE = '55P03';
const MOST_TRIES = 30;
const AGAIN_MS = 1000;

/** `db/migrations`, in a clone as in an installed package. */
export function migrationsFolder(): string {
  let folder = path.dirname(fileURLToPath(import.meta.url));
  while (path.basename(folder) !== 'src' && path.basename(folder) !== 'dist' && folder !== path.dirname(folder)) {
    folder = path.dirname(folder);
  }
  return path.join(path.dirname(folder), 'db', 'migrations');
}

/** All migrations of this version, in order. Throws `MigrationError` for a file whose name or number does not fit. */
export async function readMigrations(folder: string = migrationsFolder()): Promise<Migration[]> {
  const files = (await readdir(folder)).filter((file) => file.endsWith('.sql')).sort();
  const migrations: Migration[] = [];
  for (const file of files) {
    const name = FILE_NAME.exec(file)?.[1];
    if (name === undefined) {
      throw new MigrationError(`Migration file ${file} must be named like 0001-what-it-does.sql.`);
    }
    if (Number(name.slice(0, 4)) !== migrations.length + 1) {
      throw new MigrationError(`Migration file ${file} must have the number ${migrations.length + 1}.`);
    }
    const sql = (await readFile(path.join(folder, file), 'utf8')).replaceAll('\r\n', '\n');
    migrations.push({ name, sql, checksum: createHash('sha256').update(sql).digest('hex') });
  }
  return migrations;
}

/**
 * Applies what is pending and answers the names applied. Any number of processes may do this at once: each migration runs
 * once. `upTo` stops behind that many of them, for a database that must have an older schema first. Throws `MigrationError` when an applied migration was changed or is unknown to this version, and the database's own
 * error when a statement fails; the migrations before it stay applied, nothing of it does.
 */
export async function migrate(
  client: MigrationClient,
  folder?: string,
  upTo = Number.POSITIVE_INFINITY,
): Promise<{ applied: string[] }> {
  await requireServer(client);
  const migrations = (await readMigrations(folder)).slice(0, upTo);
  const applied: string[] = [];
  for (;;) {
    const next = await patiently(client, async () => {
      await client.query(LOCK);
      await client.query(
        `CREATE TABLE IF NOT EXISTS schema_migrations (
           name text PRIMARY KEY,
           checksum text NOT NULL,
           applied_at timestamptz(3) NOT NULL DEFAULT now()
         )`,
      );
      const migration = pendingOf(migrations, await appliedRows(client))[0];
      if (migration === undefined) return undefined;
      await client.query(LIMITS);
      await client.query(migration.sql);
      await client.query('INSERT INTO schema_migrations (name, checksum) VALUES ($1, $2)', [
        migration.name,
        migration.checksum,
      ]);
      return migration.name;
    });
    if (next === undefined) return { applied };
    applied.push(next);
  }
}

/** Servers whose locale is C make SQL_ASCII databases: these take everything, and count, fold and cut bytes instead of characters. */
async function requireServer(client: MigrationClient): Promise<void> {
  const { rows } = await client.query(
    `SELECT current_setting('server_encoding') AS encoding, current_setting('server_version') AS version,
       current_setting('server_version_num')::int AS number`,
  );
  const { encoding, version, number } = rows[0] as { encoding: string; version: string; number: number };
  if (number < OLDEST_SERVER) throw new MigrationError(`This is PostgreSQL ${version}: use PostgreSQL 15 to 18.`);
  if (encoding !== 'UTF8') {
    throw new MigrationError(
      `The database has the encoding ${encoding}: make one with CREATE DATABASE … ENCODING 'UTF8' TEMPLATE template0.`,
    );
  }
}

/** The names of the migrations that `migrate` would apply; changes nothing. Throws `MigrationError` like `migrate`. */
export async function pendingMigrations(client: MigrationClient, folder?: string): Promise<string[]> {
  const migrations = await readMigrations(folder);
  const { rows } = await client.query(`SELECT to_regclass('schema_migrations') IS NOT NULL AS there`);
  const there = (rows[0] as { there: boolean } | undefined)?.there === true;
  return pendingOf(migrations, there ? await appliedRows(client) : []).map((migration) => migration.name);
}

/** Again and again where a lock could not be had in time. */
async function patiently<T>(client: MigrationClient, fn: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await inTransaction(client, fn);
    } catch (error) {
      if ((error as { code?: unknown }).code !== LOCK_NOT_AVAILABLE || attempt >= MOST_TRIES) throw error;
      await sleep(AGAIN_MS);
    }
  }
}

async function inTransaction<T>(client: MigrationClient, fn: () => Promise<T>): Promise<T> {
  await client.query('BEGIN');
  try {
    const result = await fn();
    await client.query('COMMIT');
    return result;
  } catch (error) {
    // The first error says what is wrong; that the connection is gone as well would only hide it.
    await client.query('ROLLBACK').catch(() => {});
    throw error;
  }
}

async function appliedRows(client: MigrationClient): Promise<Applied[]> {
  const { rows } = await client.query('SELECT name, checksum FROM schema_migrations ORDER BY name COLLATE "C"');
  return rows as Applied[];
}

function pendingOf(migrations: readonly Migration[], applied: readonly Applied[]): readonly Migration[] {
  for (const [index, row] of applied.entries()) {
    const known = migrations[index];
    if (known === undefined) {
      throw new MigrationError(
        `The database was brought to ${applied.at(-1)?.name} by a newer version of Docket than this one: ` +
          'run that version or a later one.',
      );
    }
    if (known.name !== row.name) {
      throw new MigrationError(
        `The database has migration ${row.name} where this version has ${known.name}: it was made by another Docket.`,
      );
    }
    if (known.checksum !== row.checksum) {
      throw new MigrationError(
        `Migration ${row.name} was changed after it was applied to this database: ` +
          'restore the file as it was, and put the change into a new migration.',
      );
    }
  }
  return migrations.slice(applied.length);
}
