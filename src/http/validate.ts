/** Compiled validators of bodies, queries and path parameters. They are compiled once, when the server is built. */
import type { TSchema } from 'typebox';
import { Compile } from 'typebox/compile';
import type { Input, Operation } from '../contract/operation.ts';
import { Fault, type FaultDetail } from '../lib/fault.ts';
import { withoutExact } from '../lib/exact-number.ts';
import { pointer } from '../lib/json.ts';
import { isLonger, type JsonSchema, mismatches, MAX_MEMBERS, type SchemaPath } from '../lib/json-schema.ts';
import { problem, problemAt } from '../lib/problem.ts';
import { fault } from './errors.ts';
import { asJsonSchema, requireStrict } from './schema.ts';

/** Undefined if the value is valid, else all problems. The value is never changed. */
export type Check = (value: unknown) => FaultDetail[] | undefined;

/** Formats the path of a problem: a JSON Pointer into a body, `query.NAME` for queries. */
type PlaceWriter = (segments: SchemaPath) => string;

const inBody: PlaceWriter = (segments) => pointer(...segments);

const inQuery: PlaceWriter = (segments) => `query.${segments.join('.')}`;

/** Maximum number of problems in an answer. */
const MAX_PROBLEMS = 100;

/** Called only after the compiled check failed, so it need not be fast; its work is bounded. */
function explain(schema: JsonSchema, value: unknown, place: PlaceWriter): FaultDetail[] {
  const unknown = (name: string) => problem('UNKNOWN_PROPERTY', { name });
  return mismatches(schema, value, { most: MAX_PROBLEMS, unknown }).map(({ path, problem: found }) => ({
    path: place(path),
    ...found,
  }));
}

/** @throws Error naming the place where the schema is not strict */
export function bodyCheck(schema: TSchema, place: string): Check {
  return compileCheck(schema, place, inBody);
}

function compileCheck(schema: TSchema, place: string, writer: PlaceWriter): Check {
  const plain = asJsonSchema(schema);
  requireStrict(plain, place);
  const validator = Compile(schema);
  const limits = limitsOf(plain);
  return (given) => {
    // Numbers that a double cannot hold exactly may stand only where the schema accepts any value. The code that reads them
    // validates them.
    const value = withoutExact(given);
    // Lengths first: the schema's own check would scan a text of any length.
    if ((limits === undefined || within(limits, value)) && validator.Check(value)) return undefined;
    const problems = explain(plain, value, writer);
    if (problems.length > 0) return problems;
    return [problemAt(writer([]), 'NOT_AS_DOCUMENTED')];
  };
}

// TypeBox counts grapheme clusters, and one cluster may hold any number of combining marks. A length limit that protects
// storage and indexes must count code points, as JSON Schema says.
interface Limits {
  most: number;
  /** True for a map. Its members are counted before each is checked. */
  map: boolean;
  members: [string, Limits][];
  items: Limits | undefined;
}

function limitsOf(schema: JsonSchema): Limits | undefined {
  const choices = schema.anyOf ?? schema.oneOf;
  if (choices !== undefined) {
    const strings = choices.filter((choice) => choice.type === 'string');
    const most = Math.max(0, ...strings.map((choice) => choice.maxLength ?? Number.POSITIVE_INFINITY));
    if (strings.length > 0)
      return Number.isFinite(most) ? { most, map: false, members: [], items: undefined } : undefined;
    const inner = choices.map(limitsOf).filter((limits) => limits !== undefined);
    return inner.length === 1 ? inner[0] : undefined;
  }
  const members: [string, Limits][] = [];
  for (const [name, member] of Object.entries(schema.properties ?? {})) {
    const limits = limitsOf(member);
    if (limits !== undefined) members.push([name, limits]);
  }
  const items = schema.items === undefined ? undefined : limitsOf(schema.items);
  const map = schema.patternProperties !== undefined;
  if (schema.maxLength === undefined && members.length === 0 && items === undefined && !map) return undefined;
  return { most: schema.maxLength ?? Number.POSITIVE_INFINITY, map, members, items };
}

function within(limits: Limits, value: unknown): boolean {
  if (typeof value === 'string') return !isLonger(value, limits.most);
  const { items } = limits;
  if (Array.isArray(value)) return items === undefined || value.every((item) => within(items, item));
  if (typeof value !== 'object' || value === null) return true;
  if (limits.map && Object.keys(value).length > MAX_MEMBERS) return false;
  return limits.members.every(([name, inner]) => within(inner, (value as Record<string, unknown>)[name]));
}

/** The fault for a request that does not match its documentation. */
export function invalid(problems: FaultDetail[]): Fault {
  const [first] = problems;
  const cause =
    problems.length === 1 && first !== undefined
      ? { ...first, message: `${first.path === '' ? 'body' : first.path}: ${first.message}` }
      : problem('REQUEST_PROBLEMS', { count: problems.length });
  return new Fault('INVALID_REQUEST', cause, problems);
}

/**
 * Validates path parameters and a body that did not come from an HTTP request, with the error messages of the operation.
 *
 * @throws Fault INVALID_REQUEST, NOT_FOUND from the returned function
 * @throws Error if the declaration is invalid
 */
