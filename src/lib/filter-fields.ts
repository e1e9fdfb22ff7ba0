/** System fields, and which operators fit which field (configuration, section 4; the table stands in `filter.ts`). */
import { type DataType, TEXT_TYPES } from './data-types.ts';
import { type FieldResolver, type FilterField, OPERATORS, type Operator } from './filter-types.ts';

function system(code: string, dataType: DataType, options?: readonly string[]): [string, FilterField] {
  const field: FilterField = { code, kind: 'system', dataType, multiple: false };
  return [code, options === undefined ? field : { ...field, options: new Set(options) }];
}

/** The fields that every record has. Their codes are reserved: no field of a type takes one, `title` excepted. */
export const SYSTEM_FIELDS: ReadonlyMap<string, FilterField> = new Map([
  system('id', 'reference'),
  system('number', 'string'),
  system('title', 'string'),
  system('typeId', 'reference'),
  system('typeCode', 'enum'),
  system('state', 'enum', ['ACTIVE', 'ARCHIVED']),
  system('workflowState', 'enum'),
  system('workflowCategory', 'enum', ['open', 'waiting', 'done']),
  system('revision', 'integer'),
  system('createdAt', 'datetime'),
  system('createdBy', 'user'),
  system('updatedAt', 'datetime'),
  system('updatedBy', 'user'),
]);

/** Resolves the given fields of a type, then the system fields: a type's own `title` wins over the system's. */
export function resolverOf(fields: Iterable<FilterField>): FieldResolver {
  const own = new Map<string, FilterField>();
  for (const field of fields) own.set(field.code, field);
  return (code) => own.get(code) ?? SYSTEM_FIELDS.get(code);
}

const ORDERED_TYPES: ReadonlySet<DataType> = new Set(['integer', 'decimal', 'date', 'datetime', 'time']);
const OPERATOR_SET: ReadonlySet<string> = new Set(OPERATORS);

export function isOperator(name: unknown): name is Operator {
  return typeof name === 'string' && OPERATOR_SET.has(name);
}

/** Whether values of the type have an order in which `before`, `after` and `range` make sense. */
export function isOrdered(dataType: DataType): boolean {
  return ORDERED_TYPES.has(dataType);
}

/** Whether `equals`, `not-equals` and `in` make sense: not for documents and free JSON. */
export function isComparable(dataType: DataType): boolean {
  return dataType !== 'rich-text' && dataType !== 'json';
}

/** Whether the operator fits the data type. Multiple fields take the operators of their elements. */
export function operatorFits(operator: Operator, dataType: DataType): boolean {
  switch (operator) {
    case 'equals':
    case 'not-equals':
    case 'in':
      return isComparable(dataType);
    case 'contains':
    case 'starts-with':
      return TEXT_TYPES.has(dataType);
    case 'before':
    case 'after':
    case 'range':
      return isOrdered(dataType);
    case 'is-empty':
      return true;
  }
}

/**
 * Record numbers are made by the database and have no folded copy. Their prefixes are of capital ASCII letters, digits and
 * hyphens, so that their case is ignored letter by letter, by a list that SQL's `translate` shares.
 */
export const NUMBER_FOLDING = { from: 'ABCDEFGHIJKLMNOPQRSTUVWXYZ', to: 'abcdefghijklmnopqrstuvwxyz' } as const;

/** `number` as `contains` and `starts-with` on the system field `number` compare it. */
export function foldNumber(number: string): string {
  return number.replace(/[A-Z]/g, (letter) => letter.toLowerCase());
}
