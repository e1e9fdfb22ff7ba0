/** Pure decisions on values: what a create or a change would store, or every reason why not. No database, no clock. */
import { Fault, type FaultDetail } from '../../lib/fault.ts';
import { TEXT_TYPES } from '../../lib/data-types.ts';
import { deepEqualJson, pointer } from '../../lib/json.ts';
import { fold } from '../../lib/text.ts';
import type { RecordRight } from '../../mechanisms/context.ts';
import {
  checkValue,
  type FieldDefinition,
  foldedCopy,
  type InlineImage,
  isBlankText,
  type TypeVersion,
  titleText,
} from '../metadata/door.ts';
import { imagesIn, strangeImages } from './rules-images.ts';

export type Values = Record<string, unknown>;

/** Problems of the values of one request that are collected. */
const MOST_PROBLEMS = 200;

/** One wording for a name that was never configured and for a field that the caller may not see. */
function unknownField(code: string): FaultDetail {
  return { path: pointer('values', code), code: 'UNKNOWN_FIELD', message: 'There is no such field.' };
}

export function invalidValues(problems: FaultDetail[]): Fault {
  return new Fault('INVALID_VALUES', 'Some values are not acceptable; details name each field.', problems);
}

function readOnly(codes: readonly string[], member: string): Fault {
  return new Fault(
    'FIELD_READ_ONLY',
    'You may read but not change some of the fields; details name them.',
    codes.map((code) => ({
      path: pointer(member, code),
      code: 'FIELD_READ_ONLY',
      message: 'You may read this field but not change it.',
    })),
  );
}

/** Which fields the caller may name at all, on whatever record of the type. */
export interface FieldReach {
  reads(code: string): boolean;
  writes(code: string): boolean;
}

/**
 * Splits the given values into stored ones and problems. `member` is the body's member that holds them. Fields out of the
 * caller's reach get one wording, before their value is looked at: an error about a hidden field would tell that it is there.
 */
function accept(
  version: TypeVersion,
  given: Values,
  member: string,
  reach: FieldReach,
  knownImages: ReadonlySet<string>,
): { stored: Values; images: InlineImage[]; problems: FaultDetail[] } {
  const stored: Values = {};
  const images: InlineImage[] = [];
  const problems: FaultDetail[] = [];
  for (const code of Object.keys(given)) {
    // An answer names no more of them, and each costs time.
    if (problems.length >= MOST_PROBLEMS) break;
    const value = given[code];
    const field = version.fields.get(code);
    if (field === undefined || !(reach.reads(code) || reach.writes(code))) {
      problems.push({ ...unknownField(code), path: pointer(member, code) });
      continue;
    }
    const path = pointer(member, code);
    const checked = checkValue(field, value, path);
    if (!checked.ok) {
      problems.push(...checked.problems);
      continue;
    }
    stored[code] = checked.stored;
    if (field.dataType !== 'rich-text' || checked.stored === null) continue;
    images.push(...checked.images);
    problems.push(...strangeImages(checked, knownImages, path));
  }
  return { stored, images, problems };
}

function isEmpty(value: unknown): boolean {
  // `checkValue` gives null for whatever is empty in its data type; an empty list of a json field is a value.
  return value === undefined || value === null;
}

function withoutEmpty(values: Values): Values {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => !isEmpty(value)));
}

/** What is missing for the type, or for the form; a field that the caller cannot write is not named. */
function missing(
  version: TypeVersion,
  values: Values,
  member: string,
  reach: FieldReach,
  form: ReadonlyMap<string, boolean> | undefined,
): FaultDetail[] {
  const problems: FaultDetail[] = [];
  let hidden = false;
  for (const field of version.fields.values()) {
    const required = field.required || form?.get(field.code) === true;
    if (!required || !(isEmpty(values[field.code]) || isBlankText(field, values[field.code]))) continue;
    if (reach.reads(field.code) || reach.writes(field.code)) {
      problems.push({ path: pointer(member, field.code), code: 'REQUIRED', message: 'A value is required.' });
    } else hidden = true;
  }
  if (hidden) {
    problems.push({
      path: pointer(member),
      code: 'REQUIRED',
      message: 'You cannot give everything that is required here.',
    });
  }
  return problems;
}

/**
 * What a create would store: the values given, defaults for absent keys (never for a `null`), and over them what the
 * configuration writes; `form` says what else must have a value.
 *
 * @throws Fault INVALID_VALUES with every problem at once
 */
