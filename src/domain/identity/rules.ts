/** Validation of the names and attributes of users, groups and units. Reports all problems at once. Pure. */
import { isActive, isArchived, type ItemState } from '../../contract/state.ts';
import { Fault, faultAt, invalidValues } from '../../lib/fault.ts';
import { deepEqualJson } from '../../lib/json.ts';
import { type PlacedProblem, type Problem, problem, ProblemError } from '../../lib/problem.ts';
import { hasLongMarkRun, isWellFormedText, nfc, fold } from '../../lib/text.ts';
import type { Localized } from '../../contract/schemas.ts';
import { isTimeZone } from '../../lib/date-format.ts';
import type { Report } from '../../configuration/section.ts';
import { isEmail } from '../../lib/data-types/index.ts';

const CONTROL = /[\p{Cc}\p{Zl}\p{Zp}]/u;

/** Collects the validation errors of one call. */
export class Validation {
  readonly #problems: PlacedProblem[] = [];

  report(field: string, found: Problem): void {
    this.#problems.push({ path: `/${field}`, ...found });
  }

  /** Returns the text as it is stored: one line that is not blank. null and undefined pass through. */
  line<T extends string | null | undefined>(field: string, text: T): T {
    if (typeof text !== 'string') return text;
    if (!isWellFormedText(text) || hasLongMarkRun(text) || CONTROL.test(text)) {
      this.report(field, problem('NOT_ONE_LINE'));
      return text;
    }
    if (text.trim() === '') this.report(field, problem('BLANK'));
    return nfc(text) as T;
  }

  /** The validation errors of a line of text. */
  problemsOf(text: string | undefined): readonly PlacedProblem[] {
    this.line('', text);
    return this.#problems;
  }

  /** The normal form in which a name is unique. A name without one is reported and returned unchanged. */
  key(field: string, name: string): string {
    if (hasLongMarkRun(name)) this.report(field, problem('COMBINING_MARKS'));
    else {
      try {
        return nameKey(name);
      } catch (error) {
        if (!(error instanceof ProblemError)) throw error;
        this.report(field, { ...error.problem, code: 'INVALID_NAME' });
      }
    }
    return name;
  }

  email(email: string): { email: string; key: string } {
    if (!isEmail(email)) {
      this.report('email', problem('NOT_AN_EMAIL', { example: 'petrova@example.org' }));
      return { email, key: email };
    }
    return { email: nfc(email), key: this.key('email', email) };
  }

  timezone<T extends string | null | undefined>(name: T): T {
    if (typeof name === 'string' && !isTimeZone(name)) {
      this.report('timezone', problem('UNKNOWN_TIME_ZONE', { zone: name }));
    }
    return name;
  }

  /** A name: one text, or one for each locale. */
  name<T extends Localized | undefined>(field: string, name: T): T {
    if (typeof name !== 'object') return this.line(field, name) as T;
    return Object.fromEntries(Object.entries(name).map(([locale, text]) => [locale, this.line(field, text)])) as T;
  }

