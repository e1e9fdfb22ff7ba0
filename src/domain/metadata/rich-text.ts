/**
 * Rich text: a document in ProseMirror JSON (docs/spec/records.md#values).
 *
 * A stored document is canonical, so that equal documents are equal JSON. Attributes with their standard value are left out.
 * Marks have a fixed order. Adjacent texts with the same marks are merged. Text is in NFC. Images are handles `blob:<sha256>`
 * of the blob store. A document has at most 1 MiB of JSON and at most 24 levels of nodes, so that it fits into the nesting
 * limit of 64 of any request body.
 */
import type { ContentMatch, NodeType } from 'prosemirror-model';
import { isNumber } from '../../lib/exact-number.ts';
import type { FaultDetail } from '../../lib/fault.ts';
import { deepEqualJson, isObject, pointer } from '../../lib/json.ts';
import { type ParamsOf, problemAt, type ProblemReason } from '../../lib/problem.ts';
import { hasLongMarkRun, isWellFormedText, nfc } from '../../lib/text.ts';
import { richTextFromHtml } from './rich-text-html.ts';
import { extractInlineImages, type InlineImage } from './rich-text-images.ts';
import {
  type AttributeRules,
  MARK_RANKS,
  markAttributes,
  NODE_NAMES,
  nodeAttributes,
  type RichMark,
  type RichNode,
  richTextSchema,
} from './rich-text-schema.ts';
import { threads, type ThreadTask } from '../../platform/threads.ts';

/** Maximum size of a stored document as JSON, in bytes. */
export const RICH_TEXT_BYTES = 1_048_576;
/** Maximum depth of a node; `doc` has depth 0. */
export const RICH_TEXT_DEPTH = 24;
const MAX_NODES = 60_000;
const MAX_PROBLEMS = 20;

export type RichTextCheck =
  | { ok: true; stored: RichNode | null; images: readonly InlineImage[] }
  | { ok: false; problems: FaultDetail[] };

/** A rich text that was already parsed. It replaces the value from the request. */
export class ReadRichText {
  readonly checked: RichTextCheck;

  constructor(checked: RichTextCheck) {
    this.checked = checked;
  }
}

/**
 * Checks a document given as ProseMirror JSON or as an HTML string and returns its stored form. `stored` is null for an empty
 * document. `images` are the extracted data URLs, to be written to the blob store; handles already in the document are not
 * among them (see `imageHandles`).
 *
 * @param path JSON Pointer of the value; problems of a document point into it, those of HTML to the whole string
 */
export function checkRichText(input: unknown, path: string): RichTextCheck {
  if (input instanceof ReadRichText) return input.checked;
  if (typeof input !== 'string') return checkDocument(isNumber(input) ? Number.NaN : input, path);
  if (!isWellFormedText(input)) {
    return refuse(problemAt(path, 'VALUE_CHARACTERS'));
  }
  const read = richTextFromHtml(input);
  if (!read.ok) return refuse({ path, ...read.problem });
  const checked = checkDocument(read.doc, '');
  return checked.ok ? checked : { ok: false, problems: checked.problems.map((problem) => ({ ...problem, path })) };
}

function refuse(problem: FaultDetail): RichTextCheck {
  return { ok: false, problems: [problem] };
}

function checkDocument(input: unknown, path: string): RichTextCheck {
  const reader = new Reader();
  const doc = reader.document(input, path);
  if (doc === undefined) return { ok: false, problems: reader.problems };
  const extracted = extractInlineImages(doc, path);
  if (!extracted.ok) return extracted;
  if (isEmptyDocument(extracted.doc)) return { ok: true, stored: null, images: [] };
  if (Buffer.byteLength(JSON.stringify(extracted.doc)) > RICH_TEXT_BYTES) {
    return refuse(problemAt(path, 'DOCUMENT_TOO_LARGE'));
  }
  return { ok: true, stored: extracted.doc, images: extracted.images };
}

/** Whether the document contains only empty blocks. */
function isEmptyDocument(node: RichNode): boolean {
  if (node.type === 'text') return (node.text ?? '').trim() === '';
  if (node.type === 'image' || node.type === 'horizontalRule' || node.type === 'table') return false;
  return (node.content ?? []).every(isEmptyDocument);
}

const NODE_KEYS: ReadonlySet<string> = new Set(['type', 'attrs', 'content', 'marks', 'text']);
const MARK_KEYS: ReadonlySet<string> = new Set(['type', 'attrs']);
const ALLOWED_ON_TEXT: ReadonlySet<string> = new Set(['type', 'marks', 'text']);

/** Thrown internally to stop reading. */
class Enough extends Error {}

/** Converts a document to its canonical form, or collects its problems. */
class Reader {
  readonly problems: FaultDetail[] = [];
  #nodes = 0;
  #textUnits = 0;