export function planValues(
  version: TypeVersion,
  given: Values,
  member: string,
  reach: FieldReach,
  configured?: { form: ReadonlyMap<string, boolean>; writes(given: Values): Values },
): { values: Values; images: readonly InlineImage[] } {
  const { stored, images, problems } = accept(version, given, member, reach, new Set());
  for (const field of version.fields.values()) {
    if (!Object.hasOwn(given, field.code) && field.default !== undefined) stored[field.code] = field.default;
  }
  const values = withoutEmpty({ ...stored, ...configured?.writes(stored) });
  const named = new Set(problems.map((problem) => problem.path));
  problems.push(
    ...missing(version, values, member, reach, configured?.form).filter((problem) => !named.has(problem.path)),
  );
  if (problems.length > 0) throw invalidValues(problems);
  return { values, images };
}

/**
 * The fields given must be writable on this very record.
 *
 * @throws Fault INVALID_VALUES for fields that are hidden here, FIELD_READ_ONLY for those that are readable
 */
export function requireWritable(right: RecordRight, codes: readonly string[], member: string): void {
  const refused = codes.filter((code) => !right.writes(code));
  const hidden = refused.filter((code) => !right.reads(code));
  if (hidden.length > 0) {
    throw invalidValues(hidden.map((code) => ({ ...unknownField(code), path: pointer(member, code) })));
  }
  if (refused.length > 0) throw readOnly(refused, member);
}

/**
 * The order of checks puts rights before the state of the record and before values (decisions, "Requests…"): what may be read
 * here but not written is refused whatever else is wrong. Fields that may not be read say nothing yet.
 *
 * @throws Fault FIELD_READ_ONLY
 */
export function requireNoneReadOnly(
  version: TypeVersion,
  right: FieldReach,
  codes: readonly string[],
  member: string,
): void {
  const refused = codes.filter((code) => version.fields.has(code) && right.reads(code) && !right.writes(code));
  if (refused.length > 0) throw readOnly(refused, member);
}

export interface PlannedChange {
  values: Values;
  /** Field code → [before, after], only of what differs. */
  changes: Record<string, [unknown, unknown]>;
  /** Images that came with the values, to be kept with the change. */
  images: readonly InlineImage[];
}

/**
 * What a change would store. Each value replaces the stored one whole; `null` clears. Fields equal to what is stored are no
 * change.
 *
 * @param whole the values are those of a whole record, as in a row of an import: a field that may be read but not written is
 *   refused only where the value differs from what is stored
 * @throws Fault INVALID_VALUES, FIELD_READ_ONLY
 */
export function planChange(
  version: TypeVersion,
  current: Values,
  given: Values,
  member: string,
  right: RecordRight,
  whole = false,
): PlannedChange {
  const known = imagesIn(version, current, (code) => right.reads(code));
  const { stored, images, problems } = accept(version, given, member, right, known);
  const values: Values = { ...current };
  const changes: Record<string, [unknown, unknown]> = {};
  const equal = new Set<string>();
  for (const [code, value] of Object.entries(stored)) {
    const next = isEmpty(value) ? undefined : value;
    const before = Object.hasOwn(current, code) ? current[code] : undefined;
    if (deepEqualJson(before, next)) equal.add(code);
    if (whole && equal.has(code)) continue;
    if (next === undefined && version.fields.get(code)?.required === true) {
      problems.push({ path: pointer(member, code), code: 'REQUIRED', message: 'A required value cannot be cleared.' });
      continue;
    }
    if (equal.has(code)) continue;
    changes[code] = [before ?? null, next ?? null];
    if (next === undefined) delete values[code];
    else values[code] = next;
  }
  const asked = whole
    ? Object.keys(given).filter((code) => !(equal.has(code) && right.reads(code)))
    : Object.keys(stored);
  if (whole) requireNoneReadOnly(version, right, asked, member);
  if (problems.length > 0) throw invalidValues(problems);
  requireWritable(right, asked, member);
  return { values, changes, images };
}

/** What is stored beside the values: folded copies for conditions, and the text that names the record. */
export function derive(
  version: TypeVersion,
  values: Values,
): { folded: Record<string, string | string[]>; title: string | null } {
  const fields: FieldDefinition[] = [...version.fields.values()];
  const title = titleText(version, values);
  const folded: Record<string, string | string[]> = foldedCopy(fields, values);
  // Under a key that no field can have: conditions on the system field `title` compare this copy.
  if (title !== null) folded.$title = fold(title);
  return { folded, title };
}

/** Whether a change of these fields may change what `derive` gives. */
export function changesText(version: TypeVersion, codes: readonly string[]): boolean {
  return codes.some((code) => {
    const field = version.fields.get(code);
    return code === version.titleField || (field !== undefined && TEXT_TYPES.has(field.dataType));
  });
}
