/** What was found wrong with a configuration, in the language of the console. */
import { useLanguage } from '../../i18n/language.ts';
import type { Mark } from './code-editor.tsx';
import { russianFlaw } from './flaw-words.ts';
import type { Flaw } from './queries.ts';

/** The sentence, and the language that it is in after all where that is another one. */
export function useFlawWords(): (flaw: Pick<Flaw, 'code' | 'message'>) => { text: string; lang: string | undefined } {
  const language = useLanguage();
  return (flaw) => {
    if (language !== 'ru-RU') return { text: flaw.message, lang: undefined };
    const russian = russianFlaw(flaw);
    return { text: russian ?? flaw.message, lang: russian === undefined ? 'en' : undefined };
  };
}

/** The lines to mark in a text: those of the flaws that have one. */
export function useFlawMarks(flaws: readonly Flaw[]): Mark[] {
  const say = useFlawWords();
  return flaws.flatMap((flaw) => {
    const { text, lang } = say(flaw);
    return flaw.line === null ? [] : [{ line: flaw.line, message: text, lang }];
  });
}
