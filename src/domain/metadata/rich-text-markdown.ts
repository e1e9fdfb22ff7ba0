/**
 * Converts Markdown (CommonMark with tables and strikethrough) to a rich-text document, and back.
 *
 * Reading: the Markdown is rendered to HTML in memory and parsed by the HTML reader, so Markdown can contain nothing that HTML could
 * not. Known HTML elements within Markdown are accepted. Anything else between angle brackets (`<your name>`, `<user>`) is
 * text.
 *
 * Writing: the result reads back as the same document. Blocks that Markdown cannot express (a table with more than one line in a
 * cell, adjacent lists) are written as HTML, which Markdown allows and the reader accepts. Not kept, because the HTML reader
 * drops it too: repeated blanks, empty paragraphs, widths, titles of links and images, the numbering style of a list. The stored
 * document keeps them.
 */
import MarkdownIt from 'markdown-it';
import { type MarkdownSerializerState, MarkdownSerializer } from 'prosemirror-markdown';
import { Node } from 'prosemirror-model';
import { deepEqualJson } from '../../lib/json.ts';
import { problemAt } from '../../lib/problem.ts';
import { isWellFormedText, nfc } from '../../lib/text.ts';
import { checkRichText, type RichTextCheck } from './rich-text.ts';
import { isHtmlElement, isSkippedElement, type RichMark, type RichNode, richTextSchema } from './rich-text-schema.ts';

/** Maximum number of characters of a Markdown text. */
export const MARKDOWN_CHARACTERS = 200_000;

const TAG = /<(\/?)([a-zA-Z][a-zA-Z0-9-]*)[^<>]*>/g;

/** Escapes tags of unknown elements, so that they are shown as written. */
function knownTags(html: string): string {
  return html.replace(TAG, (tag: string, _slash: string, name: string) =>
    isHtmlElement(name.toLowerCase()) ? tag : reader.utils.escapeHtml(tag),
  );
}

interface InlineToken {
  type: string;
  content: string;
}

/** The position of the last closing tag of each element in a paragraph. */
function lastClosings(pieces: readonly InlineToken[]): Map<string, number> {
  const found = new Map<string, number>();
  for (const [index, { type, content }] of pieces.entries()) {
    const name = type === 'html_inline' ? /^<\/([a-zA-Z0-9-]+)/.exec(content)?.[1] : undefined;
    if (name !== undefined) found.set(name.toLowerCase(), index);
  }
  return found;
}

type Reader = ReturnType<typeof MarkdownIt>;

function makeReader(): Reader {
  const markdown = new MarkdownIt({ html: true, linkify: false, typographer: false });
  // The HTML reader decides which addresses may be linked to, and keeps the text of the others.
  markdown.validateLink = () => true;
  const closings = new WeakMap<object, Map<string, number>>();
  markdown.renderer.rules.html_block = (tokens, index) => knownTags(tokens[index]?.content ?? '');
  markdown.renderer.rules.html_inline = (tokens, index) => {
    const content = tokens[index]?.content ?? '';
    const name = /^<([a-zA-Z][a-zA-Z0-9-]*)/.exec(content)?.[1]?.toLowerCase();
    if (name === undefined || !isSkippedElement(name)) return knownTags(content);
    let known = closings.get(tokens);
    if (known === undefined) {
      known = lastClosings(tokens);
      closings.set(tokens, known);
    }
    // An element that is never closed would swallow the rest of the text.
    return (known.get(name) ?? -1) > index ? content : '';
  };
  return markdown;
}

const reader: Reader = makeReader();

/** Runs `checkRichText` on the rendered HTML. Problems point to the whole text. */
export function readMarkdown(markdown: string, path: string): RichTextCheck {
  return checkRichText(reader.render(markdown), path);
}

/** The text as it is stored: in NFC, with U+000A as line ending. */
export function plainMarkdown(markdown: string): string {
  return nfc(markdown).replace(/\r\n?/g, '\n');
}

/** Checks a document given as Markdown and returns its stored form. */
export function checkMarkdown(markdown: string, path: string): RichTextCheck {
  if (!isWellFormedText(markdown)) return { ok: false, problems: [problemAt(path, 'VALUE_CHARACTERS')] };
  if (markdown.length > MARKDOWN_CHARACTERS) {
    return { ok: false, problems: [problemAt(path, 'MARKDOWN_TOO_LONG', { max: MARKDOWN_CHARACTERS })] };
  }
  return readMarkdown(plainMarkdown(markdown), path);
}

