/**
 * Explains why a value does not match a schema: all problems at once, each with its path. Called only after the compiled check
 * failed, so it need not be fast; its work is bounded.
 */
import Format from 'typebox/format';
import type { FaultDetail } from '../lib/fault.ts';
import { pointer } from '../lib/json.ts';
import { definitionsOf, type JsonSchema, refName } from './schema.ts';

const MOST_PROBLEMS = 100;
const MOST_NAME = 100;
/**
 * Maximum number of members of a map, such as the values of a record. No type has that many fields. Checking more would be
 * slow.
 */
export const MOST_MEMBERS = 5000;

/** Formats the path of a problem: a JSON Pointer into a body, `query.NAME` for queries. */
export type PlaceWriter = (segments: readonly (string | number)[]) => string;

export const inBody: PlaceWriter = (segments) => pointer(...segments);

export const inQuery: PlaceWriter = (segments) => `query.${segments.join('.')}`;

export function explain(schema: JsonSchema, value: unknown, place: PlaceWriter): FaultDetail[] {
  const explainer = new Explainer(definitionsOf(schema), place);
  explainer.check(schema, value, []);
  return explainer.problems;
}

type Path = readonly (string | number)[];

class Explainer {
  readonly problems: FaultDetail[] = [];
  readonly #definitions: ReadonlyMap<string, JsonSchema>;
  readonly #place: PlaceWriter;

  constructor(definitions: ReadonlyMap<string, JsonSchema>, place: PlaceWriter) {
    this.#definitions = definitions;
    this.#place = place;
  }

  #add(path: Path, code: string, message: string): void {
    if (this.problems.length < MOST_PROBLEMS) this.problems.push({ path: this.#place(path), code, message });
  }

  check(schema: JsonSchema, value: unknown, path: Path): void {
    if (this.problems.length >= MOST_PROBLEMS) return;
    const definition = schema.$ref === undefined ? undefined : this.#definitions.get(refName(schema.$ref));
    if (definition !== undefined) return this.check(definition, value, path);
    const choices = schema.anyOf ?? schema.oneOf;
    if (choices !== undefined) return this.#choose(schema, choices, value, path);
    if (Object.hasOwn(schema, 'const') || schema.enum !== undefined) {
      const allowed = schema.enum ?? [schema.const];
      if (!allowed.includes(value)) this.#add(path, 'NOT_ALLOWED', `Use ${list(allowed)}.`);
      return;
    }
    if (schema.type !== undefined && !hasType(schema.type, value)) {
      this.#add(path, 'WRONG_TYPE', `Send ${typeName(schema)}.`);
      return;
    }
    if (typeof value === 'string') this.#string(schema, value, path);
    else if (typeof value === 'number') this.#number(schema, value, path);
    else if (Array.isArray(value)) this.#array(schema, value, path);
    else if (typeof value === 'object' && value !== null) this.#object(schema, value as Record<string, unknown>, path);
  }

  /** Reports the problems of the branch that the value was meant for, if it can be determined. */
  #choose(schema: JsonSchema, choices: JsonSchema[], value: unknown, path: Path): void {
    const trials = choices.map((choice) => {
      const trial = new Explainer(this.#definitions, this.#place);
      trial.check(choice, value, path);
      return { choice: this.#resolved(choice), problems: trial.problems };
    });
    if (trials.some((trial) => trial.problems.length === 0)) return;
    const constants = trials.filter(({ choice }) => Object.hasOwn(choice, 'const') || choice.enum !== undefined);
    if (constants.length === trials.length) {
      this.#add(path, 'NOT_ALLOWED', `Use ${list(constants.flatMap(({ choice }) => choice.enum ?? [choice.const]))}.`);
      return;
    }
    const meant = trials.filter(({ choice }) => this.#isMeant(choice, value));
    if (meant.length === 1) {
      for (const problem of meant[0]?.problems ?? [])
        if (this.problems.length < MOST_PROBLEMS) this.problems.push(problem);
      return;
    }
    const tag = tagOf(trials.map(({ choice }) => choice));
    if (tag !== undefined && isRecord(value) && meant.length === 0) {
      this.#add([...path, tag.name], 'NOT_ALLOWED', `Use ${list(tag.values)}.`);
      return;
    }
    this.#add(path, 'WRONG_TYPE', `Send ${typeName(schema)}.`);
  }

  #resolved(schema: JsonSchema): JsonSchema {
    return (schema.$ref === undefined ? undefined : this.#definitions.get(refName(schema.$ref))) ?? schema;
  }

  /** True if the value has the branch's type and all its constant members (discriminators). */
  #isMeant(choice: JsonSchema, value: unknown): boolean {
    if (Object.hasOwn(choice, 'const') || choice.enum !== undefined) return false;
    if (choice.type !== undefined && !hasType(choice.type, value)) return false;
    if (!isRecord(value)) return true;
    return Object.entries(choice.properties ?? {}).every(
      ([name, member]) =>
        !Object.hasOwn(member, 'const') || (Object.hasOwn(value, name) && value[name] === member.const),
    );
  }

  #string(schema: JsonSchema, value: string, path: Path): void {
    const { minLength, maxLength } = schema;
    // A code point has at most two UTF-16 units. A text far above the limit is rejected without counting.
    if (maxLength !== undefined && isLonger(value, maxLength)) {
      this.#add(path, 'TOO_LONG', `Use at most ${maxLength} characters.`);
      return;
    }
    if (minLength !== undefined && value.length < 2 * minLength && codePoints(value) < minLength) {
      this.#add(
        path,
        'TOO_SHORT',
        minLength === 1 ? 'Do not leave it empty.' : `Use at least ${minLength} characters.`,
      );
    }
    // A pattern beside a format narrows it; one message covers both.
    if (schema.format !== undefined && !(Format.Test(schema.format, value) && fits(schema.pattern, value))) {
      this.#add(path, 'WRONG_FORMAT', `Send ${formatName(schema.format)}.`);
    } else if (!fits(schema.pattern, value)) {
      this.#add(path, 'WRONG_FORMAT', `It must match ${schema.pattern}.`);
    }
  }

