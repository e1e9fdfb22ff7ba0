/** A text of the knowledge base as it is given, read into the form in which it is kept. Pure, and the costly part of a write. */
import type { FaultDetail } from '../../lib/fault.ts';
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
