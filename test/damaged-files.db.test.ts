/**
 * Attachments whose stored bytes changed: never served as intact, reported by doctor and backup, repaired by a repeated upload.
 */
import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { mkdtemp, readdir, rm, unlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, describe, it } from 'node:test';
import { pino } from 'pino';
import { examineDeep } from '../src/cli/doctor-checks.ts';
import { ArchiveWriter } from '../src/platform/backup/archive.ts';
import { type DumpReport, dumpService } from '../src/platform/backup/dump.ts';
import { FileBlobs } from '../src/platform/blobs/filesystem.ts';
import { S3Blobs } from '../src/platform/blobs/s3.ts';
import type { BlobStore } from '../src/platform/blobs/store.ts';
import { MODULES } from '../src/modules.ts';
import { backupSources, collect } from '../src/platform/module.ts';
import { type RecordFixture, startRecordFixture } from './support/record-fixture.ts';
import { s3Server, type TestS3 } from './support/s3.ts';

const sha256 = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');

/** A PNG by its first bytes, which is all that an image in rich text must be. */
const PNG = Buffer.concat([
  Buffer.from(
    'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
    'base64',
  ),
  randomBytes(300),
]);

function flipped(bytes: Buffer): Buffer {
  const other = Buffer.from(bytes);
  other[other.length >> 1] = (other[other.length >> 1] as number) ^ 1;
  return other;
}

interface Store {
  name: string;
  open(): Promise<{ wrap: (files: BlobStore) => BlobStore; close(): Promise<void> }>;
  spoil(sha256: string, bytes: Buffer): Promise<void>;
}

/** Lines of the service's log. */
const log: string[] = [];
let fixture: RecordFixture;
let s3: TestS3;

const STORES: readonly Store[] = [
  {
    name: 'the file system',
    open: async () => ({ wrap: (files) => files, close: async () => {} }),
    spoil: (key, bytes) => writeFile(path.join(fixture.app.blobFolder, key.slice(0, 2), key), bytes),
  },
  {
    name: 'S3',
    open: async () => {
      s3 = await s3Server({ allowMismatchedSignatures: true });
      const blobs = S3Blobs.at(`s3://docket/files?endpoint=${s3.endpoint}`);
      return { wrap: () => blobs, close: () => s3.close() };
    },
    spoil: (key, bytes) => s3.spoil(`files/${key}`, bytes),
  },
];

