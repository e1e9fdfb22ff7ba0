/** The log of a service that loses its database for a while: one line for the outage, one for its end. */
import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { createTestDatabase, type TestDatabase } from './support/database.ts';
import { FaultProxy } from './proofs/fault-proxy.ts';
import { type Service, startService } from './proofs/fault-service.ts';

/** Failed attempts of the outage, of which each was a line before. */
const ATTEMPTS = 60;

describe('an outage of the database', () => {
  let database: TestDatabase;
  let proxy: FaultProxy;
  let service: Service;
  let folder: string;
  before(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'docket-outage-'));
    database = await createTestDatabase();
    const target = new URL(database.url);
    const host = target.searchParams.get('host') ?? target.hostname;
    proxy = await FaultProxy.start({ host, port: Number(target.port) });
    service = await startService({
      DATABASE_URL: `postgres://${target.username}:${target.password}@127.0.0.1:${proxy.port}${target.pathname}`,
      DOCKET_DATA_DIR: folder,
      DOCKET_PORT: '0',
    });
  });
  after(async () => {
    await service?.kill();
    await proxy?.close();
    await database?.drop();
    await rm(folder, { recursive: true, force: true });
  });

  /** The lines of the log but those of requests. */
  const lines = (): { msg: string; attempts?: number }[] => {
    const all = service
      .output()
      .split('\n')
      .filter((line) => line.startsWith('{'));
    return all.map((line) => JSON.parse(line)).filter((line) => line.operation === undefined);
  };
  const failures = async (): Promise<number> => {
    const text = await (await fetch(`${service.url}/metrics`)).text();
    const counts = [...text.matchAll(/^docket_background_failures_total\{[^}]*cause="database"[^}]*\} (\d+)$/gm)];
    return counts.reduce((sum, [, count]) => sum + Number(count), 0);
  };
  const until = async (isSo: () => Promise<boolean> | boolean): Promise<void> => {
    const end = performance.now() + 60_000;
    while (!(await isSo())) {
      assert.ok(performance.now() < end, service.output().slice(-2000));
      await sleep(100);
    }
  };

  it('is two lines of the log, however many attempts fail', async () => {
    const before = lines().length;
    proxy.weather = 'closed';
    proxy.reset();
    await until(async () => (await failures()) >= ATTEMPTS);
    proxy.weather = 'fair';
    await until(() => lines().some(({ msg }) => msg.startsWith('database available again')));
    const said = lines().slice(before);
    assert.deepEqual(
      said.map(({ msg }) => msg.replaceAll(/\d+/g, 'N')),
      ['database unavailable', 'database available again after N s; N attempts failed'],
    );
    assert.ok((said.at(-1)?.attempts ?? 0) >= ATTEMPTS);
  });
});
