import { currentLanguage } from '../i18n/language.ts';
import { type ReportedProblem, russianText } from './russian.ts';

/** The text of an entry of `error.details` or of a note of a plan in the language of the console; English for unknown reasons. */
export function problemMessage(problem: ReportedProblem): string {
  return (currentLanguage() === 'ru-RU' ? russianText(problem) : undefined) ?? problem.message;
}
