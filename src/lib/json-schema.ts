/**
 * Finds why a value does not match a JSON schema: all problems at once, each with its path. Requests and configuration bundles
 * use it. It supports the subset of JSON Schema that operations and sections use.
 */
import Format from 'typebox/format';
import { type Phrase, type Problem, problem } from './problem.ts';
import { isObject } from './json.ts';

export interface JsonSchema {
  $id?: string;
  $ref?: string;
  $defs?: Record<string, JsonSchema>;
  type?: string | string[];
  const?: unknown;
  enum?: readonly unknown[];
  default?: unknown;
  anyOf?: JsonSchema[];
  oneOf?: JsonSchema[];
  allOf?: JsonSchema[];
  properties?: Record<string, JsonSchema>;
  required?: string[];
  additionalProperties?: boolean | JsonSchema;
  patternProperties?: Record<string, JsonSchema>;
  minProperties?: number;
  maxProperties?: number;
  items?: JsonSchema;
  minItems?: number;
  maxItems?: number;
  uniqueItems?: boolean;
  minLength?: number;
  maxLength?: number;
  pattern?: string;
  /** What a text that matches the pattern is, for messages. Not part of JSON Schema. */
  phrase?: Phrase;
  format?: string;
  minimum?: number;
  maximum?: number;
  exclusiveMinimum?: number;
  exclusiveMaximum?: number;
  multipleOf?: number;
}

export type SchemaPath = readonly (string | number)[];

export interface Mismatch {
  path: SchemaPath;
  problem: Problem;
}

export interface MismatchOptions {
  /** Maximum number of mismatches; the work is bounded accordingly. */
  most: number;
  /** The problem of a property that the schema does not allow. */
  unknown(name: string, schema: JsonSchema): Problem;
  /** True if a number or boolean in place of a text only needs quotes, as in YAML. */
  quotes?: boolean;
}

/**
 * Maximum number of members of a map, such as the values of a record. No type has that many fields. Checking more would be
 * slow.
 */
export const MAX_MEMBERS = 5000;
const MAX_NAME = 100;
/** Maximum number of allowed values that a message lists. */
const MAX_RECORD_VALUES = 50;

/** All mismatches; `[]` if the value is valid. */
export function mismatches(schema: JsonSchema, value: unknown, options: MismatchOptions): Mismatch[] {
  let definitions: ReadonlyMap<string, JsonSchema> | undefined;
  const walk = new Walk((name) => (definitions ??= definitionsOf(schema)).get(name), options);
  walk.visit(schema, value, []);
  return walk.found;
}

class Walk {
  readonly found: Mismatch[] = [];
  readonly #definition: (name: string) => JsonSchema | undefined;
  readonly #options: MismatchOptions;

  constructor(definition: (name: string) => JsonSchema | undefined, options: MismatchOptions) {
    this.#definition = definition;
    this.#options = options;
  }

