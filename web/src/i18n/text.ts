/**
 * Texts of a screen in both languages: `defineText(ru, en)` in the screen's folder, `useText(texts)` where they are shown. A
 * text is a string or a function of its parameters. The compiler checks that English has exactly the keys of Russian.
 */
import { type Language, useLanguage } from './language.ts';

type Entry = string | ((...args: never[]) => string);
type Texts = Readonly<Record<string, Entry>>;
/** Widens string literals to `string`; functions keep their parameter types. */
type Shape<T extends Texts> = { readonly [K in keyof T]: T[K] extends string ? string : T[K] };

export type TextOf<T extends Texts> = Readonly<Record<Language, Shape<T>>>;

export function defineText<T extends Texts>(ru: T, en: Shape<NoInfer<T>>): TextOf<T> {
  return { 'ru-RU': ru as Shape<T>, 'en-US': en };
}

export function useText<T extends Texts>(texts: TextOf<T>): Shape<T> {
  return texts[useLanguage()];
}

/** The keys of a set of texts, in the order of the Russian ones. */
export function keysOf<T extends Texts>(texts: TextOf<T>): readonly (keyof T & string)[] {
  return Object.keys(texts['ru-RU']) as (keyof T & string)[];
}

/** One name in both languages, for registries. */
export type Bilingual = Readonly<Record<Language, string>>;

export function both(ru: string, en: string): Bilingual {
  return { 'ru-RU': ru, 'en-US': en };
}

/** Texts whose languages stand side by side. */
export function textsOf<K extends string>(names: Readonly<Record<K, Bilingual>>): TextOf<Record<K, string>> {
  const all = Object.entries<Bilingual>(names);
  const of = (language: Language) =>
    Object.fromEntries(all.map(([key, name]) => [key, name[language]])) as Record<K, string>;
  return { 'ru-RU': of('ru-RU'), 'en-US': of('en-US') };
}

const russian = new Intl.PluralRules('ru');

/** «1 запись, 2 записи, 5 записей». */
export function plural(n: number, one: string, few: string, many: string): string {
  const form = russian.select(n);
  return form === 'one' ? one : form === 'few' ? few : many;
}

export function pluralEn(n: number, one: string, other: string): string {
  return n === 1 ? one : other;
}

/** A name of the configuration in a language, or in another if missing. */
export function nameIn(name: unknown, language: string): string {
  if (typeof name === 'string') return name;
  if (typeof name !== 'object' || name === null) return '';
  const names = name as Readonly<Record<string, string>>;
  return names[language] ?? Object.values(names)[0] ?? '';
}
