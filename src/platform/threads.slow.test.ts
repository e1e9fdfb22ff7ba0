import assert from 'node:assert/strict';
import { once } from 'node:events';
import path from 'node:path';
import { describe, it } from 'node:test';
import { Worker } from 'node:worker_threads';
import { readSources } from '../../test/support/source-files.ts';
import { readTextTask } from '../domain/knowledge/index.ts';
import { isFault } from '../lib/fault.ts';
import { type ThreadAnswer, type ThreadOrder, Threads } from './threads.ts';

/** Takes the Markdown parser quadratic time. */
const SLOW = JSON.stringify({ body: '<http://'.repeat(25_000) });
const QUICK = JSON.stringify({ body: 'word '.repeat(2000) });
const LONG = { size: Number.POSITIVE_INFINITY };

describe('worker threads', () => {
  it('run small inputs in the event loop and large ones in a thread, with the same result', async () => {
    const pool = new Threads();
    const body = JSON.stringify({ body: '# Head\n\nSome *text*, Ёлка\n' });
    const near = await pool.run(readTextTask, body, { size: 0, caller: 'a' });
    assert.deepEqual(await pool.run(readTextTask, body, { ...LONG, caller: 'a' }), near);
  });

  it('stop a task at its time limit without affecting the event loop and other callers', async () => {
    // A thread that replaces a stopped one needs up to two seconds to start on a busy machine; the slow task takes longer.
    const pool = new Threads({ quickMs: 50, shortMs: 100, longMs: 3000 });
    let turns = 0;
    const timer = setInterval(() => turns++, 20);
    const ended: string[] = [];
    const run = async (name: string, json: string, caller: string): Promise<boolean> => {
      const { ok } = await pool.run(readTextTask, json, { ...LONG, caller });
      ended.push(name);
      return ok;
    };
    const slow = [run('slow 1', SLOW, 'a'), run('slow 2', SLOW, 'a')];
    const quick = [run('quick b', QUICK, 'b'), run('quick c', QUICK, 'c')];
    assert.deepEqual(await Promise.all(quick), [true, true]);
    assert.deepEqual(await Promise.all(slow), [false, false]);
    clearInterval(timer);
    // Tasks of other callers do not wait for the slow ones of one caller.
    assert.deepEqual(ended.slice(0, 2).sort(), ['quick b', 'quick c']);
    assert.ok(turns > 10, `the event loop turned ${turns} times`);
    assert.equal(await run('next', QUICK, 'a'), true);
  });

  it('serve quick tasks while the slow ones of another caller wait for each other', async () => {
    const pool = new Threads({ longMs: 1000 });
    const ended: string[] = [];
    const run = async (name: string, json: string): Promise<void> => {
      await pool.run(readTextTask, json, { ...LONG, caller: name });
      ended.push(name);
    };
    await run('quick', QUICK);
    // One exceeds the limit of the quick lane; the others of its caller leave that lane with it.
    const slow = Array.from({ length: 3 }, () => run('slow', SLOW));
    await run('quick', QUICK);
    await run('quick', QUICK);
    await Promise.all(slow);
    assert.deepEqual(ended, ['quick', 'quick', 'quick', 'slow', 'slow', 'slow']);
  });

  it('reject waiting tasks over the limit of a caller, and keep room for others', async () => {
    const pool = new Threads({ waitingOfCaller: 2 });
    const run = (caller: string) => pool.run(readTextTask, QUICK, { ...LONG, caller });
    // The first task leaves the queue at once, because it runs.
    const first = [run('a'), run('a'), run('a')];
    await assert.rejects(run('a'), (error) => isFault(error, 'OVERLOADED'));
    assert.ok((await run('b')).ok);
    for (const result of await Promise.all(first)) assert.ok(result.ok);
  });

  it('stop a task that exhausts its memory', async () => {
    const pool = new Threads({ heapMb: 40 });
    // Few large values: the engine has nothing to collect on the way, so it finds at once that they exceed the heap.
    const texts = JSON.stringify({ bodyDocument: null, more: Array.from({ length: 8 }, () => 'a'.repeat(4_000_000)) });
    assert.deepEqual(await pool.run(readTextTask, texts, { ...LONG, caller: 'a' }), { ok: false });
    assert.ok((await new Threads().run(readTextTask, QUICK, { ...LONG, caller: 'a' })).ok);
  });

  it('load every task that the source code declares', async () => {
    const files = readSources('src').filter(({ text }) => /^export const \w+: ThreadTask</m.test(text));
    assert.ok(files.length > 0);
    const worker = new Worker(path.join(import.meta.dirname, '../worker-thread.ts'));
    for (const { text } of files) {
      for (const [, name = ''] of text.matchAll(/: ThreadTask<[^=]*= \{\s+name: '([^']+)'/g)) {
        worker.postMessage({ load: name, niceness: 0 } satisfies ThreadOrder, []);
        assert.deepEqual(await once(worker, 'message'), [{ kind: 'ready' } satisfies ThreadAnswer], name);
      }
    }
    await worker.terminate();
  });

  it('propagate the errors of a task', async () => {
    const pool = new Threads();
    await assert.rejects(pool.run(readTextTask, '{', { ...LONG, caller: 'a' }), /JSON/);
    const none = { ...readTextTask, name: 'none' };
    await assert.rejects(pool.run(none, '{}', { ...LONG, caller: 'a' }), /there is no task none/);
  });
});
