/** Which fields of a record type take the subject and the text of a mail, and names in templates that are not fields. */
import type { FieldDefinition, TypeDefinition } from '../metadata/index.ts';

/** The field for the text of a mail that becomes a record. */
const TEXT_FIELD = 'description';
/** Code of the field that names the requester. */
const REQUESTER_FIELD = 'requester';

/**
 * Values of a mail that are not fields: the address of the record, the text and author of the comment, the name of the
 * recipient, and what happened.
 */
const MAIL_NAMES: ReadonlySet<string> = new Set(['$url', '$comment', '$author', '$recipient', '$event']);

export function isMailName(name: string): boolean {
  return MAIL_NAMES.has(name);
}

export interface MailFields {
  /** Takes the subject; null if the type has no writable title field of one text. */
  title: string | null;
  /** Takes the text. Without it, the text becomes the first comment. */
  text: FieldDefinition | null;
  requester: string | null;
}

function writable(type: TypeDefinition, code: string, dataTypes: readonly string[]): FieldDefinition | null {
  const field = type.fields.find((one) => one.code === code);
  const fits = field !== undefined && !field.readOnly && !field.multiple && dataTypes.includes(field.dataType);
  return fits ? field : null;
}

/** The fields that a mail fills, apart from the `defaults` of the mailbox. */
export function mailFields(type: TypeDefinition): MailFields {
  return {
    title: type.title === undefined ? null : (writable(type, type.title, ['string', 'text'])?.code ?? null),
    text: writable(type, TEXT_FIELD, ['text', 'rich-text']),
    requester: writable(type, REQUESTER_FIELD, ['user'])?.code ?? null,
  };
}

/** Codes of required fields that neither a mail nor the given values fill. */
export function unfilledFields(type: TypeDefinition, given: Readonly<Record<string, unknown>>): string[] {
  const { title, text, requester } = mailFields(type);
  const filled = new Set([title, text?.code, requester, ...Object.keys(given)]);
  return type.fields
    .filter(({ code, required, default: value }) => required && value === undefined && !filled.has(code))
    .map(({ code }) => code);
}