  get #full(): boolean {
    return this.found.length >= this.#options.most;
  }

  #add(path: SchemaPath, found: Problem): void {
    if (!this.#full) this.found.push({ path, problem: found });
  }

  visit(given: JsonSchema, value: unknown, path: SchemaPath): void {
    if (this.#full) return;
    const schema = this.#resolved(given);
    const choices = schema.anyOf ?? schema.oneOf;
    if (choices !== undefined) return this.#choose(schema, choices, value, path);
    if (isConstant(schema)) {
      if (!allowedBy(schema).includes(value)) this.#add(path, notAllowed(allowedBy(schema)));
    } else if (schema.type !== undefined && !hasType(schema.type, value)) {
      this.#add(path, this.#wrongType(schema, value));
    } else if (typeof value === 'string') this.#string(schema, value, path);
    else if (typeof value === 'number') this.#number(schema, value, path);
    else if (Array.isArray(value)) this.#array(schema, value, path);
    else if (isObject(value)) this.#object(schema, value, path);
  }

  #resolved(schema: JsonSchema): JsonSchema {
    const definition = schema.$ref === undefined ? undefined : this.#definition(refName(schema.$ref));
    return definition === undefined ? schema : this.#resolved(definition);
  }

  #wrongType(schema: JsonSchema, value: unknown): Problem {
    const expected = this.#expected(schema);
    const unquoted = schema.type === 'string' && (typeof value === 'number' || typeof value === 'boolean');
    const quotes = this.#options.quotes === true && unquoted;
    return problem(quotes ? 'NEEDS_QUOTES' : 'WRONG_TYPE', { expected });
  }

  /**
   * Validates a union. If no branch matches, reports the problems of the closest branch that the value was meant for. If a
   * constant property tells the branches apart, that property decides.
   */
  #choose(schema: JsonSchema, choices: JsonSchema[], value: unknown, path: SchemaPath): void {
    const trials = choices.map((choice) => {
      const trial = new Walk(this.#definition, this.#options);
      trial.visit(choice, value, path);
      return { choice: this.#resolved(choice), found: trial.found };
    });
    if (trials.some(({ found }) => found.length === 0)) return;
    if (trials.every(({ choice }) => isConstant(choice))) {
      this.#add(path, notAllowed(trials.flatMap(({ choice }) => allowedBy(choice))));
      return;
    }
    const [closest] = trials
      .filter(({ choice }) => isMeant(choice, value))
      .sort((a, b) => untyped(a.choice) - untyped(b.choice) || a.found.length - b.found.length);
    if (closest !== undefined) {
      for (const one of closest.found) this.#add(one.path, one.problem);
      return;
    }
    const tag = tagOf(trials.map(({ choice }) => choice));
    if (tag !== undefined && isObject(value)) this.#add([...path, tag.name], notAllowed(tag.values));
    else this.#add(path, problem('WRONG_TYPE', { expected: this.#expected(schema) }));
  }

  #string(schema: JsonSchema, value: string, path: SchemaPath): void {
    const { minLength, maxLength, pattern, phrase } = schema;
    if (maxLength !== undefined && isLonger(value, maxLength)) {
      this.#add(path, problem('TEXT_TOO_LONG', { max: maxLength }));
      return;
    }
    // A code point has at most two UTF-16 units.
    if (minLength !== undefined && value.length < 2 * minLength && codePoints(value) < minLength) {
      this.#add(path, minLength === 1 ? problem('EMPTY_TEXT') : problem('TEXT_TOO_SHORT', { min: minLength }));
      return;
    }
    const matches = pattern === undefined || new RegExp(pattern, 'u').test(value);
    // A pattern beside a format narrows it; one message covers both.
    if (schema.format !== undefined && !(Format.Test(schema.format, value) && matches)) {
      this.#add(path, problem('WRONG_FORMAT', { expected: formatPhrase(schema.format) }));
    } else if (!matches && pattern !== undefined) {
      this.#add(
        path,
        phrase === undefined
          ? problem('PATTERN_MISMATCH', { pattern })
          : problem('FORMAT_MISMATCH', { expected: phrase, pattern }),
      );
    }
  }

  #number(schema: JsonSchema, value: number, path: SchemaPath): void {
    const { minimum, maximum, exclusiveMinimum, exclusiveMaximum, multipleOf } = schema;
    if (minimum !== undefined && value < minimum) this.#add(path, problem('TOO_SMALL', { min: minimum }));
    if (maximum !== undefined && value > maximum) this.#add(path, problem('TOO_LARGE', { max: maximum }));
    if (exclusiveMinimum !== undefined && value <= exclusiveMinimum)
      this.#add(path, problem('NOT_ABOVE', { bound: exclusiveMinimum }));
    if (exclusiveMaximum !== undefined && value >= exclusiveMaximum)
      this.#add(path, problem('NOT_BELOW', { bound: exclusiveMaximum }));
    if (multipleOf !== undefined && value % multipleOf !== 0)
      this.#add(path, problem('NOT_A_MULTIPLE', { of: multipleOf }));
  }

  #array(schema: JsonSchema, value: readonly unknown[], path: SchemaPath): void {
    const { minItems, maxItems, items } = schema;
    if (minItems !== undefined && value.length < minItems) this.#add(path, problem('TOO_FEW_ITEMS', { min: minItems }));
    if (maxItems !== undefined && value.length > maxItems) {
      this.#add(path, problem('TOO_MANY_ITEMS', { max: maxItems }));
      return;
    }
    const seen = new Set<string>();
    for (const [index, item] of value.entries()) {
      if (this.#full) return;
      if (schema.uniqueItems === true) {
        const key = JSON.stringify(item);
        if (seen.has(key)) this.#add([...path, index], problem('REPEATED_ITEM'));
        seen.add(key);
      }
      if (items !== undefined) this.visit(items, item, [...path, index]);
    }
  }

  #object(schema: JsonSchema, value: Record<string, unknown>, path: SchemaPath): void {
    for (const name of schema.required ?? []) {
      if (!Object.hasOwn(value, name)) this.#add([...path, name], problem('PROPERTY_MISSING', { name }));
    }
    const names = Object.keys(value);
    const { minProperties } = schema;
    if (minProperties !== undefined && names.length < minProperties) {
      this.#add(
        path,
        minProperties === 1 ? problem('EMPTY_MAPPING') : problem('TOO_FEW_ITEMS', { min: minProperties }),
      );
    }
    const most = schema.maxProperties ?? (schema.patternProperties === undefined ? undefined : MAX_MEMBERS);
    if (most !== undefined && names.length > most) {
      this.#add(path, problem('TOO_MANY_ITEMS', { max: most }));
      return;
    }
    for (const name of names) {
      if (this.#full) return;
      const member = memberSchema(schema, name);
      const here = [...path, name.slice(0, MAX_NAME)];
      if (member === false) this.#add(here, this.#options.unknown(name.slice(0, MAX_NAME), schema));
      else if (member !== undefined) this.visit(member, value[name], here);
    }
  }

  /** What the schema accepts, for messages. */
  #expected(given: JsonSchema): Phrase[] {
    const schema = this.#resolved(given);
    const choices = schema.anyOf ?? schema.oneOf;
    if (choices?.every(isConstant) === true) return [valuesPhrase(choices.flatMap(allowedBy))];
    if (choices !== undefined) return choices.flatMap((choice) => this.#expected(choice));
    if (isConstant(schema)) return [valuesPhrase(allowedBy(schema))];
    if (Array.isArray(schema.type)) return schema.type.map((type) => TYPE_PHRASES.get(type) ?? { phrase: 'OTHER' });
    if (schema.type === 'string' && schema.format !== undefined) return [formatPhrase(schema.format)];
    if (schema.phrase !== undefined) return [schema.phrase];
    const { minimum, maximum } = schema;
    if (schema.type === 'integer' && minimum !== undefined) {
      return [
        maximum === undefined
          ? { phrase: 'INTEGER_FROM', min: minimum }
          : { phrase: 'INTEGER_BETWEEN', min: minimum, max: maximum },
      ];
    }
    return [TYPE_PHRASES.get(schema.type ?? '') ?? { phrase: 'OTHER' }];
  }
}