const ENTITY_OR_TAG = /[<\u0000-\u0008\u000b-\u001f]|&(?:#|[a-zA-Z][a-zA-Z0-9]*;)/;
const SCHEME = /(?:javascript|vbscript|data|file|blob)\s*:/i;

/**
 * Whether every Markdown renderer produces from the text what ours does, and nothing active: no HTML, no entities, no links
 * with an unsafe scheme. Such a text can be returned as it was written.
 */
export function isPlainMarkdown(markdown: string): boolean {
  return !ENTITY_OR_TAG.test(markdown) && !SCHEME.test(markdown);
}

// ------------------------------------------------------------------ HTML output

/** Readers drop a line break at the start of code as part of the markup. A real one is therefore written twice. */
function firstBreak(code = ''): string {
  return code.startsWith('\n') ? '\n' : '';
}

const ESCAPES: ReadonlyMap<string, string> = new Map([
  ['&', '&amp;'],
  ['<', '&lt;'],
  ['>', '&gt;'],
  ['"', '&quot;'],
  // In Markdown, a blank line would end the HTML block.
  ['\n', '&#10;'],
  ['\r', '&#13;'],
]);

function escapeHtml(text: string): string {
  return text.replace(/[&<>"\n\r]/g, (character) => ESCAPES.get(character) ?? character);
}

const MARK_TAGS: ReadonlyMap<string, string> = new Map([
  ['bold', 'strong'],
  ['italic', 'em'],
  ['strike', 's'],
  ['underline', 'u'],
  ['code', 'code'],
]);

const NODE_TAGS: ReadonlyMap<string, string> = new Map([
  ['paragraph', 'p'],
  ['blockquote', 'blockquote'],
  ['bulletList', 'ul'],
  ['orderedList', 'ol'],
  ['listItem', 'li'],
  ['table', 'table'],
  ['tableRow', 'tr'],
  ['tableCell', 'td'],
  ['tableHeader', 'th'],
]);

function attribute(name: string, value: unknown): string {
  return value === undefined || value === null ? '' : ` ${name}="${escapeHtml(String(value))}"`;
}

function markedHtml(text: string, marks: readonly RichMark[]): string {
  return marks.reduceRight((inner, { type, attrs }) => {
    if (type === 'link') return `<a${attribute('href', attrs?.href)}>${inner}</a>`;
    const tag = MARK_TAGS.get(type) ?? 'span';
    return `<${tag}>${inner}</${tag}>`;
  }, escapeHtml(text));
}

function htmlOf(node: RichNode): string {
  const { type, attrs = {}, content = [] } = node;
  const inner = (): string => content.map(htmlOf).join('');
  switch (type) {
    case 'text':
      return markedHtml(node.text ?? '', node.marks ?? []);
    case 'hardBreak':
      return '<br>';
    case 'horizontalRule':
      return '<hr>';
    case 'heading':
      return `<h${attrs.level}>${inner()}</h${attrs.level}>`;
    case 'image':
      return `<img${attribute('src', attrs.src)}${attribute('alt', attrs.alt)}>`;
    case 'codeBlock': {
      const language = typeof attrs.language === 'string' ? attribute('class', `language-${attrs.language}`) : '';
      return `<pre><code${language}>${escapeHtml(firstBreak(node.content?.[0]?.text))}${inner()}</code></pre>`;
    }
    default: {
      const tag = NODE_TAGS.get(type) ?? 'div';
      const own =
        attribute('start', attrs.start) + attribute('colspan', attrs.colspan) + attribute('rowspan', attrs.rowspan);
      return `<${tag}${own}>${inner()}</${tag}>`;
    }
  }
}

// ------------------------------------------------------------------ Markdown output

type Write = (state: MarkdownSerializerState, node: Node, parent: Node, index: number) => void;

function longestRun(text: string, character: string): number {
  let longest = 0;
  for (const run of text.match(new RegExp(`${character}+`, 'g')) ?? []) longest = Math.max(longest, run.length);
  return longest;
}

const writeCodeBlock: Write = (state, node) => {
  const fence = '`'.repeat(Math.max(3, longestRun(node.textContent, '`') + 1));
  state.write(`${fence}${(node.attrs.language as string | null) ?? ''}\n`);
  state.text(firstBreak(node.textContent) + node.textContent, false);
  state.write('\n');
  state.write(fence);
  state.closeBlock(node);
};

const writeOrderedList: Write = (state, node) => {
  const start = node.attrs.start as number;
  const width = String(start + node.childCount - 1).length + 2;
  state.renderList(node, ' '.repeat(width), (index) => `${start + index}. `.padEnd(width));
};

/** Writes a table of plain cells whose first row is the header. Other tables are written as HTML. */
const writeTable: Write = (state, node) => {
  const rows: string[] = [];
  node.forEach((row) => {
    const cells: string[] = [];
    row.forEach((cell) => {
      const inner = inlineOf(cell.firstChild as Node).replaceAll('|', '\\|');
      cells.push(inner);
    });
    rows.push(`| ${cells.join(' | ')} |`);
    if (rows.length === 1) rows.push(`|${' --- |'.repeat(row.childCount)}`);
  });
  for (const [index, row] of rows.entries()) {
    if (index > 0) state.ensureNewLine();
    state.write(row);
  }
  state.closeBlock(node);
};

/** The content of one paragraph on a single line. */
function inlineOf(paragraph: Node): string {
  const doc = richTextSchema.nodes.doc?.create(null, paragraph) as Node;
  return serializer.serialize(doc, TIGHT).replaceAll('\\\n', '<br>');
}

/** Escapes everything that could be read as a tag or an entity, even by a reader that treats the Markdown as HTML. */
function inert(text: string): string {
  return text.replace(/&(?=#|[a-zA-Z0-9]+;)/g, '&amp;').replaceAll('<', '&lt;');
}

function ticks(text: string): string {
  return '`'.repeat(longestRun(text, '`') + 1);
}

function padding(text: string): string {
  return text.startsWith('`') || text.endsWith('`') ? ' ' : '';
}

const serializer: MarkdownSerializer = new MarkdownSerializer(
  {
    paragraph: (state, node) => {
      state.renderInline(node);
      state.closeBlock(node);
    },
    heading: (state, node) => {
      state.write(`${'#'.repeat(node.attrs.level as number)} `);
      state.renderInline(node, false);
      state.closeBlock(node);
    },
    blockquote: (state, node) => state.wrapBlock('> ', null, node, () => state.renderContent(node)),
    codeBlock: writeCodeBlock,
    bulletList: (state, node) => state.renderList(node, '  ', () => '- '),
    orderedList: writeOrderedList,
    listItem: (state, node) => state.renderContent(node),
    horizontalRule: (state, node) => {
      state.write('---');
      state.closeBlock(node);
    },
    image: (state, node) => {
      state.write(`![${state.esc(inert((node.attrs.alt as string | null) ?? ''))}](${node.attrs.src as string})`);
      state.closeBlock(node);
    },
    table: writeTable,
    hardBreak: (state, node, parent, index) => {
      if (index < parent.childCount - 1) state.write('\\\n');
      else state.closeBlock(node);
    },
    text: (state, node) => state.text(inert(node.text ?? '')),
  },
  {
    bold: { open: '**', close: '**', mixable: true, expelEnclosingWhitespace: true },
    italic: { open: '*', close: '*', mixable: true, expelEnclosingWhitespace: true },
    strike: { open: '~~', close: '~~', mixable: true, expelEnclosingWhitespace: true },
    underline: { open: '<u>', close: '</u>', mixable: true },
    link: {
      open: '[',
      close: (_state, mark) => `](<${(mark.attrs.href as string).replaceAll(/[<>\\]/g, '\\$&')}>)`,
      mixable: true,
    },
    code: {
      open: (_state, _mark, parent, index) => {
        const text = parent.child(index).text ?? '';
        return ticks(text) + padding(text);
      },
      close: (_state, _mark, parent, index) => {
        const text = parent.child(index - 1).text ?? '';
        return padding(text) + ticks(text);
      },
      escape: false,
    },
  },
  { hardBreakNodeName: 'hardBreak', strict: true },
);

const TIGHT = { tightLists: true };

/** Whether Markdown can express the tables in the node. Other losses are detected by reading the result back. */
function isWritable(node: RichNode): boolean {
  if (node.type !== 'table') return (node.content ?? []).every(isWritable);
  return (node.content ?? []).every((row, index) =>
    (row.content ?? []).every(
      (cell) =>
        cell.type === (index === 0 ? 'tableHeader' : 'tableCell') &&
        cell.content?.length === 1 &&
        cell.content[0]?.type === 'paragraph',
    ),
  );
}

function readsBack(markdown: string, blocks: readonly RichNode[]): boolean {
  const read = readMarkdown(markdown, '');
  return read.ok && deepEqualJson(read.stored, { type: 'doc', content: blocks });
}

function blockOf(node: RichNode): string {
  if (!isWritable(node)) return htmlOf(node);
  const doc = Node.fromJSON(richTextSchema, { type: 'doc', content: [node] });
  const markdown = serializer.serialize(doc, TIGHT).replace(/^\n+|\s+$/g, '');
  return readsBack(markdown, [node]) ? markdown : htmlOf(node);
}

const LISTS: ReadonlySet<string> = new Set(['bulletList', 'orderedList']);

/**
 * Writes the document as Markdown. Reading it returns the same document, except for the losses listed at the top of this file.
 */
export function markdownOf(doc: RichNode): string {
  const blocks = doc.content ?? [];
  const parts: string[] = [];
  for (const [index, block] of blocks.entries()) {
    // Markdown would merge two adjacent lists.
    if (LISTS.has(block.type) && blocks[index - 1]?.type === block.type) parts.push('<!-- -->');
    parts.push(blockOf(block));
  }
  return parts.join('\n\n');
}
