/**
 * How the statement of a unit of work is put together. Its text depends on which writes take part and on how many rows a small
 * one has, hardly ever on what is written: parts are built once, with a slot where each value will stand, and whole texts are
 * remembered, so that a change costs its values and no more. Each text is one prepared statement of a connection.
 */
import type { Sql } from 'sql-template-tag';
import type { Statement } from './db/pool.ts';

/** A place in a part whose value is taken from what the part writes. */
export class Slot<Source> {
  readonly take: (source: Source) => unknown;

  constructor(take: (source: Source) => unknown) {
    this.take = take;
  }
}

/** A part as built: text around places, and for each place a slot or what always stands there. */
export interface Part {
  key: string;
  strings: readonly string[];
  values: readonly unknown[];
}

/** Texts remembered at most; what comes beyond is put together each time. */
const MOST_TEXTS = 2000;

/** Made once a process: what it remembers depends on the code alone. */
export class Statements {
  readonly #parts = new WeakMap<object, Map<string, Part>>();
  readonly #texts = new Map<string, string>();
  #made = 0;

  /** The part that `build` gives for this owner and variant, built once. */
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

  /** The whole of parts with what each writes. */
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

/** A part that is built for this statement alone; statements of equal text are one all the same. */
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
