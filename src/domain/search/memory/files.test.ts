import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { SegmentFiles } from './files.ts';

const DOCUMENTS = 3000;
const KILLS = 8;

/** Writes segments of `DOCUMENTS` documents that all have the same size, and replaces them again and again, until it is killed. */
const WRITER = `
const { SegmentFiles } = await import(${JSON.stringify(import.meta.resolve('./files.ts'))});
const { buildSegment } = await import(${JSON.stringify(import.meta.resolve('./segment.ts'))});
const files = new SegmentFiles(process.argv[1]);
const made = (size) => buildSegment(Array.from({ length: ${DOCUMENTS} }, (_, n) => ({
  id: '00000000-0000-7000-8000-' + String(n).padStart(12, '0'), updatedAt: n, profileId: 1, versions: [1, 1], size,
  lexemes: new Map([['common', 'A'], ['word' + n, 'B']]), values: new Map([['kind', { value: 'open' }]]) })));
for await (const _ of files.read('storage'));
let kept = [];
for (let size = 1; ; size++) {
  kept = [...kept, made(size)].slice(-2);
  await files.write(kept, 'storage');
  process.stdout.write('.');
}`;

describe('Files of segments', () => {
  test('are whole or deleted, wherever the process that writes them is killed', async () => {
    const folder = await mkdtemp(path.join(tmpdir(), 'docket-segments-'));
    try {
      for (let kill = 0; kill < KILLS; kill++) {
        const writer = spawn(process.execPath, ['--input-type=module-typescript', '-e', WRITER, folder], {
          stdio: ['ignore', 'pipe', 'inherit'],
        });
        const ended = once(writer, 'exit');
        await once(writer.stdout, 'data');
        await sleep(7 * kill);
        writer.kill('SIGKILL');
        await ended;
        const files = new SegmentFiles(folder);
        let read = 0;
        for await (const segment of files.read('storage')) {
          read++;
          assert.equal(segment.count, DOCUMENTS);
          const [from, to] = segment.parts.dictionary.range('common', false);
          assert.equal(segment.parts.postings.count(from, to), DOCUMENTS);
          assert.equal(new Set(segment.parts.sizes).size, 1);
        }
        assert.ok(read > 0, 'the ones before are still there');
        assert.equal((await readdir(folder)).length, read, 'nothing unfinished is left');
      }
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  });

  test('are none in a folder that cannot be read', async () => {
    const folder = await mkdtemp(path.join(tmpdir(), 'docket-segments-'));
    try {
      const file = path.join(folder, 'file');
      await writeFile(file, '');
      assert.equal((await new SegmentFiles(path.join(file, 'below')).read('storage').next()).done, true);
      assert.equal((await new SegmentFiles(path.join(folder, 'absent')).read('storage').next()).done, true);
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  });
});
