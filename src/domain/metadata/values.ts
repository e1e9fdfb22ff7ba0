/**
 * Values of fields: their API form, their stored form, and conversions between them (docs/spec/records.md#values). Pure.
 *
 * Stored forms are canonical: equal values are equal JSON, and storing a stored value again does not change it. Texts are in
 * NFC. A decimal is the shortest string of its digits. An instant is in UTC with milliseconds. Ids are in lower case. An empty
 * value is no value: null, the empty list, the empty string of `string` and `text`, and an empty rich text are all stored as an
 * absent key.
 */
export { checkRichText, type RichTextCheck, richTextPlain } from './rich-text.ts';
export { extractInlineImages, type ImageMediaType, type InlineImage, imageHandles } from './rich-text-images.ts';
export type { RichMark, RichNode } from './rich-text-schema.ts';
export { checkValue, checkValues, isBlankText, type ValueCheck, type ValuesCheck } from './value-check.ts';
export { type Compatibility, compatibility, type Incompatibility } from './value-compatibility.ts';
export { checkConstraints } from './value-constraints.ts';
export { type Conversion, convertValue } from './value-convert.ts';
export { foldedCopy, idsIn, type NamedIds, plainText, sameValue, toWire } from './value-derive.ts';
