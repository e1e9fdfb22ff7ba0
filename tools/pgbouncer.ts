/**
 * `npm run test:pgbouncer [-- file…]`: tests of the service through PgBouncer in transaction mode, which Debian has as
 * `pgbouncer`. Starts a PostgreSQL and a PgBouncer of its own and ends them.
 */
import { spawn } from 'node:child_process';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  ADMIN_DATABASE,
  connectionUrl,
  createCluster,
  newPassword,
  startCluster,
  stopCluster,
} from '../src/platform/database/embedded-cluster.ts';
import { findLauncher } from '../src/platform/database/embedded-launcher.ts';
import { lookBetween } from '../src/platform/database/pooler.ts';
import { freePort } from '../test/proofs/fault-service.ts';
import { POOLER_VARIABLE } from '../test/support/database.ts';

/** What leans on transactions, locks, retries, streams and wakes. */
const FILES = [
  'test/proofs/pgbouncer.ts',
  'test/races.db.test.ts',
  'test/idempotency.db.test.ts',
  'test/bundle-apply.db.test.ts',
  'test/values.db.test.ts',
  'src/domain/bulk/bulk.db.test.ts',
  'src/domain/comments/comments.db.test.ts',
  'src/domain/relations/relations.db.test.ts',
  'src/domain/workflow/workflow.db.test.ts',
  'src/domain/imports/imports.db.test.ts',
  'src/domain/imports/dry-run.db.test.ts',
  'src/domain/exports/exports.db.test.ts',
  'src/domain/search/search.db.test.ts',
  'src/domain/search/filter.db.test.ts',
  'src/domain/sla/timers.db.test.ts',
  'src/domain/webhooks/delivery.db.test.ts',
];

const SETTINGS = { fsync: 'off', synchronous_commit: 'off', full_page_writes: 'off', max_connections: '200' };

async function main(): Promise<number> {
  const folder = await mkdtemp(path.join(tmpdir(), 'docket-pgbouncer-'));
  await chmod(folder, 0o755);
  const launcher = await findLauncher(folder, 'pg', () => {});
  const credentials = { user: 'docket', password: newPassword() };
  await createCluster(launcher, credentials, SETTINGS, { durable: false });
  const address = { host: '127.0.0.1', port: await freePort() };
  const logFile = path.join(folder, 'postgres.log');
  const pid = await startCluster(launcher, { address, credentials, logFile, log: () => {} });
  const port = await freePort();
  const ini = path.join(folder, 'pgbouncer.ini');
  await writeFile(
    ini,
    `[databases]
* = host=${address.host} port=${address.port} user=${credentials.user} password=${credentials.password}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = any
pool_mode = transaction
default_pool_size = 20
max_client_conn = 500
server_idle_timeout = 5
log_connections = 0
log_disconnections = 0
`,
  );
  await chmod(ini, 0o644);
  const asRoot = process.getuid?.() === 0 ? ['-u', 'nobody'] : [];
  const pooler = spawn('pgbouncer', ['-q', ...asRoot, ini], { stdio: ['ignore', 'inherit', 'inherit'] });
  try {
    await sleep(1000);
    const url = connectionUrl(address, credentials, ADMIN_DATABASE);
    const through = new URL(url);
    through.host = `127.0.0.1:${port}`;
    const seen = [await lookBetween(url, false), await lookBetween(through.toString(), false)];
    if (seen[0]?.pooled !== false || seen[1]?.pooled !== true) throw new Error('the pooler was not detected');
    console.log(seen[1].remarks.join('\n'));
    const files = process.argv.slice(2);
    const args = ['--test', '--test-global-setup=test/support/global-setup.ts', '--test-concurrency=1'];
    const run = spawn(process.execPath, [...args, '--test-timeout=300000', ...(files.length > 0 ? files : FILES)], {
      stdio: 'inherit',
      env: { ...process.env, DATABASE_URL: url, [POOLER_VARIABLE]: `127.0.0.1:${port}` },
    });
    return await new Promise((resolve) => {
      run.once('exit', (code) => resolve(code ?? 1));
    });
  } finally {
    pooler.kill('SIGKILL');
    await stopCluster(pid, 'abandon');
    await rm(folder, { recursive: true, force: true });
  }
}

process.exitCode = await main();
