/** Configuration errors in the language of the console. */
import { useLanguage } from '../../i18n/language.ts';
import type { Mark } from './code-editor.tsx';
import { russianFlaw } from './flaw-words.ts';
import type { Flaw } from './queries.ts';

/** Returns the message of an error, and its language if it is not that of the console. */
export function useFlawWords(): (flaw: Pick<Flaw, 'code' | 'message'>) => { text: string; lang: string | undefined } {
  const language = useLanguage();
  return (flaw) => {
    if (language !== 'ru-RU') return { text: flaw.message, lang: undefined };
    const russian = russianFlaw(flaw);
    return { text: russian ?? flaw.message, lang: russian === undefined ? 'en' : undefined };
  };
}

/** Editor marks for the errors that have a line. */
export function useFlawMarks(flaws: readonly Flaw[]): Mark[] {
  const say = useFlawWords();
  return flaws.flatMap((flaw) => {
    const { text, lang } = say(flaw);
    return flaw.line === null ? [] : [{ line: flaw.line, message: text, lang }];
  });
}
