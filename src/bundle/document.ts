/**
 * Reads one YAML file strictly, with the place of everything in it. What YAML allows and JSON does not know (keys that are
 * no text, numbers that are not exact, values of other tags) is refused, and anchors cannot grow a small file into a large
 * value.
 */
import { type Document, isAlias, isMap, isScalar, isSeq, LineCounter, type Node, parseAllDocuments } from 'yaml';
import { doubleHolds } from '../lib/decimal.ts';
import { isWellFormedText, nfc } from '../lib/text.ts';
import type { ItemPath } from '../mechanisms/config-section.ts';

const DEEPEST = 64;
/** Values that a file may expand to, anchors followed. */
const MOST_VALUES = 1_000_000;

export interface Place {
  line: number;
  column: number;
}

export interface FileProblem extends Place {
  path: ItemPath;
  code: string;
  message: string;
}

export interface BundleDocument {
  /** Undefined where the file could not be read at all. */
  value: unknown;
  problems: FileProblem[];
  /** The place of what stands at the path, or of the nearest thing around it; with `key`, of the property's name. */
  locate(path: ItemPath, key?: boolean): Place;
}

/** Offsets of the members of a map or list: of its name, where it has one, and of its value. */
type Offsets = Map<string | number, { key: number; value: number }>;

class TooLarge extends Error {}

class Reader {
  readonly problems: FileProblem[] = [];
  readonly offsets = new WeakMap<object, Offsets>();
  readonly #lines: LineCounter;
  readonly #anchors = new Map<string, Node>();
  #values = 0;
  #expanding = 0;

  constructor(lines: LineCounter) {
    this.#lines = lines;
  }

  problem(offset: number, path: ItemPath, code: string, message: string): undefined {
    this.problems.push({ ...this.place(offset), path, code, message });
    return undefined;
  }

  place(offset: number): Place {
    const { line, col } = this.#lines.linePos(offset);
    return { line: Math.max(line, 1), column: Math.max(col, 1) };
  }

  value(node: unknown, path: ItemPath, at: number): unknown {
    if (++this.#values > MOST_VALUES) throw new TooLarge();
    if (node === null || node === undefined) return null;
    if (isAlias(node)) return this.#alias(node.source, path, startOf(node, at));
    if (path.length > DEEPEST) {
      return this.problem(startOf(node, at), path, 'TOO_DEEP', `Nothing may be nested more than ${DEEPEST} deep.`);
    }
    this.#remember(node);
    if (isScalar(node)) return this.#scalar(node.value, node.source, path, startOf(node, at));
    if (isSeq(node)) return this.#list(node.items, path, startOf(node, at));
    if (isMap(node)) return this.#map(node.items, path, startOf(node, at));
    return this.problem(at, path, 'NOT_ALLOWED', 'This is no value that a bundle knows.');
  }

  #remember(node: unknown): void {
    // Within an expansion everything was seen before; setting it again could hide a later anchor of the same name.
    if (this.#expanding > 0) return;
    const { anchor } = node as { anchor?: unknown };
    if (typeof anchor === 'string') this.#anchors.set(anchor, node as Node);
  }

  #alias(name: string, path: ItemPath, at: number): unknown {
    const target = this.#anchors.get(name);
    if (target === undefined)
      return this.problem(at, path, 'UNKNOWN_ANCHOR', `There is no anchor ${name} before this.`);
    this.#expanding++;
    try {
      return this.value(target, path, at);
    } finally {
      this.#expanding--;
    }
  }

