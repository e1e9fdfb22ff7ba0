/** The bundle's section `synonyms`: groups of words that mean the same (docs/spec/configuration.md#bundle). */
import Type from 'typebox';
import { defineSection } from '../../configuration/define.ts';
import type { Report } from '../../configuration/section.ts';
import { problem } from '../../lib/problem.ts';
import { normalWord } from '../../lib/word-parts.ts';
import { makeAnalysis } from '../../lib/words.ts';
import { lexemesOfWord, type SynonymGroup } from './synonyms.ts';

const LONGEST_WORD = 60;

const SynonymItem = Type.Array(Type.String({ minLength: 1, maxLength: LONGEST_WORD }), {
  minItems: 2,
  maxItems: 20,
  uniqueItems: true,
  description: 'Single words that mean the same, for example ютуб and YouTube.',
});

const analysis = makeAnalysis(0);

/** Each word is one word, and no form of another word of the group. */
function checkWords({ words }: SynonymGroup, report: Report): void {
  const known = new Set<string>();
  for (const [index, word] of words.entries()) {
    const lexemes = lexemesOfWord(analysis, word);
    if (lexemes === undefined) report([index], problem('NOT_ONE_WORD'));
    else if (lexemes.every((lexeme) => known.has(lexeme))) report([index], problem('REPEATED_WORD'));
    for (const lexeme of lexemes ?? []) known.add(lexeme);
  }
}

export const synonymsSection = defineSection<string[], SynonymGroup>({
  key: 'synonyms',
  summary: 'Groups of words that mean the same. A search for one of them also finds the others.',
  shape: 'plain',
  schema: SynonymItem,
  codeOf: ([first = '']) => first,
  keyOf: normalWord,
  nameOf: ({ words }) => words.join(', '),
  normalise: (words) => ({ words }),
  compile: (group, _view, report) => {
    checkWords(group, report);
    return group;
  },
  toBundleItem: ({ words }) => words,
});