for (const { name, open, spoil } of STORES) {
  describe(`damaged files in ${name}`, () => {
    let blobs: BlobStore;
    let close: () => Promise<void>;
    let folder: string;
    const content = randomBytes(90_000);
    let objectId: string;
    let id: string;

    const get = async (url: string, range?: string): Promise<Response> =>
      await fetch(`${fixture.app.url}/api/v1${url}`, {
        headers: { authorization: `Bearer ${fixture.keys.chief}`, ...(range === undefined ? {} : { range }) },
      });
    const upload = async (): Promise<any> =>
      await fixture.ok('chief', 'POST', `/objects/${objectId}/attachments`, {
        filename: 'a.bin',
        contentBase64: content.toString('base64'),
      });
    const errors = async (): Promise<number> => {
      const { body } = await fixture.app.request('GET', '/metrics');
      return Number(/^docket_content_errors_total\{error="damaged"\} (\d+)$/m.exec(body as string)?.[1]);
    };
    /** The whole, a part with the flipped byte in it, and one without. */
    const refused = async (url: string): Promise<void> => {
      for (const range of [undefined, 'bytes=0-9', 'bytes=-10']) {
        const before = await errors();
        const answer = await get(url, range);
        const text = await answer.text();
        assert.equal(answer.status, 500, text);
        assert.match(text, /"code":"INTERNAL"/);
        assert.equal(await errors(), before + 1);
      }
      assert.ok(
        log.some((line) => line.includes('BlobDamaged') && (JSON.parse(line) as { level: number }).level === 50),
      );
      log.length = 0;
    };

    before(async () => {
      const opened = await open();
      close = opened.close;
      folder = await mkdtemp(path.join(tmpdir(), 'docket-damaged-'));
      fixture = await startRecordFixture({
        log: pino({}, { write: (line: string) => void log.push(line) }),
        blobs: (files) => {
          blobs = opened.wrap(files);
          return blobs;
        },
      });
      const image = { type: 'image', attrs: { src: `data:image/png;base64,${PNG.toString('base64')}` } };
      const made = await fixture.make({ title: 'with an image', body: { type: 'doc', content: [image] } });
      objectId = made.id;
      ({ id } = await upload());
    });
    after(async () => {
      await fixture.close();
      await close();
      await rm(folder, { recursive: true });
    });

    it('are not served, whole or in part, and are counted and logged', async () => {
      await spoil(sha256(content), flipped(content));
      await refused(`/attachments/${id}/content`);
    });

    it('are reported by doctor --deep and rejected or listed by a backup', async () => {
      const lines = await examineDeep({ db: fixture.app.db, caller: fixture.app.app.system() }, blobs);
      const wrong = lines.filter(({ ok }) => !ok);
      assert.deepEqual(
        wrong.map(({ name }) => name),
        ['files are there, byte by byte (I8)'],
      );
      assert.match(wrong[0]?.says ?? '', new RegExp(`${id} \\(blob ${sha256(content)} is damaged`));
      const dump = async (file: string, allowMissing: boolean): Promise<DumpReport> => {
        const archive = await ArchiveWriter.create(path.join(folder, file));
        const at = new Date().toISOString();
        const options = {
          db: fixture.app.db,
          blobs,
          uses: collect(MODULES, 'blobUses'),
          sources: backupSources(MODULES),
          archive,
          at,
          allowMissing,
          onPart: () => {},
        };
        return await dumpService(options).catch(async (error: unknown) => {
          await archive.abandon();
          throw error;
        });
      };
      await assert.rejects(dump('refused.docket', false), { name: 'BlobDamaged' });
      assert.deepEqual(await readdir(folder), []);
      const { damaged, missing, files } = await dump('without.docket', true);
      assert.deepEqual({ damaged, missing, files }, { damaged: [sha256(content)], missing: [], files: 1 });
    });

    it('are repaired when the same file is uploaded again', async () => {
      await upload();
      const answer = await get(`/attachments/${id}/content`, 'bytes=0-9');
      assert.deepEqual(Buffer.from(await answer.arrayBuffer()), content.subarray(0, 10));
      assert.equal(answer.status, 206);
    });

    it('are not shown as images of rich text', async () => {
      const url = `/objects/${objectId}/images/${sha256(PNG)}`;
      assert.deepEqual(Buffer.from(await (await get(url)).arrayBuffer()), PNG);
      await spoil(sha256(PNG), flipped(PNG));
      await refused(url);
      const lines = await examineDeep({ db: fixture.app.db, caller: fixture.app.app.system() }, blobs);
      assert.match(
        lines.find(({ ok }) => !ok)?.says ?? '',
        new RegExp(`an image of record ${objectId} \\(blob .* is damaged`),
      );
      await spoil(sha256(PNG), PNG);
    });
  });
}

describe('a missing file', () => {
  it('is counted as an error and reported by doctor --deep', async () => {
    fixture = await startRecordFixture();
    try {
      const { id: objectId } = await fixture.make();
      const bytes = Buffer.from('here today');
      const body = { filename: 'a.txt', contentBase64: bytes.toString('base64') };
      const { id } = await fixture.ok('chief', 'POST', `/objects/${objectId}/attachments`, body);
      await unlink(path.join(fixture.app.blobFolder, sha256(bytes).slice(0, 2), sha256(bytes)));
      const answer = await fixture.call('chief', 'GET', `/attachments/${id}/content`);
      assert.equal(answer.status, 500);
      const { body: metrics } = await fixture.app.request('GET', '/metrics');
      assert.match(metrics as string, /^docket_content_errors_total\{error="missing"\} 1$/m);
      const blobs = new FileBlobs(fixture.app.blobFolder);
      const lines = await examineDeep({ db: fixture.app.db, caller: fixture.app.app.system() }, blobs);
      assert.match(lines.find(({ ok }) => !ok)?.says ?? '', new RegExp(`${id} \\(blob .* is missing`));
    } finally {
      await fixture.close();
    }
  });
});