  #scalar(value: unknown, source: string | undefined, path: ItemPath, at: number): unknown {
    if (typeof value === 'string') {
      if (isWellFormedText(value)) return nfc(value);
      return this.problem(at, path, 'INVALID_TEXT', 'The text holds U+0000 or half of a surrogate pair.');
    }
    if (typeof value === 'number') {
      const json = source !== undefined && /^-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?$/.test(source);
      if (Number.isFinite(value) && (!json || doubleHolds(source))) return value;
      return this.problem(at, path, 'NOT_EXACT', 'The number cannot be kept exactly; write it in quotes.');
    }
    if (typeof value === 'boolean' || value === null) return value;
    return this.problem(at, path, 'NOT_ALLOWED', 'Use text, a number, true, false or null.');
  }

  #list(items: readonly unknown[], path: ItemPath, at: number): unknown {
    const list: unknown[] = [];
    const offsets: Offsets = new Map();
    for (const [index, item] of items.entries()) {
      const offset = startOf(item, at);
      offsets.set(index, { key: offset, value: offset });
      list.push(this.value(item, [...path, index], offset));
    }
    this.offsets.set(list, offsets);
    return list;
  }

  #map(items: readonly { key: unknown; value: unknown }[], path: ItemPath, at: number): unknown {
    const map: Record<string, unknown> = {};
    const offsets: Offsets = new Map();
    for (const item of items) {
      const keyAt = startOf(item.key, at);
      const key = this.#key(item.key, path, keyAt);
      if (key === undefined) continue;
      if (offsets.has(key)) {
        this.problem(keyAt, [...path, key], 'DUPLICATE_KEY', `The key ${key} stands twice here; keep one of the two.`);
        continue;
      }
      const offset = startOf(item.value, keyAt);
      offsets.set(key, { key: keyAt, value: offset });
      map[key] = this.value(item.value, [...path, key], offset);
    }
    this.offsets.set(map, offsets);
    return map;
  }

  #key(node: unknown, path: ItemPath, at: number): string | undefined {
    const value = isScalar(node) ? node.value : node;
    if (typeof value !== 'string')
      return this.problem(at, path, 'INVALID_KEY', 'A key must be text; put it in quotes.');
    if (value === '__proto__' || value === 'constructor' || value === 'prototype' || !isWellFormedText(value)) {
      return this.problem(at, path, 'INVALID_KEY', 'This key is not allowed.');
    }
    return nfc(value);
  }
}

function startOf(node: unknown, otherwise: number): number {
  const range = (node as { range?: unknown } | null)?.range;
  return Array.isArray(range) ? Number(range[0]) : otherwise;
}

function complaints(reader: Reader, documents: readonly Document[]): void {
  for (const document of documents) {
    for (const { pos, code, message } of [...document.errors, ...document.warnings]) {
      reader.problem(pos[0], [], code, `${message.replace(/\.?$/, '')}.`);
    }
  }
}

/** Reads the text of a file; never throws for what stands in it. */
export function readDocument(text: string): BundleDocument {
  const lines = new LineCounter();
  const reader = new Reader(lines);
  let value: unknown;
  let root = 0;
  try {
    const options = { lineCounter: lines, prettyErrors: false, uniqueKeys: false, logLevel: 'silent' } as const;
    const parsed = parseAllDocuments(text, options);
    const documents = Array.isArray(parsed) ? (parsed as Document[]) : [];
    complaints(reader, documents);
    const [first, second] = documents;
    if (second !== undefined) {
      reader.problem(
        startOf(second.contents, text.length),
        [],
        'NOT_ALLOWED',
        'A file holds one document; take out the "---".',
      );
    }
    if (reader.problems.length === 0) {
      root = startOf(first?.contents, 0);
      value = reader.value(first?.contents, [], root);
    }
  } catch (error) {
    if (!(error instanceof TooLarge || error instanceof RangeError)) throw error;
    reader.problem(0, [], 'TOO_LARGE', 'The file holds more than can be read: too many values, or nested too deep.');
  }
  return {
    value,
    problems: reader.problems,
    locate: (path, key = false) => reader.place(offsetOf(reader, value, path, root, key)),
  };
}

function offsetOf(reader: Reader, value: unknown, path: ItemPath, root: number, key: boolean): number {
  let at = value;
  let offset = root;
  for (const [index, step] of path.entries()) {
    const known = typeof at === 'object' && at !== null ? reader.offsets.get(at)?.get(step) : undefined;
    if (known === undefined) break;
    offset = key && index === path.length - 1 ? known.key : known.value;
    at = (at as Record<string | number, unknown>)[step];
  }
  return offset;
}
