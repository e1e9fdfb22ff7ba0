/**
 * Parses one YAML file strictly and records the position of every value. YAML features without a JSON equivalent (keys that are
 * not text, inexact numbers, other tags) are rejected, and anchors cannot expand a small file into a large value. The parser
 * takes about 13 microseconds per value, so all but small files are parsed in a worker thread. The result is JSON in pieces,
 * which the event loop can read one by one.
 */
import {
  type Document,
  isAlias,
  isMap,
  isScalar,
  isSeq,
  LineCounter,
  type Node,
  parseAllDocuments,
  visit,
  type YAMLParseError,
} from 'yaml';
import { doubleHolds } from '../lib/decimal.ts';
import { isWellFormedText, nfc } from '../lib/text.ts';
import { type Problem, problem } from '../lib/problem.ts';
import type { ItemPath } from './section.ts';
import type { ThreadTask } from '../platform/threads.ts';
import { BundleDocument, type FileProblem, type ParsedDocument, type ParsedMember } from './places.ts';
import { isObject } from '../lib/json.ts';

const DEEPEST = 64;
/** Maximum number of values after expanding anchors. */
const MAX_RECORD_VALUES = 500_000;
/**
 * Maximum number of line ends, commas and colons, an upper bound for the number of values. The parser needs about 1.5 KB for
 * each.
 */
const MAX_MARKS = 600_000;
/**
 * Maximum number of open brackets, and of dashes before one value, that is passed to the parser, which handles both
 * recursively.
 */
const MAX_OPEN = 1000;

/** Offsets of the members of a map or list: of the key, if any, and of the value. */
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

  problem(offset: number, path: ItemPath, found: Problem): undefined {
    this.problems.push({ ...this.place(offset), path, ...found });
    return undefined;
  }

  place(offset: number): { line: number; column: number } {
    const { line, col } = this.#lines.linePos(offset);
    return { line: Math.max(line, 1), column: Math.max(col, 1) };
  }

  value(node: unknown, path: ItemPath, at: number): unknown {
    if (++this.#values > MAX_RECORD_VALUES) throw new TooLarge();
    if (node === null || node === undefined) return null;
    if (isAlias(node)) return this.#alias(node.source, path, startOf(node, at));
    if (path.length > DEEPEST) {
      return this.problem(startOf(node, at), path, problem('NESTED_TOO_DEEP', { max: DEEPEST }));
    }
    this.#remember(node);
    if (isScalar(node)) return this.#scalar(node.value, node.source, path, startOf(node, at));
    if (isSeq(node)) return this.#list(node.items, path, startOf(node, at));
    if (isMap(node)) return this.#map(node.items, path, startOf(node, at));
    return this.problem(at, path, problem('UNSUPPORTED_VALUE'));
  }

  #remember(node: unknown): void {
    // Inside an expansion all anchors are known already; setting one again could hide a later anchor of the same name.
    if (this.#expanding > 0) return;
    const { anchor } = node as { anchor?: unknown };
    if (typeof anchor === 'string') this.#anchors.set(anchor, node as Node);
  }

  #alias(name: string, path: ItemPath, at: number): unknown {
    const target = this.#anchors.get(name);
    if (target === undefined) return this.problem(at, path, problem('UNKNOWN_ANCHOR', { name }));
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
      return this.problem(at, path, problem('UNSTORABLE_TEXT'));
    }
    if (typeof value === 'number') {
      const json = source !== undefined && /^-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?$/.test(source);
      if (Number.isFinite(value) && (!json || doubleHolds(source))) return value;
      return this.problem(at, path, problem('INEXACT_NUMBER'));
    }
    if (typeof value === 'boolean' || value === null) return value;
    return this.problem(at, path, problem('UNSUPPORTED_SCALAR'));
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
        this.problem(keyAt, [...path, key], problem('DUPLICATE_KEY', { key }));
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
    if (typeof value !== 'string') return this.problem(at, path, problem('KEY_NOT_TEXT'));
    if (value === '__proto__' || value === 'constructor' || value === 'prototype' || !isWellFormedText(value)) {
      return this.problem(at, path, problem('RESERVED_KEY'));
    }
    return nfc(value);
  }
}