const TYPE_PHRASES: ReadonlyMap<string, Phrase> = new Map<string, Phrase>([
  ['string', { phrase: 'TEXT' }],
  ['number', { phrase: 'NUMBER' }],
  ['integer', { phrase: 'INTEGER' }],
  ['boolean', { phrase: 'BOOLEAN' }],
  ['array', { phrase: 'LIST' }],
  ['object', { phrase: 'MAPPING' }],
  ['null', { phrase: 'NULL' }],
]);

const FORMAT_PHRASES: ReadonlyMap<string, Phrase> = new Map<string, Phrase>([
  ['uuid', { phrase: 'ID' }],
  ['date', { phrase: 'DATE' }],
  ['date-time', { phrase: 'INSTANT' }],
  ['email', { phrase: 'EMAIL' }],
  ['uri', { phrase: 'ADDRESS' }],
  ['url', { phrase: 'ADDRESS' }],
  ['duration', { phrase: 'DURATION' }],
]);

function formatPhrase(format: string): Phrase {
  return FORMAT_PHRASES.get(format) ?? { phrase: 'FORMAT', format };
}

function valuesPhrase(values: readonly unknown[]): Phrase {
  const texts = values.slice(0, MAX_RECORD_VALUES).map((value) => JSON.stringify(value));
  const [first = ''] = texts;
  return texts.length === 1 ? { phrase: 'VALUE', value: first } : { phrase: 'ONE_OF', values: texts.join(', ') };
}

