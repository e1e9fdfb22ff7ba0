import assert from 'node:assert/strict';
import { AsyncLocalStorage } from 'node:async_hooks';
import { test } from 'node:test';
import { Batches } from './batches.ts';

const request = new AsyncLocalStorage<string>();

/** Asks for each name in a request of that name. */
function ask(batches: Batches<string, string>, names: readonly string[]): Promise<string[]> {
  return Promise.all(names.map((name) => request.run(name, () => batches.ask(name))));
}

test('a batch runs in the context of its first request', async () => {
  const seen: unknown[] = [];
  const batches = new Batches<string, string>(
    { size: 16, underWay: 1 },
    {
      together: async (names) => {
        seen.push([request.getStore(), ...names]);
        return names;
      },
      alone: async (name) => name,
      isSeparable: () => true,
    },
  );
  assert.deepEqual(await ask(batches, ['a', 'b', 'c']), ['a', 'b', 'c']);
  assert.deepEqual(seen, [['a', 'a', 'b', 'c']]);
});

test('requests of a failed batch are answered alone, each in its own context', async () => {
  const seen: unknown[] = [];
  const batches = new Batches<string, string>(
    { size: 16, underWay: 1 },
    {
      together: async () => {
        throw new Error('refused');
      },
      alone: async (name) => {
        seen.push([request.getStore(), name]);
        return `${name} alone`;
      },
      isSeparable: () => true,
    },
  );
  assert.deepEqual(await ask(batches, ['a', 'b']), ['a alone', 'b alone']);
  assert.deepEqual(seen, [
    ['a', 'a'],
    ['b', 'b'],
  ]);
});
