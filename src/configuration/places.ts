/** A parsed file of a bundle: its values, decoded piece by piece, and their positions in the text. */
import type { Problem } from '../lib/problem.ts';
import type { ItemPath } from './section.ts';

export interface TextPosition {
  line: number;
  column: number;
}

export interface FileProblem extends TextPosition, Problem {
  path: ItemPath;
}

/** A member of the file's top-level mapping. */
export interface ParsedMember {
  key: string;
  list: boolean;
  /** The items of a list, or the single value. */
  json: string[];
  /** Index in `places` of its own position; `items` has those of its items. */
  at: number;
  items: Uint32Array;
}

/** Created by `parseDocument`, in this thread or another. */
export interface ParsedDocument {
  problems: FileProblem[];
  root: { kind: 'empty' | 'map' | 'other'; json: string; offset: number };
  members: ParsedMember[];
  /** Offsets of the key and value of each member and item, in the order of a traversal of the file. */
  places: Uint32Array;
  /** Offsets of the starts of lines. */
  lines: Uint32Array;
}

/** Maximum number of exact position lookups. Further problems get the position of the whole item. */
const MAX_EXACT = 1000;

export class BundleDocument {
  readonly problems: readonly FileProblem[];
  readonly #parsed: ParsedDocument;
  #looked = 0;
  /** The item decoded last, cached for the next lookup in it. */
  #last: { member: ParsedMember; index: number; value: unknown } | undefined;

  constructor(parsed: ParsedDocument) {
    this.#parsed = parsed;
    this.problems = parsed.problems;
  }

  get kind(): ParsedDocument['root']['kind'] {
    return this.#parsed.root.kind;
  }

  get members(): readonly ParsedMember[] {
    return this.#parsed.members;
  }

  /** The whole value. Decodes everything at once, so only for small files and tests. */
  get value(): unknown {
    const { root, members, problems } = this.#parsed;
    if (problems.length > 0) return undefined;
    if (root.kind !== 'map') return JSON.parse(root.json);
    return Object.fromEntries(
      members.map((member) => [
        member.key,
        member.list ? member.json.map((_, index) => this.item(member, index)) : this.item(member, 0),
      ]),
    );
  }

  /** One item of a list, or with index 0 the value that is not a list. */
  item(member: ParsedMember, index: number): unknown {
    if (this.#last?.member !== member || this.#last.index !== index) {
      this.#last = { member, index, value: JSON.parse(member.json[index] ?? 'null') };
    }
    return this.#last.value;
  }

  /**
   * The position of the value at the path, or of the nearest enclosing value. With `key`, the position of the property's name.
   */
  locate(path: ItemPath, key = false): TextPosition {
    return this.#placeOf(this.#offsetOf(path, key));
  }

  #offsetOf(path: ItemPath, key: boolean): number {
    const [first, second] = path;
    const member = this.#parsed.members.find((one) => one.key === first);
    if (member === undefined) return this.#parsed.root.offset;
    if (path.length === 1) return this.#place(member.at, key);
    if (!member.list) return this.#inside(this.item(member, 0), member.at, path.slice(1), key);
    const at = typeof second === 'number' ? member.items[second] : undefined;
    if (at === undefined) return this.#place(member.at, false);
    if (path.length === 2 || ++this.#looked > MAX_EXACT) return this.#place(at, false);
    return this.#inside(this.item(member, second as number), at, path.slice(2), key);
  }

  #inside(root: unknown, rootAt: number, path: ItemPath, key: boolean): number {
    let value = root;
    let at = rootAt;
    for (const [depth, step] of path.entries()) {
      const found = memberOf(value, at, step);
      if (found === undefined) return this.#place(at, false);
      ({ value, at } = found);
      if (depth === path.length - 1) return this.#place(at, key);
    }
    return this.#place(at, false);
  }

  #place(at: number, key: boolean): number {
    return this.#parsed.places[2 * at + (key ? 0 : 1)] ?? this.#parsed.root.offset;
  }

  /** Line and column of an offset, from 1. */
  #placeOf(offset: number): TextPosition {
    const { lines } = this.#parsed;
    let low = 0;
    let high = lines.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((lines[middle] as number) <= offset) low = middle + 1;
      else high = middle;
    }
    return low === 0 ? { line: 1, column: offset + 1 } : { line: low, column: offset - (lines[low - 1] as number) + 1 };
  }
}

type Entries = Iterable<[string | number, unknown]>;

function entriesOf(value: unknown): Entries {
  if (typeof value !== 'object' || value === null) return [];
  return Array.isArray(value) ? value.entries() : Object.entries(value);
}

/** The member and the index of its position, given that of the enclosing value. */
function memberOf(value: unknown, at: number, step: string | number): { value: unknown; at: number } | undefined {
  let index = at + 1;
  for (const [name, member] of entriesOf(value)) {
    if (name === step) return { value: member, at: index };
    index += 1 + sizeOf(member);
  }
  return undefined;
}

/** The number of positions inside the value. */
function sizeOf(value: unknown): number {
  let size = 0;
  for (const [, member] of entriesOf(value)) size += 1 + sizeOf(member);
  return size;
}
