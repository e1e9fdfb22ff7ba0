/**
 * Record types: fields, versions, data types and dictionaries, and the values of each data type.
 *
 * They are configured in the bundle sections `settings` and `types`, stored as configuration rows, and read as one registry per
 * snapshot. Invariants:
 * - A version that stored records use is never removed.
 * - A compatible change applies to the newest version; an incompatible change makes a new version.
 * - A value in a record has the canonical form of its data type.
 */
export { conditionEnvironment, fieldResolver, setValue, today, variables } from './conditions.ts';
export { FieldSchema } from './contract.ts';
export type {
  FieldDefinition,
  LocalizedText,
  TransitionDefinition,
  TransitionField,
  TypeDefinition,
  WorkflowDefinition,
} from './definitions.ts';
export { fieldSchema } from './queries.ts';
export {
  findType,
  localized,
  mismatchedVersions,
  named,
  type RecordType,
  registry,
  type StateView,
  type TypeRegistry,
  type TypeVersion,
  typeView,
  versionOf,
} from './registry.ts';
export { metadataRoutes } from './routes.ts';
export { ensureNumbering, numberSequence } from './store.ts';
export { cellOf, needsGuard, valueOfCell } from './value-cells.ts';
export { convertValue } from './value-compatibility.ts';
export {
  checkValue,
  foldedCopy,
  idsIn,
  isBlankText,
  type NamedIds,
  plainText,
  titleText,
} from './values.ts';
export { checkRichText, richTextPlain } from './rich-text.ts';
export { type InlineImage, imageHandles } from './rich-text-images.ts';
export { readRichTextTask, withLongTextsRead } from './rich-text-long.ts';
export { checkMarkdown, isPlainMarkdown, markdownOf, plainMarkdown } from './rich-text-markdown.ts';
export type { RichNode } from './rich-text-schema.ts';
