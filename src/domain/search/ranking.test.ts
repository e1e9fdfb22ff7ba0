import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { makeAnalysis } from '../../lib/words.ts';
import {
  candidateSteps,
  rankPlan,
  rerank,
  type RerankHit,
  type RerankTerm,
  type TermFacts,
  timesOf,
  weightOf,
} from './ranking.ts';
import { processorMs } from '../../../test/support/processor-time.ts';

const analysis = makeAnalysis();

const facts = (share: number, more: Partial<TermFacts> = {}): TermFacts => ({
  share,
  count: 1,
  last: false,
  required: true,
  ...more,
});

/** The formula of PostgreSQL with weight 1. */
function tsRank(times: number): number {
  let sum = 0;
  for (let j = 1; j <= times; j++) sum += 1 / j ** 2;
  return sum / (Math.PI ** 2 / 6);
}

const anyTerm = fc.record({
  share: fc.double({ min: 0, max: 1, noNaN: true }),
  count: fc.integer({ min: 1, max: 5 }),
  last: fc.boolean(),
  required: fc.boolean(),
});

describe('weights', () => {
  test('rarer and repeated words weigh more, and every weight is positive', () => {
    fc.assert(
      fc.property(anyTerm, anyTerm, (a, b) => {
        assert.ok(weightOf(a) > 0 && Number.isFinite(weightOf(a)));
        if (a.count === b.count && a.share < b.share) assert.ok(weightOf(a) >= weightOf(b));
        if (a.share === b.share && a.count < b.count) assert.ok(weightOf(a) < weightOf(b));
      }),
    );
    assert.ok(weightOf({ share: 0.01, count: 1 }) > 3 * weightOf({ share: 0.5, count: 1 }));
  });

  test('shares are limited to the possible range', () => {
    for (const share of [-1, 0, 1, 2]) assert.ok(Number.isFinite(weightOf({ share, count: 1 })));
  });

  test('the first pass prefers the title, and a rare word in the text over a frequent one in the title', () => {
    const { weights, zones, b } = rankPlan([facts(0.01), facts(0.4)]);
    assert.equal(weights.length, 2);
    const [rich, text, short, title] = zones;
    assert.ok(title > short && short >= text && text >= rich && rich > 0 && title <= 1);
    assert.ok((weights[0] ?? 0) * text > (weights[1] ?? 0) * title);
    assert.ok(b > 0 && b < 1);
  });
});

describe('candidates', () => {
  const sum = (terms: readonly TermFacts[], indices: readonly number[]): number =>
    indices.reduce((total, index) => total + weightOf({ share: terms[index]?.share ?? 1, count: 1 }), 0);

  test('steps require less and less, the last ones a single word, the rarest first', () => {
    fc.assert(
      fc.property(fc.array(anyTerm, { maxLength: 12 }), (terms) => {
        const steps = candidateSteps(terms);
        const required = terms.flatMap((term, index) => (term.required ? [index] : []));
        const singles = steps.slice(-required.length || steps.length);
        if (required.length === 0) {
          assert.deepEqual(steps, []);
          return;
        }
        assert.deepEqual(
          singles.flat(2).sort((a, b) => a - b),
          required,
        );
        const shares = singles.map(([combination]) =>
          Math.max(0.0005, terms[combination?.[0] ?? -1]?.share ?? Number.NaN),
        );
        // Words with nearly equal frequencies may have equal weights.
        for (const [at, share] of shares.entries()) assert.ok(at === 0 || share >= (shares[at - 1] ?? 0) - 1e-9);
        let least = Number.POSITIVE_INFINITY;
        for (const step of steps.slice(0, -required.length)) {
          assert.ok(step.length > 0 && step.length <= 40);
          for (const combination of step) {
            assert.ok(combination.length > 1 && combination.every((index) => terms[index]?.required));
            assert.equal(new Set(combination).size, combination.length);
          }
          const lightest = Math.min(...step.map((combination) => sum(terms, combination)));
          assert.ok(lightest <= least + 1e-9 || step.length > 1);
          least = lightest;
        }
      }),
    );
  });

  test('combinations are minimal', () => {
    const terms = [0.001, 0.01, 0.02, 0.1, 0.3, 0.5].map((share) => facts(share));
    const total = sum(terms, [0, 1, 2, 3, 4, 5]);
    const [strict, middle] = candidateSteps(terms);
    for (const [step, coverage] of [
      [strict, 0.75],
      [middle, 0.5],
    ] as const) {
      assert.ok(step !== undefined && step.length > 0);
      for (const combination of step) {
        assert.ok(sum(terms, combination) >= coverage * total - 1e-9);
        for (const left of combination) {
          const others = combination.filter((index) => index !== left);
          assert.ok(sum(terms, others) < coverage * total);
        }
      }
    }
  });

  test('two words: both first, then the rarer one, then the other', () => {
    assert.deepEqual(candidateSteps([facts(0.2), facts(0.01)]), [[[1, 0]], [[1]], [[0]]]);
  });

  test('similarity hints select no candidates', () => {
    assert.deepEqual(candidateSteps([facts(0.2), facts(0.0001, { required: false })]), [[[0]]]);
    assert.deepEqual(candidateSteps([]), []);
  });

  test('the cost of a long question is bounded', () => {
    const steps = candidateSteps(Array.from({ length: 64 }, (_, index) => facts((index + 1) / 100)));
    assert.ok(steps.length <= 67);
    for (const step of steps)
      for (const combination of step) assert.ok(combination.every((index) => index < 8 || step.length === 1));
  });
});

