/** Plan messages in the language of the console. */
import { useLanguage } from '../../i18n/language.ts';
import { russianPlan } from './plan-words.ts';

/** Returns a plan message in the language of the console, and its language if it is another. Unknown messages are unchanged. */
export function usePlanWords(): (sentence: string) => { text: string; lang: string | undefined } {
  const language = useLanguage();
  return (sentence) => {
    if (language !== 'ru-RU') return { text: sentence, lang: undefined };
    const text = russianPlan(sentence);
    return text === undefined ? { text: sentence, lang: 'en' } : { text, lang: undefined };
  };
}