function startOf(node: unknown, otherwise: number): number {
  const range = (node as { range?: unknown } | null)?.range;
  return Array.isArray(range) ? Number(range[0]) : otherwise;
}

/**
 * Reports the first syntax error of the file. Later errors are mostly consequences of it: after one superfluous bracket, the
 * parser reports every later token as an error.
 */
function reportSyntax(reader: Reader, documents: readonly Document[]): void {
  const errors = documents.flatMap((document) => document.errors.map((error) => ({ document, error })));
  const [first] = errors.sort((a, b) => a.error.pos[0] - b.error.pos[0]);
  const report = (offset: number, error: Pick<YAMLParseError, 'code' | 'message'>): void =>
    reader.problem(offset, [], syntaxProblem(error));
  if (first !== undefined) report(placeOfSyntax(first.document, first.error), first.error);
  else for (const warning of documents.flatMap((document) => document.warnings)) report(warning.pos[0], warning);
}

/** The parser's message is English only, so its code selects the text. */
function syntaxProblem({ code, message }: Pick<YAMLParseError, 'code' | 'message'>): Problem {
  if (code !== 'MISSING_CHAR') return problem(`YAML_${code}`);
  const [, quote, end, sign] = /closing (["'])quote|with a ([\]}])|Missing (,)/.exec(message) ?? [];
  const other = message.includes('white space') ? ' ' : message.includes('- indicator') ? '-' : ':';
  return problem('YAML_MISSING_CHAR', { expected: quote ?? end ?? sign ?? other });
}

/** The start of an unterminated quoted string. The parser itself only reports where it gave up. */
function placeOfSyntax(document: Document, { code, message, pos }: YAMLParseError): number {
  if (code !== 'MISSING_CHAR' || !message.includes('quote')) return pos[0];
  let begins = pos[0];
  visit(document, {
    Scalar: (_, { range }) => {
      if (range && range[0] < pos[0] && range[1] >= pos[0]) begins = range[0];
    },
  });
  return begins;
}

const NEW_LINE = 0x0a;

/** An anchor. The expanded size of its aliases cannot be derived from the text. */
const ANCHOR = /(?:^|[\s[{,])&[^\s,\]}]/;

/** Estimated parsing cost of a file, in values. A file with anchors is never treated as small. */
export function weightOf(text: string): number {
  let marks = 0;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === NEW_LINE || code === 0x2c || code === 0x3a) marks++;
  }
  const weight = marks + Math.ceil(text.length / 100);
  return ANCHOR.test(text) ? Math.max(weight, parseDocumentTask.inline + 1) : weight;
}

/** Offset at which the text is nested too deeply for the parser, ignoring quotes and comments; -1 if nowhere. */
function tooDeepAt(text: string): number {
  let open = 0;
  let dashes = 0;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === 0x5b || code === 0x7b) open++;
    else if ((code === 0x5d || code === 0x7d) && open > 0) open--;
    // `- - - x` and `? ? ? x` nest without brackets.
    if (code === 0x2d || code === 0x3f) dashes++;
    else if (code !== 0x20) dashes = 0;
    if (open > MAX_OPEN || (dashes > MAX_OPEN && text.charCodeAt(at + 1) === 0x20)) return at;
  }
  return -1;
}

/** Parses the text of a file. Never throws for invalid content; problems are part of the result. */
export function parseDocument(text: string): ParsedDocument {
  const lines = new LineCounter();
  const reader = new Reader(lines);
  let value: unknown = null;
  let root = 0;
  const deep = tooDeepAt(text);
  try {
    if (deep !== -1) {
      for (let at = text.indexOf('\n'); at !== -1 && at < deep; at = text.indexOf('\n', at + 1))
        lines.addNewLine(at + 1);
      lines.lineStarts.unshift(0);
      reader.problem(deep, [], problem('NESTED_TOO_DEEP', { max: DEEPEST }));
    } else if (weightOf(text) > MAX_MARKS) throw new TooLarge();
    else [value, root] = contentOf(text, lines, reader);
  } catch (error) {
    if (!(error instanceof TooLarge || error instanceof RangeError)) throw error;
    reader.problems.length = 0;
    reader.problem(0, [], problem('FILE_TOO_LARGE'));
  }
  return parsed(reader, lines, value, root);
}