test('the number of occurrences is derived from the rank', () => {
  assert.equal(timesOf(0), 0);
  for (let times = 1; times <= 12; times++) assert.ok(Math.abs(timesOf(tsRank(times)) - times) < 0.12, `${times}`);
  for (const rank of [1, 1.5, Number.NaN, -1]) assert.ok(Number.isFinite(timesOf(rank)));
});

interface Written {
  title: string | null;
  text?: string;
  comment?: string;
  duplicates?: string[];
}

/** The hits that SQL would return for the texts. */
function hitsOf(written: readonly Written[], terms: readonly RerankTerm[]): RerankHit[] {
  const ranks = (text: string): number[] => {
    const times = new Map(analysis.indexLexemes(text).map(({ lexeme, positions }) => [lexeme, positions.length]));
    return terms.map(({ lexemes }) => tsRank(lexemes.reduce((sum, lexeme) => sum + (times.get(lexeme) ?? 0), 0)));
  };
  return written.map(({ title, text = '', comment = '', duplicates = [] }) => ({
    title,
    duplicateTitles: duplicates,
    titleTf: ranks(title ?? ''),
    restTf: ranks(text),
    commentTf: ranks(comment),
    size: `${title ?? ''} ${text}`.split(' ').length,
  }));
}

/** Indexes of the texts, best first. */
function order(q: string, shares: Readonly<Record<string, number>>, written: readonly Written[]): number[] {
  const terms = analysis.queryTerms(q).map((term): RerankTerm => ({ ...term, share: shares[term.raw] ?? 0.01 }));
  const scores = rerank(hitsOf(written, terms), terms, q, analysis);
  return scores.map((_, index) => index).sort((a, b) => (scores[b] ?? 0) - (scores[a] ?? 0));
}

