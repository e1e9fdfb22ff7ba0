/**
 * Pure decisions on values: what a create or a change would store, or every reason why it is refused. No database, no clock.
 */
import { Fault, type FaultDetail, invalidValues } from '../../lib/fault.ts';
import { isFolded } from '../../lib/data-types/index.ts';
import { deepEqualJson, pointer } from '../../lib/json.ts';
import { problemAt } from '../../lib/problem.ts';
import { fold } from '../../lib/text.ts';
import { canName, type FieldAccess } from '../../contract/rights.ts';
import type { RecordRight } from '../../platform/unit-of-work/context.ts';
import {
  checkValue,
  type FieldDefinition,
  fieldLists,
  foldedCopy,
  type InlineImage,
  isBlankText,
  type TypeVersion,
  titleText,
  imageHandles,
  type RichNode,
} from '../metadata/index.ts';

export type Values = Record<string, unknown>;

/** A decision on values. It yields before each long text, so that other requests can run in between (`inTurns`). */
export type Steps<Decision> = Generator<undefined, Decision>;

/** Before a longer text is checked or folded, other requests may run. In characters. */
const LONG_TEXT = 10_000;

/** Maximum number of problems collected for one request. */
const MAX_PROBLEMS = 200;

/** The values with these codes, as far as they are given. */
export function pick(values: Values, codes: readonly string[]): Values {
  return Object.fromEntries(codes.flatMap((code) => (Object.hasOwn(values, code) ? [[code, values[code]]] : [])));
}

/** The same message for a field that does not exist and one that the caller may not see. */
function unknownField(code: string): FaultDetail {
  return problemAt(pointer('values', code), 'UNKNOWN_FIELD');
}

function readOnly(codes: readonly string[], member: string): Fault {
  return new Fault(
    'FIELD_READ_ONLY',
    'You may read but not change the fields in details. Leave them out.',
    codes.map((code) => problemAt(pointer(member, code), 'FIELD_READ_ONLY')),
  );
}

/** Field → member of the request body → JSON Pointer of its value. */
const paths = new WeakMap<FieldDefinition, Map<string, string>>();

/** Kept for each field, because a path is needed before it is known whether the value has a problem. */
function pathOf(field: FieldDefinition, member: string): string {
  let known = paths.get(field);
  if (known === undefined) paths.set(field, (known = new Map()));
  let path = known.get(member);
  if (path === undefined) known.set(member, (path = pointer(member, field.code)));
  return path;
}

/**
 * Splits the given values into stored ones and problems. `member` is the member of the request body that holds them. A field
 * that the caller may neither read nor write is reported as unknown before its value is checked: any other error would reveal
 * that it exists.
 */
