/**
 * Markdown (CommonMark with tables and strikethrough) into a rich-text document.
 *
 * The Markdown is rendered to HTML in memory and read by the one reader of HTML that there is, so that nothing can come in by
 * Markdown that could not come in by HTML. HTML inside of Markdown is understood where it names an element of HTML; what else
 * stands between angle brackets (`<your name>`, `<user>`) is text, as its writer meant it.
 */
import MarkdownIt from 'markdown-it';
import { isWellFormedText, nfc } from '../../lib/text.ts';
import { checkRichText, type RichTextCheck } from './rich-text.ts';
import { isHtmlElement, isSkippedElement } from './rich-text-html-elements.ts';

/** Most characters of a text in Markdown. */
export const MARKDOWN_CHARACTERS = 200_000;

const TAG = /<(\/?)([a-zA-Z][a-zA-Z0-9-]*)[^<>]*>/g;

/** A tag of no element is shown as it was written. */
function knownTags(html: string): string {
  return html.replace(TAG, (tag: string, _slash: string, name: string) =>
    isHtmlElement(name.toLowerCase()) ? tag : reader.utils.escapeHtml(tag),
  );
}

interface InlineToken {
  type: string;
  content: string;
}

/** Where each element is closed for the last time among the pieces of a paragraph. */
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
  // The reader of HTML knows which addresses may be linked to, and keeps the text of the others.
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
    // One that is never closed would take everything behind it along.
    return (known.get(name) ?? -1) > index ? content : '';
  };
  return markdown;
}

const reader: Reader = makeReader();

/** What `checkRichText` makes of the HTML that the Markdown stands for; problems point to the whole text. */
export function readMarkdown(markdown: string, path: string): RichTextCheck {
  return checkRichText(reader.render(markdown), path);
}

/** The text as it is kept: in NFC, lines ended by U+000A. */
export function plainMarkdown(markdown: string): string {
  return nfc(markdown).replace(/\r\n?/g, '\n');
}

/** The stored form of a document given as Markdown. */
export function checkMarkdown(markdown: string, path: string): RichTextCheck {
  const refuse = (code: string, message: string): RichTextCheck => ({ ok: false, problems: [{ path, code, message }] });
  if (!isWellFormedText(markdown)) return refuse('INVALID_TEXT', 'The text holds U+0000 or half of a surrogate pair.');
  if (markdown.length > MARKDOWN_CHARACTERS) return refuse('TOO_LARGE', 'The text is longer than 200,000 characters.');
  return readMarkdown(plainMarkdown(markdown), path);
}

const ENTITY_OR_TAG = /[<\u0000-\u0008\u000b-\u001f]|&(?:#|[a-zA-Z][a-zA-Z0-9]*;)/;
const SCHEME = /(?:javascript|vbscript|data|file|blob)\s*:/i;

/**
 * Whether any renderer of Markdown makes of the text what ours does, and nothing that acts: no HTML, no entities, no addresses
 * but those that may be linked to. Such a text is given back as it was written.
 */
export function isPlainMarkdown(markdown: string): boolean {
  return !ENTITY_OR_TAG.test(markdown) && !SCHEME.test(markdown);
}
