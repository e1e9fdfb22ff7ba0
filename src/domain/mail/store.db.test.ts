/** Threads and waiting mails in the database, with concurrent calls. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import sql from 'sql-template-tag';
import { createTestDatabase, type TestDatabase } from '../../../test/support/database.ts';
import { newId, systemClock } from '../../platform/clock.ts';
import { Database } from '../../platform/database/pool.ts';
import type { Caller } from '../../platform/unit-of-work/context.ts';
import { loadSnapshot } from '../../platform/unit-of-work/snapshot.ts';
import { Work } from '../../platform/unit-of-work/work.ts';
import { systemActor } from '../access/index.ts';
import { findThread, makeThreads } from './store.ts';
import { makeOutgoing, purgeOutgoing } from './store-outgoing.ts';

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

  it('has one thread for a record and a user, no matter who makes it', async () => {
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

  it('keeps a sent mail as long as it can be answered, also if it was sent long after it was due', async () => {
    const [early, late, waiting] = [newId(), newId(), newId()];
    const mails = [
      { id: early, status: 'SENT', next_at: '2026-01-02', finished_at: '2026-01-02' },
      { id: late, status: 'SENT', next_at: '2026-01-04', finished_at: '2026-01-04' },
      { id: waiting, status: 'PENDING', next_at: '2026-01-04', finished_at: null },
    ];
    await db.query(sql`
      INSERT INTO mail_outgoing (id, user_id, notification_ids, status, due_at, next_at, finished_at)
      SELECT id, id, ARRAY[id], status, '2026-01-02', next_at, finished_at
      FROM jsonb_to_recordset(${JSON.stringify(mails)}::jsonb)
        AS m (id uuid, status text, next_at timestamptz, finished_at timestamptz)`);
    assert.equal(await purgeOutgoing(db, '2026-01-03T00:00:00.000Z'), false);
    const left = await db.query<{ id: string }>(sql`SELECT id FROM mail_outgoing`);
    assert.deepEqual(new Set(left.map(({ id }) => id)), new Set([late, waiting]));
  });

  it('gets the same mail id for a batch that grows and for a digest, in every process', async () => {
    const users = [newId(), newId()];
    const at = (seconds: number): string =>
      new Date(Date.parse('2026-11-23T08:00:00.000Z') + seconds * 1000).toISOString();
    const queue = async (userId: string, seconds: number, batch: string | null): Promise<void> => {
      await db.query(sql`INSERT INTO notification_mails (notification_id, user_id, kind, is_digest, batch, due_at)
        VALUES (${newId()}::uuid, ${userId}::uuid, 'watch', ${batch === null}::boolean, ${batch}::text, ${at(seconds)}::timestamptz)`);
    };
    for (const userId of users) {
      for (const seconds of [0, 20, 40]) await queue(userId, seconds, 'import');
      for (let digest = 0; digest < 5; digest++) await queue(userId, 0, null);
    }
    const sizes = async (): Promise<number[]> => {
      const rows = await db.query<{ size: number }>(sql`SELECT cardinality(notification_ids) AS size FROM mail_outgoing
        WHERE user_id = ANY(${users}::uuid[]) ORDER BY 1`);
      return rows.map(({ size }) => size);
    };
    // Only the digests: more notifications of the batch are still to come.
    const make = async (seconds: number): Promise<void> => {
      // The first calls may all serve the same user.
      for (let round = 0; round < 2; round++) {
        await Promise.all(Array.from({ length: 4 }, () => makeOutgoing(db, at(seconds), 2)));
      }
    };
    await make(30);
    assert.deepEqual(await sizes(), [5, 5]);
    await make(41);
    assert.deepEqual(await sizes(), [3, 3, 5, 5]);
    // A batch does not wait for ever.
    await queue(users[0] ?? '', 0, 'endless');
    await queue(users[0] ?? '', 700, 'endless');
    await make(601);
    assert.deepEqual(await sizes(), [1, 3, 3, 5, 5]);
  });
});
