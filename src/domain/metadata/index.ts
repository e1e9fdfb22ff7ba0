/**
 * Record types: fields, versions, data types and dictionaries, and the values of each data type.
 *
 * They are configured in the bundle sections `settings` and `types`, stored as configuration rows, and read as one registry per
 * snapshot. Invariants:
 * - A version that stored records use is never removed.
 * - A compatible change applies to the newest version; an incompatible change makes a new version.
 * - A value in a record has the canonical form of its data type.
 */
export { conditionEnvironment, CurrentVariables, fieldResolver, setValue, today, variables } from './conditions.ts';
export { FieldSchema } from './contract.ts';
export { fieldInRole, fieldsInRole } from './field-roles.ts';
export {
  type FieldDefinition,
  fieldLists,
  findType,
  localized,
  type LocalizedText,
  mismatchedVersions,
  named,
  type RecordType,
  registry,
  type StateView,
  type TransitionDefinition,
  type TransitionField,
  type TypeDefinition,
  type TypeRegistry,
  type TypeVersion,
  typeView,
  versionOf,
  type WorkflowDefinition,
} from './registry.ts';
export { usesHiddenField } from './impact.ts';
export { fieldSchema, type FieldSchemaAnswer } from './queries.ts';
export { typesSection } from './types-section.ts';
export { ensureNumbering, numberSequence } from './store.ts';
export {
  cellOf,
  checkValue,
  foldedCopy,
  idsIn,
  idsOf,
  isBlankText,
  type NamedIds,
  needsGuard,
  plainText,
  titleText,
  valueOfCell,
} from './values.ts';
export { decodeValue, type StoredCodes, storedCodes, type StoredValues } from './stored-codes.ts';
export { convertValue } from './value-compatibility.ts';
export { checkRichText, richTextPlain, withLongTextsRead } from './rich-text.ts';
export { type InlineImage, imageHandles } from './rich-text-images.ts';
export { checkMarkdown, isPlainMarkdown, markdownOf, plainMarkdown } from './rich-text-markdown.ts';
export type { RichNode } from './rich-text-schema.ts';