function* accept(
  version: TypeVersion,
  given: Values,
  member: string,
  access: FieldAccess,
  knownImages: ReadonlySet<string>,
): Steps<{ stored: Values; images: InlineImage[]; problems: FaultDetail[] }> {
  const stored: Values = {};
  const images: InlineImage[] = [];
  const problems: FaultDetail[] = [];
  for (const code of Object.keys(given)) {
    // The response names no more problems, and each check costs time.
    if (problems.length >= MAX_PROBLEMS) break;
    const value = given[code];
    // A long text takes some milliseconds, and a record can have many.
    if (typeof value === 'string' && value.length > LONG_TEXT) yield;
    const field = version.fields.get(code);
    if (field === undefined || !canName(access, code)) {
      problems.push({ ...unknownField(code), path: pointer(member, code) });
      continue;
    }
    const path = pathOf(field, member);
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
  // `checkValue` returns null for an empty value of any data type. An empty list in a json field is a value.
  return value === undefined || value === null;
}

function withoutEmpty(values: Values): Values {
  const kept: Values = {};
  for (const code of Object.keys(values)) if (!isEmpty(values[code])) kept[code] = values[code];
  return kept;
}

/** Missing values that the type or the form requires. Fields that the caller may neither read nor write are not named. */
function missing(
  version: TypeVersion,
  values: Values,
  member: string,
  access: FieldAccess,
  form: ReadonlyMap<string, boolean> | undefined,
): FaultDetail[] {
  const problems: FaultDetail[] = [];
  let hidden = false;
  for (const field of form === undefined ? fieldLists(version).required : version.fields.values()) {
    const required = field.required || form?.get(field.code) === true;
    if (!required || !(isEmpty(values[field.code]) || isBlankText(field, values[field.code]))) continue;
    if (canName(access, field.code)) {
      problems.push(problemAt(pointer(member, field.code), 'REQUIRED'));
    } else hidden = true;
  }
  if (hidden) problems.push(problemAt(pointer(member), 'REQUIRED_FIELD_HIDDEN'));
  return problems;
}

/**
 * What a create would store: the given values, defaults for absent keys (never for a `null`), and on top of them the values
 * that the configuration writes. `form` names further fields that must have a value.
 *
 * @throws Fault INVALID_VALUES with every problem at once
 */
export function* planValues(
  version: TypeVersion,
  given: Values,
  member: string,
  access: FieldAccess,
  configured?: { form: ReadonlyMap<string, boolean>; writes(given: Values): Values },
): Steps<{ values: Values; images: readonly InlineImage[]; longTexts: LongTexts }> {
  const { stored, images, problems } = yield* accept(version, given, member, access, new Set());
  for (const field of fieldLists(version).withDefault) {
    if (!Object.hasOwn(given, field.code)) stored[field.code] = field.default;
  }
  const values = withoutEmpty({ ...stored, ...configured?.writes(stored) });
  const named = new Set(problems.map((problem) => problem.path));
  problems.push(
    ...missing(version, values, member, access, configured?.form).filter((problem) => !named.has(problem.path)),
  );
  if (problems.length > 0) throw invalidValues(problems);
  return { values, images, longTexts: yield* foldLongTexts(values, Object.keys(values)) };
}

/** Text → folded text, for `derive`. */
export type LongTexts = ReadonlyMap<string, string>;

const NO_LONG_TEXTS: LongTexts = new Map();

/** Folds the long texts among the values. */
function* foldLongTexts(values: Values, codes: readonly string[]): Steps<LongTexts> {
  const long = codes
    .map((code) => values[code])
    .filter((value) => typeof value === 'string' && value.length > LONG_TEXT);
  if (long.length === 0) return NO_LONG_TEXTS;
  const folded = new Map<string, string>();
  for (const text of long as string[]) {
    yield;
    folded.set(text, fold(text));
  }
  return folded;
}

/**
 * Checks that the given fields are writable on this record.
 *
 * @throws Fault INVALID_VALUES for fields that are hidden here, FIELD_READ_ONLY for those that are readable
 */
export function requireWritable(right: RecordRight, codes: readonly string[], member: string): void {
  const refused = codes.filter((code) => !right.canWrite(code));
  const hidden = refused.filter((code) => !right.canRead(code));
  if (hidden.length > 0) {
    throw invalidValues(hidden.map((code) => ({ ...unknownField(code), path: pointer(member, code) })));
  }
  if (refused.length > 0) throw readOnly(refused, member);
}

/**
 * Rights are checked before the state of the record and before values (docs/spec/conventions.md). A field that is readable but
 * not writable is therefore refused first. Hidden fields are reported later, as unknown.
 *
 * @throws Fault FIELD_READ_ONLY
 */
export function requireNoneReadOnly(
  version: TypeVersion,
  right: FieldAccess,
  codes: readonly string[],
  member: string,
): void {
  const refused = codes.filter((code) => version.fields.has(code) && right.canRead(code) && !right.canWrite(code));
  if (refused.length > 0) throw readOnly(refused, member);
}

export interface PlannedChange {
  values: Values;
  /** Field code → [before, after], only for fields that differ. */
  changes: Record<string, [unknown, unknown]>;
  /** Images sent with the values, to be stored with the change. */
  images: readonly InlineImage[];
  longTexts?: LongTexts;
}

/**
 * What a change would store. Each value replaces the stored one as a whole; `null` clears it. Fields equal to the stored value
 * are not changed.
 *
 * @param whole the values form a complete record, as in a row of an import: a field that may be read but not written is
 *   refused only if the value differs from the stored one
 * @throws Fault INVALID_VALUES, FIELD_READ_ONLY
 */
export function* planChange(
  version: TypeVersion,
  current: Values,
  given: Values,
  member: string,
  right: RecordRight,
  whole = false,
): Steps<PlannedChange> {
  const known = imagesIn(version, current, (code) => right.canRead(code));
  const { stored, images, problems } = yield* accept(version, given, member, right, known);
  const values: Values = { ...current };
  const changes: Record<string, [unknown, unknown]> = {};
  const equal = new Set<string>();
  for (const [code, value] of Object.entries(stored)) {
    const next = isEmpty(value) ? undefined : value;
    const before = Object.hasOwn(current, code) ? current[code] : undefined;
    if (deepEqualJson(before, next)) equal.add(code);
    if (whole && equal.has(code)) continue;
    if (next === undefined && version.fields.get(code)?.required === true) {
      problems.push(problemAt(pointer(member, code), 'CANNOT_CLEAR'));
      continue;
    }
    if (equal.has(code)) continue;
    changes[code] = [before ?? null, next ?? null];
    if (next === undefined) delete values[code];
    else values[code] = next;
  }
  const asked = whole
    ? Object.keys(given).filter((code) => !(equal.has(code) && right.canRead(code)))
    : Object.keys(stored);
  if (whole) requireNoneReadOnly(version, right, asked, member);
  if (problems.length > 0) throw invalidValues(problems);
  requireWritable(right, asked, member);
  return { values, changes, images, longTexts: yield* foldLongTexts(values, Object.keys(changes)) };
}

/**
 * Data stored beside the values: folded copies for conditions, and the title.
 *
 * @param longTexts those of the values that were folded already
 */
export function derive(
  version: TypeVersion,
  values: Values,
  longTexts?: LongTexts,
): { folded: Record<string, string | string[]>; title: string | null } {
  const title = titleText(version, values);
  const folded: Record<string, string | string[]> = foldedCopy(fieldLists(version).folded, values, longTexts);
  // `$title` cannot be a field code. Conditions on the system field `title` compare this copy.
  if (title !== null) folded.$title = fold(title);
  return { folded, title };
}

/** Whether a change of these fields can change the result of `derive`. */
export function changesText(version: TypeVersion, codes: readonly string[]): boolean {
  return codes.some((code) => {
    const field = version.fields.get(code);
    return code === version.titleField || (field !== undefined && isFolded(field.dataType));
  });
}

/** SHA-256 of the images in the rich text of a record, in the fields that `canRead` accepts. */
export function imagesIn(
  version: TypeVersion,
  values: Readonly<Record<string, unknown>>,
  canRead: (code: string) => boolean,
): Set<string> {
  const found = new Set<string>();
  for (const { code, dataType } of version.fields.values()) {
    if (dataType !== 'rich-text' || !Object.hasOwn(values, code) || !canRead(code)) continue;
    for (const sha256 of imageHandles(values[code] as RichNode)) found.add(sha256);
  }
  return found;
}

/**
 * Problems with the image handles in a text to be stored. Each handle must name an image that was sent with the text, or one in
 * `known`: the images that the caller sees in the stored record.
 */
export function strangeImages(
  text: { stored: unknown; images: readonly InlineImage[] },
  known: ReadonlySet<string>,
  path: string,
): FaultDetail[] {
  const brought = new Set(text.images.map((image) => image.sha256));
  const strange = imageHandles(text.stored as RichNode).some((sha256) => !brought.has(sha256) && !known.has(sha256));
  if (!strange) return [];
  return [problemAt(path, 'UNKNOWN_IMAGE')];
}
