/**
 * Codes of configuration items and their parts. A code follows the name until it is typed by hand or saved. Another code for a
 * saved item or part is a rename: `was` then has the saved code.
 */
import type { Document } from 'yaml';
import { latinWords } from '../../../../src/lib/code-from-title.ts';

export type ItemValue = Readonly<Record<string, unknown>>;
export type Path = readonly (string | number)[];

const MAX = 63;

/** `dash`: `laptop-order`. `camel`, for codes of fields: `laptopOrder`. */
type CodeStyle = 'dash' | 'camel';

/** A code made from a name in any language; empty if the name has no letters or digits that can be transliterated. */
export function codeFrom(name: string, style: CodeStyle = 'dash'): string {
  const words = latinWords(name);
  const joined =
    style === 'dash'
      ? words.join('-')
      : words.map((word, index) => (index === 0 ? word : word.charAt(0).toUpperCase() + word.slice(1))).join('');
  // A code starts with a letter.
  return joined
    .replace(/^[^a-zA-Z]+/, '')
    .slice(0, MAX)
    .replace(/-+$/, '');
}

export interface Coded {
  code: string;
  /** Former codes: one, or a list. */
  was?: unknown;
  name?: unknown;
}

/** The saved code of an item or part, which may have another code now; undefined if it is new. @param saved all saved codes */
export function savedCode(part: Coded, saved: readonly string[]): string | undefined {
  const renamed = [part.was].flat().find((old) => old !== part.code && saved.some((code) => code === old));
  return (renamed as string | undefined) ?? saved.find((code) => code === part.code);
}

/** Codes that `freeCode` gave to new parts. */
const PLACEHOLDER = /^(?:field\d+|(?:option|state|transition|item|section|category)-\d+)$/;

function namesOf(name: unknown): string[] {
  if (typeof name === 'string') return [name];
  return typeof name === 'object' && name !== null ? Object.values(name).map(String) : [];
}

/** The name that the code is made from: the English one if it was given, because codes are read by programs. */
function nameForCode(name: unknown, template: unknown): string {
  if (typeof name !== 'object' || name === null) return String(name ?? '');
  const names = name as Record<string, string>;
  const english = names['en-US'];
  const given = (template as Record<string, string> | undefined)?.['en-US'];
  return english !== undefined && english !== given ? english : (names['ru-RU'] ?? Object.values(names)[0] ?? '');
}

function unique(code: string, taken: readonly string[], style: CodeStyle): string {
  for (let number = 2, next = code; ; number++) {
    if (!taken.includes(next)) return next;
    next = `${code.slice(0, MAX - 4)}${style === 'dash' ? '-' : ''}${number}`;
  }
}

/** The codes in a list of the item; the path has no indexes: `['fields', 'constraints', 'options']`. */
export function codesIn(item: unknown, list: readonly string[]): string[] {
  const [key, ...rest] = list;
  if (Array.isArray(item)) return item.flatMap((one) => codesIn(one, list));
  if (typeof item !== 'object' || item === null) return [];
  if (key === undefined) return typeof (item as Coded).code === 'string' ? [(item as Coded).code] : [];
  const value = (item as Record<string, unknown>)[key];
  if (rest.length > 0) return codesIn(value, rest);
  return Array.isArray(value) ? value.flatMap((one) => codesIn(one, [])) : [];
}

function valueAt(item: unknown, path: Path): unknown {
  return path.reduce<unknown>(
    (value, step) => (value as Record<string | number, unknown> | null | undefined)?.[step],
    item,
  );
}

/** The saved code of the part at `path`, or of the item itself; undefined if it is new. */
function savedCodeAt(item: unknown, saved: unknown, path: Path): string | undefined {
  let part = item;
  let stored = saved;
  for (const step of path) {
    part = valueAt(part, [step]);
    const list = typeof step === 'number' && Array.isArray(stored) ? (stored as Coded[]) : undefined;
    const code = list === undefined ? undefined : savedCode(part as Coded, codesIn(list, []));
    stored = list === undefined ? valueAt(stored, [step]) : list.find((one) => one.code === code);
  }
  return (stored as Partial<Coded> | undefined)?.code;
}

