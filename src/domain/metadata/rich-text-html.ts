/**
 * Converts HTML, as sent by mail and other systems, to a rich-text document.
 *
 * Nothing is copied unchecked. The document is built from the elements and attributes listed here; of unknown elements only the
 * text is kept. `checkRichText` alone decides what the result may contain. This file must run in linear time for any HTML.
 */
import { Parser } from 'htmlparser2';
import { problem, type Problem } from '../../lib/problem.ts';
import {
  BLOCK_ELEMENTS,
  FRAME_ELEMENTS,
  isImageHandle,
  isSafeLink,
  MARK_ELEMENTS,
  type RichMark,
  type RichNode,
  SKIPPED_ELEMENTS,
} from './rich-text-schema.ts';

export type HtmlReading = { ok: true; doc: RichNode } | { ok: false; problem: Problem };

/** Maximum number of characters of HTML without image data. Parsing that many takes at most a tenth of a second. */
const MAX_CHARACTERS = 1_048_576;
const IMAGE_DATA = /data:image\/[a-z+]{1,10};base64,[A-Za-z0-9+/=]*/gi;

/** Maximum number of open elements. The parser searches all of them at each closing tag. */
const MAX_OPEN = 256;
/** Maximum number of nodes and text fragments. */
const MAX_NODES = 60_000;
/** Maximum nesting of lists, quotes and tables. Deeper ones are dropped, but their text is kept. */
const DEEPEST_FRAME = 9;

const LISTS: ReadonlySet<string> = new Set(['bulletList', 'orderedList']);
const CELLS: ReadonlySet<string> = new Set(['tableCell', 'tableHeader']);

/** An open container node. */
interface Frame extends RichNode {
  content: RichNode[];
}

/** What closing an element must undo. */
type Undo = 'nothing' | 'skip' | 'mark' | 'link' | 'block' | 'pre' | 'flat table' | Frame;

class TooMuch extends Error {}

class Builder {
  readonly #frames: Frame[] = [{ type: 'doc', content: [] }];
  readonly #open: Undo[] = [];
  readonly #openMarks: string[] = [];
  readonly #links: (string | null)[] = [];
  #skipping = 0;
  #preformatted = 0;
  /** Open tables without a table node: tables nested in tables, as used for layout in mail. */
  #flatTables = 0;
  #nodes = 0;
  /** The text block being filled, before it is added to its container. */
  #block: RichNode = { type: 'paragraph' };
  #inline: RichNode[] = [];

  // ------------------------------------------------------------------ events

  open(name: string, attributes: Record<string, string>): void {
    if (this.#open.length >= MAX_OPEN) throw new TooMuch();
    this.#open.push(this.#begin(name, attributes));
  }

  close(): void {
    const undo = this.#open.pop();
    if (undo === undefined || undo === 'nothing') return;
    if (undo === 'skip') this.#skipping--;
    else if (undo === 'mark') this.#openMarks.pop();
    else if (undo === 'link') this.#links.pop();
    else if (undo === 'block') this.#endBlock();
    else if (undo === 'pre') {
      this.#preformatted--;
      this.#endBlock();
    } else if (undo === 'flat table') {
      this.#endBlock();
      this.#flatTables--;
    } else this.#endFrame(undo);
  }

  text(data: string): void {
    if (this.#skipping > 0) return;
    // White space collapses in HTML, except no-break spaces.
    const text = this.#preformatted > 0 ? data.replace(/\r\n?/g, '\n') : data.replace(/[ \t\n\f\r]+/g, ' ');
    const last = this.#inline.at(-1);
    const atStart =
      this.#preformatted === 0 && (last === undefined || last.type === 'hardBreak' || last.text?.endsWith(' '));
    this.#push(atStart && text.startsWith(' ') ? text.slice(1) : text, this.#marks());
  }

  end(): RichNode {
    const doc = this.#frames[0] as Frame;
    this.#endFrame(doc);
    return doc.content.length > 0 ? doc : { type: 'doc', content: [{ type: 'paragraph' }] };
  }

  // ------------------------------------------------------------------ elements

  #begin(name: string, attributes: Record<string, string>): Undo {
    if (SKIPPED_ELEMENTS.has(name) || this.#skipping > 0) {
      this.#skipping++;
      return 'skip';
    }
    const mark = MARK_ELEMENTS.get(name);
    if (mark !== undefined) {
      const language =
        this.#preformatted > 0 ? /(?:^| )language-([A-Za-z0-9+#._-]{1,50})(?: |$)/.exec(attributes.class ?? '') : null;
      if (language !== null && this.#inline.length === 0)
        this.#block = { type: 'codeBlock', attrs: { language: language[1] } };
      this.#openMarks.push(mark);
      return 'mark';
    }
    const frame = FRAME_ELEMENTS.get(name);
    if (frame !== undefined) return this.#beginFrame(frame, attributes);
    if (BLOCK_ELEMENTS.has(name)) {
      this.#endBlock();
      return 'block';
    }
    switch (name) {
      case 'a':
        this.#links.push(isSafeLink(attributes.href) ? attributes.href : null);
        return 'link';
      case 'br':
        if (this.#preformatted > 0) this.#push('\n', []);
        else this.#push(undefined, []);
        return 'nothing';
      case 'hr':
        this.#standing({ type: 'horizontalRule' });
        return 'nothing';
      case 'img':
        this.#image(attributes);
        return 'nothing';
      case 'pre': {
        this.#endBlock();
        this.#preformatted++;
        this.#block = { type: 'codeBlock' };
        return 'pre';
      }
      default:
        if (!/^h[1-6]$/.test(name)) return 'nothing';
        this.#endBlock();
        this.#block = { type: 'heading', attrs: { level: Number(name[1]) } };
        return 'block';
    }
  }

  #image(attributes: Record<string, string>): void {
    const { src: given = '', alt = '' } = attributes;
    const src = /^data:image\//i.test(given) ? `data:${given.slice(5)}` : given;
    if ((src.startsWith('data:') || isImageHandle(src)) && this.#preformatted === 0) {
      const attrs = alt === '' ? { src } : { src, alt: alt.slice(0, 1000).toWellFormed() };
      this.#standing({ type: 'image', attrs });
      return;
    }
    // External images are replaced by links, because loading them would reveal to a third party that the record was read.
    const marks = isSafeLink(src) ? [link(src)] : [];
    this.#push(alt !== '' ? alt : isSafeLink(src) ? src : '', marks);
  }

  // ------------------------------------------------------------------ frames

  #top(): Frame {
    return this.#frames.at(-1) as Frame;
  }

  #inTable(): boolean {
    return this.#frames.some((frame) => frame.type === 'table');
  }

