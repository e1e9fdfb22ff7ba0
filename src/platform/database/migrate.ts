/**
 * Brings the database schema up to date (docs/spec/configuration.md#command-line). Migrations are plain SQL files, forward
 * only. Each is applied once, in its own transaction, and must not be changed after it was applied.
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
  /** The file's name without its extension, for example `0001-baseline`. */
  name: string;
  sql: string;
  /** SHA-256 of the text, with line ends as LF, in hexadecimal. */
  checksum: string;
}

/** The files and the database do not match. The message says what to do. */
export class MigrationError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'MigrationError';
  }
}

/** The schema was made by a newer version. Code of this version may run on it (docs/how-to/upgrade.md). */
export class NewerSchemaError extends MigrationError {}

/** A migration as a database or a backup records it. */
export interface Applied {
  name: string;
  checksum: string;
}

const FILE_NAME = /^(\d{4}-[a-z0-9]+(?:-[a-z0-9]+)*)\.sql$/;
// An arbitrary number that no other code uses for a lock in this database.
const LOCK = 'SELECT pg_advisory_xact_lock(7236823401)';
/**
 * A migration that waits for a table lock blocks all later users of the table. It therefore gives up soon and retries. Once it
 * has the lock, its statements may take any time.
 */
const LIMITS = "SET LOCAL lock_timeout = '2s'; SET LOCAL statement_timeout = 0";
/** In the format of `server_version_num`. */
export const OLDEST_SERVER = 150_000;
const LOCK_NOT_AVAILABLE = '55P03';
const MAX_TRIES = 30;
const AGAIN_MS = 1000;

/** The folder `db/migrations`, both in a clone and in an installed package. */
export function migrationsFolder(): string {
  let folder = path.dirname(fileURLToPath(import.meta.url));
  while (path.basename(folder) !== 'src' && path.basename(folder) !== 'dist' && folder !== path.dirname(folder)) {
    folder = path.dirname(folder);
  }
  return path.join(path.dirname(folder), 'db', 'migrations');
}

/**
 * Whether these migrations are those of a build before the first release. The first migration is the schema of 0.1.0 and never
 * changes; the builds before had others, of which no version knows how to go on.
 */
export function isBeforeFirstRelease(known: readonly Migration[], [first]: readonly Applied[]): boolean {
  return first !== undefined && (first.name !== known[0]?.name || first.checksum !== known[0].checksum);
}

/** All migrations of this version, in order. Throws `MigrationError` for a file with a wrong name or number. */
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
 * Applies the pending migrations and returns their names. Any number of processes may call this concurrently: each migration
 * runs once. `upTo` limits the migrations to the first ones, to create a database with an older schema. Throws `MigrationError`
 * if an applied migration was changed or is unknown to this version, and the database's own error if a statement fails. A
 * failed migration is rolled back; the ones before it stay applied.
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

/**
 * A server with the locale C creates databases in SQL_ASCII, which accept any bytes, and count, fold and cut bytes instead of
 * characters. Requires UTF-8 and a supported server version.
 */
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

/** Runs `fn` in a transaction and retries on a lock timeout. */
async function patiently<T>(client: MigrationClient, fn: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await inTransaction(client, fn);
    } catch (error) {
      if ((error as { code?: unknown }).code !== LOCK_NOT_AVAILABLE || attempt >= MAX_TRIES) throw error;
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
    // Keep the first error: an error of the rollback, such as a lost connection, would hide it.
    await client.query('ROLLBACK').catch(() => {});
    throw error;
  }
}

async function appliedRows(client: MigrationClient): Promise<Applied[]> {
  const { rows } = await client.query('SELECT name, checksum FROM schema_migrations ORDER BY name COLLATE "C"');
  return rows as Applied[];
}

function pendingOf(migrations: readonly Migration[], applied: readonly Applied[]): readonly Migration[] {
  if (isBeforeFirstRelease(migrations, applied)) {
    throw new MigrationError(
      'This database was made by a build of Docket before 0.1.0, which cannot be upgraded: ' +
        'export its configuration with that build (docket export --identity), and start this version with an empty database.',
    );
  }
  for (const [index, row] of applied.entries()) {
    const known = migrations[index];
    if (known === undefined) {
      throw new NewerSchemaError(
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
