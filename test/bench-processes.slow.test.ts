/** Child processes of benchmarks. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { it } from 'node:test';
import { freePort, registered, stopAll } from '../bench/processes.ts';
import { startRival } from '../bench/rivals/rival.ts';

it('a benchmark leaves no process behind, whatever fails in its set-up', async () => {
  const folder = await mkdtemp(path.join(tmpdir(), 'docket-bench-test-'));
  try {
    const port = await freePort();
    const server = `require('node:http').createServer((_, to) => to.end()).listen(${port}, '127.0.0.1')`;
    // The system has started; its set-up fails before anybody else knows of it.
    const started = await startRival({ folder, port }, ['-e', server], process.env, '/');
    const other = registered(spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { stdio: 'ignore' }));
    await stopAll();
    assert.deepEqual([started.signalCode, other.signalCode], ['SIGTERM', 'SIGTERM']);
    await assert.rejects(startRival({ folder, port }, ['-e', 'process.exit(1)'], process.env, '/'), /did not start/);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
});
