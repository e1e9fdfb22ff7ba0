/**
 * Validates the constraints and the default of a configured field (docs/spec/configuration.md#bundle,
 * docs/spec/records.md#record-types).
 */
import { RE2JS } from 're2js';
import { type Descriptor, descriptorOf, isId, MOST_ELEMENTS, mostElements } from '../../lib/data-types/index.ts';
import type { FaultDetail } from '../../lib/fault.ts';
import { isUnsafeKey, pointer } from '../../lib/json.ts';
import type { FieldConstraints, FieldDefinition } from './definitions.ts';
import { checkScalar, checkValue } from './values.ts';

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
  return field.constraints.maxLength ?? descriptorOf(field.dataType).maxLength ?? 0;
}

export function effectiveMaxItems(field: FieldDefinition): number {
  return field.multiple ? mostElements(field.constraints) : 1;
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
  readonly #descriptor: Descriptor;

  constructor(field: FieldDefinition) {
    this.#field = field;
    this.#constraints = field.constraints;
    this.#descriptor = descriptorOf(field.dataType);
  }

  #wrong(path: string, message: string): void {
    this.problems.push({ path, code: 'INVALID_CONSTRAINT', message });
  }

  keys(): void {
    const { code, dataType, multiple } = this.#field;
    if (isUnsafeKey(code)) this.#wrong('/code', 'No call could name a field of this code.');
    const { constraints, document = false } = this.#descriptor;
    const known: ReadonlySet<string> = new Set([...constraints, ...(multiple ? ['maxItems'] : [])]);
    for (const key of Object.keys(this.#constraints)) {
      if (!known.has(key)) {
        this.#wrong(
          pointer('constraints', key),
          `A ${multiple ? 'multiple ' : ''}field of type ${dataType} has no such constraint.`,
        );
      }
    }
    if (multiple && document) this.#wrong('/multiple', `A field of type ${dataType} cannot be multiple.`);
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
    if (!this.#descriptor.constraints.includes('min')) return;
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
    if (!this.#descriptor.constraints.includes('options')) return;
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
    if (types === undefined || !this.#descriptor.constraints.includes('types')) return;
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
    if (isId(field.dataType)) {
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

/** The compiled pattern, or the reason why it is invalid, as the end of a sentence. */
function compilePattern(pattern: string): RE2JS | string {
  try {
    return RE2JS.compile(pattern);
  } catch (error) {
    return error instanceof Error ? error.message.replace(/^error parsing regexp: /, '') : 'unknown reason';
  }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
