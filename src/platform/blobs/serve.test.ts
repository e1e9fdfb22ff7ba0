import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { describe, it } from 'node:test';
import { FileBlobs } from './filesystem.ts';
import { ContentHolder } from './serve.ts';
import type { BlobStore } from './store.ts';

const none = (): never => {
  throw new Error('not asked for here');
};

function storeOf(bytes: BlobStore['bytes']): BlobStore {
  return { put: none, read: none, bytes, remove: none, list: none, check: none };
}

const content = { sha256: 'a'.repeat(64), size: 60 };
const whole = storeOf(async (_, size) => Buffer.alloc(size));

describe('content held in memory', () => {
  it('is limited over all responses until they release it', async () => {
    const holder = new ContentHolder(100);
    const first = await holder.read(whole, 'caller', content);
    assert.equal(first.bytes.length, 60);
    await assert.rejects(holder.read(whole, 'caller', content), { code: 'OVERLOADED' });
    first.release();
    first.release();
    const part = await holder.read(whole, 'caller', content, { start: 0, end: 39 });
    assert.equal(part.bytes.length, 40);
    const other = await holder.read(whole, 'other', content);
    assert.equal(other.bytes.length, 60, 'of a part no more is held than it has');
    await assert.rejects(holder.read(whole, 'third', { ...content, size: 1 }), { code: 'OVERLOADED' }, 'released once');
    part.release();
    assert.equal((await holder.read(whole, 'third', { ...content, size: 40 })).bytes.length, 40);
  });

  it('leaves memory for others, however much one caller requests', async () => {
    const holder = new ContentHolder(1000);
    const one = { ...content, size: 50 };
    let held = 0;
    await assert.rejects(
      async () => {
        for (;;) {
          await holder.read(whole, 'slow', one);
          held++;
        }
      },
      { code: 'OVERLOADED' },
    );
    assert.equal(held, 10);
    for (const owner of ['a', 'b', 'c']) assert.equal((await holder.read(whole, owner, one)).bytes.length, 50);
  });

  it('admits one content of any size if nothing else is held', async () => {
    const holder = new ContentHolder(10);
    assert.equal((await holder.read(whole, 'caller', content)).bytes.length, 60);
    await assert.rejects(holder.read(whole, 'caller', content), { code: 'OVERLOADED' });
  });

  it('no longer counts if it could not be read', async () => {
    const holder = new ContentHolder(60);
    const short = storeOf(async () => Buffer.alloc(59));
    const broken = storeOf(async () => {
      throw new Error('the disk');
    });
    await assert.rejects(holder.read(short, 'caller', content), { name: 'BlobDamaged' });
    await assert.rejects(holder.read(broken, 'caller', content), { code: 'OVERLOADED' });
    assert.equal((await holder.read(whole, 'caller', content)).bytes.length, 60);
  });

  it('is read from files whole or in part, and never if the bytes do not match the hash', async () => {
    const root = await mkdtemp(path.join(tmpdir(), 'docket-content-'));
    try {
      const blobs = new FileBlobs(root);
      const bytes = Buffer.from(Array.from({ length: 60 }, (_, index) => index));
      const sha256 = createHash('sha256').update(bytes).digest('hex');
      await blobs.put(sha256, bytes);
      const holder = new ContentHolder(1000);
      const file = { sha256, size: 60 };
      assert.deepEqual((await holder.read(blobs, 'caller', file)).bytes, bytes);
      assert.deepEqual(
        (await holder.read(blobs, 'caller', file, { start: 10, end: 19 })).bytes,
        bytes.subarray(10, 20),
      );
      assert.deepEqual((await holder.read(blobs, 'caller', file, { start: 59, end: 59 })).bytes, bytes.subarray(59));
      const flipped = Buffer.from(bytes);
      flipped[40] = 0;
      for (const wrong of [
        Buffer.alloc(59),
        Buffer.alloc(61),
        Buffer.alloc(0),
        flipped,
        Buffer.concat([bytes, bytes]),
      ]) {
        await writeFile(path.join(root, sha256.slice(0, 2), sha256), wrong);
        await assert.rejects(holder.read(blobs, 'caller', file), { name: 'BlobDamaged' });
        await assert.rejects(
          holder.read(blobs, 'caller', file, { start: 10, end: 19 }),
          { name: 'BlobDamaged' },
          'in no part of it',
        );
      }
      await blobs.remove(sha256);
      await assert.rejects(holder.read(blobs, 'caller', file), { name: 'BlobMissing' });
      assert.deepEqual(holder.errors, { damaged: 10, missing: 1 });
    } finally {
      await rm(root, { recursive: true });
    }
  });
});
