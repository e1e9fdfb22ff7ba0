/** Checks values from requests. `values.ts` describes the stored forms. */
import type { FaultDetail } from '../../lib/fault.ts';
import { pointer } from '../../lib/json.ts';
import type { FieldDefinition } from './definitions.ts';
import { checkRichText } from './rich-text.ts';
import type { InlineImage } from './rich-text-images.ts';
import { checkScalar } from './value-scalars.ts';

/** Maximum number of elements of a multiple field. */
export const MOST_ELEMENTS = 100;

const NO_IMAGES: readonly InlineImage[] = [];

/** `stored` is null for an empty value. `images` were extracted from a rich text and must be stored as blobs. */
export type ValueCheck =
  | { ok: true; stored: unknown; images: readonly InlineImage[] }
  | { ok: false; problems: FaultDetail[] };

/**
 * Returns the stored form of a value from a request. Whether an empty value is allowed (`checkValues`) and whether ids exist
 * (`idsIn`) is checked elsewhere, where the whole record is known.
 *
 * @param path JSON Pointer of the value; details point to the value or into it
 */
export function checkValue(field: FieldDefinition, input: unknown, path: string): ValueCheck {
  if (input === null || input === undefined) return { ok: true, stored: null, images: NO_IMAGES };
  if (field.dataType === 'rich-text') return checkRichText(input, path);
  if (field.multiple) return checkElements(field, input, path);
  const checked = checkScalar(field, input, path);
  return checked.ok
    ? { ok: true, stored: lacks(field, checked.stored) ? null : checked.stored, images: NO_IMAGES }
    : { ok: false, problems: [checked.problem] };
}

/** Whether a stored `string` or `text` is only white space. Such a value does not satisfy `required`. */
export function isBlankText(field: FieldDefinition, stored: unknown): boolean {
  const text = field.dataType === 'string' || field.dataType === 'text';
  return text && typeof stored === 'string' && stored.trim() === '';
}

function lacks(field: FieldDefinition, stored: unknown): boolean {
  return stored === null || (field.required && isBlankText(field, stored));
}

function checkElements(field: FieldDefinition, input: unknown, path: string): ValueCheck {
  const refuse = (code: string, message: string): ValueCheck => ({ ok: false, problems: [{ path, code, message }] });
  if (!Array.isArray(input)) return refuse('WRONG_TYPE', 'The value must be a list.');
  const most = Math.min(field.constraints.maxItems ?? MOST_ELEMENTS, MOST_ELEMENTS);
  if (input.length > most) return refuse('TOO_MANY', `The list may have at most ${most} elements.`);
  const stored: unknown[] = [];
  const seen = new Set<unknown>();
  const problems: FaultDetail[] = [];
  for (const [index, element] of input.entries()) {
    const at = `${path}/${index}`;
    const checked = checkScalar(field, element, at);
    if (!checked.ok) problems.push(checked.problem);
    else if (lacks(field, checked.stored)) {
      problems.push({ path: at, code: 'EMPTY_ELEMENT', message: 'An element of a list must not be empty.' });
    } else if (seen.has(checked.stored)) {
      problems.push({ path: at, code: 'NOT_UNIQUE', message: 'An element may stand in the list only once.' });
    } else {
      seen.add(checked.stored);
      stored.push(checked.stored);
    }
  }
  if (problems.length > 0) return { ok: false, problems };
  return { ok: true, stored: stored.length > 0 ? stored : null, images: NO_IMAGES };
}

/** The same text for a field that does not exist and one that the caller may not read. */
export function unknownField(path: string): FaultDetail {
  return { path, code: 'UNKNOWN_FIELD', message: 'There is no such field.' };
}

export type ValuesCheck =
  | {
      ok: true;
      /** Field code → stored value, without empty values. */
      values: Record<string, unknown>;
      /** Codes of the fields whose given value is empty. */
      cleared: string[];
      images: readonly InlineImage[];
    }
  | { ok: false; problems: FaultDetail[] };

/**
 * Returns the stored forms of a map of values, or all problems at once. With `whole`, for a new record, defaults fill absent
 * keys (never a `null`) and required values must be present. Without it, only clearing a required field is a problem.
 *
 * @param fields the fields that the caller may name; any other key is an unknown field
 * @param at JSON Pointer of the map
 */
export function checkValues(
  fields: Iterable<FieldDefinition>,
  input: Readonly<Record<string, unknown>>,
  { at = '/values', whole }: { at?: string; whole: boolean },
): ValuesCheck {
  const known = new Map(Array.from(fields, (field) => [field.code, field]));
  const values: [string, unknown][] = [];
  const cleared: string[] = [];
  const images: InlineImage[] = [];
  const problems: FaultDetail[] = [];
  const required = (code: string): unknown =>
    problems.push({ path: at + pointer(code), code: 'REQUIRED', message: 'A value is required.' });
  for (const [code, value] of Object.entries(input)) {
    const field = known.get(code);
    const checked = field === undefined ? undefined : checkValue(field, value, at + pointer(code));
    if (field === undefined || checked === undefined) problems.push(unknownField(at + pointer(code)));
    else if (!checked.ok) problems.push(...checked.problems);
    else if (checked.stored !== null) {
      values.push([code, checked.stored]);
      images.push(...checked.images);
    } else if (field.required) required(code);
    else cleared.push(code);
  }
  for (const field of whole ? known.values() : []) {
    if (Object.hasOwn(input, field.code)) continue;
    if (field.default !== undefined && field.default !== null) values.push([field.code, field.default]);
    else if (field.required) required(field.code);
  }
  if (problems.length > 0) return { ok: false, problems };
  return { ok: true, values: Object.fromEntries(values), cleared, images };
}
