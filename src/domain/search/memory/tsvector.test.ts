import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { readVector } from './tsvector.ts';

describe('The text of a tsvector', () => {
  test('is read with quotes, backslashes, spaces and control characters in its lexemes', () => {
    const lexeme = fc
      .array(fc.constantFrom("'", '\\', ' ', ':', ',', 'a', '1A', '\u0001', 'ё', '😀'), { minLength: 1 })
      .map((of) => of.join(''));
    const occurrence = fc.tuple(fc.integer({ min: 1, max: 16_383 }), fc.constantFrom('A', 'B', 'C', 'D'));
    const words = fc.uniqueArray(fc.tuple(lexeme, fc.array(occurrence, { minLength: 1, maxLength: 4 })), {
      selector: ([one]) => one,
    });
    fc.assert(
      fc.property(words, (given) => {
        // PostgreSQL leaves out the letter of zone D.
        const written = given.map(([one, places]) => {
          const quoted = one.replaceAll('\\', '\\\\').replaceAll("'", "''");
          return `'${quoted}':${places.map(([at, zone]) => `${at}${zone === 'D' ? '' : zone}`).join(',')}`;
        });
        const right = given.map(([one, places]) => [one, places.map(([, zone]) => zone).join('')] as const);
        assert.deepEqual(readVector(written.join(' ')), new Map(right));
      }),
    );
    assert.deepEqual(
      readVector("'a' 'b':1"),
      new Map([
        ['a', 'D'],
        ['b', 'D'],
      ]),
    );
    assert.throws(() => readVector("'a"), /without end/);
  });
});
