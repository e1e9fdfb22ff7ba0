/**
 * Values of fields: from the wire into the form in which records keep them, and back (decisions, "Record types, fields,
 * values"). Pure.
 *
 * Stored forms are canonical: equal values are equal JSON, and what is stored, given in again, comes out unchanged. Texts
 * are in NFC; a decimal is the shortest string of its digits; an instant has UTC and milliseconds; ids are in lower case.
 * An empty value is no value: null, the empty list, the empty string of `string` and `text`, and a rich text in which
 * nothing stands are all stored as an absent key.
 */
export { checkRichText, type RichTextCheck, richTextPlain } from './rich-text.ts';
export { extractInlineImages, type ImageMediaType, type InlineImage, imageHandles } from './rich-text-images.ts';
export type { RichMark, RichNode } from './rich-text-schema.ts';
export { checkValue, checkValues, isBlankText, type ValueCheck, type ValuesCheck } from './value-check.ts';
export { type Compatibility, compatibility, type Incompatibility } from './value-compatibility.ts';
export { checkConstraints } from './value-constraints.ts';
export { type Conversion, convertValue } from './value-convert.ts';
export { foldedCopy, idsIn, type NamedIds, plainText, sameValue, toWire } from './value-derive.ts';
