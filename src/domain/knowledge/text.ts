/** A text of the knowledge base as it is given, read into the form in which it is kept: the expensive part of a write. */
import type { FaultDetail } from '../../lib/fault.ts';
import { type ThreadTask, threads } from '../../mechanisms/threads.ts';
import {
  checkMarkdown,
  checkRichText,
  type InlineImage,
  isPlainMarkdown,
  markdownOf,
  plainMarkdown,
  type RichNode,
} from '../metadata/door.ts';

/** One of the two forms in which a text may be given. */
export interface GivenText {
  body?: string;
  bodyDocument?: unknown;
}

export type ReadText =
  /** `document` is null where nothing stands in the text; `body` is the Markdown that is served. */
  | { ok: true; document: RichNode | null; body: string; images: readonly InlineImage[] }
  | { ok: false; problems: FaultDetail[] };

/** Where problems of the text point to. */
export function textPath({ body }: GivenText): string {
  return body === undefined ? '/bodyDocument' : '/body';
}

export function readText(given: GivenText): ReadText {
  const { body, bodyDocument } = given;
  const path = textPath(given);
  const checked = body === undefined ? checkRichText(bodyDocument, path) : checkMarkdown(body, path);
  if (!checked.ok) return checked;
  const { stored, images } = checked;
  return { ok: true, document: stored, body: stored === null ? '' : textOf(body, stored), images };
}

/** The Markdown that is served: as it was written where nothing in it could act, else made of the document. */
function textOf(written: string | undefined, document: RichNode): string {
  const plain = written === undefined ? undefined : plainMarkdown(written);
  return plain !== undefined && isPlainMarkdown(plain) ? plain : markdownOf(document);
}

/** A text that was read in a worker thread. The document travels as JSON, which costs the event loop least. */
interface Travelling {
  /** A `ReadText` as JSON, without its images. */
  json: string;
  images: readonly InlineImage[];
}

/** Reads texts in worker threads. Its input is the given text as JSON, of up to so many characters in the event loop. */
export const readTextTask: ThreadTask<string, Travelling> = {
  name: 'knowledge.text',
  // The slowest texts of this length take about 30 ms.
  inline: 8000,
  run: (json) => {
    const read = readText(JSON.parse(json) as GivenText);
    if (!read.ok) return { json: JSON.stringify(read), images: [] };
    return { json: JSON.stringify({ ...read, images: [] }), images: read.images };
  },
};

/**
 * As `readText`, with long texts read in a worker thread. Some texts take a time that grows with the square of their length;
 * they are refused as TOO_COMPLEX, and only the request that sent them waits.
 *
 * @param caller whose turn it takes
 * @throws Fault OVERLOADED where too many texts wait
 */
export async function readLongText({ body, bodyDocument }: GivenText, caller: string | null): Promise<ReadText> {
  const given: GivenText = body === undefined ? { bodyDocument } : { body };
  if (body === undefined && bodyDocument === undefined) return readText(given);
  const json = JSON.stringify(given);
  if (json.length <= readTextTask.inline) return readText(given);
  const result = await threads.run(readTextTask, json, { size: json.length, caller });
  if (!result.ok) {
    const message = 'The text takes too long to read. Simplify or shorten it.';
    return { ok: false, problems: [{ path: textPath(given), code: 'TOO_COMPLEX', message }] };
  }
  const read = JSON.parse(result.value.json) as ReadText;
  return read.ok ? { ...read, images: result.value.images } : read;
}
