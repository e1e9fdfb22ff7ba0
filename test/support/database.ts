/**
 * Databases for tests: each a copy of a template, on the run's cluster, or on the server of DATABASE_URL. One template is only
 * migrated; others have the content that many tests start with.
 */
import { createHash, randomUUID } from 'node:crypto';
import pg from 'pg';
import { migrate, readMigrations } from '../../src/platform/database/migrate.ts';
import type { Database, DatabaseClient } from '../../src/platform/database/pool.ts';
import { startTestCluster, type TestCluster } from './cluster.ts';

/** Set by `global-setup.ts` for the test files of its run: connects to the administrative database. */
export const CLUSTER_VARIABLE = 'DOCKET_TEST_CLUSTER';
/** Set by `global-setup.ts`: part of the names of the run's templates with content. They depend on the source code. */
export const RUN_VARIABLE = 'DOCKET_TEST_RUN';

export interface TestDatabase {
  url: string;
  /** Ends all connections to it and removes it. */
  drop(): Promise<void>;
}

/** What a template contains beyond the migrations. */
export interface TemplateContent {
  /** Lower-case letters, digits and underscores. */
  name: string;
  /** Creates the content. It closes all its connections. */
  fill(url: string): Promise<void>;
}

// One cluster per process. It is stored on the global object because test files in one process may load this module
// repeatedly.
const OWN_CLUSTER = Symbol.for('docket.test.cluster');
type Global = typeof globalThis & { [OWN_CLUSTER]?: Promise<TestCluster> };

async function serverUrl(): Promise<string> {
  const given = process.env[CLUSTER_VARIABLE] ?? process.env['DATABASE_URL'];
  if (given !== undefined && given !== '') return given;
  const shared = globalThis as Global;
  shared[OWN_CLUSTER] ??= startTestCluster();
  return (await shared[OWN_CLUSTER]).url;
}

function withDatabase(url: string, database: string): string {
  const changed = new URL(url);
  changed.pathname = `/${database}`;
  return changed.toString();
}

/** Set by `npm run test:pgbouncer`: host and port of a pooler before the run's cluster. */
export const POOLER_VARIABLE = 'DOCKET_TEST_POOLER';

/** How the service reaches a database of the run: straight, or through the pooler where there is one. */
export function throughPooler(url: string): { url: string; pooled: boolean } {
  const pooler = process.env[POOLER_VARIABLE];
  if (pooler === undefined || pooler === '') return { url, pooled: false };
  const changed = new URL(url);
  changed.host = pooler;
  return { url: changed.toString(), pooled: true };
}

/**
 * Runs `fn` in an open transaction of its own, for tests of what others do meanwhile. What `fn` does not commit is rolled back. The
 * service ends a transaction of its pool after 15 s without a statement; this one may last, so that no test fails because the
 * machine is slow. The connection is always given back, because `close` waits for it.
 */
export async function duringTransaction<T>(
  db: Pick<Database, 'connect'>,
  fn: (client: DatabaseClient) => Promise<T>,
): Promise<T> {
  const client = await db.connect();
  let lost: Error | undefined;
  try {
    await client.query('BEGIN');
    await client.query('SET LOCAL idle_in_transaction_session_timeout = 0');
    return await fn(client);
  } finally {
    // Does nothing after a COMMIT.
    await client.query('ROLLBACK').catch((error: Error) => {
      lost = error;
    });
    client.release(lost);
  }
}

async function connected<T>(url: string, fn: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: url, application_name: 'docket-test' });
  client.on('error', () => {});
  await client.connect();
  try {
    return await fn(client);
  } finally {
    await client.end();
  }
}

async function exists(client: pg.Client, database: string): Promise<boolean> {
  const { rowCount } = await client.query('SELECT 1 FROM pg_database WHERE datname = $1', [database]);
  return rowCount === 1;
}

