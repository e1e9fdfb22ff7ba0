import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { makeAnalysis } from '../../lib/words.ts';
import { wantedOf } from './results.ts';
import { hitsIn, type Wanted } from './snippet.ts';
import { termsOf } from './terms.ts';

const analysis = makeAnalysis();

/** Analyses every word of the text, without shortcuts. */
function byEveryWord(text: string, wanted: Wanted): { start: number; end: number }[] {
  const spans: { start: number; end: number }[] = [];
  for (const { start, end, lexemes } of analysis.tokens(text)) {
    if (!lexemes.some((one) => wanted.lexemes.has(one) || wanted.beginnings.some((begun) => one.startsWith(begun))))
      continue;
    const last = spans.at(-1);
    if (last !== undefined && start < last.end) last.end = Math.max(last.end, end);
    else spans.push({ start, end });
  }
  return spans;
}

const WORDS =
  `in Http request ecol 8 dying die skies sky fadeIn IE8 ie jquery.ui jQuery.UI RFC-2616 don't l'ordinateur C++ c# user's 007 1.4.2 v1.4
  XMLHttpRequest ёлка елка Ёлки Работает не с4 сom соm о1 Тест-IE8 ﬁnd ＩＥ８ éclair eclair ecole Straße 東京都 東 ø_o snake_case a@b.org`.split(
    /\s+/,
  );

describe('positions of hits', () => {
  const word = fc.constantFrom(...WORDS);
  const piece = fc.oneof(
    { weight: 4, arbitrary: word },
    {
      weight: 1,
      arbitrary: fc.string({ unit: fc.constantFrom(...'aAbdDeEzёЁеЕсСoO018.-_\'’"(,\u0301'), maxLength: 8 }),
    },
    { weight: 1, arbitrary: fc.tuple(word, word).map(([a, b]) => a + b) },
  );
  const blank = fc.constantFrom(' ', '\n', '\t', ', ', '\u00a0', '\u2003', '. ');
  const text = fc.array(fc.tuple(piece, blank), { maxLength: 12 }).map((parts) => parts.flat().join(''));
  const question = fc.array(piece, { minLength: 1, maxLength: 3 }).map((parts) => parts.join(' '));

  it('equal those of a full analysis', () => {
    fc.assert(
      fc.property(text, question, (of, q) => {
        const wanted = wantedOf(termsOf(analysis, q));
        assert.deepEqual(hitsIn(analysis, of, wanted), byEveryWord(of, wanted));
      }),
      { numRuns: 1500 },
    );
  });

  it('are none without wanted words', () => {
    assert.deepEqual(hitsIn(analysis, 'a word', wantedOf([])), []);
  });
});
