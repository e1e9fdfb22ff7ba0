/**
 * Words that mean the same, from the bundle's section `synonyms` (docs/spec/configuration.md#bundle). A question with one of them
 * finds the others, below exact matches.
 */
import { isActive } from '../../contract/state.ts';
import { type Analysis, makeAnalysis } from '../../lib/words.ts';
import type { DerivedView } from '../../platform/unit-of-work/snapshot.ts';
import type { Term } from './terms.ts';
import Type from 'typebox';
import { defineSection } from '../../configuration/define.ts';
import type { Report } from '../../configuration/section.ts';
import { problem } from '../../lib/problem.ts';
import { normalWord } from '../../lib/word-parts.ts';

export interface SynonymGroup {
  words: string[];
}

/** Maximum number of lexemes by which a word of a question is extended. */
const MAX_SYNONYMS = 40;

/** The lexemes of a text that is one word, such as `YouTube` or `wi-fi`; undefined for any other text. */
export function lexemesOfWord(analysis: Analysis, text: string): string[] | undefined {
  const terms = analysis.queryTerms(text);
  const required = terms.filter((term) => term.required);
  if (required.length === 0 || /\s/.test(text.trim())) return undefined;
  if (required.length === 1) return required[0]?.lexemes;
  // The parts of a compound are found by its joined form, too.
  const joined = terms.find(
    ({ required: part, lexemes: [lexeme = ''] }) => !part && required.every(({ lexemes }) => lexemes.includes(lexeme)),
  );
  return joined?.lexemes;
}

/** The synonyms of words, by any of their forms. */
export class Synonyms {
  /** Lexeme → the lexemes of each group that contains it. */
  readonly #groups = new Map<string, (readonly string[])[]>();

  constructor(groups: readonly SynonymGroup[], analysis: Analysis = makeAnalysis(0)) {
    for (const { words } of groups) {
      const lexemes = [...new Set(words.flatMap((word) => lexemesOfWord(analysis, word) ?? []))];
      for (const lexeme of lexemes) this.#groups.set(lexeme, [...(this.#groups.get(lexeme) ?? []), lexemes]);
    }
  }

  /** The words of a question with their synonyms. */
  of(terms: readonly Term[]): Term[] {
    if (this.#groups.size === 0) return [...terms];
    return terms.map((term) => {
      const found = new Set(term.lexemes.flatMap((lexeme) => this.#groups.get(lexeme) ?? []).flat());
      for (const lexeme of term.lexemes) found.delete(lexeme);
      return { ...term, synonyms: [...found].slice(0, MAX_SYNONYMS) };
    });
  }
}

export const synonymView: DerivedView<Synonyms> = {
  name: 'synonyms',
  build: ({ items }) =>
    new Synonyms(
      items.flatMap((item) => (item.section === 'synonyms' && isActive(item) ? [item.compiled as SynonymGroup] : [])),
    ),
};

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
