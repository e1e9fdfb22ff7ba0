/**
 * The content model of rich-text documents: the ProseMirror schema (which node may contain which) and the rules of each
 * attribute. Names are those of TipTap, so that its editor can read and write the documents directly.
 */
import { type MarkSpec, type NodeSpec, Schema } from 'prosemirror-model';
import { isWebAddress } from '../../lib/data-types/index.ts';
import type { Phrase } from '../../lib/problem.ts';
import { isWellFormedText, nfc } from '../../lib/text.ts';

/** A node of a document in JSON. Only nodes of type `text` have `text`. */
export interface RichNode {
  type: string;
  attrs?: Record<string, unknown>;
  content?: RichNode[];
  marks?: RichMark[];
  text?: string;
}

export interface RichMark {
  type: string;
  attrs?: Record<string, unknown>;
}

/** One attribute. `read` returns the stored form, or undefined for an invalid value. */
export interface AttributeRule {
  read(value: unknown): unknown;
  /** Value of an absent attribute; such values are not stored. If this is absent, the attribute is required. */
  standard?: unknown;
  /** What the value must be, for messages. */
  expected: readonly Phrase[];
}

export type AttributeRules = ReadonlyMap<string, AttributeRule>;

const LINK_LENGTH = 2048;
const LABEL_LENGTH = 1000;

function integer(min: number, max: number): AttributeRule {
  const read = (value: unknown): unknown =>
    Number.isSafeInteger(value) && (value as number) >= min && (value as number) <= max ? value : undefined;
  return { read, expected: [{ phrase: 'INTEGER_BETWEEN', min, max }] };
}

function orNull(rule: AttributeRule): AttributeRule {
  return {
    read: (value) => (value === null ? null : rule.read(value)),
    standard: null,
    expected: [...rule.expected, { phrase: 'NULL' }],
  };
}

/** Editors send the attribute, so it is accepted. It is not stored, because presentation is up to the client. */
function notKept(rule: AttributeRule): AttributeRule {
  return { ...orNull(rule), read: (value) => (value === null || rule.read(value) !== undefined ? null : undefined) };
}

function oneOf(...values: string[]): AttributeRule {
  return {
    read: (value) => values.find((known) => known === value),
    expected: [{ phrase: 'ONE_OF', values: values.join(', ') }],
  };
}

const LABEL: AttributeRule = {
  read: (value) =>
    typeof value === 'string' && value.length <= LABEL_LENGTH && isWellFormedText(value) ? nfc(value) : undefined,
  expected: [{ phrase: 'SHORT_TEXT', max: LABEL_LENGTH }],
};

