/**
 * Parses a condition from untrusted JSON into its typed form, or reports all its errors
 * (docs/spec/search.md#condition-language).
 */
import {
  canonicalText,
  type DataType,
  expectedForm,
  OPERATORS,
  type Operator,
  operatorFits,
  storedForm,
} from './data-types/index.ts';
import { Fault, type FaultDetail } from './fault.ts';
import { foldNumber, isOperator } from './filter-fields.ts';
import {
  type FieldResolver,
  type FilterField,
  FILTER_LIMITS,
  type LiteralOperand,
  type Operand,
  type TypedCondition,
  type TypedField,
  type TypedGroup,
  type TypedLeaf,
  type VariableOperand,
} from './filter-types.ts';
import { readVariable, variableRule } from './filter-variables.ts';
import { type ParamsOf, type ProblemReason, problemAt } from './problem.ts';
import { fold } from './text.ts';
import { isObject, ownMember, pointer } from './json.ts';

/** Maximum number of reported errors. */
const MAX_PROBLEMS = 100;

export interface ParseOptions {
  resolve: FieldResolver;
  /** `refused` for external calls: a text that starts with `$` is then taken literally. */
  variables: 'allowed' | 'refused';
  /** JSON Pointer of the condition itself, the prefix of every path: `''`, `/filters/condition`, `query.filter`. */
  base?: string;
}

/** The position of a value and what it must match. */
interface ValuePosition {
  field: FilterField;
  operator: Operator;
  path: string;
}

type Members = Record<string, unknown>;

function below(path: string, step: string | number): string {
  return `${path}${pointer(step)}`;
}

class Parser {
  readonly problems: FaultDetail[] = [];
  readonly #resolve: FieldResolver;
  readonly #variables: boolean;
  #leaves = 0;

  constructor(options: ParseOptions) {
    this.#resolve = options.resolve;
    this.#variables = options.variables === 'allowed';
  }