  #number(schema: JsonSchema, value: number, path: Path): void {
    const { minimum, maximum, exclusiveMinimum, exclusiveMaximum, multipleOf } = schema;
    if (minimum !== undefined && value < minimum) this.#add(path, 'TOO_SMALL', `Use ${minimum} or more.`);
    if (maximum !== undefined && value > maximum) this.#add(path, 'TOO_LARGE', `Use ${maximum} or less.`);
    if (exclusiveMinimum !== undefined && value <= exclusiveMinimum) {
      this.#add(path, 'TOO_SMALL', `Use more than ${exclusiveMinimum}.`);
    }
    if (exclusiveMaximum !== undefined && value >= exclusiveMaximum) {
      this.#add(path, 'TOO_LARGE', `Use less than ${exclusiveMaximum}.`);
    }
    if (multipleOf !== undefined && value % multipleOf !== 0) {
      this.#add(path, 'INVALID', `Use a multiple of ${multipleOf}.`);
    }
  }

  #array(schema: JsonSchema, value: unknown[], path: Path): void {
    const { minItems, maxItems, items } = schema;
    if (minItems !== undefined && value.length < minItems) this.#add(path, 'TOO_FEW', `Send at least ${minItems}.`);
    if (maxItems !== undefined && value.length > maxItems) {
      this.#add(path, 'TOO_MANY', `Send at most ${maxItems}.`);
      return;
    }
    if (schema.uniqueItems === true && new Set(value.map((item) => JSON.stringify(item))).size < value.length) {
      this.#add(path, 'NOT_UNIQUE', 'Name each once.');
    }
    if (items === undefined) return;
    for (const [index, item] of value.entries()) {
      if (this.problems.length >= MOST_PROBLEMS) return;
      this.check(items, item, [...path, index]);
    }
  }

  #object(schema: JsonSchema, value: Record<string, unknown>, path: Path): void {
    for (const name of schema.required ?? []) {
      if (!Object.hasOwn(value, name)) this.#add([...path, name], 'REQUIRED', 'A value is required.');
    }
    const names = Object.keys(value);
    if (schema.minProperties !== undefined && names.length < schema.minProperties) {
      this.#add(path, 'TOO_FEW', `Send at least ${schema.minProperties}.`);
    }
    const most = schema.maxProperties ?? (schema.patternProperties === undefined ? undefined : MOST_MEMBERS);
    if (most !== undefined && names.length > most) {
      this.#add(path, 'TOO_MANY', `Send at most ${most}.`);
      return;
    }
    for (const name of names) {
      if (this.problems.length >= MOST_PROBLEMS) return;
      const member = memberSchema(schema, name);
      const here = [...path, name.slice(0, MOST_NAME)];
      if (member === false) this.#add(here, 'UNKNOWN', 'There is no such member; check its spelling.');
      else if (member !== undefined) this.check(member, value[name], here);
    }
  }
}

