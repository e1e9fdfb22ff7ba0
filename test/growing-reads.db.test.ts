/**
 * Resources that callers share: what each read takes from the database when a record has a long life and the installation many
 * people, held against what it declares (`growth`). Bytes are counted, not time.
 */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { growthOf } from '../src/contract/operation.ts';
import { ADMIN_SCOPE } from '../src/contract/scopes.ts';
import { MODULES } from '../src/modules.ts';
import { operationsOf } from '../src/platform/module.ts';
import { startTestApp, type TestApp } from './support/app.ts';
import { type DatabaseTraffic, watchDatabase } from './support/database-traffic.ts';
import { textOf } from './support/event-stream.ts';
import { grow, type Grown } from './support/growing-reads.ts';
import { isRecordRead, operationCases, WORLD } from './support/operation-calls.ts';
import { bundle } from './support/small-configuration.ts';

const MIB = 1024 * 1024;
/** A window has about 1 MiB of values and one row more; their JSON and the frame of the protocol come in addition. */
const MAX_OF_STATEMENT = 4 * MIB;
const TRIES = 3;

describe('reads of what has grown', () => {
  const reads = operationsOf(MODULES).filter(({ method }) => method === 'GET');
  let app: TestApp;
  let traffic: DatabaseTraffic;
  let grown: Grown;
  let keys: { public: string; console: string };
  let table: ReturnType<typeof operationCases>;

  before(async () => {
    traffic = watchDatabase();
    app = await startTestApp({ bundle: bundle(WORLD) });
    const { key } = await app.createKey({ login: 'full' });
    keys = { public: key, console: (await app.createKey({ login: 'full', scopes: [ADMIN_SCOPE] })).key };
    table = operationCases(app, keys.public, keys.console);
    const send = async (method: string, path: string, body?: unknown): Promise<any> => {
      const answer = await app.request(method, `/api/v1${path}`, { key, body });
      assert.ok(answer.status < 300, `${method} ${path}: ${JSON.stringify(answer.body).slice(0, 500)}`);
      return answer.body.data;
    };
    grown = await grow(app, send, async (id) => (await table[id]?.call()) ?? {});
  });
  after(async () => {
    traffic.stop();
    await app?.close();
  });

  it('all declare how they grow, and only reads do', () => {
    for (const operation of operationsOf(MODULES)) {
      const isRead = operation.method === 'GET';
      assert.equal(growthOf(operation) !== undefined, isRead, `${operation.id}: \`growth\` in its contract.ts`);
    }
    const windows = reads.filter((operation) => growthOf(operation) === 'windows');
    assert.ok(windows.length >= 10);
    assert.deepEqual(
      windows.filter(({ long }) => long !== true),
      [],
      'answers in windows are of long reads',
    );
  });

  for (const operation of reads) {
    const { id } = operation;
    const growth = growthOf(operation);
    // What is read whole is not bounded yet, and not called here.
    if (growth === 'stream' || growth === 'whole') continue;
    it(`${id}: ${growth}`, async () => {
      const isRecord = isRecordRead(operation);
      let best = { largest: Number.POSITIVE_INFINITY, all: 0 };
      // Other statements of the service are counted too.
      for (let turn = 0; turn < TRIES && best.largest > MAX_OF_STATEMENT; turn++) {
        const call =
          grown.calls[id] ?? (isRecord ? { params: { objectId: grown.record } } : ((await table[id]?.call()) ?? {}));
        const isPublic = operation.access !== 'console' && operation.access !== 'open';
        const path = operation.path.replaceAll(/\{(\w+)\}/g, (_, name: string) => call.params?.[name] ?? name);
        traffic.takeLargest();
        const start = traffic.received();
        const answer = await fetch(`${app.url}${isPublic ? '/api/v1' : '/api/admin/v1'}${path}${call.query ?? ''}`, {
          headers: { authorization: `Bearer ${isPublic ? keys.public : keys.console}` },
        });
        const text = await textOf(answer);
        assert.ok(answer.ok, `${answer.status} ${text.slice(0, 300)}`);
        const largest = traffic.takeLargest();
        if (largest < best.largest) best = { largest, all: traffic.received() - start };
      }
      const said = `${(best.all / MIB).toFixed(1)} MiB, ${(best.largest / MIB).toFixed(1)} MiB of one statement`;
      assert.ok(best.largest <= MAX_OF_STATEMENT, said);
      const isLong = growth === 'windows' || growth === 'held';
      assert.equal(best.all > MAX_OF_STATEMENT, isLong, said);
    });
  }
});