function contentOf(text: string, lines: LineCounter, reader: Reader): [value: unknown, root: number] {
  const options = { lineCounter: lines, prettyErrors: false, uniqueKeys: false, logLevel: 'silent' } as const;
  const found = parseAllDocuments(text, options);
  const documents = Array.isArray(found) ? (found as Document[]) : [];
  reportSyntax(reader, documents);
  const [first, second] = documents;
  if (second !== undefined) {
    const at = startOf(second.contents, text.length);
    reader.problem(at, [], problem('SEVERAL_DOCUMENTS'));
  }
  if (reader.problems.length > 0) return [null, 0];
  const root = startOf(first?.contents, 0);
  return [reader.value(first?.contents, [], root), root];
}

/** The result for the event loop: the members of the file as JSON, list items separately, and all positions in one array. */
function parsed(reader: Reader, lines: LineCounter, value: unknown, root: number): ParsedDocument {
  const places: number[] = [];
  const members: ParsedMember[] = [];
  const map = isObject(value) ? value : undefined;
  for (const [key, member] of Object.entries(map ?? {})) {
    const at = places.length / 2;
    const offsets = reader.offsets.get(map as object)?.get(key);
    places.push(offsets?.key ?? root, offsets?.value ?? root);
    if (!Array.isArray(member)) {
      addPlaces(reader, member, places);
      members.push({ key, list: false, json: [JSON.stringify(member)], at, items: new Uint32Array(0) });
      continue;
    }
    const items = new Uint32Array(member.length);
    for (const [index, item] of member.entries()) {
      items[index] = places.length / 2;
      const offset = reader.offsets.get(member)?.get(index)?.value ?? root;
      places.push(offset, offset);
      addPlaces(reader, item, places);
    }
    members.push({ key, list: true, json: member.map((item) => JSON.stringify(item)), at, items });
  }
  return {
    problems: reader.problems,
    root: {
      kind: value === null ? 'empty' : map === undefined ? 'other' : 'map',
      json: map === undefined ? JSON.stringify(value) : '',
      offset: root,
    },
    members,
    places: Uint32Array.from(places),
    lines: Uint32Array.from(lines.lineStarts),
  };
}

/** Appends the offsets of everything inside the value, in the order of its members. */
function addPlaces(reader: Reader, value: unknown, places: number[]): void {
  if (typeof value !== 'object' || value === null) return;
  const offsets = reader.offsets.get(value);
  const entries: Iterable<[string | number, unknown]> = Array.isArray(value) ? value.entries() : Object.entries(value);
  for (const [name, member] of entries) {
    const offset = offsets?.get(name);
    places.push(offset?.key ?? 0, offset?.value ?? 0);
    addPlaces(reader, member, places);
  }
}

/** The size of its input is `weightOf` the text. */
export const parseDocumentTask: ThreadTask<string, ParsedDocument> = {
  name: 'bundle.document',
  inline: 1500,
  run: parseDocument,
};

/** The result for a file that no thread could parse within its limits. */
export function unreadable(): ParsedDocument {
  const tooLarge = { line: 1, column: 1, path: [], ...problem('FILE_TOO_LARGE') };
  const root = { kind: 'empty', json: 'null', offset: 0 } as const;
  return { problems: [tooLarge], root, members: [], places: new Uint32Array(0), lines: new Uint32Array(0) };
}

/** Parses a file synchronously, in this thread. */
export function readDocument(text: string): BundleDocument {
  return new BundleDocument(parseDocument(text));
}