function notAllowed(values: readonly unknown[]): Problem {
  return problem('VALUE_NOT_ALLOWED', { expected: valuesPhrase(values) });
}

function isConstant(schema: JsonSchema): boolean {
  return Object.hasOwn(schema, 'const') || schema.enum !== undefined;
}

function allowedBy(schema: JsonSchema): readonly unknown[] {
  return schema.enum ?? [schema.const];
}

/** 1 for a branch without a type of its own, such as a nested union: it is a weaker match. */
function untyped({ type }: JsonSchema): number {
  return type === undefined ? 1 : 0;
}

/** True if the value has the branch's type and all its constant properties. */
function isMeant(choice: JsonSchema, value: unknown): boolean {
  if (isConstant(choice) || (choice.type !== undefined && !hasType(choice.type, value))) return false;
  if (!isObject(value)) return true;
  return Object.entries(choice.properties ?? {}).every(
    ([name, member]) => !Object.hasOwn(member, 'const') || (Object.hasOwn(value, name) && value[name] === member.const),
  );
}

/** The property that tells the branches of a union apart: it is constant in each of them. */
function tagOf(choices: readonly JsonSchema[]): { name: string; values: unknown[] } | undefined {
  for (const name of Object.keys(choices[0]?.properties ?? {})) {
    const members = choices.map((choice) => choice.properties?.[name]);
    if (members.every((member) => member !== undefined && Object.hasOwn(member, 'const'))) {
      return { name, values: members.map((member) => member?.const) };
    }
  }
  return undefined;
}

/** The schema of a property; false if the property is not allowed, undefined if any value is allowed. */
function memberSchema(schema: JsonSchema, name: string): JsonSchema | false | undefined {
  const { properties, patternProperties, additionalProperties } = schema;
  if (properties !== undefined && Object.hasOwn(properties, name)) return properties[name];
  for (const [pattern, member] of Object.entries(patternProperties ?? {})) {
    if (new RegExp(pattern, 'u').test(name)) return member;
  }
  if (additionalProperties === false) return false;
  return additionalProperties === true ? undefined : additionalProperties;
}

function hasType(type: string | string[], value: unknown): boolean {
  if (Array.isArray(type)) return type.some((one) => hasType(one, value));
  if (type === 'null') return value === null;
  if (type === 'array') return Array.isArray(value);
  if (type === 'object') return isObject(value);
  if (type === 'integer') return Number.isSafeInteger(value);
  return typeof value === type;
}

/** True if the text has more than `most` code points. A text far above the limit is not counted. */
export function isLonger(text: string, most: number): boolean {
  return text.length > most && (text.length > 2 * most || codePoints(text) > most);
}

/** Counts code points, as JSON Schema does: neither UTF-16 units nor grapheme clusters. */
function codePoints(text: string): number {
  let count = 0;
  for (const _ of text) count++;
  return count;
}

/** The direct subschemas, each with a name for error messages. */
export function* partsOf(schema: JsonSchema): Generator<[string, JsonSchema]> {
  for (const [name, part] of Object.entries(schema.properties ?? {})) yield [name, part];
  for (const [name, part] of Object.entries(schema.patternProperties ?? {})) yield [name, part];
  for (const [name, part] of Object.entries(schema.$defs ?? {})) yield [name, part];
  if (typeof schema.additionalProperties === 'object') yield ['*', schema.additionalProperties];
  if (schema.items !== undefined) yield ['items', schema.items];
  for (const list of [schema.anyOf, schema.oneOf, schema.allOf]) {
    for (const [index, part] of (list ?? []).entries()) yield [String(index), part];
  }
}

/** Schemas that can be referenced: those in `$defs` and those with an `$id`. */
export function definitionsOf(schema: JsonSchema, found = new Map<string, JsonSchema>()): Map<string, JsonSchema> {
  for (const [name, part] of Object.entries(schema.$defs ?? {})) found.set(name, part);
  if (schema.$id !== undefined) found.set(schema.$id, schema);
  for (const [, part] of partsOf(schema)) definitionsOf(part, found);
  return found;
}

/** `Node`, `#/$defs/Node` and `#/components/schemas/Node` refer to the same definition. */
export function refName(ref: string): string {
  return ref.slice(ref.lastIndexOf('/') + 1);
}
