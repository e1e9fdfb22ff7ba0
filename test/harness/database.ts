/**
 * Databases for tests: each a copy of one migrated template, on the run's cluster, or on the server of DATABASE_URL.
 */
import { createHash, randomUUID } from 'node:crypto';
import pg from 'pg';
import { migrate, readMigrations } from '../../src/platform/database/migrate.ts';
import { startTestCluster, type TestCluster } from './cluster.ts';

/** Set by `global-setup.ts` for the test files of its run: connects to the administrative database. */
export const CLUSTER_VARIABLE = 'DOCKET_TEST_CLUSTER';

export interface TestDatabase {
  url: string;
  /** Ends all connections to it and removes it. */
  drop(): Promise<void>;
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
  const url = await serverUrl();
  const name = await templateName();
  await connected(url, async (client) => {
    if (await exists(client, name)) return;
    await client.query('SELECT pg_advisory_lock(7236823402)');
    if (await exists(client, name)) return;
    const unfinished = `${name}_new`;
    await client.query(`DROP DATABASE IF EXISTS ${unfinished} WITH (FORCE)`);
    await client.query(`CREATE DATABASE ${unfinished} TEMPLATE template0 ENCODING 'UTF8'`);
    await connected(withDatabase(url, unfinished), (inner) => migrate(inner));
    await client.query(`ALTER DATABASE ${unfinished} RENAME TO ${name}`);
  });
  return name;
}

/** Removes the template of these migrations; for a server that outlives the run. */
export async function dropTemplate(): Promise<void> {
  const name = await templateName();
  await connected(await serverUrl(), (client) => client.query(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`));
}

/** A migrated database of the caller's own, empty but for what the migrations put there. */
export async function createTestDatabase(): Promise<TestDatabase> {
  const url = await serverUrl();
  const template = await prepareTemplate();
  const name = `docket_test_${randomUUID().replaceAll('-', '')}`;
  await connected(url, (client) => copy(client, template, name));
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