  /** @throws Fault INVALID_VALUES with every problem */
  throwIfInvalid(): void {
    if (this.#problems.length > 0) {
      throw invalidValues(this.#problems);
    }
  }
}

/** Applies `line` to texts of a configuration item. */
export function checkLines(lines: Readonly<Record<string, string | undefined>>, report: Report): void {
  for (const [property, text] of Object.entries(lines)) {
    for (const { path: _, ...found } of new Validation().problemsOf(text)) report([property], found);
  }
}

/** Applies `line` to a name of a configuration item: one text, or one for each locale. */
export function checkName(name: Localized, report: Report): void {
  if (typeof name === 'string') {
    checkLines({ name }, report);
    return;
  }
  for (const [locale, text] of Object.entries(name)) {
    for (const { path: _, ...found } of new Validation().problemsOf(text)) report(['name', locale], found);
  }
}

const CODE = /^[a-z][a-z0-9-]{0,62}$/;

/**
 * Returns the code as it is stored: in lower case, so that codes are unique regardless of case. Requires the format that the
 * configuration bundle has for codes, so that the item can be exported.
 */
export function codeOf(validation: Validation, code: string): string {
  const kept = code.replaceAll(/[A-Z]/g, (letter) => letter.toLowerCase());
  if (!CODE.test(kept)) {
    validation.report('code', problem('CODE_FORMAT'));
  }
  return kept;
}

/**
 * Makes the code of a unit that was created without one: readable if its name is in Latin letters, and unique by the end of the
 * id.
 */
export function madeCode(name: string, id: string): string {
  const slug = name
    .normalize('NFKD')
    .toLowerCase()
    .replaceAll(/\p{M}/gu, '')
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replace(/^[0-9-]+/, '')
    .slice(0, 40)
    .replace(/-$/, '');
  return `${slug === '' ? 'unit' : slug}-${id.slice(-12)}`;
}

/** The differences between two states, as events contain them: name → [before, after]. */
export function differences<T extends object>(
  before: T,
  after: { [K in keyof T]?: T[K] | undefined },
): Record<string, [unknown, unknown]> {
  const found: Record<string, [unknown, unknown]> = {};
  for (const [name, value] of Object.entries(after)) {
    const stood: unknown = Reflect.get(before, name);
    if (value !== undefined && !deepEqualJson(stood, value)) found[name] = [stood, value];
  }
  return found;
}

export function stale(what: string): Fault {
  return new Fault('REVISION_CONFLICT', `The ${what} was changed after the expected revision. Read it again.`, {
    changedSince: [],
  });
}

/** @throws Fault ARCHIVED */
export function requireActive(what: string, state: ItemState): void {
  if (isArchived({ state })) {
    throw new Fault('ARCHIVED', `The ${what} is archived and cannot be changed. Restore it first.`);
  }
}

/** The values after the changes. */
export function afterwards(changes: Readonly<Record<string, [unknown, unknown]>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(changes).map(([name, [, value]]) => [name, value]));
}

export function exists(
  field: string,
  reason: 'ID_TAKEN' | 'CODE_TAKEN' | 'LOGIN_IN_USE' | 'EMAIL_IN_USE' | 'EXTERNAL_ID_IN_USE',
): Fault {
  return new Fault('ALREADY_EXISTS', problem(reason), { field });
}

/** @throws Fault STATE_CONFLICT */
export function requireArchived(state: ItemState): void {
  if (isActive({ state })) throw new Fault('STATE_CONFLICT', problem('NOT_ARCHIVED'));
}

/** The error for a reference in the body that does not exist. */
export function unknown(field: string, what: 'user' | 'group' | 'unit'): Fault {
  const reasons = { user: 'NO_USER', group: 'NO_GROUP', unit: 'NO_UNIT' } as const;
  return faultAt('INVALID_REQUEST', `/${field}`, reasons[what]);
}

const LONGEST = 255;

// Control, format, unassigned and private characters, separators other than the plain space, and default-ignorable characters.
const INVISIBLE = /[\p{Cc}\p{Cf}\p{Cn}\p{Co}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800]/u;

/**
 * The normal form of a name; idempotent.
 *
 * @throws ProblemError for a name that is empty, too long, or contains invisible characters
 */
export function nameKey(name: string): string {
  if (!isWellFormedText(name) || INVISIBLE.test(name)) throw new ProblemError(problem('INVISIBLE_CHARACTERS'));
  if (name === '') throw new ProblemError(problem('NAME_EMPTY'));
  if (name !== name.trim()) throw new ProblemError(problem('SURROUNDING_SPACES'));
  if (name.length > LONGEST) throw new ProblemError(problem('NAME_TOO_LONG', { max: LONGEST }));
  let key = name;
  for (;;) {
    const next = fold(key.normalize('NFKC')).normalize('NFKC');
    if (next === key) break;
    key = next;
  }
  if (INVISIBLE.test(key) || key !== key.trim()) throw new ProblemError(problem('INVISIBLE_CHARACTERS'));
  return key;
}

/** The normal form, or undefined if the name has none: a look-up then finds nothing. */
export function findKey(name: string): string | undefined {
  try {
    return nameKey(name);
  } catch {
    return undefined;
  }
}
