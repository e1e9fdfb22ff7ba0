/**
 * Restores a backup into an empty database and file store. The file is read twice: once to verify it, once to write. All rows
 * are written in one transaction that commits after all files are stored, so a failed restore leaves the database empty.
 */
import { finished } from 'node:stream/promises';
import { from as copyFrom, type CopyStreamQuery } from 'pg-copy-streams';
import type { Sql } from 'sql-template-tag';
import type { BlobStore } from '../blobs/store.ts';
import { createHash } from 'node:crypto';
import { isBeforeFirstRelease, migrate, readMigrations } from '../database/migrate.ts';
import type { Database, DatabaseClient, Queryable } from '../database/pool.ts';
import { ArchiveError, type ArchiveEnd, type ArchiveEntry, readArchive, readHead } from './archive.ts';
import { type BackupHead, FORMAT, layoutOf, quoted } from './layout.ts';

export interface LoadOptions {
  db: Database;
  /** The target for content; only `put` is called. */
  blobs: Pick<BlobStore, 'put'>;
  file: string;
  /** Called when all rows are written but not committed. An error rolls everything back. */
  inspect?: (db: Queryable) => Promise<void>;
  onPart: (done: { phase: 'check' | 'write'; parts: number }) => void;
}

/** The target is not empty. */
export class NotEmpty extends Error {
  constructor() {
    super(
      'The database is not empty. A backup can only be restored into an empty database. Name one in DATABASE_URL, ' +
        'or an empty folder in DOCKET_DATA_DIR.',
    );
    this.name = 'NotEmpty';
  }
}

/** Reads and verifies the whole file; writes nothing. @throws ArchiveError */
export async function checkArchive(
  file: string,
  onPart: () => void = () => {},
): Promise<{ head: BackupHead; end: ArchiveEnd }> {
  let head: BackupHead | undefined;
  let content: Content | undefined;
  const end = await readArchive(file, async ({ name, bytes }) => {
    onPart();
    head ??= readHeader(file, JSON.parse(bytes.toString('utf8')));
    const [kind, key = ''] = name.split('/');
    if (kind !== 'files') return;
    if (content?.key !== key) {
      content?.check(file);
      content = new Content(key);
    }
    content.add(bytes, false);
  });
  content?.check(file);
  if (head === undefined) throw new ArchiveError(`${file} is no backup of Docket.`);
  return { head, end };
}

/** Content of one file, assembled from its parts. */
class Content {
  readonly key: string;
  readonly #hash = createHash('sha256');
  readonly #held: Buffer[] = [];

  constructor(key: string) {
    this.key = key;
  }

  add(bytes: Buffer, keep: boolean): void {
    this.#hash.update(bytes);
    if (keep) this.#held.push(bytes);
  }

