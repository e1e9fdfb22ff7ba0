/** Texts of the problems that the service reports, in the language of the console. */
import { currentLanguage, followLanguage } from '../i18n/language.ts';
import { faultTexts } from './fault-texts.ts';
import type { ReportedProblem, russianText } from './russian.ts';

let russian: { russianText: typeof russianText } | undefined;

/** Loads the texts of the console's language. They are not part of the first load; without them, problems are in English. */
export async function loadProblemTexts(): Promise<void> {
  if (currentLanguage() !== 'ru-RU' || russian !== undefined) return;
  russian = await import('./russian.ts').catch(() => undefined);
}

followLanguage(() => void loadProblemTexts());

/**
 * The text of a problem in the language of the console: by its reason, which can be the code of a fault, else by its code.
 * English for reasons and codes of a newer service.
 */
export function problemMessage(problem: ReportedProblem & { code?: string }): string {
  if (currentLanguage() !== 'ru-RU') return problem.message;
  const ofFaults: Readonly<Record<string, string>> = faultTexts['ru-RU'];
  const known = [problem.reason, problem.code].find((key) => key !== undefined && Object.hasOwn(ofFaults, key));
  return russian?.russianText(problem) ?? (known === undefined ? undefined : ofFaults[known]) ?? problem.message;
}
