/** Callers without a valid credential cannot take resources from authenticated ones. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { makeKey } from '../src/domain/access/keys.ts';
import { startTestApp, type TestApp } from './support/app.ts';
import { duringTransaction } from './support/database.ts';

const RECORD = { typeDefinitionId: 'incident', values: { title: 'made beside strangers' } };

describe('invalid credentials', () => {
  let app: TestApp;
  let key: string;
  before(async () => {
    app = await startTestApp({ impatient: true });
    ({ key } = await app.createKey({ login: 'admin' }));
  });
  after(() => app?.close());

  it('use up no database connections that authenticated callers need', async () => {
    assert.equal((await app.request('POST', '/api/v1/objects', { key, body: RECORD })).status, 201);
    const release = Promise.withResolvers<void>();
    const locked = Promise.withResolvers<void>();
    // Every look-up of a key or session now waits for as long as this transaction is open.
    const holding = duringTransaction(app.db, async (client) => {
      await client.query('LOCK TABLE api_keys, sessions IN ACCESS EXCLUSIVE MODE');
      locked.resolve();
      await release.promise;
    });
    await locked.promise;
    const send = (headers: Record<string, string>): Promise<number> =>
      fetch(`${app.url}/api/admin/v1/session`, { headers }).then(
        ({ status }) => status,
        () => 0,
      );
    const strangers = Array.from({ length: 80 }, (_, turn) =>
      send(
        turn % 2 === 0
          ? { authorization: `Bearer ${makeKey().key}` }
          : { cookie: `docket_session=${randomBytes(32).toString('base64url')}` },
      ),
    );
    await sleep(200);
    const made = await app.request('POST', '/api/v1/objects', { key, body: RECORD });
    release.resolve();
    await holding;
    assert.equal(made.status, 201);
    const statuses = await Promise.all(strangers);
    assert.ok(
      statuses.every((status) => status === 401 || status === 503),
      statuses.join(' '),
    );
    assert.ok(statuses.includes(401));
  });
});
