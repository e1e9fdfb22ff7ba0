/**
 * Pure checks on images in rich text. A handle alone must not give access to an image that the writer of the text could not
 * see.
 */
import type { FaultDetail } from '../../lib/fault.ts';
import { type InlineImage, imageHandles, type RichNode, type TypeVersion } from '../metadata/index.ts';

/** SHA-256 of the images in the rich text of a record, in the fields that `reads` accepts. */
export function imagesIn(
  version: TypeVersion,
  values: Readonly<Record<string, unknown>>,
  reads: (code: string) => boolean,
): Set<string> {
  const found = new Set<string>();
  for (const { code, dataType } of version.fields.values()) {
    if (dataType !== 'rich-text' || !Object.hasOwn(values, code) || !reads(code)) continue;
    for (const sha256 of imageHandles(values[code] as RichNode)) found.add(sha256);
  }
  return found;
}

/**
 * Problems with the image handles in a text to be stored. Each handle must name an image that was sent with the text, or one in
 * `known`: the images that the caller sees in the stored record.
 */
export function strangeImages(
  text: { stored: unknown; images: readonly InlineImage[] },
  known: ReadonlySet<string>,
  path: string,
): FaultDetail[] {
  const brought = new Set(text.images.map((image) => image.sha256));
  const strange = imageHandles(text.stored as RichNode).some((sha256) => !brought.has(sha256) && !known.has(sha256));
  if (!strange) return [];
  const message = 'A blob: handle names no image of this record; send the image as a data URL.';
  return [{ path, code: 'UNKNOWN_IMAGE', message }];
}
