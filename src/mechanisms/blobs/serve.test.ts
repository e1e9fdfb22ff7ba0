import assert from 'node:assert/strict';
import { Readable } from 'node:stream';
import { describe, it } from 'node:test';
import { ContentHolder } from './serve.ts';
import type { BlobStore } from './store.ts';

const none = (): never => {
  throw new Error('not asked for here');
};

function storeOf(read: BlobStore['read']): BlobStore {
  return { put: none, read, remove: none, list: none, check: none };
}

const content = { sha256: 'a'.repeat(64), size: 60 };
const whole = storeOf(async (_, range) => Readable.from([Buffer.alloc(range ? range.end - range.start + 1 : 60)]));

describe('content held in memory', () => {
  it('is bounded over all answers, until they let go of it', async () => {
    const holder = new ContentHolder(100);
    const first = await holder.read(whole, content);
    assert.equal(first.bytes.length, 60);
    await assert.rejects(holder.read(whole, content), { code: 'OVERLOADED' });
    const part = await holder.read(whole, content, { start: 0, end: 39 });
    first.release();
    first.release();
    await assert.rejects(holder.read(whole, { ...content, size: 61 }), { code: 'OVERLOADED' }, 'released once');
    part.release();
    assert.equal((await holder.read(whole, content)).bytes.length, 60);
  });

  it('passes alone whatever its size', async () => {
    const holder = new ContentHolder(10);
    assert.equal((await holder.read(whole, content)).bytes.length, 60);
    await assert.rejects(holder.read(whole, content), { code: 'OVERLOADED' });
  });

  it('counts no more when it could not be read', async () => {
    const holder = new ContentHolder(60);
    const short = storeOf(async () => Readable.from([Buffer.alloc(59)]));
    const broken = storeOf(async () => {
      throw new Error('the disk');
    });
    await assert.rejects(holder.read(short, content), { name: 'BlobMissing' });
    await assert.rejects(holder.read(broken, content), { message: 'the disk' });
    assert.equal((await holder.read(whole, content)).bytes.length, 60);
  });
});
