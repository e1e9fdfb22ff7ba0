import { useText } from '../i18n/text.ts';
import type { Problem } from './check.ts';
import { texts } from './texts.ts';

/** Returns a function that formats a validation error. */
export function useProblemText(): (problem: Problem | undefined) => string | undefined {
  const t = useText(texts);
  return (problem) => {
    if (problem === undefined) return undefined;
    const entry: unknown = Object.hasOwn(t, problem.code) ? t[problem.code as keyof typeof t] : t.INVALID;
    return typeof entry === 'function' ? (entry as (bound: unknown) => string)(problem.bound) : String(entry);
  };
}
