/** The language of the person who reads an output, and texts of a plan in that language alone. Pure. */
import type { Difference } from '../configuration/differences.ts';
import { isObject } from '../lib/json.ts';

/** A locale of a text in a bundle: `ru`, `ru-RU`, `zh-Hant-TW`. */
const LOCALE = /^[a-z]{2,3}(?:-[A-Z][a-z]{3})?(?:-(?:[A-Z]{2}|[0-9]{3}))?$/;

/** @throws Error for a text that names no language */
export function languageOf(text: string): string {
  const [language = ''] = /^[A-Za-z]{2,3}(?=$|[-_.@])/.exec(text) ?? [];
  if (language !== '') return language.toLowerCase();
  throw new Error(`${text} is not a language; use one such as ru or en.`);
}

/** The language of the environment (POSIX: `ru_RU.UTF-8`), else English. */
export function environmentLanguage(env: Readonly<Record<string, string | undefined>>): string {
  const said = [env['LC_ALL'], env['LC_MESSAGES'], env['LANG']].find((value) => value !== undefined && value !== '');
  try {
    return languageOf(said ?? '');
  } catch {
    return 'en';
  }
}

const isIn = (locale: string, language: string): boolean => locale.split('-')[0] === language;

/** The value with texts in several languages reduced to the one of the reader, where it has that one. */
function textsIn(value: unknown, language: string): unknown {
  if (Array.isArray(value)) return value.map((one) => textsIn(one, language));
  if (!isObject(value)) return value;
  const entries = Object.entries(value);
  const isText = entries.every(([key, one]) => LOCALE.test(key) && typeof one === 'string');
  const own = isText ? entries.filter(([key]) => isIn(key, language)) : [];
  if (own.length > 0) return Object.fromEntries(own);
  return Object.fromEntries(entries.map(([key, one]) => [key, textsIn(one, language)]));
}

/** The text and the locale of a difference in one language: `fields[a].name` and `ru-RU`. */
function localeAt({ path }: Difference): [text: string, locale: string] | undefined {
  const at = path.lastIndexOf('.');
  const locale = path.slice(at + 1);
  return at > 0 && LOCALE.test(locale) ? [path.slice(0, at), locale] : undefined;
}

/**
 * The differences for a reader of one language. A text that also changes in other languages names these; one that changes in other
 * languages only is shown as it is.
 */
export function differencesIn(differences: readonly Difference[], language: string): Difference[] {
  const places = differences.map((one) => localeAt(one));
  const own = new Set(places.flatMap((place) => (place !== undefined && isIn(place[1], language) ? [place[0]] : [])));
  return differences.flatMap((difference, index) => {
    const [text, locale] = places[index] ?? [];
    const reduced = Object.fromEntries(
      Object.entries(difference).map(([key, value]) => [key, key === 'path' ? value : textsIn(value, language)]),
    ) as unknown as Difference;
    if (text === undefined || locale === undefined || !own.has(text)) return reduced;
    if (!isIn(locale, language)) return [];
    const others = places.flatMap((place) => (place?.[0] === text && place[1] !== locale ? [place[1]] : []));
    return others.length === 0 ? reduced : { ...reduced, path: `${difference.path} (also ${others.join(', ')})` };
  });
}