  #beginFrame(type: string, attributes: Record<string, string>): Undo {
    this.#endBlock();
    if (this.#preformatted > 0) return 'block';
    if (type === 'table' && (this.#flatTables > 0 || this.#inTable())) {
      this.#flatTables++;
      return 'flat table';
    }
    if (this.#flatTables > 0 && (type === 'tableRow' || CELLS.has(type))) return 'block';
    if (type === 'tableRow' && !this.#closeTo('table')) return 'block';
    if (CELLS.has(type)) {
      if (!this.#closeTo('table', 'tableRow')) return 'block';
      if (this.#top().type === 'table') this.#enter({ type: 'tableRow', content: [] });
    }
    if (type === 'listItem') {
      if (!this.#closeTo('bulletList', 'orderedList')) return 'block';
    } else if (!CELLS.has(type) && type !== 'tableRow') {
      if (this.#frames.length > DEEPEST_FRAME) return 'block';
      this.#needBlocks();
    }
    const frame: Frame = { type, content: [] };
    const attrs = frameAttributes(type, attributes);
    if (attrs !== undefined) frame.attrs = attrs;
    return this.#enter(frame);
  }

  #enter(frame: Frame): Frame {
    this.#count();
    this.#frames.push(frame);
    return frame;
  }

  /** Closes containers until one of these types is on top. Returns false and closes nothing if there is none in scope. */
  #closeTo(...types: string[]): boolean {
    for (let index = this.#frames.length - 1; index > 0; index--) {
      const frame = this.#frames[index] as Frame;
      if (types.includes(frame.type)) {
        while (this.#top() !== frame) this.#leave();
        return true;
      }
      // An item belongs to the list around it, not to one outside its quote or table. The same holds for rows and cells.
      const list = LISTS.has(frame.type) || frame.type === 'listItem';
      if (frame.type === 'blockquote' || (types.includes('table') ? list : CELLS.has(frame.type))) return false;
    }
    return false;
  }

  #endFrame(frame: Frame): void {
    this.#endBlock();
    if (!this.#frames.includes(frame)) return;
    while (this.#top() !== frame) this.#leave();
    if (frame.type === 'doc') return;
    this.#leave();
  }

  /** Adds the top container to its parent, with required content filled in. Drops it if it is empty but may not be. */
  #leave(): void {
    const frame = this.#frames.pop() as Frame;
    if (CELLS.has(frame.type) && frame.content.length === 0) frame.content.push({ type: 'paragraph' });
    if (frame.type === 'listItem' && frame.content[0]?.type !== 'paragraph')
      frame.content.unshift({ type: 'paragraph' });
    if (frame.content.length > 0) this.#top().content.push(frame);
  }

  /** Opens the containers that a block needs: text directly in a list or a table gets an item or a cell. */
  #needBlocks(): void {
    const { type } = this.#top();
    if (LISTS.has(type)) this.#enter({ type: 'listItem', content: [] });
    if (type === 'table') this.#enter({ type: 'tableRow', content: [] });
    if (type === 'table' || type === 'tableRow') this.#enter({ type: 'tableCell', content: [] });
  }

  // ------------------------------------------------------------------ blocks and text

  /** Adds a block without text after the text so far. */
  #standing(node: RichNode): void {
    const { type, attrs } = this.#block;
    this.#endBlock();
    this.#count();
    this.#needBlocks();
    this.#top().content.push(node);
    if (type !== 'paragraph') this.#block = attrs === undefined ? { type } : { type, attrs };
  }

  #endBlock(): void {
    const content = trimmed(this.#inline, this.#block.type === 'codeBlock');
    if (content.length > 0) {
      this.#count();
      this.#needBlocks();
      this.#top().content.push({ ...this.#block, content });
    }
    this.#inline = [];
    this.#block = { type: this.#preformatted > 0 ? 'codeBlock' : 'paragraph' };
  }

  /** Adds text, or a line break if `text` is undefined. */
  #push(text: string | undefined, marks: RichMark[]): void {
    if (this.#skipping > 0 || text === '') return;
    this.#count();
    if (text === undefined) this.#inline.push({ type: 'hardBreak' });
    else this.#inline.push(marks.length > 0 ? { type: 'text', marks, text } : { type: 'text', text });
  }

  #marks(): RichMark[] {
    if (this.#preformatted > 0) return [];
    const marks: RichMark[] = [...new Set(this.#openMarks)].map((type) => ({ type }));
    const href = this.#links.at(-1);
    return href === undefined || href === null ? marks : [...marks, link(href)];
  }

  #count(): void {
    if (++this.#nodes > MAX_NODES) throw new TooMuch();
  }
}

function link(href: string): RichMark {
  return { type: 'link', attrs: { href } };
}

function frameAttributes(type: string, attributes: Record<string, string>): Record<string, unknown> | undefined {
  const number = (name: string, max: number): number => {
    const value = Number(attributes[name]);
    return Number.isSafeInteger(value) && value > 1 && value <= max ? value : 1;
  };
  if (type === 'orderedList')
    return number('start', 1_000_000) === 1 ? undefined : { start: number('start', 1_000_000) };
  if (!CELLS.has(type)) return undefined;
  const attrs = { colspan: number('colspan', 100), rowspan: number('rowspan', 1000) };
  return attrs.colspan === 1 && attrs.rowspan === 1 ? undefined : attrs;
}

/** Removes blanks and line breaks at both ends; of code, one leading line break and all trailing white space. */
function trimmed(inline: readonly RichNode[], code: boolean): RichNode[] {
  if (code) {
    const text = inline
      .map((node) => node.text ?? '\n')
      .join('')
      .replace(/^\n/, '')
      .trimEnd();
    return text === '' ? [] : [{ type: 'text', text }];
  }
  let end = inline.length;
  while (end > 0 && isBlank(inline[end - 1] as RichNode)) end--;
  let start = 0;
  while (start < end && isBlank(inline[start] as RichNode)) start++;
  const content = inline.slice(start, end);
  const last = content.at(-1);
  if (last?.text?.endsWith(' ')) content[content.length - 1] = { ...last, text: last.text.slice(0, -1) };
  const first = content[0];
  if (first?.text?.startsWith(' ')) content[0] = { ...first, text: first.text.slice(1) };
  return content;
}

function isBlank(node: RichNode): boolean {
  return node.type === 'hardBreak' || node.text === ' ';
}

/**
 * Converts an HTML string to a document in ProseMirror JSON. Text without markup becomes one paragraph. Images are still data
 * URLs. Links other than http, https, mailto and tel are dropped, but their text is kept. External images become links.
 */
export function richTextFromHtml(html: string): HtmlReading {
  if (html.length > MAX_CHARACTERS && html.replace(IMAGE_DATA, '').length > MAX_CHARACTERS) {
    return { ok: false, problem: problem('HTML_TOO_LONG', { max: MAX_CHARACTERS }) };
  }
  const builder = new Builder();
  const parser = new Parser({
    onopentag: (name, attributes) => builder.open(name, attributes),
    onclosetag: () => builder.close(),
    ontext: (data) => builder.text(data),
  });
  try {
    parser.end(html);
    return { ok: true, doc: builder.end() };
  } catch (error) {
    if (error instanceof TooMuch) return { ok: false, problem: problem('HTML_TOO_COMPLEX') };
    throw error;
  }
}