  document(input: unknown, path: string): RichNode | undefined {
    try {
      const doc = this.#node(input, path, 0);
      if (doc !== undefined && doc.type !== 'doc') this.#problem(path, 'NO_DOC_NODE');
      return this.problems.length === 0 ? doc : undefined;
    } catch (error) {
      if (error instanceof Enough) return undefined;
      throw error;
    }
  }

  #problem<Reason extends ProblemReason>(path: string, reason: Reason, ...params: ParamsOf<Reason>): undefined {
    this.problems.push(problemAt(path, reason, ...params));
    if (this.problems.length >= MAX_PROBLEMS) throw new Enough();
    return undefined;
  }

  #stop<Reason extends ProblemReason>(path: string, reason: Reason, ...params: ParamsOf<Reason>): never {
    this.problems.push(problemAt(path, reason, ...params));
    throw new Enough();
  }

  #node(input: unknown, path: string, depth: number): RichNode | undefined {
    if (depth > RICH_TEXT_DEPTH) this.#stop(path, 'DOCUMENT_TOO_DEEP', { max: RICH_TEXT_DEPTH });
    if (++this.#nodes > MAX_NODES) this.#stop(path, 'TOO_MANY_NODES', { max: MAX_NODES });
    if (!isObject(input)) return this.#problem(path, 'NODE_NOT_OBJECT');
    const { type } = input;
    if (typeof type !== 'string' || !NODE_NAMES.has(type)) {
      return this.#problem(`${path}/type`, 'UNKNOWN_NODE');
    }
    this.#onlyKeys(input, type === 'text' ? ALLOWED_ON_TEXT : NODE_KEYS, path);
    if (type === 'text') return this.#text(input, path);
    const node: RichNode = { type };
    if (input.text !== undefined) this.#problem(`${path}/text`, 'TEXT_ON_NODE');
    if (Array.isArray(input.marks) ? input.marks.length > 0 : input.marks !== undefined) {
      if (type !== 'hardBreak') this.#problem(`${path}/marks`, 'MARKS_ON_NODE');
    }
    const attrs = this.#attributes(input.attrs, nodeAttributes(type), `${path}/attrs`);
    if (attrs !== undefined) node.attrs = attrs;
    const content = this.#content(input.content, type, path, depth);
    if (content.length > 0) node.content = content;
    return node;
  }

  #onlyKeys(input: Record<string, unknown>, known: ReadonlySet<string>, path: string): void {
    for (const key of Object.keys(input)) {
      if (!known.has(key)) this.#problem(path + pointer(key), 'UNKNOWN_NODE_PROPERTY');
    }
  }

  #text(input: Record<string, unknown>, path: string): RichNode | undefined {
    const { text } = input;
    if (typeof text !== 'string' || text === '') {
      return this.#problem(`${path}/text`, 'TEXT_NODE_EMPTY');
    }
    if (!isWellFormedText(text)) {
      return this.#problem(`${path}/text`, 'VALUE_CHARACTERS');
    }
    this.#textUnits += text.length;
    if (this.#textUnits > RICH_TEXT_BYTES) this.#stop(path, 'DOCUMENT_TOO_LARGE');
    if (hasLongMarkRun(text)) {
      return this.#problem(`${path}/text`, 'VALUE_MARKS');
    }
    const marks = this.#marks(input.marks, `${path}/marks`);
    return marks.length > 0 ? { type: 'text', marks, text: nfc(text) } : { type: 'text', text: nfc(text) };
  }

  #marks(input: unknown, path: string): RichMark[] {
    if (input === undefined) return [];
    if (!Array.isArray(input)) {
      this.#problem(path, 'MARKS_NOT_LIST');
      return [];
    }
    const marks = new Map<string, RichMark>();
    for (const [index, entry] of input.entries()) {
      const at = `${path}/${index}`;
      const type = isObject(entry) ? entry.type : undefined;
      if (!isObject(entry) || typeof type !== 'string' || !MARK_RANKS.has(type)) {
        this.#problem(at, 'UNKNOWN_MARK');
        continue;
      }
      this.#onlyKeys(entry, MARK_KEYS, at);
      if (marks.has(type)) this.#problem(at, 'REPEATED_MARK');
      const attrs = this.#attributes(entry.attrs, markAttributes(type), `${at}/attrs`);
      marks.set(type, attrs === undefined ? { type } : { type, attrs });
    }
    return [...marks.values()].sort((a, b) => (MARK_RANKS.get(a.type) ?? 0) - (MARK_RANKS.get(b.type) ?? 0));
  }

  /** The attributes that differ from their standard value; undefined if there are none. */
  #attributes(input: unknown, rules: AttributeRules, path: string): Record<string, unknown> | undefined {
    const given = input === undefined || input === null ? {} : input;
    if (!isObject(given)) return this.#problem(path, 'ATTRIBUTES_NOT_OBJECT');
    for (const key of Object.keys(given)) {
      if (!rules.has(key)) this.#problem(path + pointer(key), 'UNKNOWN_ATTRIBUTE');
    }
    const kept: [string, unknown][] = [];
    for (const [name, rule] of rules) {
      const value = Object.hasOwn(given, name) ? rule.read(given[name]) : rule.standard;
      if (value === undefined) this.#problem(path + pointer(name), 'INVALID_ATTRIBUTE', { expected: rule.expected });
      else if (value !== rule.standard) kept.push([name, value]);
    }
    return kept.length > 0 ? Object.fromEntries(kept) : undefined;
  }

  #content(input: unknown, type: string, path: string, depth: number): RichNode[] {
    if (input !== undefined && !Array.isArray(input)) {
      this.#problem(`${path}/content`, 'CONTENT_NOT_LIST');
      return [];
    }
    const parent = richTextSchema.nodes[type] as NodeType;
    const children: RichNode[] = [];
    let match: ContentMatch | null = parent.contentMatch;
    for (const [index, entry] of (input ?? []).entries()) {
      const at = `${path}/content/${index}`;
      const child = this.#node(entry, at, depth + 1);
      if (child === undefined) {
        match = null;
        continue;
      }
      const next: ContentMatch | null = match?.matchType(richTextSchema.nodes[child.type] as NodeType) ?? null;
      if (match !== null && next === null) this.#problem(at, 'NODE_NOT_ALLOWED_HERE', { type: child.type });
      if (child.marks !== undefined && parent.markSet?.length === 0) {
        this.#problem(`${at}/marks`, 'MARKS_NOT_ALLOWED_HERE', { type });
      }
      match = next;
      append(children, child);
    }
    if (match !== null && !match.validEnd) {
      this.#problem(path, 'INCOMPLETE_NODE', { type, content: parent.spec.content ?? '' });
    }
    return children;
  }
}

