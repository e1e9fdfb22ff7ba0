/** The language of the console: the user's choice, stored in the browser. Default: Russian. */
import { useSyncExternalStore } from 'react';

export const LANGUAGES = ['ru-RU', 'en-US'] as const;
export type Language = (typeof LANGUAGES)[number];

export const LANGUAGE_NAMES = { 'ru-RU': 'Русский', 'en-US': 'English' } as const;

const STORED = 'docket.language';

function isLanguage(value: unknown): value is Language {
  return LANGUAGES.some((one) => one === value);
}

function stored(): Language | undefined {
  try {
    const value = localStorage.getItem(STORED);
    return isLanguage(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

const state: { language: Language; chosen: boolean; listeners: Set<() => void> } = {
  language: stored() ?? 'ru-RU',
  chosen: stored() !== undefined,
  listeners: new Set(),
};
document.documentElement.lang = state.language.slice(0, 2);

export function currentLanguage(): Language {
  return state.language;
}

/** Sets the language for this browser. */
export function chooseLanguage(language: Language): void {
  state.chosen = true;
  try {
    localStorage.setItem(STORED, language);
  } catch {
    // Without storage, the choice lasts until the page is closed.
  }
  apply(language);
}

/** Applies the locale of the user's profile, unless a language was chosen in this browser. */
export function suggestLanguage(locale: string | null): void {
  if (!state.chosen && locale !== null) apply(locale.startsWith('en') ? 'en-US' : 'ru-RU');
}

function apply(language: Language): void {
  if (language === state.language) return;
  state.language = language;
  document.documentElement.lang = language.slice(0, 2);
  for (const listener of state.listeners) listener();
}

/** Subscribes to language changes outside React. @returns an unsubscribe function */
export function followLanguage(listener: () => void): () => void {
  state.listeners.add(listener);
  return () => state.listeners.delete(listener);
}

export function useLanguage(): Language {
  return useSyncExternalStore(followLanguage, currentLanguage);
}
