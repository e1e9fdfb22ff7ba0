/**
 * Record types: their fields, versions, data types and dictionaries, and what a value of each data type is.
 *
 * Configured through the bundle sections `settings` and `types`; kept as configuration rows and read as one registry per
 * snapshot. Invariants: a stored record's version never goes away; a compatible change holds for the newest version at once,
 * an incompatible one makes a new version; a value in a record is in the canonical form of its data type.
 */
export { conditionEnvironment, fieldResolver, today } from './conditions.ts';
export { FieldSchema } from './contract.ts';
export type {
  FieldDefinition,
  LocalizedText,
  TransitionDefinition,
  TransitionField,
  TypeDefinition,
  WorkflowDefinition,
} from './definitions.ts';
export { ensureNumbering, numberSequence } from './numbering.ts';
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
  typeSlice,
  versionOf,
} from './registry.ts';
export { metadataRoutes } from './routes.ts';
export { setValue } from './set.ts';
export { titleText } from './title.ts';
export { cellOf, needsGuard, valueOfCell } from './value-cells.ts';
export { variables } from './variables.ts';
export {
  checkRichText,
  checkValue,
  convertValue,
  foldedCopy,
  type InlineImage,
  idsIn,
  type NamedIds,
  imageHandles,
  isBlankText,
  plainText,
  type RichNode,
  richTextPlain,
} from './values.ts';
export { readRichTextTask, withLongTextsRead } from './rich-text-long.ts';
export { checkMarkdown, isPlainMarkdown, plainMarkdown } from './rich-text-markdown.ts';
export { markdownOf } from './rich-text-markdown-write.ts';
