/**
 * Texts with placeholders: `{{ title }}` is replaced by the value of the field (docs/reference/macros.md#texts). There are no
 * conditions, loops or functions, and a value is not searched for placeholders.
 */
import { MENTION } from './mentions.ts';

const PLACEHOLDER = /\{\{\s*([^{}\s]{1,64})\s*\}\}/g;

/** Names of values that are not fields of the record type. `$me` is the name of the caller. */
const SYSTEM_NAMES = ['number', 'workflowState', 'createdAt', 'createdBy', 'updatedAt', 'updatedBy', '$me'] as const;
export type SystemName = (typeof SYSTEM_NAMES)[number] | 'title';

export function isTemplateName(name: string): name is SystemName {
  return name === 'title' || (SYSTEM_NAMES as readonly string[]).includes(name);
}

/** The names that the text uses, without repetition. */
export function placeholders(text: string): string[] {
  return [...new Set([...text.matchAll(PLACEHOLDER)].map(([, name]) => name as string))];
}

/** The text with other names in its placeholders. */
export function replacePlaceholders(text: string, rename: (name: string) => string): string {
  return text.replace(PLACEHOLDER, (whole: string, name: string) => {
    const next = rename(name);
    return next === name ? whole : whole.replace(name, () => next);
  });
}

export function fillTemplate(text: string, valueOf: (name: string) => string): string {
  return text.replace(PLACEHOLDER, (_, name: string) => valueOf(name));
}

/** What is syntax in Markdown. An underscore inside a word and a backslash before a letter are none. */
const SYNTAX = /[`*[\]<]|~(?=~)|&(?=#?\w{1,31};)|\\(?=[!-/:-@[-`{-~\s]|$)|(?<![\p{L}\p{N}])_|_(?![\p{L}\p{N}])/gu;

/**
 * The value as text in Markdown: strangers write values, so none becomes a link with a text of its own, an image, code or
 * emphasis. Nor does it mention anybody: an invisible character (U+2060) follows the `@`. A plain web address stays one.
 */
export function asMarkdown(value: string): string {
  const text = value.replace(SYNTAX, '\\$&');
  return text.replace(MENTION, (login) => `@\u2060${login.slice(1)}`).replace(/@$/, '@\u2060');
}
