import type { Language } from '../../i18n/language.ts';

/** The name of a configuration item, a text or texts by locale; its code if it has no name. */
export function nameOf({ name, code }: { name: unknown; code: string }, language: Language): string {
  if (typeof name === 'string') return name;
  const texts = (name ?? {}) as Record<string, string>;
  return texts[language] ?? texts['ru-RU'] ?? Object.values(texts)[0] ?? code;
}