describe('reranking', () => {
  const filler = 'the usual words of a ticket that says little';
  const cases: [name: string, q: string, shares: Record<string, number>, written: Written[]][] = [
    [
      'a title before a text',
      'printer',
      {},
      [
        { title: 'printer jams', text: filler },
        { title: 'paper jams', text: `printer ${filler}` },
      ],
    ],
    [
      'a record whose duplicate has the words in its title',
      'printer jams daily',
      {},
      [
        { title: 'paper path blocked', text: 'printer jams daily', duplicates: ['unrelated', 'printer jams daily'] },
        { title: 'paper path blocked again', text: 'printer jams daily', duplicates: ['unrelated'] },
      ],
    ],
    [
      'a rare word before a common one',
      'printer toner',
      { printer: 0.4, toner: 0.002 },
      [{ title: 'toner gone' }, { title: 'printer gone' }],
    ],
    [
      'more of the words',
      'printer toner empty',
      {},
      [{ title: 'printer toner empty now' }, { title: 'printer printer printer now' }],
    ],
    [
      'a short text before a long one',
      'toner',
      {},
      [
        { title: 'a', text: `toner ${filler}` },
        { title: 'a', text: `toner ${filler} ${filler} ${filler} ${filler}` },
      ],
    ],
    [
      'a comment before none',
      'toner',
      {},
      [
        { title: 'paper', text: filler, comment: 'it was the toner' },
        { title: 'paper', text: filler },
      ],
    ],
    [
      'the words before a comment on them',
      'toner',
      {},
      [
        { title: 'toner', text: filler },
        { title: 'paper', text: filler, comment: 'toner toner toner' },
      ],
    ],
    [
      'a typing error in the title before another word',
      'keyboard',
      {},
      [{ title: 'keybaord broken' }, { title: 'monitor broken' }],
    ],
    [
      'a typing error in the question',
      'аккунт заблокирован',
      {},
      [{ title: 'Аккаунт не открывается' }, { title: 'Экран не открывается' }],
    ],
    ['the right word before one like it', 'keyboard', {}, [{ title: 'keyboard broken' }, { title: 'keybaord broken' }]],
    [
      'words glued together',
      'накруткапросмотров',
      {},
      [{ title: 'Накрутка просмотров' }, { title: 'Загрузка роликов' }],
    ],
    ['a title that may be read before one that may not', 'printer', {}, [{ title: 'printer' }, { title: null }]],
  ];
  for (const [name, q, shares, written] of cases) {
    test(name, () => {
      assert.deepEqual(order(q, shares, written), [0, 1]);
      assert.deepEqual(order(q, shares, written.toReversed()), [1, 0]);
    });
  }

  test('works without hits', () => {
    assert.deepEqual(rerank([], [], '', analysis), []);
    assert.deepEqual(
      rerank(
        [{ title: null, duplicateTitles: [], titleTf: [], restTf: [], commentTf: [], size: 0 }],
        [],
        '!',
        analysis,
      ),
      [0],
    );
  });

  const word = fc.constantFrom('printer', 'toner', 'keyboard', 'server', 'замятие', 'бумаги', 'jquery.ui', 'IE8');
  const text = fc.array(word, { maxLength: 8 }).map((words) => words.join(' '));
  const anyWritten = fc.record({ title: fc.option(text), text, comment: text });

  test('scores are not negative and do not depend on the order of the hits', () => {
    fc.assert(
      fc.property(text, fc.array(anyWritten, { minLength: 1, maxLength: 12 }), fc.nat(), (q, written, turn) => {
        const terms = analysis.queryTerms(q).map((term): RerankTerm => ({ ...term, share: 0.01 }));
        const hits = hitsOf(written, terms);
        const scores = rerank(hits, terms, q, analysis);
        for (const score of scores) assert.ok(Number.isFinite(score) && score >= 0);
        const by = turn % hits.length;
        const turned = rerank([...hits.slice(by), ...hits.slice(0, by)], terms, q, analysis);
        for (const [index, score] of [...scores.slice(by), ...scores.slice(0, by)].entries()) {
          assert.ok(Math.abs(score - (turned[index] ?? -1)) < 1e-9);
        }
      }),
    );
  });

  test('another occurrence of a word never lowers a score', () => {
    fc.assert(
      fc.property(text, anyWritten, anyWritten, fc.constantFrom('restTf', 'commentTf'), (q, one, other, where) => {
        const terms = analysis.queryTerms(q).map((term): RerankTerm => ({ ...term, share: 0.01 }));
        if (terms.length === 0) return;
        const hits = hitsOf([one, other], terms);
        const [first, second] = hits;
        assert.ok(first !== undefined && second !== undefined);
        const more = { ...first, [where]: Array.from(first[where], (rank) => tsRank(Math.round(timesOf(rank)) + 1)) };
        const [before] = rerank([first, second], terms, q, analysis);
        const [after] = rerank([more, second], terms, q, analysis);
        assert.ok((after ?? 0) > (before ?? 0));
      }),
    );
  });

  test('200 hits and a question of 60 words are ranked quickly', () => {
    const q = Array.from(
      { length: 60 },
      (_, index) => `${['принтер', 'сервер', 'keyboard'][index % 3]}${'абвгдежзик'[index % 10]}`,
    ).join(' ');
    const terms = analysis.queryTerms(q).map((term): RerankTerm => ({ ...term, share: 0.01 }));
    const written = Array.from({ length: 200 }, (_, index) => ({
      title: `${q.slice(index % 90, (index % 90) + 90)} ${index}`,
    }));
    const hits = hitsOf(written, terms);
    // The best of three runs.
    const spent = [0, 1, 2].map(() =>
      processorMs(() => {
        rerank(hits, terms, q, analysis);
      }),
    );
    assert.ok(Math.min(...spent) < 500, `took ${spent} ms`);
  });
});