  #problem<Reason extends ProblemReason>(path: string, reason: Reason, ...params: ParamsOf<Reason>): undefined {
    if (this.problems.length < MAX_PROBLEMS) this.problems.push(problemAt(path, reason, ...params));
    return undefined;
  }

  get #full(): boolean {
    return this.problems.length >= MAX_PROBLEMS || this.#leaves > FILTER_LIMITS.conditions;
  }

  condition(input: unknown, path: string, depth: number): TypedCondition | undefined {
    if (this.#full) return undefined;
    if (!isObject(input)) return this.#problem(path, 'CONDITION_NOT_OBJECT');
    if (Object.hasOwn(input, 'logic') || Object.hasOwn(input, 'conditions')) return this.#group(input, path, depth);
    return this.#leaf(input, path);
  }

  #unknownMembers(members: Members, known: readonly string[], path: string): void {
    for (const key of Object.keys(members)) {
      if (this.#full) return;
      if (!known.includes(key)) this.#problem(below(path, key), 'CONDITION_PROPERTY', { known });
    }
  }

  #group(members: Members, path: string, depth: number): TypedGroup | undefined {
    if (depth > FILTER_LIMITS.depth) {
      return this.#problem(path, 'CONDITION_TOO_DEEP', { max: FILTER_LIMITS.depth });
    }
    this.#unknownMembers(members, ['logic', 'conditions'], path);
    const logic = ownMember(members, 'logic');
    if (logic !== 'AND' && logic !== 'OR') {
      this.#problem(below(path, 'logic'), logic === undefined ? 'LOGIC_MISSING' : 'LOGIC_INVALID');
    }
    const list = ownMember(members, 'conditions');
    const place = below(path, 'conditions');
    if (list === undefined) return this.#problem(place, 'CONDITIONS_MISSING');
    if (!Array.isArray(list)) return this.#problem(place, 'CONDITIONS_NOT_LIST');
    if (list.length === 0) return this.#problem(place, 'CONDITIONS_EMPTY');
    if (list.length > FILTER_LIMITS.groupConditions) {
      return this.#problem(place, 'GROUP_TOO_LONG', { max: FILTER_LIMITS.groupConditions });
    }
    const conditions: TypedCondition[] = [];
    for (const [index, item] of list.entries()) {
      const condition = this.condition(item, below(place, index), depth + 1);
      if (condition !== undefined) conditions.push(condition);
    }
    return { logic: logic === 'OR' ? 'OR' : 'AND', conditions };
  }

  #leaf(members: Members, path: string): TypedLeaf | undefined {
    if (++this.#leaves > FILTER_LIMITS.conditions) {
      return this.#problem(path, 'FILTER_TOO_LONG', { max: FILTER_LIMITS.conditions });
    }
    this.#unknownMembers(members, ['field', 'operator', 'value'], path);
    const field = this.#field(ownMember(members, 'field'), below(path, 'field'));
    const operator = this.#operator(ownMember(members, 'operator'), below(path, 'operator'));
    const value = ownMember(members, 'value');
    if (operator !== undefined && operator !== 'is-empty' && value === undefined) {
      // Reported whether or not the field is known, so that the response does not reveal which fields exist.
      return this.#problem(below(path, 'value'), 'OPERAND_MISSING', { operator });
    }
    if (field === undefined || operator === undefined) return undefined;
    if (!operatorFits(operator, field.dataType)) {
      const known = OPERATORS.filter((one) => operatorFits(one, field.dataType));
      return this.#problem(below(path, 'operator'), 'OPERATOR_NOT_ALLOWED', {
        operator,
        type: field.dataType,
        known,
      });
    }
    return this.#typed(value, { field, operator, path: below(path, 'value') });
  }

  #field(code: unknown, path: string): FilterField | undefined {
    if (code === undefined) return this.#problem(path, 'CONDITION_FIELD_MISSING');
    if (typeof code !== 'string') return this.#problem(path, 'CONDITION_FIELD_TYPE');
    return this.#resolve(code) ?? this.#problem(path, 'CONDITION_FIELD_UNKNOWN');
  }

  #operator(name: unknown, path: string): Operator | undefined {
    if (isOperator(name)) return name;
    if (name === undefined) return this.#problem(path, 'OPERATOR_MISSING');
    return this.#problem(path, 'OPERATOR_UNKNOWN', { known: OPERATORS });
  }

  #typed(value: unknown, place: ValuePosition): TypedLeaf | undefined {
    const field = kept(place.field);
    switch (place.operator) {
      case 'is-empty':
        return this.#isEmpty(value, field, place.path);
      case 'contains':
      case 'starts-with': {
        const text = this.#text(value, place);
        return text === undefined ? undefined : { field, operator: place.operator, value: text };
      }
      case 'in': {
        const values = this.#list(value, place);
        return values === undefined ? undefined : { field, operator: 'in', values };
      }
      case 'range':
        return this.#range(value, field, place);
      default: {
        const operand = this.#operand(value, place, place.path);
        return operand === undefined ? undefined : { field, operator: place.operator, value: operand };
      }
    }
  }

  #isEmpty(value: unknown, field: TypedField, path: string): TypedLeaf | undefined {
    if (value !== undefined && typeof value !== 'boolean') {
      return this.#problem(path, 'IS_EMPTY_VALUE');
    }
    return { field, operator: 'is-empty', value: value ?? true };
  }

  #text(value: unknown, place: ValuePosition): string | undefined {
    const operand = this.#operand(value, place, place.path, 'text');
    if (operand === undefined || !('literal' in operand) || typeof operand.literal !== 'string') return undefined;
    const numbered = place.field.kind === 'system' && place.field.code === 'number';
    return numbered ? foldNumber(operand.literal) : fold(operand.literal);
  }

  #list(value: unknown, place: ValuePosition): Operand[] | undefined {
    if (this.#variables && typeof value === 'string' && /^\$(?!\$)/.test(value)) {
      const operand = this.#variable(value, place, place.path);
      if (operand === undefined) return undefined;
      if (variableRule(operand).list) return [operand];
    }
    if (!Array.isArray(value)) return this.#problem(place.path, 'IN_NOT_LIST');
    if (value.length === 0) return this.#problem(place.path, 'IN_EMPTY');
    if (value.length > FILTER_LIMITS.inValues) {
      return this.#problem(place.path, 'IN_TOO_LONG', { max: FILTER_LIMITS.inValues });
    }
    const operands = value.map((item, index) => this.#operand(item, place, below(place.path, index)));
    return operands.includes(undefined) ? undefined : (operands as Operand[]);
  }

  #range(value: unknown, field: TypedField, place: ValuePosition): TypedLeaf | undefined {
    if (!Array.isArray(value) || value.length !== 2) {
      return this.#problem(place.path, 'RANGE_BOUNDS');
    }
    const from = this.#operand(value[0], place, below(place.path, 0));
    const to = this.#operand(value[1], place, below(place.path, 1));
    return from === undefined || to === undefined ? undefined : { field, operator: 'range', from, to };
  }

  #operand(
    value: unknown,
    place: ValuePosition,
    path: string,
    as: DataType = place.field.dataType,
  ): Operand | undefined {
    let given = value;
    if (this.#variables && typeof value === 'string' && value.startsWith('$')) {
      if (!value.startsWith('$$')) return this.#variable(value, place, path);
      given = value.slice(1);
    }
    // The operand of a text match is text, regardless of the field's data type.
    const literal = as === 'text' ? canonicalText(given) : storedForm(as, given);
    if (literal === undefined) {
      return this.#problem(path, given === null ? 'OPERAND_NULL' : 'OPERAND_FORM', { expected: expectedForm(as) });
    }
    const { options } = place.field;
    if (options !== undefined && typeof literal === 'string' && !options.has(literal)) {
      return this.#problem(path, 'OPERAND_NOT_AN_OPTION');
    }
    return { literal } satisfies LiteralOperand;
  }

  #variable(text: string, place: ValuePosition, path: string): VariableOperand | undefined {
    const operand = readVariable(text);
    if (operand === undefined) {
      return this.#problem(path, 'UNKNOWN_VARIABLE');
    }
    const rule = variableRule(operand);
    const { field, operator } = place;
    if (rule.dataType !== field.dataType) {
      return this.#problem(path, 'VARIABLE_TYPE', { variable: rule.dataType, type: field.dataType });
    }
    if (rule.list && operator !== 'in') {
      return this.#problem(path, 'VARIABLE_NEEDS_IN');
    }
    return operand;
  }
}

function kept(field: FilterField): TypedField {
  const { options: _options, ...typed } = field;
  return typed;
}

/**
 * Validates and types a condition from outside or from configuration (docs/spec/search.md#condition-language).
 *
 * Every value of the result is in stored form; `contains` and `starts-with` have folded text. An unknown field is reported with
 * the same message whether it does not exist or is hidden.
 *
 * @throws Fault INVALID_FILTER with one detail `{path, code, message}` per error (at most 100)
 */
export function parseCondition(input: unknown, options: ParseOptions): TypedCondition {
  const parser = new Parser(options);
  const condition = parser.condition(input, options.base ?? '', 1);
  if (condition === undefined || parser.problems.length > 0) {
    throw new Fault('INVALID_FILTER', 'The filter is invalid. Correct each problem in details.', parser.problems);
  }
  return condition;
}
