/** Texts that are expensive in different ways, as long as they may be. */
import type { Seeded } from './operation-calls-case.ts';

/** Number of long fields of the type `thing`. */
export const LONG_FIELDS = 10;
export const LONGEST = 100_000;

let seed = 7;
function below(most: number): number {
  seed = (Math.imul(seed, 1_103_515_245) + 12_345) & 0x7fffffff;
  return seed % most;
}

function fill(length: number, part: () => string): string {
  const parts: string[] = [];
  for (let size = 0; size < length; ) {
    const next = part();
    parts.push(next);
    size += next.length;
  }
  return parts.join('').slice(0, length);
}

const letters = (count: number, first: number, alphabet: number): string =>
  String.fromCharCode(...Array.from({ length: count }, () => first + below(alphabet)));

/** Texts that are expensive in different ways. */
const TEXTS: Readonly<Record<string, (length: number) => string>> = {
  'different words': (length) => fill(length, () => `${letters(4 + below(8), 0x61, 26)} `),
  'Chinese signs': (length) => fill(length, () => letters(50, 0x4e00, 20_000)),
  compounds: (length) => fill(length, () => `${letters(4, 0x61, 26)}${letters(4, 0x41, 26)}${below(100)}-`),
};

/** The kinds of texts. */
export const KINDS: readonly string[] = Object.keys(TEXTS);

/** A text of this kind. */
export const textOf = (kind: string, length: number): string => (TEXTS[kind] as (length: number) => string)(length);

/** Field → text, as long as they may be. */
export function longValues(kind: string, fields = LONG_FIELDS): Record<string, string> {
  return Object.fromEntries(Array.from({ length: fields }, (_, index) => [`long${index}`, textOf(kind, LONGEST)]));
}

/** Rich text as HTML and as a document, each about as large as is admitted. */
export function richTexts(): Record<string, unknown> {
  const paragraph = { type: 'paragraph', content: [{ type: 'text', text: 'abc' }] };
  return {
    'HTML of paragraphs': `${repeat('<p>abc</p>', 150_000)}`,
    'HTML of marks': repeat('<b>a<i>b</i></b> ', 110_000),
    'HTML of links': repeat('<a href="https://example.org/x">a</a> ', 190_000),
    'a document of paragraphs': { type: 'doc', content: Array.from({ length: 12_000 }, () => paragraph) },
  };
}

/** @returns the ids of new records */
export async function records(seen: Seeded, count: number): Promise<string[]> {
  const ids = await Promise.all(
    Array.from({ length: count }, (_, index) =>
      seen.send('POST', '/objects', { typeDefinitionId: 'thing', values: { title: `Record ${index}` } }),
    ),
  );
  return ids.map(({ id }) => id);
}

export const repeat = (part: string, length: number): string =>
  part.repeat(Math.ceil(length / part.length)).slice(0, length);
