import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { makeAnalysis } from '../../lib/words.ts';
import { lexemesOfWord, Synonyms } from './synonyms.ts';
import { termsOf } from './terms.ts';

const analysis = makeAnalysis();
const GROUPS = [
  ['ютуб', 'YouTube'],
  ['принтер', 'мфу', 'печать'],
  ['мфу', 'сканер'],
  ['вайфай', 'wi-fi'],
];
const synonyms = new Synonyms(GROUPS.map((words) => ({ words })));
const found = (q: string): string[] => synonyms.of(termsOf(analysis, q)).flatMap((term) => term.synonyms);

describe('Synonyms', () => {
  it('are found by any form of a word, in all groups that contain it', () => {
    assert.deepEqual(found('не открывается ютубе'), ['youtub']);
    assert.deepEqual(found('YOUTUBE'), ['ютуб']);
    assert.deepEqual(found('мфу').sort(), ['печа', 'принтер', 'сканер']);
    assert.deepEqual(found('сломался монитор'), []);
  });

  it('belong to the word that they replace', () => {
    const terms = synonyms.of(termsOf(analysis, 'печать на принтере'));
    assert.deepEqual(
      terms.map(({ raw, synonyms: of }) => [raw, of]),
      [
        ['печать', ['принтер', 'мфу']],
        ['на', []],
        ['принтере', ['мфу', 'печа']],
      ],
    );
  });

  it('can be compounds', () => {
    assert.deepEqual(found('вайфай'), ['wifi']);
    assert.deepEqual([...new Set(found('Wi-Fi'))], ['вайфа']);
    assert.deepEqual(lexemesOfWord(analysis, 'private network'), undefined);
    assert.deepEqual(lexemesOfWord(analysis, '!!'), undefined);
  });
});
