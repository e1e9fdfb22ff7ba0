/** Threads in the database: concurrent calls get one thread. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { createTestDatabase, type TestDatabase } from '../../../test/harness/database.ts';
import { newId, systemClock } from '../../platform/clock.ts';
import { Database } from '../../platform/database/pool.ts';
import type { Caller } from '../../platform/unit-of-work/context.ts';
import { loadSnapshot } from '../../platform/unit-of-work/snapshot.ts';
import { Work } from '../../platform/unit-of-work/work.ts';
import { systemActor } from '../access/index.ts';
import { findThread, makeThreads } from './store.ts';

describe('mail in the database', () => {
  let database: TestDatabase;
  let db: Database;
  let work: Work;
  let caller: Caller;
  before(async () => {
    database = await createTestDatabase();
    db = new Database({ url: database.url, max: 8 });
    work = new Work({ db, clock: systemClock });
    const config = await loadSnapshot(db);
    caller = { actor: systemActor(null), via: 'system', keyId: null, correlationId: 'test', config };
  });
  after(async () => {
    await db.close();
    await database.drop();
  });

  it('has one thread for a record and a user, whoever makes it', async () => {
    const pairs = Array.from({ length: 20 }, () => ({ objectId: newId(), userId: newId() }));
    const made = await Promise.all(Array.from({ length: 8 }, () => makeThreads(db, pairs.toReversed())));
    const handles = new Set(made.flat().map(({ handle }) => handle));
    assert.equal(handles.size, pairs.length);
    const [first] = await makeThreads(db, pairs.slice(0, 1));
    assert.ok(first !== undefined && handles.has(first.handle));
    assert.equal(first.objectId, pairs[0]?.objectId);
    const read = (handle: number) => work.read(caller, (ctx) => findThread(ctx, handle));
    assert.deepEqual(await read(first.handle), first);
    assert.equal(await read(2 ** 40 - 1), undefined);
  });
});
