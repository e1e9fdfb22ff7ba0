/**
 * The data types of fields (docs/spec/records.md#data-types). One descriptor says everything about a type; the server, the SQL
 * of conditions and the console derive the rest from this list. To add a type, add its descriptor to the file of its family.
 * The compiler then names what remains: its name and its inputs in the console.
 */
import type { Phrase } from '../problem-value.ts';
import { CHOICES } from './choices.ts';
import type { Descriptor, Literal, Operator } from './descriptor.ts';
import { DOCUMENTS } from './documents.ts';
import { NUMBERS } from './numbers.ts';
import { REFERENCES } from './references.ts';
import { TEXT } from './text.ts';
import { TIMES } from './times.ts';

export {
  type Comparison,
  type ConstraintKey,
  type Constraints,
  type Renamed,
  type Descriptor,
  type IdOf,
  type Literal,
  OPERATORS,
  type Operator,
  type Referent,
  Refusal,
} from './descriptor.ts';
export { canonicalUuid } from './references.ts';
export { canonicalText, isEmail, isWebAddress } from './text.ts';
export { canonicalDate, canonicalDuration, canonicalInstant } from './times.ts';

const DESCRIPTORS = { ...TEXT, ...NUMBERS, ...TIMES, ...CHOICES, ...REFERENCES, ...DOCUMENTS };

export type DataType = keyof typeof DESCRIPTORS;
/** The ways in which the console asks for and shows values. */
export type View = (typeof DESCRIPTORS)[DataType]['view'];
/** Data types that this folder does not parse: the server has their readers. */
export type ServerDataType = {
  [K in DataType]: (typeof DESCRIPTORS)[K] extends { parse: unknown } ? never : K;
}[DataType];

interface TypedDescriptor extends Descriptor {
  view: View;
}

const BY_NAME: Readonly<Record<DataType, TypedDescriptor>> = DESCRIPTORS;

export const DATA_TYPES = Object.keys(DESCRIPTORS) as DataType[];

export function descriptorOf(dataType: DataType): TypedDescriptor {
  return BY_NAME[dataType];
}

export function isDataType(name: string): name is DataType {
  return Object.hasOwn(DESCRIPTORS, name);
}

/** Whether the type has a folded copy, which `contains` and `starts-with` search. */
export function isFolded(dataType: DataType): boolean {
  return BY_NAME[dataType].comparison === 'folded';
}

/** Whether the stored value is the id of another item. */
export function isId(dataType: DataType): boolean {
  return BY_NAME[dataType].refersTo !== undefined;
}

/** Whether the operator applies to the data type. Multiple fields use the operators of their elements. */
export function operatorFits(operator: Operator, dataType: DataType): boolean {
  return BY_NAME[dataType].operators.includes(operator);
}

/**
 * The stored form of one value of a condition; `undefined` if the value does not match the data type, and for `rich-text` and
 * `json`.
 */
export function storedForm(dataType: DataType, value: unknown): Literal | undefined {
  return BY_NAME[dataType].canonical?.(value);
}

/** What a value of the data type must be, for messages. */
export function expectedForm(dataType: DataType): Phrase {
  return BY_NAME[dataType].expected;
}

/** The section of the configuration whose items values of the type name; undefined for plain values and records. */
export function sectionOf(dataType: DataType): 'users' | 'groups' | 'orgUnits' | 'services' | undefined {
  const { refersTo } = BY_NAME[dataType];
  return refersTo === 'records' ? undefined : refersTo;
}

/** Whether a stored value is only white space, in a type where that does not satisfy `required`. */
export function isBlank(dataType: DataType, stored: unknown): boolean {
  return typeof stored === 'string' && BY_NAME[dataType].blank === true && stored.trim() === '';
}

/** Maximum number of elements of a multiple field. */
export const MAX_ELEMENTS = 100;

/** Maximum number of elements that a field with these constraints takes. */
export function mostElements({ maxItems }: { maxItems?: number }): number {
  return Math.min(maxItems ?? MAX_ELEMENTS, MAX_ELEMENTS);
}

interface Variable {
  dataType: DataType;
  /** The variable is a list of values; only allowed with `in`. */
  list: boolean;
}

/** The variables of the condition language, written `$me` (docs/spec/search.md#condition-language). */
export const VARIABLES = {
  me: { dataType: 'user', list: false },
  myGroups: { dataType: 'group', list: true },
  myOrgUnit: { dataType: 'org-unit', list: false },
  myOrgUnits: { dataType: 'org-unit', list: true },
  now: { dataType: 'datetime', list: false },
  today: { dataType: 'date', list: false },
} as const satisfies Record<string, Variable>;

export type VariableName = keyof typeof VARIABLES;

/** The variable that has values of the data type, as one value or as a list; undefined if there is none. */
export function variableOf(dataType: string, list: boolean): VariableName | undefined {
  const names = Object.keys(VARIABLES) as VariableName[];
  return names.find((name) => VARIABLES[name].dataType === dataType && VARIABLES[name].list === list);
}
