import { useText } from '../i18n/text.ts';
import type { Flaw } from './check.ts';
import { texts } from './texts.ts';

/** Returns a function that formats a validation error. */
export function useFlawText(): (flaw: Flaw | undefined) => string | undefined {
  const t = useText(texts);
  return (flaw) => {
    if (flaw === undefined) return undefined;
    const entry: unknown = Object.hasOwn(t, flaw.code) ? t[flaw.code as keyof typeof t] : t.INVALID;
    return typeof entry === 'function' ? (entry as (bound: unknown) => string)(flaw.bound) : String(entry);
  };
}
