/** Configuration errors in the language of the console. */
import { useLanguage } from '../../i18n/language.ts';
import type { Mark } from './code-editor.tsx';
import { russianProblem } from './problem-words.ts';
import type { Problem } from './queries.ts';

/** Returns the message of an error, and its language if it is not that of the console. */
export function useProblemWords(): (problem: Pick<Problem, 'code' | 'message'>) => {
  text: string;
  lang: string | undefined;
} {
  const language = useLanguage();
  return (problem) => {
    if (language !== 'ru-RU') return { text: problem.message, lang: undefined };
    const russian = russianProblem(problem);
    return { text: russian ?? problem.message, lang: russian === undefined ? 'en' : undefined };
  };
}

/** Editor marks for the errors that have a line. */
export function useProblemMarks(problems: readonly Problem[]): Mark[] {
  const say = useProblemWords();
  return problems.flatMap((problem) => {
    const { text, lang } = say(problem);
    return problem.line === null ? [] : [{ line: problem.line, message: text, lang }];
  });
}
