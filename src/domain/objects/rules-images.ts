/** Pure decisions on images in rich text: a handle alone must not open content that its writer could not see. */
import type { FaultDetail } from '../../lib/fault.ts';
import { type InlineImage, imageHandles, type RichNode, type TypeVersion } from '../metadata/door.ts';

/** SHA-256 of the images in the rich text of a record, in the fields that `reads` admits. */
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
 * What is wrong with the handles in a text that is about to be stored: each names an image that came with the text, or one that
 * the caller sees in the record as it stands (`known`).
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
