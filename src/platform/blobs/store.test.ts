/** One set of tests for both stores: the file system, and an S3 server that the test starts. */
import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { mkdir, mkdtemp, readdir, rm, truncate, utimes, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { buffer } from 'node:stream/consumers';
import { after, before, describe, it } from 'node:test';
import { s3Server, setCredentials } from '../../../test/support/s3.ts';
import { FileBlobs } from './filesystem.ts';
import { S3Blobs } from './s3.ts';
import { BlobDamaged, BlobMissing, type BlobStore } from './store.ts';

const DAY_MS = 86_400_000;
const keyOf = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');
const read = async (blobs: BlobStore, key: string): Promise<Buffer> => await buffer(await blobs.read(key));

async function listed(blobs: BlobStore, olderThanMs: number, now = Date.now()): Promise<string[]> {
  const keys: string[] = [];
  for await (const portion of blobs.list(olderThanMs, now)) keys.push(...portion);
  return keys.sort();
}

interface Opened {
  blobs: BlobStore;
  broken: BlobStore;
  /** Replaces the stored content by other bytes. */
  spoil(key: string, bytes: Buffer): Promise<void>;
  close(): Promise<void>;
}

function flipped(bytes: Buffer): Buffer {
  const other = Buffer.from(bytes);
  other[other.length >> 1] = (other[other.length >> 1] as number) ^ 1;
  return other;
}

/** The behaviour required of every store. */
function keeper(name: string, open: () => Promise<Opened>): void {
  describe(name, () => {
    let blobs: BlobStore;
    let broken: BlobStore;
    let spoil: Opened['spoil'];
    let close: () => Promise<void>;
    before(async () => {
      ({ blobs, broken, spoil, close } = await open());
    });
    after(() => close());

    it('lists nothing before the first content', async () => {
      assert.deepEqual(await listed(blobs, 0, Date.now() + DAY_MS), []);
    });

    it('returns stored content unchanged', async () => {
      for (const size of [1, 1000, 65_537, 7_340_032]) {
        const bytes = randomBytes(size);
        const key = keyOf(bytes);
        await blobs.put(key, bytes);
        assert.deepEqual(await read(blobs, key), bytes);
        assert.deepEqual(await blobs.bytes(key, size), bytes);
        await assert.rejects(blobs.bytes(key, size - 1), BlobDamaged, 'longer than it should be');
      }
    });

    it('rejects content whose bytes changed, and a repeated put repairs it', async () => {
      for (const size of [1, 200_000]) {
        const bytes = randomBytes(size);
        const key = keyOf(bytes);
        await blobs.put(key, bytes);
        for (const damage of [flipped(bytes), bytes.subarray(0, size - 1), Buffer.concat([bytes, bytes])]) {
          await spoil(key, damage);
          await assert.rejects(read(blobs, key), BlobDamaged);
          await assert.rejects(blobs.bytes(key, size), BlobDamaged);
          await blobs.put(key, bytes);
          assert.deepEqual(await read(blobs, key), bytes);
        }
      }
    });

    it('accepts the same content repeatedly and concurrently', async () => {
      const bytes = randomBytes(100_000);
      const key = keyOf(bytes);
      await Promise.all(Array.from({ length: 16 }, () => blobs.put(key, bytes)));
      await blobs.put(key, bytes);
      assert.deepEqual(await read(blobs, key), bytes);
    });

    it('reports missing content as missing, and removing it succeeds', async () => {
      const bytes = randomBytes(10);
      const key = keyOf(bytes);
      await assert.rejects(blobs.read(key), BlobMissing);
      await blobs.remove(key);
      await blobs.put(key, bytes);
      await blobs.remove(key);
      await blobs.remove(key);
      await assert.rejects(blobs.read(key), BlobMissing);
      await blobs.put(key, bytes);
      assert.deepEqual(await read(blobs, key), bytes);
    });

    it('lists content by age', async () => {
      const bytes = randomBytes(20);
      const key = keyOf(bytes);
      await blobs.put(key, bytes);
      assert.ok((await listed(blobs, DAY_MS, Date.now() + DAY_MS + 5000)).includes(key));
      assert.deepEqual(await listed(blobs, DAY_MS), []);
    });

    it('rejects invalid keys', async () => {
      for (const key of ['', 'abc', '../../etc/passwd', 'A'.repeat(64), `${'a'.repeat(64)}/`, `${'a'.repeat(64)}\n`]) {
        await assert.rejects(async () => await blobs.put(key, randomBytes(1)), /SHA-256/, key);
        await assert.rejects(async () => await blobs.read(key), /SHA-256/, key);
        await assert.rejects(async () => await blobs.remove(key), /SHA-256/, key);
      }
    });

    it('reports whether it is writable', async () => {
      await blobs.check();
      await blobs.check();
      await assert.rejects(broken.check());
      await assert.rejects(broken.put(keyOf(Buffer.from('a')), Buffer.from('a')));
    });
  });
}

describe('blob stores', () => {
  keeper('file system', async () => {
    const folder = await mkdtemp(path.join(tmpdir(), 'docket-blobs-'));
    await writeFile(path.join(folder, 'no-folder'), '');
    return {
      blobs: new FileBlobs(path.join(folder, 'deep', 'blobs')),
      broken: new FileBlobs(path.join(folder, 'no-folder', 'blobs')),
      spoil: (key, bytes) => writeFile(path.join(folder, 'deep', 'blobs', key.slice(0, 2), key), bytes),
      close: () => rm(folder, { recursive: true, force: true }),
    };
  });

  // The server drops the trailing slash of requests on the bucket itself, so signatures of these do not match.
  keeper('S3', async () => {
    const { endpoint, spoil, close } = await s3Server({ allowMismatchedSignatures: true });
    return {
      blobs: S3Blobs.at(`s3://docket/files/of%20docket/?endpoint=${endpoint}`),
      broken: S3Blobs.at(`s3://elsewhere?endpoint=${endpoint}`),
      spoil: (key, bytes) => spoil(`files/of docket/${key}`, bytes),
      close,
    };
  });

  it('sign requests to S3, and report a rejected signature', async (t) => {
    const { endpoint, close } = await s3Server({});
    t.after(close);
    const blobs = S3Blobs.at(`s3://docket?endpoint=${endpoint}`);
    const bytes = randomBytes(100);
    await blobs.put(keyOf(bytes), bytes);
    assert.deepEqual(await read(blobs, keyOf(bytes)), bytes);
    await blobs.remove(keyOf(bytes));
    process.env['AWS_SECRET_ACCESS_KEY'] = 'another';
    await assert.rejects(S3Blobs.at(`s3://docket?endpoint=${endpoint}`).put(keyOf(bytes), bytes), {
      name: 'SignatureDoesNotMatch',
    });
  });

  // The server above creates page tokens with a cipher that is no longer available, so a mock returns the pages.
  it('list an S3 bucket page by page, only their own content that is old enough', async (t) => {
    const keys = Array.from({ length: 5 }, () => keyOf(randomBytes(10)));
    const [a, b, young, ...others] = keys as [string, string, string, ...string[]];
    const entry = (key: string, modified = '2026-01-01T00:00:00.000Z'): string =>
      `<Contents><Key>${key}</Key><LastModified>${modified}</LastModified><Size>10</Size></Contents>`;
    const pages: Record<string, string> = {
      '': `<IsTruncated>true</IsTruncated><NextContinuationToken>two/=&amp;</NextContinuationToken>${entry(`files/${a}`)}`,
      'two/=&': `<IsTruncated>true</IsTruncated><NextContinuationToken>three</NextContinuationToken>
        ${entry('files/.probe-1')}${entry(`files/deeper/${others[0]}`)}${entry(`files/${young}`, new Date().toISOString())}`,
      three: `<IsTruncated>false</IsTruncated>${entry(`files/${b}`)}`,
    };
    const asked: string[] = [];
    const server = createServer((request, response) => {
      const query = new URL(request.url ?? '', 'http://localhost').searchParams;
      asked.push(query.get('prefix') ?? '');
      response.setHeader('content-type', 'application/xml');
      response.end(`<ListBucketResult>${pages[query.get('continuation-token') ?? '']}</ListBucketResult>`);
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const restore = setCredentials();
    t.after(() => {
      restore();
      server.closeAllConnections();
      server.close();
    });
    const { port } = server.address() as AddressInfo;
    const paged = new S3Blobs({ bucket: 'docket', endpoint: `http://127.0.0.1:${port}`, prefix: 'files' });
    assert.deepEqual(await listed(paged, DAY_MS), [a, b].sort());
    assert.deepEqual(asked, ['files/', 'files/', 'files/']);
  });

  it('replace a truncated file and clean up after interrupted puts', async () => {
    const root = await mkdtemp(path.join(tmpdir(), 'docket-blobs-'));
    const blobs = new FileBlobs(root);
    const bytes = randomBytes(5000);
    const key = keyOf(bytes);
    await blobs.put(key, bytes);
    await truncate(path.join(root, key.slice(0, 2), key), 100);
    await blobs.put(key, bytes);
    assert.deepEqual(await read(blobs, key), bytes);
    const incoming = path.join(root, 'incoming');
    await mkdir(incoming, { recursive: true });
    const yesterday = new Date(Date.now() - DAY_MS - 1000);
    await writeFile(path.join(incoming, 'left'), 'half');
    await utimes(path.join(incoming, 'left'), yesterday, yesterday);
    await writeFile(path.join(incoming, 'under-way'), 'half');
    assert.deepEqual(await listed(blobs, DAY_MS), []);
    assert.deepEqual(await readdir(incoming), ['under-way']);
    await rm(root, { recursive: true, force: true });
  });

  it('renew the age of content that is put again', async () => {
    const root = await mkdtemp(path.join(tmpdir(), 'docket-blobs-'));
    const blobs = new FileBlobs(root);
    const bytes = randomBytes(50);
    const key = keyOf(bytes);
    await blobs.put(key, bytes);
    const old = new Date(Date.now() - 2 * DAY_MS);
    await utimes(path.join(root, key.slice(0, 2), key), old, old);
    assert.deepEqual(await listed(blobs, DAY_MS), [key]);
    await blobs.put(key, bytes);
    assert.deepEqual(await listed(blobs, DAY_MS), []);
    await rm(root, { recursive: true, force: true });
  });
});
