/**
 * Validates the constraints and the default of a configured field (docs/spec/configuration.md#bundle,
 * docs/spec/records.md#record-types).
 */
import { type DataType, ID_TYPES } from '../../lib/data-types.ts';
import type { FaultDetail } from '../../lib/fault.ts';
import { isUnsafeKey, pointer } from '../../lib/json.ts';
import type { FieldConstraints, FieldDefinition } from './definitions.ts';
import { compilePattern } from './value-pattern.ts';
import { checkScalar, TEXT_LENGTHS } from './value-scalars.ts';
import { checkValue, MOST_ELEMENTS } from './value-check.ts';

type Key = keyof FieldConstraints;

const TEXT_KEYS: readonly Key[] = ['minLength', 'maxLength', 'pattern'];
const BOUND_KEYS: readonly Key[] = ['min', 'max'];

const KEYS: ReadonlyMap<DataType, readonly Key[]> = new Map<DataType, readonly Key[]>([
  ['string', TEXT_KEYS],
  ['text', TEXT_KEYS],
  ['url', TEXT_KEYS],
  ['email', TEXT_KEYS],
  ['phone', TEXT_KEYS],
  ['integer', BOUND_KEYS],
  ['decimal', [...BOUND_KEYS, 'scale']],
  ['date', BOUND_KEYS],
  ['datetime', BOUND_KEYS],
  ['time', BOUND_KEYS],
  ['enum', ['options']],
  ['reference', ['types']],
]);

/** Data types that cannot be multiple, because their values are documents. */
const NEVER_MULTIPLE: ReadonlySet<DataType> = new Set(['json', 'rich-text']);

/** Upper limit of `minLength` and `maxLength`: the default maximum of `text`. */
const LONGEST = 100_000;
const MOST_SCALE = 130;
const MOST_OPTIONS = 1000;
const LONGEST_PATTERN = 1000;
/** Maximum number of matcher steps for the longest value of a field. It takes about 50 ms, which delays other requests. */
const MOST_STEPS = 4_000_000;

const CODE = /^[a-z][a-z0-9-]{0,62}$/;
const OPTION_CODE = /^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$/;

/** Maximum length of a value in code points; 0 for data types that are not text. */
export function effectiveMaxLength(field: FieldDefinition): number {
  return field.constraints.maxLength ?? TEXT_LENGTHS.get(field.dataType) ?? 0;
}

export function effectiveMaxItems(field: FieldDefinition): number {
  return field.multiple ? Math.min(field.constraints.maxItems ?? MOST_ELEMENTS, MOST_ELEMENTS) : 1;
}

/**
 * Problems with a field's constraints and default; `[]` if there are none. Paths are JSON Pointers into the field. A default
 * that names a user, group, unit, service or record is written as a login or code; only its form is checked.
 */
export function checkConstraints(field: FieldDefinition): FaultDetail[] {
  const check = new Check(field);
  check.keys();
  check.lengths();
  check.pattern();
  check.bounds();
  check.options();
  check.types();
  // The default is checked against the constraints, so they must be valid first.
  if (check.problems.length === 0) check.standard();
  return check.problems;
}

class Check {
  readonly problems: FaultDetail[] = [];
  readonly #field: FieldDefinition;
  readonly #constraints: FieldConstraints;

  constructor(field: FieldDefinition) {
    this.#field = field;
    this.#constraints = field.constraints;
  }

