/**
 * Validates an item against the schema of its section and reports every problem with its path. Supports the subset of JSON
 * Schema that the sections use.
 */
import type { TSchema } from 'typebox';
import type { ItemPath, Report } from './section.ts';

interface JsonSchema {
  type?: string;
  const?: unknown;
  enum?: readonly unknown[];
  anyOf?: JsonSchema[];
  description?: string;
  minLength?: number;
  maxLength?: number;
  pattern?: string;
  minimum?: number;
  maximum?: number;
  items?: JsonSchema;
  minItems?: number;
  maxItems?: number;
  uniqueItems?: boolean;
  properties?: Record<string, JsonSchema>;
  patternProperties?: Record<string, JsonSchema>;
  additionalProperties?: unknown;
  required?: string[];
  minProperties?: number;
}

/** Reports all mismatches. Returns whether the value is valid. */
export function checkShape(schema: TSchema, value: unknown, report: Report): boolean {
  let fits = true;
  visit(schema as JsonSchema, value, [], (...problem) => {
    fits = false;
    report(...problem);
  });
  return fits;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function hasType(type: string, value: unknown): boolean {
  if (type === 'null') return value === null;
  if (type === 'array') return Array.isArray(value);
  if (type === 'object') return isRecord(value);
  if (type === 'integer') return Number.isSafeInteger(value);
  return typeof value === type;
}

function visit(schema: JsonSchema, value: unknown, path: ItemPath, report: Report): void {
  if (schema.anyOf !== undefined) return choose(schema, schema.anyOf, value, path, report);
  const allowed = schema.enum ?? (Object.hasOwn(schema, 'const') ? [schema.const] : undefined);
  if (allowed !== undefined) {
    if (!allowed.includes(value)) report(path, 'NOT_ALLOWED', `Use ${listed(allowed)}.`);
    return;
  }
  if (schema.type !== undefined && !hasType(schema.type, value)) {
    const quoted = schema.type === 'string' && (typeof value === 'number' || typeof value === 'boolean');
    report(path, 'WRONG_TYPE', `Use ${nameOf(schema)}${quoted ? '; put it in quotes' : ''}.`);
  } else if (typeof value === 'string') text(schema, value, path, report);
  else if (typeof value === 'number') number(schema, value, path, report);
  else if (Array.isArray(value)) list(schema, value, path, report);
  else if (isRecord(value)) record(schema, value, path, report);
}

/** Validates a union. If no branch matches, reports the problems of the closest branch that has the value's type. */
function choose(schema: JsonSchema, branches: JsonSchema[], value: unknown, path: ItemPath, report: Report): void {
  const trials = branches.map((branch) => {
    const problems: Parameters<Report>[] = [];
    visit(branch, value, path, (...problem) => problems.push(problem));
    return { branch, problems };
  });
  if (trials.some(({ problems }) => problems.length === 0)) return;
  const meant = trials.filter(
    ({ branch }) => branch.type !== undefined && !isConstant(branch) && hasType(branch.type, value),
  );
  const [closest] = meant.sort((a, b) => a.problems.length - b.problems.length);
  if (closest !== undefined) for (const problem of closest.problems) report(...problem);
  else if (branches.every(isConstant)) report(path, 'NOT_ALLOWED', `Use ${nameOf(schema)}.`);
  else report(path, 'WRONG_TYPE', `Use ${nameOf(schema)}.`);
}

function isConstant(schema: JsonSchema): boolean {
  return Object.hasOwn(schema, 'const') || schema.enum !== undefined;
}

function text(schema: JsonSchema, value: string, path: ItemPath, report: Report): void {
  const length = [...value].length;
  if (schema.minLength !== undefined && length < schema.minLength) {
    report(
      path,
      'TOO_SHORT',
      schema.minLength === 1 ? 'It must not be empty.' : `Use at least ${schema.minLength} characters.`,
    );
  } else if (schema.maxLength !== undefined && length > schema.maxLength) {
    report(path, 'TOO_LONG', `Use at most ${schema.maxLength} characters.`);
  } else if (schema.pattern !== undefined && !new RegExp(schema.pattern, 'u').test(value)) {
    const what = schema.description === undefined ? '' : `Use ${schema.description}; it`;
    report(path, 'WRONG_FORMAT', `${what === '' ? 'It' : what} must match ${schema.pattern}.`);
  }
}

function number(schema: JsonSchema, value: number, path: ItemPath, report: Report): void {
  if (schema.minimum !== undefined && value < schema.minimum)
    report(path, 'TOO_SMALL', `Use ${schema.minimum} or more.`);
  if (schema.maximum !== undefined && value > schema.maximum)
    report(path, 'TOO_LARGE', `Use ${schema.maximum} or less.`);
}

function list(schema: JsonSchema, value: readonly unknown[], path: ItemPath, report: Report): void {
  if (schema.minItems !== undefined && value.length < schema.minItems)
    report(path, 'TOO_FEW', `Name at least ${schema.minItems}.`);
  if (schema.maxItems !== undefined && value.length > schema.maxItems) {
    report(path, 'TOO_MANY', `Name at most ${schema.maxItems}.`);
    return;
  }
  const seen = new Set<string>();
  for (const [index, item] of value.entries()) {
    const key = JSON.stringify(item);
    if (schema.uniqueItems === true && seen.has(key))
      report([...path, index], 'NOT_UNIQUE', 'It stands here twice; name each once.');
    seen.add(key);
    if (schema.items !== undefined) visit(schema.items, item, [...path, index], report);
  }
}

function record(schema: JsonSchema, value: Record<string, unknown>, path: ItemPath, report: Report): void {
  const { properties = {}, required = [] } = schema;
  for (const name of required) {
    if (!Object.hasOwn(value, name)) report([...path, name], 'REQUIRED', `The property ${name} is missing.`);
  }
  const names = Object.keys(value);
  if (schema.minProperties !== undefined && names.length < schema.minProperties)
    report(path, 'TOO_FEW', 'It must not be empty.');
  for (const name of names) {
    const member = Object.hasOwn(properties, name) ? properties[name] : matching(schema, name);
    if (member !== undefined) visit(member, value[name], [...path, name], report);
    else if (schema.additionalProperties !== true) report([...path, name], 'UNKNOWN_KEY', unknownKey(name, schema));
  }
}

function matching(schema: JsonSchema, name: string): JsonSchema | undefined {
  for (const [pattern, member] of Object.entries(schema.patternProperties ?? {})) {
    if (new RegExp(pattern, 'u').test(name)) return member;
  }
  return undefined;
}

function unknownKey(name: string, schema: JsonSchema): string {
  const known = Object.keys(schema.properties ?? {});
  const [pattern] = Object.keys(schema.patternProperties ?? {});
  if (known.length > 0) return `There is no key ${name} here; known are ${known.join(', ')}.`;
  return pattern === undefined ? `There is no key ${name} here.` : `The key ${name} must match ${pattern}.`;
}

function listed(values: readonly unknown[]): string {
  const texts = values.map((value) => JSON.stringify(value));
  return texts.length === 1 ? (texts[0] ?? '') : `one of ${texts.join(', ')}`;
}

const TYPE_NAMES: ReadonlyMap<string, string> = new Map([
  ['string', 'text'],
  ['number', 'a number'],
  ['integer', 'an integer'],
  ['boolean', 'true or false'],
  ['array', 'a list'],
  ['object', 'a mapping'],
  ['null', 'null'],
]);

function nameOf(schema: JsonSchema): string {
  if (schema.anyOf !== undefined) {
    if (schema.anyOf.every((branch) => Object.hasOwn(branch, 'const')))
      return listed(schema.anyOf.map((branch) => branch.const));
    return [...new Set(schema.anyOf.map(nameOf))].join(' or ');
  }
  if (isConstant(schema)) return listed(schema.enum ?? [schema.const]);
  return TYPE_NAMES.get(schema.type ?? '') ?? 'another value';
}
