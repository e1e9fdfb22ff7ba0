/** Converts stored values of an older version of a type to a newer one (docs/spec/records.md#type-versions). */
import { type DataType, ID_TYPES } from '../../lib/data-types.ts';
import type { FieldDefinition } from './definitions.ts';
import { richTextPlain } from './rich-text.ts';
import type { RichNode } from './rich-text-schema.ts';
import { checkValue } from './value-check.ts';
import { plainText } from './value-derive.ts';

/** `stored` is null if the record has no value afterwards. `reason` completes "cannot be kept: …". */
export type Conversion = { ok: true; stored: unknown } | { ok: false; reason: string };

/**
 * Converts a stored value of `from` to the equivalent stored value of `to`, without loss. An absent value becomes the default
 * if the new field is required, and stays absent otherwise.
 *
 * The following conversions between data types exist: a value whose text is valid in the new type (`"12"` to 12, an enum's code
 * to a string, a date to its text), any value to `json` and back, one value to a list and a list of one to a value, plain
 * paragraphs to text and text to paragraphs. Ids convert only to text, because items of another kind have other ids.
 *
 * @param from the field in the older version; undefined for a new field
 */
export function convertValue(from: FieldDefinition | undefined, to: FieldDefinition, stored: unknown): Conversion {
  if (from === undefined || stored === null || stored === undefined) return absent(to);
  const elements: unknown[] = from.multiple && Array.isArray(stored) ? stored : [stored];
  if (to.dataType === 'json') return checked(to, stored);
  if (from.dataType === 'json') return fromJson(to, stored);
  if (!to.multiple && elements.length > 1) return { ok: false, reason: 'the list has more than one element' };
  const converted: unknown[] = [];
  for (const element of elements) {
    const single = convertOne(from, to, element);
    if (!single.ok) return single;
    converted.push(single.stored);
  }
  return checked(to, to.multiple ? converted : converted[0]);
}

function absent(to: FieldDefinition): Conversion {
  if (!to.required) return { ok: true, stored: null };
  if (to.default === undefined || to.default === null)
    return { ok: false, reason: 'the field is required and has no default' };
  return { ok: true, stored: to.default };
}

function checked(to: FieldDefinition, value: unknown): Conversion {
  const result = checkValue(to, value, '');
  if (!result.ok) return { ok: false, reason: result.problems[0]?.message ?? 'the value does not fit' };
  if (result.images.length > 0) return { ok: false, reason: 'the value holds images that are not kept as such' };
  return result.stored === null ? absent(to) : { ok: true, stored: result.stored };
}

function fromJson(to: FieldDefinition, value: unknown): Conversion {
  // Ids in free JSON were never checked. A string would be read as HTML.
  if (ID_TYPES.has(to.dataType) || (to.dataType === 'rich-text' && typeof value === 'string')) {
    return { ok: false, reason: `this json does not convert to ${to.dataType}` };
  }
  return checked(to, to.multiple && !Array.isArray(value) ? [value] : value);
}

/** Data types whose values convert from and to text unchanged. */
const TEXTS: ReadonlySet<DataType> = new Set(['string', 'text', 'url', 'email', 'phone', 'enum']);

/** Converts one element to a value that `checkValue` of the new field can check. */
function convertOne(from: FieldDefinition, to: FieldDefinition, value: unknown): Conversion {
  const impossible: Conversion = { ok: false, reason: `a ${from.dataType} does not convert to ${to.dataType}` };
  if (from.dataType === to.dataType) return { ok: true, stored: value };
  if (ID_TYPES.has(to.dataType)) return impossible;
  if (from.dataType === 'rich-text') return TEXTS.has(to.dataType) ? wordsOf(value as RichNode) : impossible;
  if (to.dataType === 'rich-text')
    return TEXTS.has(from.dataType) ? { ok: true, stored: paragraphs(String(value)) } : impossible;
  if (to.dataType === 'integer' && from.dataType === 'decimal') return readInteger(String(value));
  if (to.dataType === 'decimal' && from.dataType === 'integer') return { ok: true, stored: value };
  if (TEXTS.has(to.dataType)) return { ok: true, stored: plainText({ ...from, multiple: false }, value) };
  if (!TEXTS.has(from.dataType)) return impossible;
  return fromText(to.dataType, String(value));
}

function fromText(dataType: DataType, text: string): Conversion {
  if (dataType === 'integer') return readInteger(text);
  if (dataType !== 'boolean') return { ok: true, stored: text };
  if (text === 'true' || text === 'false') return { ok: true, stored: text === 'true' };
  return { ok: false, reason: 'the text is neither true nor false' };
}

function readInteger(text: string): Conversion {
  if (/^-?[0-9]{1,16}$/.test(text)) return { ok: true, stored: Number(text) };
  return { ok: false, reason: 'the value is not an integer' };
}

/** The text of a document that consists of plain paragraphs only. */
function wordsOf(doc: RichNode): Conversion {
  const plain = (doc.content ?? []).every(
    (block) => block.type === 'paragraph' && (block.content ?? []).every((node) => node.marks === undefined),
  );
  return plain
    ? { ok: true, stored: (doc.content ?? []).map(richTextPlain).join('\n') }
    : { ok: false, reason: 'the rich text is more than plain paragraphs' };
}

function paragraphs(text: string): RichNode {
  const content = text
    .split(/\r\n?|\n/)
    .map(
      (line): RichNode =>
        line === '' ? { type: 'paragraph' } : { type: 'paragraph', content: [{ type: 'text', text: line }] },
    );
  return { type: 'doc', content };
}
