import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { LetterGroups, Likeness, SharedGroups } from './letter-groups.ts';

const anyText = fc.oneof(
  fc.string({ maxLength: 40 }),
  fc.string({ unit: 'grapheme', maxLength: 40 }),
  fc.string({ unit: fc.constantFrom(...'abcабвёЁ -_1İΣσé'), maxLength: 40 }),
);

/** The different groups of three, in order. */
function groupsOf(text: string): string[] {
  const found = new Set<string>();
  for (let at = 0; at + 3 <= text.length; at++) found.add(text.slice(at, at + 3));
  return [...found];
}

function lettersOf(text: string): string {
  const letters = text
    .toLowerCase()
    .replaceAll('ё', 'е')
    .replace(/[^\p{L}\p{N}]+/gu, ' ');
  return ` ${letters.trim()} `;
}

/** The numbers stand for these groups if equal groups have equal numbers, and others do not. */
function assertNumbered(numbers: readonly (readonly number[])[], groups: readonly (readonly string[])[]): void {
  const all = numbers.flat();
  const texts = groups.flat();
  assert.equal(all.length, texts.length);
  const byText = new Map(texts.map((text, at) => [text, all[at]]));
  assert.deepEqual(
    all,
    texts.map((text) => byText.get(text)),
  );
  assert.equal(new Set(byText.values()).size, byText.size);
}

describe('letter groups', () => {
  test('of texts are those of their letters and digits, in order', () => {
    fc.assert(
      fc.property(fc.array(anyText, { maxLength: 20 }), (texts) => {
        const groups = new LetterGroups();
        const numbers = texts.map((text) => groups.ofText(text));
        const expected = texts.map((text) => groupsOf(lettersOf(text)));
        assertNumbered(numbers, expected);
        assert.equal(groups.count, new Set(expected.flat()).size);
      }),
    );
  });

  test('of words also have their first letter', () => {
    fc.assert(
      fc.property(fc.array(fc.stringMatching(/^[a-cа-в]{1,8}$/), { maxLength: 20 }), (words) => {
        const groups = new LetterGroups();
        assertNumbered(
          words.map((word) => groups.ofWord(word)),
          words.map((word) => [...groupsOf(` ${word} `), ` ${word[0]}`]),
        );
      }),
    );
  });

  test('stay apart however many there are', () => {
    const letters = [...'abcdefghijklmnopqrstuvwxyz0123456789'];
    const texts = letters.flatMap((a) => letters.map((b) => letters.map((c) => `${a}${b}${c}`).join('')));
    const groups = new LetterGroups();
    assertNumbered(
      texts.map((text) => groups.ofText(text)),
      texts.map((text) => groupsOf(lettersOf(text))),
    );
    assert.ok(groups.count > 40_000);
  });
});

test('the similarity of a word is the share of common groups', () => {
  const likeness = new Likeness(new LetterGroups(), [['printer', 'printing'], ['server']], 0.45, 4);
  // `printr` has 7 groups. It shares 5 of them with `printer`, which has 8, and with `printing`, which has 9.
  assert.deepEqual([...likeness.best(['printr', 'abc', 'cloud'])], [10 / 15, 0]);
  assert.deepEqual([...likeness.best(['server', 'servers'])], [0, 1]);
  assert.deepEqual([...likeness.best([])], [0, 0]);
});

test('groups of the question that few titles have weigh more', () => {
  const titles = ['common rare', 'common', 'common'];
  const shared = new SharedGroups(new LetterGroups(), 'common rare', titles, 0);
  assert.ok(shared.ofTitle(0) > 2 * shared.ofTitle(1));
  assert.equal(shared.ofTitle(1), shared.of('common'));
  assert.equal(shared.of('other'), 0);
  // No title shares them, so they have no weight.
  assert.equal(new SharedGroups(new LetterGroups(), 'other', titles, 0).of('other'), 0);
});
