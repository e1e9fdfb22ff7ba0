import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { foldNumber, NUMBER_FOLDING } from './filter-fields.ts';
import { fold, hasLongMarkRun, isWellFormedText, nfc } from './text.ts';

function* codePoints(): Generator<string> {
  for (let code = 0; code <= 0x10ffff; code++) {
    if (code < 0xd800 || code > 0xdfff) yield String.fromCodePoint(code);
  }
}

test('folding is idempotent and keeps NFC for every code point, alone and between letters', () => {
  const wrong: string[] = [];
  for (const char of codePoints()) {
    for (const text of [char, `Ё${char}Σ`]) {
      const folded = fold(text);
      if (fold(folded) !== folded || nfc(folded) !== folded) wrong.push(JSON.stringify(text));
    }
  }
  assert.deepEqual(wrong, []);
});

test('folding agrees with simple case folding of the regular expression engine, except ё', () => {
  const wrong: string[] = [];
  for (const char of codePoints()) {
    const folded = fold(char);
    const composed = nfc(char);
    if (folded === composed || folded === 'е' || [...folded].length > 1 || [...composed].length > 1) continue;
    const code = composed.codePointAt(0) ?? 0;
    if (!new RegExp(`^\\u{${code.toString(16)}}$`, 'iu').test(folded)) wrong.push(code.toString(16));
  }
  assert.deepEqual(wrong, []);
});

/**
 * Code points that make folding difficult: special cases of case mapping, marks that are reordered, and letters that compose
 * with them.
 */
const hard = fc.array(
  fc.constantFrom(
    'е',
    'Е',
    'ё',
    'Ё',
    'e',
    'I',
    'i',
    'ı',
    'İ',
    'ß',
    'ẞ',
    'Σ',
    'σ',
    'ς',
    'ŉ',
    'ΐ',
    'ᾳ',
    'ᾼ',
    'α',
    'ǰ',
    'J',
    'ﬃ',
    '\u0300',
    '\u0301',
    '\u0306',
    '\u0307',
    '\u0308',
    '\u0323',
    '\u0327',
    '\u0344',
    '\u0345',
    '\u030c',
    '\u034f',
    'Å',
    'Å',
    'ſ',
    'Ꭰ',
    'ꭰ',
    '😀',
    ' ',
  ),
  { maxLength: 12 },
);

test('folding is idempotent on sequences of marks and letters, and ignores composition and case', () => {
  fc.assert(
    fc.property(hard, (chars) => {
      const text = chars.join('');
      const folded = fold(text);
      assert.equal(fold(folded), folded);
      assert.equal(nfc(folded), folded);
      assert.equal(fold(text.normalize('NFD')), folded);
      // Upper case maps both letters i to the same letter; folding distinguishes them.
      if (!text.includes('ı')) assert.equal(fold(nfc(text).toUpperCase()), folded);
    }),
    { numRuns: 20_000 },
  );
});

test('folding examples', () => {
  for (const [text, folded] of [
    ['СЪЁМКА', 'съемка'],
    ['съёмка', 'съемка'],
    ['Е\u0308Ж', 'еж'],
    ['Й', 'й'],
    ['Straße', 'strasse'],
    ['STRASSE', 'strasse'],
    ['ẞ', 'ss'],
    ['ΟΔΟΣ', 'οδοσ'],
    ['οδος', 'οδοσ'],
    ['ISPARTA', 'isparta'],
    ['ısparta', 'ısparta'],
    ['İ', 'i\u0307'],
    ['É', 'é'],
    ['', ''],
  ]) {
    assert.equal(fold(text ?? ''), folded);
  }
});

test('text that the database cannot store is detected', () => {
  for (const good of ['', 'a', '😀', '\ufffd', '\u0001']) assert.equal(isWellFormedText(good), true);
  for (const bad of ['\u0000', 'a\u0000b', '\ud800', '\udc00\ud800', 'x\ud83d'])
    assert.equal(isWellFormedText(bad), false);
});

test('folding gives the same result on the fast path and the general path', () => {
  const plain = fc.string({ unit: fc.constantFrom(...'aZ09 .-_\n\u0000ёЁёйЙюЯа', 'е', 'I', 'ss') });
  fc.assert(
    fc.property(plain, (text) => {
      assert.equal(`${fold(text)} é`, fold(`${text} É`));
    }),
    { numRuns: 500 },
  );
});

test('letters of record numbers are folded like other text', () => {
  assert.equal(NUMBER_FOLDING.from.length, NUMBER_FOLDING.to.length);
  for (const letter of NUMBER_FOLDING.from) {
    assert.equal(foldNumber(letter), fold(letter));
    assert.equal(NUMBER_FOLDING.to[NUMBER_FOLDING.from.indexOf(letter)], fold(letter));
  }
  assert.equal(foldNumber('INC-0042 É'), 'inc-0042 É');
});

test('a run of more than 64 combining marks is found wherever it begins, and no shorter one', () => {
  const mark = fc.constantFrom('\u0301', '\u0323', '\u{1d165}', '\u{e0100}');
  const run = fc.array(mark, { minLength: 55, maxLength: 75 }).map((marks) => marks.join(''));
  const part = fc.oneof(
    run,
    fc.string({ unit: 'grapheme', maxLength: 30 }),
    fc.constantFrom('a', 'ж', '漢', '\u{1f600}'),
  );
  const text = fc.array(part, { maxLength: 8 }).map((parts) => parts.join(''));
  fc.assert(
    fc.property(text, (one) => {
      assert.equal(hasLongMarkRun(one), /\p{M}{65}/u.test(one));
    }),
    { numRuns: 2000 },
  );
});

test('a text with a long run of combining marks is neither normalised nor folded', () => {
  for (const marks of ['\u0301\u0323', '\u0308']) {
    const text = `Е${marks.repeat(200_000)}`;
    const start = performance.now();
    // Not by `equal`, which would print all of it.
    assert.ok(nfc(text) === text && fold(text) === text);
    // Sorting the marks would take minutes.
    assert.ok(performance.now() - start < 1000);
  }
});
