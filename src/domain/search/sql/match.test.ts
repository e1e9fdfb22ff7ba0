import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import sql from 'sql-template-tag';
import fc from 'fast-check';
import { documentsWith, type Need } from '../memory/need.ts';
import { buildSegment } from '../memory/segment.ts';
import type { AccessFilter } from './access.ts';
import { shareOf } from './match.ts';
import { combinationOf, needCombination } from './words.ts';
import type { TermQuery } from '../terms.ts';

const ID = '00000000-0000-7000-8000-000000000001';
const WORDS = [...'abcdefgh'];
const part = (word: string): TermQuery['free'] => {
  const matched = [{ lexeme: word, prefix: false }];
  return {
    exact: { operands: matched, text: `'${word}'`, count: 1 },
    like: { operands: [], text: '', count: 0 },
    matched,
    match: `'${word}'`,
  };
};
const queries: TermQuery[] = WORDS.map((word) => ({ free: part(word), classes: [] }));
const accessFilter: AccessFilter = {
  typeIds: [],
  visible: sql`true`,
  trusted: null,
  trustedBy: null,
  free: [''],
  classes: [],
};

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
  const combination = fc.uniqueArray(fc.nat({ max: WORDS.length - 1 }), { minLength: 1, maxLength: 5 });

  it('match the same records as the single combinations', () => {
    const held = fc.uniqueArray(fc.constantFrom(...WORDS)).map((words) => new Set(words));
    fc.assert(
      fc.property(fc.array(combination, { minLength: 1, maxLength: 12 }), held, (combinations, words) => {
        const { query, exact } = combinationOf(combinations, queries, accessFilter);
        const expected = combinations.some((of) => of.every((index) => words.has(WORDS[index] ?? '')));
        assert.equal(satisfies(query, words), expected, query);
        assert.equal(exact, null);
        // The index in memory gives the same answer.
        const lexemes = new Map([...words].map((word) => [word, 'B']));
        const segment = buildSegment([
          { id: ID, updatedAt: 1, profileId: 1, versions: [1, 1] as const, size: 1, lexemes, values: new Map() },
        ]);
        assert.equal(documentsWith(segment, needCombination(combinations, queries), []).has(0), expected);
      }),
      { numRuns: 500 },
    );
  });

  it('factor out common prefixes', () => {
    const { query } = combinationOf(
      [
        [0, 1, 2],
        [0, 1, 3],
        [0, 4],
      ],
      queries,
      accessFilter,
    );
    assert.deepEqual(
      WORDS.map((word) => query.split(`'${word}'`).length - 1),
      [1, 1, 1, 1, 1, 0, 0, 0],
    );
  });

  it('check the record if a right depends on it; an empty word matches nothing', () => {
    const classes = [{ fieldTokens: ['x'], holds: sql`o.number = 'n'`, rule: new Map() }];
    const withClasses = queries.map(({ free }, index) => ({
      free,
      classes: [index === 1 ? part('hidden') : part('')],
    }));
    const predicate = combinationOf([[0, 1]], withClasses, { ...accessFilter, classes });
    assert.match(
      predicate.exact?.text ?? '',
      /^\(\(.*s\.words @@ \$1::tsquery.*\) AND \(.*o\.number = 'n' AND s\.words @@.*\)\)$/s,
    );
    assert.match(predicate.query, /'hidden'/);
    const empty = { operands: [], text: '', count: 0 };
    const nothing: TermQuery = { free: { exact: empty, like: empty, matched: [], match: '' }, classes: [] };
    assert.equal(combinationOf([[0, 1]], [{ free: part('a'), classes: [] }, nothing], accessFilter).query, '');
  });
});

describe('estimates of matches', () => {
  const known = { rows: 1000, shares: new Map([...'abc'].map((word) => [word, 0.25])) };
  const lexemes = (lexeme: string, prefix = false, most?: number): Need => {
    return { kind: 'lexemes', operands: [{ lexeme, prefix, ...(most === undefined ? {} : { most }) }], within: null };
  };

  it('combine the shares of words; rare words count as none', () => {
    assert.equal(shareOf(known, lexemes('a')), 0.25);
    assert.equal(shareOf(known, lexemes('z')), 0);
    assert.equal(shareOf(known, lexemes('', true)), 1 - 0.75 ** 3);
    assert.equal(shareOf(known, { kind: 'all', needs: [lexemes('a'), lexemes('b')] }), 0.125);
    assert.equal(shareOf(known, { kind: 'all', needs: [lexemes('a'), lexemes('z')] }), 0);
    assert.equal(shareOf(known, { kind: 'any', needs: [lexemes('a'), lexemes('b')] }), 1 - 0.75 ** 2);
    assert.equal(shareOf(known, { kind: 'any', needs: [] }), 0);
  });

  it('know how many numbers start so', () => {
    assert.equal(shareOf(known, lexemes('tck1', true, 500)), 0.5);
    assert.equal(shareOf(known, lexemes('t', true, Number.POSITIVE_INFINITY)), 1);
  });
});
