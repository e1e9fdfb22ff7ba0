/**
 * Builds the statement of a unit of work. Its text depends on which writes take part and on the row count of small writes, and
 * hardly ever on the values. Parts are therefore built once, with a slot for each value, and whole texts are cached, so that a
 * change only costs the collection of its values. Each text is one prepared statement of a connection.
 */
import type { Sql } from 'sql-template-tag';
import type { Statement } from '../database/pool.ts';

/** A position in a part whose value is taken from the data that the part writes. */
export class Slot<Source> {
  readonly take: (source: Source) => unknown;

  constructor(take: (source: Source) => unknown) {
    this.take = take;
  }
}

/** A built part: text between positions, and for each position a slot or a fixed value. */
export interface Part {
  key: string;
  strings: readonly string[];
  values: readonly unknown[];
}

/** Maximum number of cached texts. Further texts are built each time. */
const MOST_TEXTS = 2000;

/** Created once per process: the cached parts and texts depend only on the code. */
export class Statements {
  readonly #parts = new WeakMap<object, Map<string, Part>>();
  readonly #texts = new Map<string, string>();
  #made = 0;

  /** The part that `build` returns for this owner and variant; built once. */
  part(owner: object, variant: string, build: () => Sql): Part {
    let variants = this.#parts.get(owner);
    if (variants === undefined) {
      variants = new Map();
      this.#parts.set(owner, variants);
    }
    let part = variants.get(variant);
    if (part === undefined) {
      const { strings, values } = build();
      part = { key: `#${this.#made++}`, strings, values };
      variants.set(variant, part);
    }
    return part;
  }

  /** Joins parts, each with the source of its values, into one statement. */
  whole(parts: readonly (readonly [Part, unknown])[]): Statement {
    let key = '';
    const values: unknown[] = [];
    for (const [part, source] of parts) {
      key += part.key;
      for (const value of part.values) values.push(value instanceof Slot ? value.take(source) : value);
    }
    let text = this.#texts.get(key);
    if (text === undefined) {
      text = textOf(parts.map(([part]) => part));
      if (this.#texts.size < MOST_TEXTS) this.#texts.set(key, text);
    }
    return { text, values };
  }
}

/** A part that is not cached by owner. Statements with equal text still share one cached text. */
export function loosePart({ strings, values }: Sql): Part {
  return { key: `(${strings.join('?')})`, strings, values };
}

function textOf(parts: readonly Part[]): string {
  let text = '';
  let place = 0;
  for (const { strings } of parts) {
    text += strings[0] ?? '';
    for (let index = 1; index < strings.length; index++) text += `$${++place}${strings[index]}`;
  }
  return text;
}