const LANGUAGE: AttributeRule = {
  read: (value) => (typeof value === 'string' && /^[A-Za-z0-9+#._-]{1,50}$/.test(value) ? value : undefined),
  expected: [{ phrase: 'LANGUAGE' }],
};

const COLUMN_WIDTHS: AttributeRule = {
  read: (value) => {
    const fits = (width: unknown): boolean =>
      Number.isSafeInteger(width) && Number(width) >= 0 && Number(width) <= 10_000;
    return Array.isArray(value) && value.length <= 100 && value.every(fits) ? value : undefined;
  },
  expected: [{ phrase: 'WIDTHS' }],
};

const HANDLE = /^blob:[0-9a-f]{64}$/;

/** Whether a link may be stored: absolute, with http, https, mailto or tel, and unambiguous for browsers. */
export function isSafeLink(value: unknown): value is string {
  if (typeof value !== 'string' || value.length > LINK_LENGTH || !isWellFormedText(value)) return false;
  if (/^https?:/i.test(value)) return isWebAddress(value);
  return /^(?:mailto|tel):[^\s\p{Cc}\\<>"]+$/iu.test(value);
}

/** Whether this is a handle of an image in the blob store. */
export function isImageHandle(value: unknown): value is string {
  return typeof value === 'string' && HANDLE.test(value);
}

const LINK: AttributeRule = {
  read: (value) => (isSafeLink(value) ? nfc(value) : undefined),
  expected: [{ phrase: 'LINK' }],
};

const IMAGE: AttributeRule = {
  read: (value) =>
    isImageHandle(value) || (typeof value === 'string' && value.startsWith('data:')) ? value : undefined,
  expected: [{ phrase: 'IMAGE' }],
};

const CELL: AttributeRules = new Map([
  ['colspan', { ...integer(1, 100), standard: 1 }],
  ['rowspan', { ...integer(1, 1000), standard: 1 }],
  ['colwidth', orNull(COLUMN_WIDTHS)],
]);

const NO_ATTRIBUTES: AttributeRules = new Map();

const NODE_ATTRIBUTES: ReadonlyMap<string, AttributeRules> = new Map<string, AttributeRules>([
  ['heading', new Map([['level', integer(1, 6)]])],
  ['codeBlock', new Map([['language', orNull(LANGUAGE)]])],
  [
    'orderedList',
    new Map([
      ['start', { ...integer(0, 1_000_000), standard: 1 }],
      ['type', orNull(oneOf('1', 'a', 'A', 'i', 'I'))],
    ]),
  ],
  [
    'image',
    new Map([
      ['src', IMAGE],
      ['alt', orNull(LABEL)],
      ['title', orNull(LABEL)],
      ['width', orNull(integer(1, 10_000))],
      ['height', orNull(integer(1, 10_000))],
    ]),
  ],
  ['tableCell', CELL],
  ['tableHeader', CELL],
]);

const MARK_ATTRIBUTES: ReadonlyMap<string, AttributeRules> = new Map<string, AttributeRules>([
  [
    'link',
    new Map([
      ['href', LINK],
      ['title', orNull(LABEL)],
      ['target', notKept(oneOf('_blank', '_self', '_parent', '_top'))],
      ['rel', notKept(LABEL)],
      ['class', notKept(LABEL)],
    ]),
  ],
]);

export function nodeAttributes(type: string): AttributeRules {
  return NODE_ATTRIBUTES.get(type) ?? NO_ATTRIBUTES;
}

export function markAttributes(type: string): AttributeRules {
  return MARK_ATTRIBUTES.get(type) ?? NO_ATTRIBUTES;
}

const NODES: Record<string, NodeSpec> = {
  doc: { content: 'block+' },
  paragraph: { content: 'inline*', group: 'block' },
  heading: { content: 'inline*', group: 'block' },
  blockquote: { content: 'block+', group: 'block' },
  codeBlock: { content: 'text*', marks: '', group: 'block', code: true },
  bulletList: { content: 'listItem+', group: 'block' },
  orderedList: { content: 'listItem+', group: 'block' },
  listItem: { content: 'paragraph block*' },
  horizontalRule: { group: 'block' },
  image: { group: 'block' },
  table: { content: 'tableRow+', group: 'block' },
  tableRow: { content: '(tableCell | tableHeader)+' },
  tableCell: { content: 'block+' },
  tableHeader: { content: 'block+' },
  hardBreak: { group: 'inline', inline: true },
  text: { group: 'inline' },
};

/** The attributes in ProseMirror's form. Attributes without a standard value are required. */
function attrsOf(rules: AttributeRules | undefined): Record<string, { default?: unknown }> {
  const attrs = [...(rules ?? [])].map(([name, rule]): [string, { default?: unknown }] => [
    name,
    rule.standard === undefined ? {} : { default: rule.standard },
  ]);
  return Object.fromEntries(attrs);
}

function withAttributes<S extends NodeSpec | MarkSpec>(
  specs: Record<string, S>,
  rules: ReadonlyMap<string, AttributeRules>,
): Record<string, S> {
  return Object.fromEntries(
    Object.entries(specs).map(([name, spec]) => [name, { ...spec, attrs: attrsOf(rules.get(name)) }]),
  );
}

// The order in which the marks of a text are stored.
const MARKS: Record<string, MarkSpec> = { link: {}, bold: {}, italic: {}, strike: {}, underline: {}, code: {} };

export const richTextSchema: Schema = new Schema({
  nodes: withAttributes(NODES, NODE_ATTRIBUTES),
  marks: withAttributes(MARKS, MARK_ATTRIBUTES),
});

export const NODE_NAMES: ReadonlySet<string> = new Set(Object.keys(NODES));
/** Mark name → its position among the marks of a text. */
export const MARK_RANKS: ReadonlyMap<string, number> = new Map(Object.keys(MARKS).map((name, rank) => [name, rank]));

// HTML elements, grouped by how they are converted to nodes and marks.

/** Elements that are dropped with their content. */
export const SKIPPED_ELEMENTS: ReadonlySet<string> = new Set(
  'script style template head title textarea select option noscript iframe object embed svg math audio video canvas'.split(
    ' ',
  ),
);

export const MARK_ELEMENTS: ReadonlyMap<string, string> = new Map([
  ['b', 'bold'],
  ['strong', 'bold'],
  ['i', 'italic'],
  ['em', 'italic'],
  ['cite', 'italic'],
  ['var', 'italic'],
  ['s', 'strike'],
  ['strike', 'strike'],
  ['del', 'strike'],
  ['u', 'underline'],
  ['ins', 'underline'],
  ['code', 'code'],
  ['kbd', 'code'],
  ['samp', 'code'],
  ['tt', 'code'],
]);

export const FRAME_ELEMENTS: ReadonlyMap<string, string> = new Map([
  ['blockquote', 'blockquote'],
  ['ul', 'bulletList'],
  ['menu', 'bulletList'],
  ['ol', 'orderedList'],
  ['li', 'listItem'],
  ['table', 'table'],
  ['tr', 'tableRow'],
  ['td', 'tableCell'],
  ['th', 'tableHeader'],
]);

/** Block elements without a node of their own. They only separate text blocks. */
export const BLOCK_ELEMENTS: ReadonlySet<string> = new Set(
  'p div section article header footer main nav aside address figure figcaption center dl dt dd form fieldset legend details summary thead tbody tfoot caption html body'.split(
    ' ',
  ),
);

/** Elements of which only the text is kept. */
const PLAIN_ELEMENTS: ReadonlySet<string> = new Set(
  'span font small big sub sup mark abbr acronym time q bdo bdi wbr data dfn ruby rt rp label input button'.split(' '),
);

const OTHER_ELEMENTS: ReadonlySet<string> = new Set('a br hr img pre h1 h2 h3 h4 h5 h6'.split(' '));

/** Whether this is the name of an HTML element. Anything else between angle brackets is text. */
export function isHtmlElement(name: string): boolean {
  return [SKIPPED_ELEMENTS, MARK_ELEMENTS, FRAME_ELEMENTS, BLOCK_ELEMENTS, PLAIN_ELEMENTS, OTHER_ELEMENTS].some(
    (names) => names.has(name),
  );
}

/** Whether the element is dropped with its content. */
export function isSkippedElement(name: string): boolean {
  return SKIPPED_ELEMENTS.has(name);
}
