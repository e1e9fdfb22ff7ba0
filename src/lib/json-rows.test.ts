import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { isFault } from './fault.ts';
import { type JsonRow, readJsonRows } from './json-rows.ts';

async function* inChunks(text: string, size: number): AsyncGenerator<string> {
  for (let at = 0; at < text.length; at += size) yield text.slice(at, at + size);
}

const read = async (text: string, size = 5): Promise<JsonRow['value'][]> =>
  (await Array.fromAsync(readJsonRows(inChunks(text, size)))).map(({ value }) => value);

describe('rows of a JSON array', () => {
  it('are its elements', async () => {
    assert.deepEqual(await read(' \uFEFF'.trim() + '[ ]\n'), []);
    assert.deepEqual(await read('[{"a":[1,{"b":"]}\\""}]} ,\n{}]'), [{ a: [1, { b: ']}"' }] }, {}]);
    assert.deepEqual(await read('\uFEFF[{"a":1}]'), [{ a: 1 }]);
  });

  it('round-trip in chunks of any size', async () => {
    const row = fc.dictionary(
      fc.string({ minLength: 1, maxLength: 5 }).filter((key) => !key.startsWith('__')),
      fc.jsonValue(),
      {
        maxKeys: 4,
        noNullPrototype: true,
      },
    );
    await fc.assert(
      fc.asyncProperty(fc.array(row, { maxLength: 5 }), fc.integer({ min: 1, max: 9 }), async (rows, size) => {
        const text = JSON.stringify(rows, null, size % 2);
        let expected: unknown;
        try {
          expected = JSON.parse(text);
          assert.deepEqual(await read(text, size), expected);
        } catch (error) {
          // Duplicate or unsafe keys and similar errors, which strict parsing rejects.
          assert.ok(isFault(error, 'INVALID_REQUEST'), String(error));
        }
      }),
      { numRuns: 200 },
    );
  });

  it('report the position of malformed content', async () => {
    const deep = `[{"a":${'['.repeat(70)}${']'.repeat(70)}}]`;
    for (const [text, place] of [
      ['', 'line 1, column 1: an array of objects'],
      ['{"a":1}', 'line 1, column 1: an array of objects'],
      ['[{"a":1}', 'line 1, column 9: a comma or ]'],
      ['[{"a":1},]', 'line 1, column 10: an object is expected'],
      ['[1]', 'line 1, column 2: an object or ]'],
      ['[{}] x', 'line 1, column 6: there is text after'],
      ['[{"a":1', 'line 1, column 8: the text ends inside'],
      ['[\n {"a":1},\n {"a" 1}]', 'line 3, column 7: a colon is expected'],
      ['[{"a":1,"a":2}]', 'line 1, column 9: an object contains this key twice'],
      ['[{"__proto__":1}]', 'line 1'],
      ['[{"a":"\\u0000"}]', 'line 1'],
      [deep, 'line 1'],
    ] as const) {
      await assert.rejects(read(text), (error: unknown) => {
        assert.ok(isFault(error, 'INVALID_REQUEST') && Array.isArray(error.details), String(error));
        assert.deepEqual([error.details[0]?.path, error.details[0]?.code], ['/content', 'MALFORMED']);
        assert.ok(error.message.includes(place), `${text}: ${error.message}`);
        return true;
      });
    }
    assert.equal(({} as Record<string, unknown>)['a'], undefined);
  });
});
