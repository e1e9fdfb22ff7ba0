/** No password of a setting appears in what the service writes: its output, its log, and what `doctor` prints. */
import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { SETTINGS_TABLE } from '../src/settings-table.ts';
import { runCommand } from './support/commands.ts';
import { createTestDatabase, type TestDatabase } from './support/database.ts';
import { docket, freePort, startService } from './proofs/fault-service.ts';

const PASSWORD = 'hunter2hunter2hunter2hunter2hunter2';

describe('passwords in settings', () => {
  let database: TestDatabase;
  let dataDir: string;
  let closed: number;
  const doctor = async (env: Record<string, string>): Promise<string> => {
    const { stdout, stderr } = await docket(['doctor'], { DOCKET_DATA_DIR: dataDir, ...env });
    return stdout + stderr;
  };

  before(async () => {
    database = await createTestDatabase();
    dataDir = await mkdtemp(path.join(tmpdir(), 'docket-secrets-'));
    closed = await freePort();
  });
  after(async () => {
    await database.drop();
    await rm(dataDir, { recursive: true, force: true });
  });

  /** Accepted values with a password, whose servers answer nothing. */
  const unreachable = (): Record<string, string> => ({
    DOCKET_SECRET_KEY: PASSWORD,
    DOCKET_BLOBS: `s3://key:${PASSWORD}@files?endpoint=http://key:${PASSWORD}@127.0.0.1:${closed}`,
    DOCKET_AUDIT_HEADS: `https://user:${PASSWORD}@127.0.0.1:${closed}/`,
    DOCKET_SMTP_URL: `smtps://user:${PASSWORD}@127.0.0.1:${closed}`,
    DOCKET_PUBLIC_URL: 'https://docket.example.org',
    DOCKET_OIDC_ISSUER: `http://127.0.0.1:${closed}`,
    DOCKET_OIDC_CLIENT_ID: 'docket',
    DOCKET_OIDC_CLIENT_SECRET: PASSWORD,
    OTEL_EXPORTER_OTLP_ENDPOINT: `http://user:${PASSWORD}@127.0.0.1:${closed}`,
  });

  it('are in no refusal, when each variable holds an unusable one', async () => {
    // One run refuses all of them at once. Only these three take any text.
    const free = new Set(['DOCKET_DATA_DIR', 'DOCKET_OIDC_CLIENT_ID', 'DOCKET_OIDC_CLIENT_SECRET']);
    const env = Object.fromEntries(
      SETTINGS_TABLE.filter(({ name }) => !free.has(name)).map(({ name }) => [name, `ftp://user:hunter2@h x`]),
    );
    env['DOCKET_SECRET_KEY'] = 'hunter2';
    // Samplers are read only if traces are sent.
    for (const name of ['OTEL_TRACES_SAMPLER', 'OTEL_TRACES_SAMPLER_ARG']) delete env[name];
    for (const command of ['doctor', 'serve', 'types', 'migrate']) {
      const { code, out, err } = await runCommand([command], env);
      assert.equal(code, 1);
      assert.doesNotMatch(out + err, /hunter2/);
      for (const name of Object.keys(env)) assert.ok(err.includes(`${name} `), `${name}: ${err}`);
    }
  });

  it('are in no message of a server that does not answer', async () => {
    for (const url of [
      `postgres://user:${PASSWORD}@127.0.0.1:${closed}/docket`,
      `postgres://user:${PASSWORD}@docket.invalid/docket`,
    ]) {
      const said = await doctor({ ...unreachable(), DATABASE_URL: url, DATABASE_READ_URL: url });
      assert.match(said, /FAIL {2}database/);
      assert.ok(!said.includes(PASSWORD), said);
    }
    const said = await doctor({ ...unreachable(), DATABASE_URL: database.url, DOCKET_MIGRATE: 'off' });
    assert.match(said, /FAIL {2}file store/);
    assert.ok(!said.includes(PASSWORD), said);
  });

  it('are not in the log of the service, whose other servers do not answer', async () => {
    const service = await startService({
      ...unreachable(),
      DATABASE_URL: database.url,
      DATABASE_READ_URL: `postgres://user:${PASSWORD}@127.0.0.1:${closed}/docket`,
      DOCKET_DATA_DIR: dataDir,
      DOCKET_PORT: '0',
    });
    try {
      await fetch(`${service.url}/api/admin/v1/session/oidc`, { redirect: 'manual' });
      for (let turn = 0; turn < 100 && !/heads of the audit log/.test(service.output()); turn++) await sleep(200);
      const said = service.output();
      for (const trouble of [/heads of the audit log/, /OpenID Connect sign-in failed/, /file store/i])
        assert.match(said, trouble);
      assert.ok(!said.includes(PASSWORD), said);
      const page = await fetch(`${service.url}/api/admin/v1/session`);
      assert.ok(!(await page.text()).includes(PASSWORD));
    } finally {
      await service.kill();
    }
    assert.ok(!service.output().includes(PASSWORD));
  });
});
