import { useText } from '../i18n/text.ts';
import type { Problem } from './check.ts';
import { formTexts } from './data-type-texts.ts';
import { texts } from './texts.ts';

/** Returns a function that formats a validation error. */
export function useProblemText(): (problem: Problem | undefined) => string | undefined {
  const t = useText(texts);
  const forms = useText(formTexts);
  return (problem) => {
    if (problem === undefined) return undefined;
    if (problem.view !== undefined) return forms[problem.view];
    const entry: unknown = Object.hasOwn(t, problem.code) ? t[problem.code as keyof typeof t] : t.INVALID;
    return typeof entry === 'function' ? (entry as (limits: unknown) => string)(problem.limits ?? {}) : String(entry);
  };
}
