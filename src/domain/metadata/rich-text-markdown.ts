/**
 * Converts Markdown (CommonMark with tables and strikethrough) to a rich-text document.
 *
 * The Markdown is rendered to HTML in memory and parsed by the HTML reader, so Markdown can contain nothing that HTML could
 * not. Known HTML elements within Markdown are accepted. Anything else between angle brackets (`<your name>`, `<user>`) is
 * text.
 */
import MarkdownIt from 'markdown-it';
import { isWellFormedText, nfc } from '../../lib/text.ts';
import { checkRichText, type RichTextCheck } from './rich-text.ts';
import { isHtmlElement, isSkippedElement } from './rich-text-html-elements.ts';

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
  const refuse = (code: string, message: string): RichTextCheck => ({ ok: false, problems: [{ path, code, message }] });
  if (!isWellFormedText(markdown)) return refuse('INVALID_TEXT', 'The text holds U+0000 or half of a surrogate pair.');
  if (markdown.length > MARKDOWN_CHARACTERS) return refuse('TOO_LARGE', 'The text is longer than 200,000 characters.');
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