export function inputReader<const O extends Operation>(
  operation: O,
): (params: Record<string, string>, body: unknown) => Input<O> {
  const checkParams = paramsCheck(operation.params, operation.path, `operation ${operation.id}, params`);
  const checkBody = operation.body && bodyCheck(operation.body, `operation ${operation.id}, body`);
  return (rawParams, body) => {
    const problems = checkBody?.(body) ?? [];
    if (problems.length > 0) throw invalid(problems);
    const params = checkParams(rawParams);
    if (params === undefined) throw fault('NOT_FOUND');
    return { params, query: {}, body } as unknown as Input<O>;
  };
}

/** Undefined if the path parameters cannot match anything; else the parameters, with ids in lower case as stored. */
export type ParamsCheck = (params: Record<string, string>) => Record<string, string> | undefined;

const NEVER_IN_A_NAME = /[\p{Cc}/]/u;

/** @throws Error if schema and path do not have the same parameters */
export function paramsCheck(schema: TSchema | undefined, path: string, place: string): ParamsCheck {
  const inPath = [...path.matchAll(/\{([^}]+)\}/g)].map((match) => match[1] ?? '').sort();
  const properties = schema === undefined ? {} : (asJsonSchema(schema).properties ?? {});
  if (inPath.join() !== Object.keys(properties).sort().join()) {
    throw new Error(`${place}: the path has the parameters [${inPath}], the schema [${Object.keys(properties)}]`);
  }
  if (schema === undefined) return (params) => params;
  for (const [name, member] of Object.entries(properties)) requireStrict(member, `${place}/${name}`);
  const validator = Compile(schema);
  const names = Object.entries(properties).map(([name, member]) => ({ name, isId: member.format === 'uuid' }));
  return (params) => {
    const read: Record<string, string> = {};
    for (const { name, isId } of names) {
      const value = params[name] ?? '';
      if (NEVER_IN_A_NAME.test(value)) return undefined;
      read[name] = isId ? value.toLowerCase() : value;
    }
    return validator.Check(read) ? read : undefined;
  };
}

type QueryRead = { query: Record<string, unknown>; problems: FaultDetail[] };
export type QueryReader = (text: string) => QueryRead;

type Kind = 'string' | 'integer' | 'boolean';

const CANONICAL_INTEGER = /^(?:0|-?[1-9]\d{0,15})$/;

/**
 * Reads query parameters. Strings are converted to the schema's type only from their canonical form. Unknown and repeated
 * parameters are problems. Defaults of the schema are filled in.
 *
 * @throws Error if the schema has a type that a query cannot hold
 */
export function queryReader(schema: TSchema | undefined, place: string): QueryReader {
  const plain: JsonSchema = schema === undefined ? {} : asJsonSchema(schema);
  const kinds = new Map(
    Object.entries(plain.properties ?? {}).map(([name, member]) => [name, kindOf(member, place, name)]),
  );
  const defaults = Object.entries(plain.properties ?? {}).filter(([, member]) => member.default !== undefined);
  const check = schema === undefined ? () => undefined : compileCheck(schema, place, inQuery);
  return (text) => {
    const query: Record<string, unknown> = {};
    const problems: FaultDetail[] = [];
    if (text !== '') readPairs(text, kinds, query, problems);
    for (const [name, member] of defaults) if (!Object.hasOwn(query, name)) query[name] = member.default;
    if (schema === undefined) return { query, problems };
    const misfits = check(query);
    if (misfits === undefined) return { query, problems };
    // A parameter that could not be parsed is reported once, not also as missing or of the wrong type.
    const named = new Set(problems.map((problem) => problem.path));
    for (const problem of misfits) if (!named.has(problem.path)) problems.push(problem);
    return { query, problems };
  };
}

function kindOf(schema: JsonSchema, place: string, name: string): Kind {
  if (schema.type === 'integer' || schema.type === 'boolean' || schema.type === 'string') return schema.type;
  const constants = schema.enum ?? schema.anyOf?.map((choice) => choice.const) ?? [schema.const];
  if (constants.every((value) => typeof value === 'string')) return 'string';
  throw new Error(`${place}/${name}: a query parameter is a string, an integer, a boolean or one of some strings`);
}

function readPairs(
  text: string,
  kinds: ReadonlyMap<string, Kind>,
  query: Record<string, unknown>,
  problems: FaultDetail[],
): void {
  const seen = new Set<string>();
  for (const pair of text.split('&')) {
    if (pair === '' || problems.length >= 100) continue;
    const cut = pair.indexOf('=');
    const name = decode(cut === -1 ? pair : pair.slice(0, cut));
    const value = decode(cut === -1 ? '' : pair.slice(cut + 1));
    const kind = name === undefined ? undefined : kinds.get(name);
    if (name === undefined || kind === undefined) {
      const path = inQuery([(name ?? pair).slice(0, 100)]);
      problems.push(problemAt(path, 'UNKNOWN_PARAMETER'));
      continue;
    }
    const path = inQuery([name]);
    if (seen.has(name)) {
      problems.push(problemAt(path, 'REPEATED_PARAMETER'));
      continue;
    }
    seen.add(name);
    if (value === undefined || value.includes('\u0000')) {
      problems.push(problemAt(path, 'PARAMETER_ENCODING'));
      continue;
    }
    query[name] = coerce(value, kind);
  }
}

function coerce(value: string, kind: Kind): unknown {
  if (kind === 'integer' && CANONICAL_INTEGER.test(value)) return Number(value);
  if (kind === 'boolean' && (value === 'true' || value === 'false')) return value === 'true';
  // A value in no canonical form stays a string. The schema check then reports the expected type.
  return value;
}

function decode(text: string): string | undefined {
  if (!text.includes('%') && !text.includes('+')) return text;
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    return undefined;
  }
}
