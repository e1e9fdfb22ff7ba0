/**
 * Validates the constraints and the default of a configured field (docs/spec/configuration.md#bundle,
 * docs/spec/records.md#record-types).
 */
import { RE2JS, RE2JSSyntaxException } from 're2js';
import { type Descriptor, descriptorOf, isId, MAX_ELEMENTS, mostElements } from '../../lib/data-types/index.ts';
import type { FaultDetail } from '../../lib/fault.ts';
import { isObject, isUnsafeKey, pointer } from '../../lib/json.ts';
import { type ParamsOf, type Phrase, type ProblemReason, problemAt } from '../../lib/problem.ts';
import type { PhraseName } from '../../lib/problem-value.ts';
import type { FieldConstraints, FieldDefinition } from './registry.ts';
import { checkScalar, checkValue } from './values.ts';

/** Upper limit of `minLength` and `maxLength`: the default maximum of `text`. */
const LONGEST = 100_000;
const MAX_SCALE = 130;
const MAX_OPTIONS = 1000;
const LONGEST_PATTERN = 1000;
/** Maximum number of matcher steps for the longest value of a field. It takes about 50 ms, which delays other requests. */
const MAX_STEPS = 4_000_000;

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

  #wrong<Reason extends ProblemReason>(path: string, reason: Reason, ...params: ParamsOf<Reason>): void {
    this.problems.push(problemAt(path, reason, ...params));
  }

  keys(): void {
    const { code, dataType, multiple } = this.#field;
    if (isUnsafeKey(code)) this.#wrong('/code', 'FIELD_CODE_RESERVED');
    const { constraints, document = false } = this.#descriptor;
    const known: ReadonlySet<string> = new Set([...constraints, ...(multiple ? ['maxItems'] : [])]);
    for (const key of Object.keys(this.#constraints)) {
      if (!known.has(key)) {
        const reason = multiple ? 'NO_SUCH_CONSTRAINT_MULTIPLE' : 'NO_SUCH_CONSTRAINT';
        this.#wrong(pointer('constraints', key), reason, { type: dataType });
      }
    }
    if (multiple && document) this.#wrong('/multiple', 'NOT_MULTIPLE', { type: dataType });
  }

  #integer(key: 'minLength' | 'maxLength' | 'maxItems' | 'scale', min: number, max: number): void {
    const value: unknown = this.#constraints[key];
    if (value === undefined || (Number.isSafeInteger(value) && Number(value) >= min && Number(value) <= max)) return;
    this.#wrong(pointer('constraints', key), 'CONSTRAINT_VALUE', { expected: { phrase: 'INTEGER_BETWEEN', min, max } });
  }

  lengths(): void {
    this.#integer('minLength', 0, LONGEST);
    this.#integer('maxLength', 1, LONGEST);
    this.#integer('maxItems', 1, MAX_ELEMENTS);
    this.#integer('scale', 0, MAX_SCALE);
    const { minLength } = this.#constraints;
    if (minLength !== undefined && minLength > effectiveMaxLength(this.#field)) {
      this.#wrong('/constraints/minLength', 'MIN_LENGTH_TOO_LARGE');
    }
  }

  pattern(): void {
    const pattern: unknown = this.#constraints.pattern;
    if (pattern === undefined) return;
    const path = '/constraints/pattern';
    if (typeof pattern !== 'string' || pattern.length > LONGEST_PATTERN) {
      this.#wrong(path, 'PATTERN_TOO_LONG', { max: LONGEST_PATTERN });
      return;
    }
    const compiled = compilePattern(pattern);
    if (!(compiled instanceof RE2JS)) this.#wrong(path, 'PATTERN_SYNTAX', { error: compiled });
    else if (compiled.programSize() * effectiveMaxLength(this.#field) * effectiveMaxItems(this.#field) > MAX_STEPS) {
      this.#wrong(path, 'PATTERN_TOO_SLOW');
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
      this.problems.push({ ...checked.problem, code: 'INVALID_CONSTRAINT' });
    }
    if (!sound || min === undefined || max === undefined) return;
    if (!checkScalar({ ...plain, constraints: { ...others, max } }, min, '').ok) {
      this.#wrong('/constraints/min', 'MIN_ABOVE_MAX');
    }
  }

  options(): void {
    if (!this.#descriptor.constraints.includes('options')) return;
    const options: unknown = this.#constraints.options;
    if (!Array.isArray(options) || options.length === 0 || options.length > MAX_OPTIONS) {
      this.#wrong('/constraints/options', 'OPTIONS_COUNT', { max: MAX_OPTIONS });
      return;
    }
    const codes = options.map((option: unknown) => (isObject(option) ? option.code : undefined));
    for (const [index, code] of codes.entries()) {
      const path = pointer('constraints', 'options', index, 'code');
      if (typeof code !== 'string' || !OPTION_CODE.test(code)) {
        this.#wrong(path, 'OPTION_CODE');
      } else if (codes.indexOf(code) !== index) this.#wrong(path, 'OPTION_REPEATED');
    }
  }

  types(): void {
    const types: unknown = this.#constraints.types;
    if (types === undefined || !this.#descriptor.constraints.includes('types')) return;
    if (!Array.isArray(types) || types.length === 0) {
      this.#wrong('/constraints/types', 'TYPES_NOT_LIST');
      return;
    }
    for (const [index, code] of types.entries()) {
      const path = pointer('constraints', 'types', index);
      if (typeof code !== 'string' || !CODE.test(code)) this.#wrong(path, 'TYPE_CODE');
      else if (types.indexOf(code) !== index) this.#wrong(path, 'TYPE_REPEATED');
    }
  }

  standard(): void {
    const field = this.#field;
    const given = field.default;
    if (given === undefined) return;
    if (isId(field.dataType)) {
      if (field.multiple !== Array.isArray(given)) {
        this.#wrong('/default', field.multiple ? 'DEFAULT_NOT_LIST' : 'DEFAULT_IS_LIST');
        return;
      }
      const names: unknown[] = Array.isArray(given) ? given : [given];
      const fits =
        names.every((name) => typeof name === 'string' && name !== '') && new Set(names).size === names.length;
      if (!fits || names.length > effectiveMaxItems(field) || names.length === 0) {
        this.#wrong('/default', 'DEFAULT_NAMES');
      }
      return;
    }
    const checked = checkValue(field, given, '/default');
    if (!checked.ok) {
      for (const found of checked.problems) this.problems.push({ ...found, code: 'INVALID_CONSTRAINT' });
    } else if (checked.stored === null) this.#wrong('/default', 'DEFAULT_EMPTY');
    else if (checked.images.length > 0) this.#wrong('/default', 'DEFAULT_IMAGES');
  }
}

/** The errors of the parser of patterns. */
const PATTERN_ERRORS: ReadonlyMap<string, PhraseName & `RE_${string}`> = new Map([
  ['invalid character class range', 'RE_CHARACTER_RANGE'],
  ['invalid escape sequence', 'RE_ESCAPE'],
  ['invalid named capture', 'RE_NAMED_GROUP'],
  ['invalid or unsupported Perl syntax', 'RE_PERL_SYNTAX'],
  ['invalid nested repetition operator', 'RE_NESTED_REPETITION'],
  ['invalid repeat count', 'RE_REPEAT_COUNT'],
  ['missing closing ]', 'RE_MISSING_BRACKET'],
  ['missing closing )', 'RE_MISSING_PARENTHESIS'],
  ['missing argument to repetition operator', 'RE_NOTHING_TO_REPEAT'],
  ['trailing backslash at end of expression', 'RE_TRAILING_BACKSLASH'],
  ['duplicate capture group name', 'RE_REPEATED_GROUP_NAME'],
  ['unexpected )', 'RE_UNEXPECTED_PARENTHESIS'],
  ['expression nests too deeply', 'RE_TOO_DEEP'],
  ['expression too large', 'RE_TOO_LARGE'],
  ['invalid capture in lookbehind', 'RE_GROUP_IN_LOOKBEHIND'],
]);

/** The compiled pattern, or why it is invalid. */
function compilePattern(pattern: string): RE2JS | Phrase {
  try {
    return RE2JS.compile(pattern);
  } catch (error) {
    if (!(error instanceof RE2JSSyntaxException)) throw error;
    return {
      phrase: PATTERN_ERRORS.get(error.getDescription()) ?? 'RE_INTERNAL',
      part: error.getPattern() ?? pattern,
    } as Phrase;
  }
}