export interface CodeContext {
  /** The item as it is stored; `{}` for a new one. */
  saved: ItemValue;
  /** The template of a new item. */
  template: ItemValue;
}

/**
 * The code for the part at `path` after its name has become `name`; undefined if the code must not follow: it is saved, or was
 * typed by hand.
 */
function followingCode(item: unknown, path: Path, name: unknown, { saved, template }: CodeContext): string | undefined {
  const part = valueAt(item, path) as Partial<Coded> | undefined;
  if (part?.code === undefined || typeof part.code !== 'string') return undefined;
  const top = path.length === 0;
  if (savedCodeAt(item, saved, path) !== undefined) return undefined;
  const style: CodeStyle = path.at(-2) === 'fields' ? 'camel' : 'dash';
  const siblings = top ? [] : (valueAt(item, path.slice(0, -1)) as Coded[]);
  const taken = siblings.flatMap((one) => (one === part ? [] : [one.code]));
  const made = (text: string): string => {
    const code = codeFrom(text, style);
    return code === '' ? '' : unique(code, taken, style);
  };
  const automatic =
    part.code === '' ||
    PLACEHOLDER.test(part.code) ||
    (top && part.code === template['code']) ||
    namesOf(part.name).some((text) => made(text) === part.code);
  if (!automatic) return undefined;
  const next = made(nameForCode(name, top ? template['name'] : undefined));
  return next === '' ? undefined : next;
}

/** The code of a form after its name has changed: it follows the name until it was typed by hand, and is not one of `taken`. */
export function codeAfter(code: string, before: unknown, after: unknown, taken: readonly string[] = []): string {
  const made = (text: string): string => unique(codeFrom(text), taken, 'dash');
  const automatic = code === '' || namesOf(before).some((text) => made(text) === code);
  return automatic ? made(nameForCode(after, undefined)) : code;
}

/** List of parts → the properties of the same item that name them. */
const NAMED_BY: Readonly<Record<string, readonly string[]>> = {
  fields: ['title', 'fields'],
  options: ['default'],
  states: ['initial', 'from', 'to'],
  categories: ['category', 'parent'],
  sections: ['parent'],
};

/** Paths of the strings inside `value` that are equal to `code` and are in one of the properties. */
function referencesTo(code: string, properties: readonly string[], value: unknown, at: Path): Path[] {
  if (typeof value === 'string') {
    const property = at.findLast((step) => typeof step === 'string');
    return value === code && properties.includes(String(property)) ? [at] : [];
  }
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, member]) =>
    referencesTo(code, properties, member, [...at, Array.isArray(value) ? Number(key) : key]),
  );
}

/**
 * Keeps a part of the item whole after `path` was set to `value` in the document: a name gives its part a code, a changed
 * code changes the references to it in the enclosing part, and `was` has the saved code.
 */
export function followCode(
  document: Document,
  before: unknown,
  path: Path,
  value: unknown,
  context: CodeContext,
): void {
  const key = path.at(-1);
  const part = path.slice(0, -1);
  const { code: old, was } = (valueAt(before, part) ?? {}) as Partial<Coded>;
  const next = key === 'code' ? value : key === 'name' ? followingCode(before, part, value, context) : undefined;
  if (typeof next !== 'string' || next === old) return;
  document.setIn([...part, 'code'], next);
  const stored = key === 'code' ? savedCodeAt(before, context.saved, part) : undefined;
  if (stored === next) document.deleteIn([...part, 'was']);
  else if (stored !== undefined && ![was].flat().includes(stored)) document.setIn([...part, 'was'], stored);
  if (part.length === 0 || typeof old !== 'string' || old === '') return;
  // Options belong to their field, all other parts to the item.
  const scope = part.length > 2 ? part.slice(0, 2) : [];
  const properties = NAMED_BY[String(part.at(-2))] ?? [];
  for (const reference of referencesTo(old, properties, valueAt(before, scope), scope)) document.setIn(reference, next);
}