/** The name of the template contains a hash of the migrations, so that a changed migration never uses an old template. */
async function templateName(): Promise<string> {
  const hash = createHash('sha256');
  for (const migration of await readMigrations()) hash.update(`${migration.name} ${migration.checksum}\n`);
  return `docket_template_${hash.digest('hex').slice(0, 16)}`;
}

/** Creates the migrated template unless it exists, and returns its name. Safe for concurrent processes. */
export async function prepareTemplate(): Promise<string> {
  const name = await templateName();
  await prepare(name, "template0 ENCODING 'UTF8'", async (url) => {
    await connected(url, (client) => migrate(client));
  });
  return name;
}

/** Creates the template `name` from `source` unless it exists; other processes wait meanwhile. */
async function prepare(name: string, source: string, fill: (url: string) => Promise<void>): Promise<void> {
  const url = await serverUrl();
  await connected(url, async (client) => {
    if (await exists(client, name)) return;
    await client.query('SELECT pg_advisory_lock(7236823402 + hashtext($1))', [name]);
    if (await exists(client, name)) return;
    const unfinished = `${name}_new`;
    await client.query(`DROP DATABASE IF EXISTS ${unfinished} WITH (FORCE)`);
    await client.query(`CREATE DATABASE ${unfinished} TEMPLATE ${source}`);
    await fill(withDatabase(url, unfinished));
    await client.query(`ALTER DATABASE ${unfinished} RENAME TO ${name}`);
  });
}

/** The run whose templates with content this process may share; undefined on a server where nobody would remove them. */
function run(): string | undefined {
  const given = process.env['DATABASE_URL'];
  return process.env[RUN_VARIABLE] ?? (given === undefined || given === '' ? 'own' : undefined);
}

/** Removes the templates of this run; for a server that outlives it. */
export async function dropTemplates(): Promise<void> {
  const name = await templateName();
  await connected(await serverUrl(), async (client) => {
    const { rows } = await client.query<{ datname: string }>(
      'SELECT datname FROM pg_database WHERE datname = $1 OR starts_with(datname, $2)',
      [name, `docket_content_${run()}_`],
    );
    for (const { datname } of rows) await client.query(`DROP DATABASE IF EXISTS ${datname} WITH (FORCE)`);
  });
}

/** A migrated database of the caller's own, with this content or with nothing but what the migrations put there. */
export async function createTestDatabase(content?: TemplateContent): Promise<TestDatabase> {
  const url = await serverUrl();
  const migrated = await prepareTemplate();
  const shared = content === undefined ? undefined : run();
  const template = shared === undefined ? migrated : `docket_content_${shared}_${content?.name}`;
  if (content !== undefined && shared !== undefined) await prepare(template, migrated, content.fill);
  const name = `docket_test_${randomUUID().replaceAll('-', '')}`;
  await connected(url, (client) => copy(client, template, name));
  if (content !== undefined && shared === undefined) await content.fill(withDatabase(url, name));
  return {
    url: withDatabase(url, name),
    drop: async () => {
      await connected(url, (client) => client.query(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`));
    },
  };
}

/** An empty database of the caller's own, without our tables; for tests of migrations. */
export async function createEmptyDatabase(): Promise<TestDatabase> {
  const url = await serverUrl();
  const name = `docket_test_${randomUUID().replaceAll('-', '')}`;
  await connected(url, (client) => client.query(`CREATE DATABASE ${name} TEMPLATE template0 ENCODING 'UTF8'`));
  return {
    url: withDatabase(url, name),
    drop: async () => {
      await connected(url, (client) => client.query(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`));
    },
  };
}

// Copying files is several times as fast as logging every page, but not every server, file system or role may do it.
async function copy(client: pg.Client, template: string, name: string): Promise<void> {
  try {
    await client.query(`CREATE DATABASE ${name} TEMPLATE ${template} STRATEGY FILE_COPY`);
  } catch {
    await client.query(`CREATE DATABASE ${name} TEMPLATE ${template}`);
  }
}