/** Adds the child; adjacent texts with the same marks are merged. */
function append(children: RichNode[], child: RichNode): void {
  const last = children.at(-1);
  if (child.type === 'text' && last?.type === 'text' && deepEqualJson(child.marks ?? [], last.marks ?? [])) {
    last.text = nfc(`${last.text}${child.text}`);
  } else children.push(child);
}

/** The plain text of a stored document: one line per block, cells of a row separated by tabs, images as their `alt`. */
export function richTextPlain(doc: RichNode): string {
  const { content = [] } = doc;
  switch (doc.type) {
    case 'text':
      return doc.text ?? '';
    case 'hardBreak':
      return '\n';
    case 'image':
      return typeof doc.attrs?.alt === 'string' ? doc.attrs.alt : '';
    case 'tableRow':
      return content.map((cell) => richTextPlain(cell).replaceAll('\n', ' ')).join('\t');
    case 'paragraph':
    case 'heading':
    case 'codeBlock':
      return content.map(richTextPlain).join('');
    default:
      return content
        .map(richTextPlain)
        .filter((text) => text !== '')
        .join('\n');
  }
}

interface RichTextInput {
  /** The value as JSON. */
  json: string;
  path: string;
}

/** A `RichTextCheck` as JSON, because passing a string between threads costs the event loop least, and its images. */
interface Travelling {
  json: string;
  images: readonly InlineImage[];
}

/** Sizes are in characters. The slowest texts take about 1.2 microseconds per character. */
export const readRichTextTask: ThreadTask<RichTextInput, Travelling> = {
  name: 'metadata.rich-text',
  inline: 16_000,
  run: ({ json, path }) => {
    const checked = checkRichText(JSON.parse(json), path);
    if (!checked.ok) return { json: JSON.stringify(checked), images: [] };
    return { json: JSON.stringify({ ...checked, images: [] }), images: checked.images };
  },
};

/**
 * Returns the values with long rich texts parsed; the others are unchanged.
 *
 * @param isRich whether the field is a rich text that the caller may name
 * @param member the member of the request body that holds the values
 * @throws Fault OVERLOADED when too many long texts are waiting
 */
export async function withLongTextsRead(
  given: Record<string, unknown>,
  isRich: (code: string) => boolean,
  member: string,
  caller: string | null,
): Promise<Record<string, unknown>> {
  const read: Record<string, unknown> = {};
  for (const code of Object.keys(given)) {
    const value = given[code];
    const rich = (typeof value === 'string' || (typeof value === 'object' && value !== null)) && isRich(code);
    const long = rich && !(typeof value === 'string' && value.length <= readRichTextTask.inline);
    if (long) read[code] = await readLong(value, pointer(member, code), caller);
  }
  return Object.keys(read).length === 0 ? given : { ...given, ...read };
}

async function readLong(value: unknown, path: string, caller: string | null): Promise<unknown> {
  const json = JSON.stringify(value);
  if (json.length <= readRichTextTask.inline) return value;
  const result = await threads.run(readRichTextTask, { json, path }, { size: json.length, caller });
  if (!result.ok) {
    return new ReadRichText({ ok: false, problems: [problemAt(path, 'DOCUMENT_TOO_COMPLEX')] });
  }
  const checked = JSON.parse(result.value.json) as RichTextCheck;
  return new ReadRichText(checked.ok ? { ...checked, images: result.value.images } : checked);
}
