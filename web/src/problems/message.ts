/** Texts of the problems that the service reports, in the language of the console. */
import { currentLanguage, followLanguage } from '../i18n/language.ts';
import type { ReportedProblem, russianText } from './russian.ts';

let russian: { russianText: typeof russianText } | undefined;

/** Loads the texts of the console's language. They are not part of the first load; without them, problems are in English. */
export async function loadProblemTexts(): Promise<void> {
  if (currentLanguage() !== 'ru-RU' || russian !== undefined) return;
  russian = await import('./russian.ts').catch(() => undefined);
}

followLanguage(() => void loadProblemTexts());

/** The text of an entry of `error.details` in the language of the console; English for unknown reasons. */
export function problemMessage(problem: ReportedProblem): string {
  return (currentLanguage() === 'ru-RU' ? russian?.russianText(problem) : undefined) ?? problem.message;
}
