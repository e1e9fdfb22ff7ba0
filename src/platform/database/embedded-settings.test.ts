import assert from 'node:assert/strict';
import { mkdtemp, mkdir, rm, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { describe, it } from 'node:test';
import { settingsOf, sharedBuffers } from './embedded-settings.ts';

const MIB = 1024 * 1024;
const GIB = 1024 * MIB;

describe('the settings of the embedded server', () => {
  it('size shared buffers by the amount of data, within the memory of the machine', () => {
    assert.equal(sharedBuffers(24 * GIB, 0), 256);
    assert.equal(sharedBuffers(24 * GIB, 300 * MIB), 320);
    assert.equal(sharedBuffers(24 * GIB, 10 * GIB), 1024);
    assert.equal(sharedBuffers(24 * GIB, Number.POSITIVE_INFINITY), 1024);
    assert.equal(sharedBuffers(8 * GIB, 10 * GIB), 512);
    assert.equal(sharedBuffers(GIB, 10 * GIB), 256, 'a small machine keeps what was enough for every one');
  });

  it('measure the existing files, including none', async (t) => {
    const cluster = await mkdtemp(path.join(tmpdir(), 'docket-settings-'));
    t.after(() => rm(cluster, { recursive: true, force: true }));
    assert.equal((await settingsOf(path.join(cluster, 'nothing')))['shared_buffers'], '256MB');
    await mkdir(path.join(cluster, 'base', '5'), { recursive: true });
    const table = path.join(cluster, 'base', '5', '16384');
    await writeFile(table, '');
    await truncate(table, 4 * GIB);
    const { shared_buffers: kept, fsync } = await settingsOf(cluster);
    assert.ok(kept === '256MB' || Number.parseInt(kept ?? '', 10) > 256, 'by the memory of this machine');
    assert.equal(fsync, 'on');
  });
});