/** The schema of a member; false if the member is not allowed, undefined if any value is allowed. */
function memberSchema(schema: JsonSchema, name: string): JsonSchema | false | undefined {
  const { properties, patternProperties, additionalProperties } = schema;
  if (properties !== undefined && Object.hasOwn(properties, name)) return properties[name];
  for (const [pattern, member] of Object.entries(patternProperties ?? {})) {
    if (new RegExp(pattern, 'u').test(name)) return member;
  }
  if (additionalProperties === false) return false;
  return additionalProperties === true ? undefined : additionalProperties;
}

/** The discriminator of a union: a member that is constant in each branch. */
function tagOf(choices: JsonSchema[]): { name: string; values: unknown[] } | undefined {
  for (const name of Object.keys(choices[0]?.properties ?? {})) {
    const members = choices.map((choice) => choice.properties?.[name]);
    if (members.every((member) => member !== undefined && Object.hasOwn(member, 'const'))) {
      return { name, values: members.map((member) => member?.const) };
    }
  }
  return undefined;
}

function fits(pattern: string | undefined, value: string): boolean {
  return pattern === undefined || new RegExp(pattern, 'u').test(value);
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function hasType(type: string | string[], value: unknown): boolean {
  if (Array.isArray(type)) return type.some((one) => hasType(one, value));
  if (type === 'null') return value === null;
  if (type === 'array') return Array.isArray(value);
  if (type === 'object') return isRecord(value);
  if (type === 'integer') return Number.isSafeInteger(value);
  return typeof value === type;
}

/** True if the text has more than `most` code points. A text far above the limit is not counted. */
export function isLonger(text: string, most: number): boolean {
  return text.length > most && (text.length > 2 * most || codePoints(text) > most);
}

/** Counts code points, as JSON Schema does: neither UTF-16 units nor grapheme clusters. */
export function codePoints(text: string): number {
  let count = 0;
  for (const _ of text) count++;
  return count;
}

const FORMAT_NAMES = new Map([
  ['uuid', 'an id, a lower-case UUID'],
  ['date', 'a date as YYYY-MM-DD'],
  ['date-time', 'an instant as 2026-11-21T09:15:00.000Z'],
  ['email', 'an e-mail address'],
  ['uri', 'an address with its scheme'],
  ['url', 'an address with its scheme'],
  ['duration', 'a duration as PT1H30M'],
]);

function formatName(format: string): string {
  return FORMAT_NAMES.get(format) ?? `text of the format ${format}`;
}

function typeName(schema: JsonSchema): string {
  const choices = schema.anyOf ?? schema.oneOf;
  if (choices !== undefined) return [...new Set(choices.map(typeName))].join(' or ');
  if (Object.hasOwn(schema, 'const')) return list([schema.const]);
  if (schema.enum !== undefined) return list(schema.enum);
  if (Array.isArray(schema.type)) return schema.type.map((type) => typeName({ type })).join(' or ');
  if (schema.type === 'integer') return integerName(schema);
  if (schema.type === 'string' && schema.format !== undefined) return formatName(schema.format);
  const names = new Map([
    ['string', 'a string'],
    ['number', 'a number'],
    ['boolean', 'true or false'],
    ['array', 'an array'],
    ['object', 'an object'],
    ['null', 'null'],
  ]);
  return names.get(schema.type ?? '') ?? 'another value';
}

function integerName({ minimum, maximum }: JsonSchema): string {
  if (minimum !== undefined && maximum !== undefined) return `an integer from ${minimum} to ${maximum}`;
  return minimum === undefined ? 'an integer' : `an integer of ${minimum} or more`;
}

function list(values: readonly unknown[]): string {
  const names = values.map((value) => JSON.stringify(value));
  if (names.length === 1) return names[0] ?? '';
  return `one of ${names.slice(0, 50).join(', ')}`;
}
