/** Parses a given text of the knowledge base into its stored form. This is the expensive part of a write. */
import type { FaultDetail } from '../../lib/fault.ts';
import { problemAt } from '../../lib/problem.ts';
import { type ThreadTask, threads } from '../../platform/threads.ts';
import {
  checkMarkdown,
  checkRichText,
  type InlineImage,
  isPlainMarkdown,
  markdownOf,
  plainMarkdown,
  type RichNode,
} from '../metadata/index.ts';

/** A text in one of its two input forms. */
export interface GivenText {
  body?: string;
  bodyDocument?: unknown;
}

export type ReadText =
  /** `document` is null for an empty text. `body` is the Markdown that the API returns. */
  | { ok: true; document: RichNode | null; body: string; images: readonly InlineImage[] }
  | { ok: false; problems: FaultDetail[] };

/** The path of problems with the text. */
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

/** The Markdown that the API returns: the given text if it contains nothing active, else one generated from the document. */
function textOf(written: string | undefined, document: RichNode): string {
  const plain = written === undefined ? undefined : plainMarkdown(written);
  return plain !== undefined && isPlainMarkdown(plain) ? plain : markdownOf(document);
}

/** The result of a worker thread. Passing the document as a JSON string costs the event loop least. */
interface Travelling {
  /** A `ReadText` as JSON, without its images. */
  json: string;
  images: readonly InlineImage[];
}

/**
 * Parses texts in worker threads. The input is the given text as JSON; up to `inline` characters are parsed in the event loop.
 */
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
 * Like `readText`, but parses long texts in a worker thread. For some texts the time grows with the square of the length. They
 * are refused as TOO_COMPLEX, and only the request that sent them waits.
 *
 * @param caller the user in whose queue the task waits
 * @throws Fault OVERLOADED when too many texts are waiting
 */
export async function readLongText({ body, bodyDocument }: GivenText, caller: string | null): Promise<ReadText> {
  const given: GivenText = body === undefined ? { bodyDocument } : { body };
  if (body === undefined && bodyDocument === undefined) return readText(given);
  const json = JSON.stringify(given);
  if (json.length <= readTextTask.inline) return readText(given);
  const result = await threads.run(readTextTask, json, { size: json.length, caller });
  if (!result.ok) {
    return { ok: false, problems: [problemAt(textPath(given), 'DOCUMENT_TOO_COMPLEX')] };
  }
  const read = JSON.parse(result.value.json) as ReadText;
  return read.ok ? { ...read, images: result.value.images } : read;
}