  #wrong(path: string, message: string): void {
    this.problems.push({ path, code: 'INVALID_CONSTRAINT', message });
  }

  keys(): void {
    const { code, dataType, multiple } = this.#field;
    if (isUnsafeKey(code)) this.#wrong('/code', 'No call could name a field of this code.');
    const known: ReadonlySet<string> = new Set([...(KEYS.get(dataType) ?? []), ...(multiple ? ['maxItems'] : [])]);
    for (const key of Object.keys(this.#constraints)) {
      if (!known.has(key)) {
        this.#wrong(
          pointer('constraints', key),
          `A ${multiple ? 'multiple ' : ''}field of type ${dataType} has no such constraint.`,
        );
      }
    }
    if (multiple && NEVER_MULTIPLE.has(dataType))
      this.#wrong('/multiple', `A field of type ${dataType} cannot be multiple.`);
  }

  #integer(key: 'minLength' | 'maxLength' | 'maxItems' | 'scale', min: number, max: number): void {
    const value: unknown = this.#constraints[key];
    if (value === undefined || (Number.isSafeInteger(value) && Number(value) >= min && Number(value) <= max)) return;
    this.#wrong(pointer('constraints', key), `This must be an integer from ${min} to ${max}.`);
  }

  lengths(): void {
    this.#integer('minLength', 0, LONGEST);
    this.#integer('maxLength', 1, LONGEST);
    this.#integer('maxItems', 1, MOST_ELEMENTS);
    this.#integer('scale', 0, MOST_SCALE);
    const { minLength } = this.#constraints;
    if (minLength !== undefined && minLength > effectiveMaxLength(this.#field)) {
      this.#wrong('/constraints/minLength', 'minLength is more than the longest value that the field takes.');
    }
  }

  pattern(): void {
    const pattern: unknown = this.#constraints.pattern;
    if (pattern === undefined) return;
    const path = '/constraints/pattern';
    if (typeof pattern !== 'string' || pattern.length > LONGEST_PATTERN) {
      this.#wrong(path, `A pattern must be a string of at most ${LONGEST_PATTERN} characters.`);
      return;
    }
    const compiled = compilePattern(pattern);
    if (typeof compiled === 'string') this.#wrong(path, `The pattern is not of RE2 syntax: ${compiled}.`);
    else if (compiled.programSize() * effectiveMaxLength(this.#field) * effectiveMaxItems(this.#field) > MOST_STEPS) {
      this.#wrong(
        path,
        'The pattern takes too long on the longest value; simplify it, or lower maxLength or maxItems.',
      );
    }
  }

  bounds(): void {
    // Without the bounds, so that each bound is first checked as a value of its own and then against the other.
    const { min, max, ...others } = this.#constraints;
    const plain: FieldDefinition = { ...this.#field, multiple: false, constraints: others };
    if (!(KEYS.get(plain.dataType) ?? []).includes('min')) return;
    let sound = true;
    for (const [key, bound] of [['min', min] as const, ['max', max] as const]) {
      if (bound === undefined) continue;
      const checked = checkScalar(plain, bound, pointer('constraints', key));
      if (checked.ok) continue;
      sound = false;
      this.#wrong(checked.problem.path, checked.problem.message);
    }
    if (!sound || min === undefined || max === undefined) return;
    if (!checkScalar({ ...plain, constraints: { ...others, max } }, min, '').ok) {
      this.#wrong('/constraints/min', 'min is more than max.');
    }
  }

  options(): void {
    if (this.#field.dataType !== 'enum') return;
    const options: unknown = this.#constraints.options;
    if (!Array.isArray(options) || options.length === 0 || options.length > MOST_OPTIONS) {
      this.#wrong('/constraints/options', `An enum needs 1 to ${MOST_OPTIONS} options.`);
      return;
    }
    const codes = options.map((option: unknown) => (isObject(option) ? option.code : undefined));
    for (const [index, code] of codes.entries()) {
      const path = pointer('constraints', 'options', index, 'code');
      if (typeof code !== 'string' || !OPTION_CODE.test(code)) {
        this.#wrong(path, 'The code of an option is 1 to 63 letters, digits, dots, hyphens and underscores.');
      } else if (codes.indexOf(code) !== index) this.#wrong(path, 'Another option has this code.');
    }
  }

  types(): void {
    const types: unknown = this.#constraints.types;
    if (this.#field.dataType !== 'reference' || types === undefined) return;
    if (!Array.isArray(types) || types.length === 0) {
      this.#wrong('/constraints/types', 'This must be a list of codes of record types; leave it out for any type.');
      return;
    }
    for (const [index, code] of types.entries()) {
      const path = pointer('constraints', 'types', index);
      if (typeof code !== 'string' || !CODE.test(code)) this.#wrong(path, 'This must be the code of a record type.');
      else if (types.indexOf(code) !== index) this.#wrong(path, 'This type stands in the list already.');
    }
  }

  standard(): void {
    const field = this.#field;
    const given = field.default;
    if (given === undefined) return;
    if (ID_TYPES.has(field.dataType)) {
      if (field.multiple !== Array.isArray(given)) {
        this.#wrong('/default', field.multiple ? 'The default must be a list.' : 'The default must be one value.');
        return;
      }
      const names: unknown[] = Array.isArray(given) ? given : [given];
      const fits =
        names.every((name) => typeof name === 'string' && name !== '') && new Set(names).size === names.length;
      if (!fits || names.length > effectiveMaxItems(field) || names.length === 0) {
        this.#wrong('/default', 'The default must name things by login or code, each once.');
      }
      return;
    }
    const checked = checkValue(field, given, '/default');
    if (!checked.ok) {
      for (const problem of checked.problems) this.#wrong(problem.path, problem.message);
    } else if (checked.stored === null) this.#wrong('/default', 'The default is empty; leave it out.');
    else if (checked.images.length > 0) this.#wrong('/default', 'A default cannot hold images.');
  }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