  /** @throws ArchiveError if the content does not match its hash */
  check(file: string): void {
    if (this.#hash.digest('hex') === this.key) return;
    throw new ArchiveError(`${file} holds other content for the file ${this.key} than its name says.`);
  }

  whole(file: string): Buffer {
    this.check(file);
    return Buffer.concat(this.#held);
  }
}

function readHeader(file: string, head: unknown): BackupHead {
  const { format } = head as Partial<BackupHead>;
  if (typeof format !== 'number') throw new ArchiveError(`${file} is no backup of Docket.`);
  if (format > FORMAT) {
    throw new ArchiveError(`${file} was made by a newer version of Docket; restore it with that one or a later one.`);
  }
  return head as BackupHead;
}

/** @throws ArchiveError if this version cannot migrate a database to the schema of the backup */
export async function requireKnownSchema(file: string, head: BackupHead): Promise<void> {
  const known = await readMigrations();
  if (isBeforeFirstRelease(known, head.migrations)) {
    throw new ArchiveError(
      `${file} was made by a build of Docket before 0.1.0, which no release can restore: ` +
        'restore it with that build, and export its configuration there (docket export --identity).',
    );
  }
  for (const [index, { name, checksum }] of head.migrations.entries()) {
    const own = known[index];
    if (own === undefined) {
      throw new ArchiveError(`${file} was made by a newer version of Docket (${name}); restore it with that one.`);
    }
    if (own.name !== name || own.checksum !== checksum) {
      throw new ArchiveError(`${file} was made by another Docket than this: its migration ${name} is not ours.`);
    }
  }
}

/** The header of the file; checks that this version can restore it. @throws ArchiveError */
export async function inspectArchive(file: string): Promise<BackupHead> {
  const head = readHeader(file, await readHead(file));
  await requireKnownSchema(file, head);
  return head;
}

/** @throws NotEmpty if the database contains data */
export async function requireEmpty(client: DatabaseClient): Promise<void> {
  const { rows } = await client.query<{ name: string }>(
    `SELECT c.relname AS name FROM pg_class c
     WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind IN ('r', 'p') AND c.relname <> 'schema_migrations'`,
  );
  if (rows.length === 0) return;
  // A migrated but unused schema counts as empty: rows inserted by migrations are ignored.
  const present = new Set(rows.map(({ name }) => name));
  if (!present.has('journal') || !present.has('config_items')) throw new NotEmpty();
  for (const name of ['journal', 'config_items', 'users', 'objects', 'blobs', 'idempotency']) {
    const found = await client.query(`SELECT 1 FROM ${quoted(name)} LIMIT 1`);
    if (found.rows.length > 0) throw new NotEmpty();
  }
}

/**
 * Restores the file. Migrate the schema afterwards: the restored one is that of the backup.
 *
 * @throws ArchiveError, NotEmpty, and errors of the database or the store; the database is then empty
 */
export async function loadService(options: LoadOptions): Promise<{ head: BackupHead; end: ArchiveEnd }> {
  const { db, file } = options;
  let parts = 0;
  await inspectArchive(file);
  const client = await db.connect();
  let broken: Error | undefined;
  try {
    await client.query('SET statement_timeout = 0; SET idle_in_transaction_session_timeout = 0');
    await requireEmpty(client);
    const checked = await checkArchive(file, () => options.onPart({ phase: 'check', parts: ++parts }));
    await requireOlder(client, checked.head);
    await migrate(client, undefined, checked.head.migrations.length);
    await client.query('BEGIN');
    await emptyTables(client, checked.head);
    await new Loading(client, options, checked.head).run();
    await client.query('COMMIT');
    await client.query('ANALYZE');
    return checked;
  } catch (error) {
    broken = error as Error;
    throw error;
  } finally {
    // Closing the connection rolls the transaction back.
    client.release(broken ?? true);
  }
}

/** Migrations cannot be reverted, so a database with a newer schema than the backup cannot be used. */
async function requireOlder(client: DatabaseClient, head: BackupHead): Promise<void> {
  const { rows } = await client.query<{ there: boolean }>(
    `SELECT to_regclass('schema_migrations') IS NOT NULL AS there`,
  );
  if (rows[0]?.there !== true) return;
  const applied = await client.query('SELECT 1 FROM schema_migrations');
  if (applied.rows.length > head.migrations.length) {
    throw new Error(
      'The database has a newer schema than the backup: name one without tables, it is brought up to date after.',
    );
  }
}

/** Deletes the rows inserted by migrations. Checks again, under lock, that the database is not in use. */
async function emptyTables(client: DatabaseClient, head: BackupHead): Promise<void> {
  const present = await layoutOf(client);
  const names = present.map(({ name }) => quoted(name)).join(', ');
  await client.query(`LOCK TABLE ${names} IN ACCESS EXCLUSIVE MODE`);
  await requireEmpty(client);
  await client.query(`TRUNCATE ${names}`);
  for (const { name, columns } of head.tables) {
    const own = present.find((table) => table.name === name)?.columns ?? [];
    const strange = columns.filter((column) => !own.includes(column));
    if (strange.length > 0) throw new ArchiveError(`The backup has columns of ${name} that the schema lacks.`);
  }
}

const PUTS_AT_ONCE = 4;

class Loading {
  readonly #client: DatabaseClient;
  readonly #options: LoadOptions;
  readonly #head: BackupHead;
  #table: { name: string; stream: CopyStreamQuery } | undefined;
  #content: Content | undefined;
  #tablesDone = false;
  readonly #puts = new Set<Promise<void>>();
  #failure: unknown;

  constructor(client: DatabaseClient, options: LoadOptions, head: BackupHead) {
    this.#client = client;
    this.#options = options;
    this.#head = head;
  }

  async run(): Promise<void> {
    let parts = 0;
    try {
      await readArchive(this.#options.file, async (part) => {
        await this.#take(part);
        this.#options.onPart({ phase: 'write', parts: ++parts });
      });
      if (!this.#tablesDone) await this.#endTables();
      await this.#endContent();
      await this.#settle(0);
    } catch (error) {
      // Running operations must end before the connection is released.
      this.#table?.stream.destroy();
      await Promise.allSettled(this.#puts);
      throw error;
    }
  }

  async #take({ name, bytes }: ArchiveEntry): Promise<void> {
    const [kind, key = ''] = name.split('/');
    if (kind === 'tables') await this.#rows(key, bytes);
    if (kind === 'files') {
      if (!this.#tablesDone) await this.#endTables();
      await this.#file(key, bytes);
    }
  }

  async #rows(name: string, bytes: Buffer): Promise<void> {
    if (this.#table?.name !== name) {
      await this.#endTable();
      const layout = this.#head.tables.find((table) => table.name === name);
      if (layout === undefined)
        throw new ArchiveError(`The backup has rows of a table that it does not name: ${name}.`);
      const columns = layout.columns.map(quoted).join(', ');
      const stream = this.#client.query(copyFrom(`COPY ${quoted(name)} (${columns}) FROM STDIN`));
      this.#table = { name, stream };
    }
    const { stream } = this.#table as { stream: CopyStreamQuery };
    await new Promise<void>((resolve, reject) => {
      stream.once('error', reject);
      stream.write(bytes, (error) => {
        stream.off('error', reject);
        if (error === undefined || error === null) resolve();
        else reject(error);
      });
    });
  }

  async #endTable(): Promise<void> {
    const table = this.#table;
    this.#table = undefined;
    if (table === undefined) return;
    table.stream.end();
    await finished(table.stream);
  }

  /** After the last row: restores the sequences and runs the caller's inspection. */
  async #endTables(): Promise<void> {
    await this.#endTable();
    this.#tablesDone = true;
    for (const { name, last, owned } of this.#head.sequences) {
      if (!owned) await this.#client.query(`CREATE SEQUENCE IF NOT EXISTS ${quoted(name)}`);
      if (last !== null) await this.#client.query('SELECT setval($1::regclass, $2::bigint)', [quoted(name), last]);
    }
    await this.#options.inspect?.({
      query: async <Row>(statement: Sql) => (await this.#client.query(statement.text, statement.values)).rows as Row[],
    });
  }

  async #file(key: string, bytes: Buffer): Promise<void> {
    if (this.#content?.key !== key) {
      await this.#endContent();
      this.#content = new Content(key);
    }
    this.#content?.add(bytes, true);
  }

  async #endContent(): Promise<void> {
    const content = this.#content;
    this.#content = undefined;
    if (content === undefined) return;
    await this.#settle(PUTS_AT_ONCE - 1);
    const put = this.#options.blobs
      .put(content.key, content.whole(this.#options.file))
      .catch((error: unknown) => {
        this.#failure ??= error;
      })
      .finally(() => this.#puts.delete(put));
    this.#puts.add(put);
  }

  /** Waits until at most `most` writes are running. */
  async #settle(most: number): Promise<void> {
    while (this.#puts.size > most) await Promise.race(this.#puts);
    if (this.#failure !== undefined) throw this.#failure;
  }
}
