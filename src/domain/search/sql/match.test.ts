import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import sql from 'sql-template-tag';
import fc from 'fast-check';
import { documentsWith } from '../memory/words.ts';
import { buildSegment } from '../memory/segment.ts';
import { allOf, anyOf, type Reading, type Word, type Words } from '../query.ts';
import { shareOf } from './estimates.ts';
import { predicateOf } from './words.ts';

const ID = '00000000-0000-7000-8000-000000000001';
const WORDS = [...'abcdefgh'];
const reading = (...words: string[]): Reading => {
  const matched = words.map((lexeme) => ({ lexeme, prefix: false }));
  return { exact: { operands: matched, count: 1 }, like: { operands: [], count: 0 }, matched };
};
const word = (...words: string[]): Word => ({ kind: 'word', free: reading(...words), classes: [] });
const queries: readonly Word[] = WORDS.map((one) => word(one));
const combination = (combinations: readonly (readonly number[])[], of: readonly Word[] = queries): Words =>
  anyOf(combinations.map((indices) => allOf(indices.flatMap((index) => of[index] ?? []))));

/** Whether a text with these words satisfies the `tsquery`, which consists of words, `&`, `|` and parentheses. */
function satisfies(query: string, held: ReadonlySet<string>): boolean {
  const signs = query.match(/'[a-z]+'|[()&|]/g) ?? [];
  let at = 0;
  const one = (): boolean => {
    const sign = signs[at++];
    if (sign !== '(') return held.has((sign ?? '').slice(1, -1));
    const inside = either();
    assert.equal(signs[at++], ')');
    return inside;
  };
  const all = (): boolean => {
    let whole = one();
    for (; signs[at] === '&'; at++, whole = one() && whole);
    return whole;
  };
  const either = (): boolean => {
    let some = all();
    for (; signs[at] === '|'; at++, some = all() || some);
    return some;
  };
  const result = either();
  assert.equal(at, signs.length, query);
  return result;
}

describe('combinations of words', () => {
  const indices = fc.uniqueArray(fc.nat({ max: WORDS.length - 1 }), { minLength: 1, maxLength: 5 });

  it('match the same records as the single combinations', () => {
    const held = fc.uniqueArray(fc.constantFrom(...WORDS)).map((words) => new Set(words));
    fc.assert(
      fc.property(fc.array(indices, { minLength: 1, maxLength: 12 }), held, (combinations, words) => {
        const { query, exact } = predicateOf(combination(combinations), []) ?? assert.fail();
        const expected = combinations.some((of) => of.every((index) => words.has(WORDS[index] ?? '')));
        assert.equal(satisfies(query, words), expected, query);
        assert.equal(exact, null);
        // The index in memory gives the same answer.
        const lexemes = new Map([...words].map((word) => [word, 'B']));
        const segment = buildSegment([
          { id: ID, updatedAt: 1, profileId: 1, versions: [1, 1] as const, size: 1, lexemes, values: new Map() },
        ]);
        assert.equal(documentsWith(segment, combination(combinations), []).has(0), expected);
      }),
      { numRuns: 500 },
    );
  });

  it('factor out common prefixes', () => {
    const words = combination([
      [0, 1, 2],
      [0, 1, 3],
      [0, 4],
    ]);
    const { query } = predicateOf(words, []) ?? assert.fail();
    assert.deepEqual(
      WORDS.map((one) => query.split(`'${one}'`).length - 1),
      [1, 1, 1, 1, 1, 0, 0, 0],
    );
  });

  it('check the record if a right depends on it; an empty word matches nothing', () => {
    const withClasses = queries.map(({ free }, index): Word => {
      return { kind: 'word', free, classes: [index === 1 ? reading('hidden') : reading()] };
    });
    const predicate = predicateOf(combination([[0, 1]], withClasses), [sql`o.number = 'n'`]) ?? assert.fail();
    assert.match(
      predicate.exact?.text ?? '',
      /^\(\(.*s\.words @@ \$1::tsquery.*\) AND \(.*o\.number = 'n' AND s\.words @@.*\)\)$/s,
    );
    assert.match(predicate.query, /'hidden'/);
    assert.equal(predicateOf(combination([[0, 1]], [word('a'), word()]), []), null);
  });
});

describe('estimates of matches', () => {
  const known = { rows: 1000, shares: new Map([...'abc'].map((word) => [word, 0.25])) };
  const lexeme = (of: string, prefix = false, most?: number): Words => {
    return { kind: 'number', operand: { lexeme: of, prefix, ...(most === undefined ? {} : { most }) } };
  };

  it('combine the shares of words; rare words count as none', () => {
    assert.equal(shareOf(known, lexeme('a')), 0.25);
    assert.equal(shareOf(known, word('a', 'b', 'z')), 1 - 0.75 ** 2);
    assert.equal(shareOf(known, lexeme('z')), 0);
    assert.equal(shareOf(known, lexeme('', true)), 1 - 0.75 ** 3);
    assert.equal(shareOf(known, { kind: 'all', parts: [lexeme('a'), lexeme('b')] }), 0.125);
    assert.equal(shareOf(known, { kind: 'all', parts: [lexeme('a'), lexeme('z')] }), 0);
    assert.equal(shareOf(known, { kind: 'any', parts: [lexeme('a'), lexeme('b')] }), 1 - 0.75 ** 2);
    assert.equal(shareOf(known, { kind: 'any', parts: [] }), 0);
  });

  it('know how many numbers start so', () => {
    assert.equal(shareOf(known, lexeme('tck1', true, 500)), 0.5);
    assert.equal(shareOf(known, lexeme('t', true, Number.POSITIVE_INFINITY)), 1);
  });
});
