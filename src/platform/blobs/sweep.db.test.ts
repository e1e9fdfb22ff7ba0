/**
 * The sweeper removes unused content, and never content that is in use or about to be used
 * (docs/spec/around-records.md#attachments).
 */
import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { utimes } from 'node:fs/promises';
import path from 'node:path';
import { buffer } from 'node:stream/consumers';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import sql from 'sql-template-tag';
import { MODULES } from '../../modules.ts';
import { collect } from '../../platform/module.ts';
import { systemClock } from '../clock.ts';
import { Database } from '../database/pool.ts';
import { Work } from '../unit-of-work/work.ts';
import { type RecordFixture, startRecordFixture } from '../../../test/support/record-fixture.ts';
import type { BlobStore } from './store.ts';
import { sweepBlobs } from './register.ts';

const DAY_MS = 86_400_000;
let around: RecordFixture;
let blobs: BlobStore;
/** Called before content is removed. */
let removing: ((key: string) => Promise<void>) | undefined;

const keyOf = (content: Uint8Array): string => createHash('sha256').update(content).digest('hex');
const sweep = (now = Date.now()): Promise<number> =>
  sweepBlobs(around.app.db, blobs, collect(MODULES, 'blobUses'), now);

function looking(inner: BlobStore): BlobStore {
  return {
    put: (key, bytes) => inner.put(key, bytes),
    read: (key) => inner.read(key),
    bytes: (key, size) => inner.bytes(key, size),
    remove: async (key) => {
      await removing?.(key);
      await inner.remove(key);
    },
    list: (age, now) => inner.list(age, now),
    check: () => inner.check(),
  };
}

async function has(key: string): Promise<boolean> {
  try {
    return (await buffer(await blobs.read(key))).length > 0;
  } catch {
    return false;
  }
}

/** Makes content two days old, both in the file system and in the table. */
async function age(key: string): Promise<void> {
  const then = new Date(Date.now() - 2 * DAY_MS);
  await utimes(path.join(around.app.blobFolder, key.slice(0, 2), key), then, then);
  await around.rows('UPDATE blobs SET touched_at = $2 WHERE sha256 = $1', [key, then.toISOString()]);
}

async function upload(content: Uint8Array): Promise<{ id: string }> {
  const { id: objectId } = await around.make();
  const body = { filename: 'a', contentBase64: Buffer.from(content).toString('base64') };
  return await around.ok('chief', 'POST', `/objects/${objectId}/attachments`, body);
}

const known = async (key: string): Promise<boolean> =>
  (await around.rows('SELECT 1 FROM blobs WHERE sha256 = $1', [key])).length === 1;

describe('the sweeper', () => {
  before(async () => {
    around = await startRecordFixture({
      blobs: (files) => {
        blobs = looking(files);
        return blobs;
      },
    });
  });
  after(() => around.close());

  it('keeps content in use, including archived files and images of old text versions', async () => {
    const content = randomBytes(500);
    const { id } = await upload(content);
    await around.ok('chief', 'DELETE', `/attachments/${id}`, { expectedRevision: 1 });
    const gif = Buffer.from('R0lGODlhAQABAAAAADs=', 'base64');
    const image = { type: 'image', attrs: { src: `data:image/gif;base64,${gif.toString('base64')}` } };
    const made = await around.make({ body: { type: 'doc', content: [image] } });
    await around.ok('chief', 'PATCH', `/objects/${made.id}`, { expectedRevision: 1, changes: { body: null } });
    for (const key of [keyOf(content), keyOf(gif)]) await age(key);
    assert.equal(await sweep(), 0);
    assert.ok((await has(keyOf(content))) && (await has(keyOf(gif))));
  });

  it('removes content unused for a day, including content without a row', async () => {
    const refused = randomBytes(501);
    const orphan = randomBytes(502);
    const fresh = randomBytes(503);
    for (const content of [refused, orphan, fresh]) await blobs.put(keyOf(content), content);
    await around.rows('INSERT INTO blobs VALUES ($1, now())', [keyOf(refused)]);
    for (const content of [refused, orphan]) await age(keyOf(content));
    assert.equal(await sweep(), 2);
    assert.deepEqual(await Promise.all([refused, orphan, fresh].map((content) => has(keyOf(content)))), [
      false,
      false,
      true,
    ]);
    assert.equal(await known(keyOf(refused)), false);
    assert.equal(await sweep(Date.now() + 2 * DAY_MS), 1);
    assert.equal(await has(keyOf(fresh)), false);
  });

  it('is told of content by the connection of the unit that stores it, which may hold the last one', async () => {
    const db = new Database({ url: around.app.databaseUrl, max: 1, acquireMs: 500 });
    try {
      const work = new Work({ db, clock: systemClock, blobs });
      const content = randomBytes(300);
      const system = around.app.app.system();
      await work.write(system, async (ctx) => {
        await ctx.lock(sql`SELECT 1`);
        ctx.storeBlob(keyOf(content), content);
      });
      assert.ok((await has(keyOf(content))) && (await known(keyOf(content))));
    } finally {
      await db.close();
    }
  });

  it('continues after content that cannot be removed', async () => {
    const content = randomBytes(504);
    await blobs.put(keyOf(content), content);
    await age(keyOf(content));
    removing = async () => {
      throw new Error('the store is away');
    };
    await assert.rejects(sweep(), /away/);
    removing = undefined;
    assert.ok((await has(keyOf(content))) && (await known(keyOf(content))));
    assert.equal(await sweep(), 1);
  });

  it('never removes content that is put into use during the sweep', async () => {
    for (let round = 0; round < 20; round++) {
      const content = randomBytes(600 + round);
      const key = keyOf(content);
      await blobs.put(key, content);
      if (round % 2 === 0) await around.rows('INSERT INTO blobs VALUES ($1, now())', [key]);
      await age(key);
      let using: Promise<{ id: string }> | undefined;
      removing = async (removed) => {
        if (removed !== key) return;
        using ??= upload(content);
        // Gives the concurrent upload time to proceed as far as it can.
        await sleep(round < 6 ? 60 : 2);
      };
      await sweep();
      removing = undefined;
      assert.ok(using !== undefined, 'the content was about to be removed');
      await using;
      assert.ok(await has(key), `round ${round}: the row is there, and so is the content`);
    }
  });

  it('is safe beside other sweepers and beside uploads of the same content', async () => {
    const contents = Array.from({ length: 20 }, (_, index) => randomBytes(700 + index));
    for (const content of contents) {
      await blobs.put(keyOf(content), content);
      await age(keyOf(content));
    }
    const sweeps = [sweep(), sweep(), sweep()];
    const uploads = contents.map((content) => upload(content));
    await Promise.all(uploads);
    await Promise.all(sweeps);
    for (const content of contents) assert.ok(await has(keyOf(content)));
    assert.equal(await sweep(), 0);
  });
});
