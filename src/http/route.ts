/** Turns declared operations into routes. Declarations are checked and compiled once, at startup. */
import { queryOn } from '../contract/paging.ts';
import Type from 'typebox';
import { isScope } from '../contract/scopes.ts';
import { type Input, type Operation, takesDryRun } from '../contract/operation.ts';
import { closed } from '../contract/schemas.ts';
import type { FaultDetail } from '../lib/fault.ts';
import { problemAt } from '../lib/problem.ts';
import type { BoundOperation } from '../platform/unit-of-work/binding.ts';
import { fault } from './errors.ts';
import { PREFIX, type Surface } from './types.ts';
import {
  bodyCheck,
  type Check,
  invalid,
  type ParamsCheck,
  paramsCheck,
  type QueryReader,
  queryReader,
} from './validate.ts';

/** A bound operation with its compiled checks. */
export interface Prepared {
  binding: BoundOperation;
  params: ParamsCheck;
  query: QueryReader;
  /** Undefined when the operation takes no body. */
  body: Check | undefined;
  /** True if a missing body is read as an empty object. */
  bodyOptional: boolean;
  timeoutMs: number;
}

export interface Route {
  surface: Surface;
  /** Scope that the key must have. Undefined if none is required. Sessions and keys with `admin:manage` are not checked. */
  scope: string | undefined;
  /** Includes the prefix; parameters are in braces. */
  path: string;
  prepared: Prepared;
}

/** @throws Error naming the operation if its declaration is invalid */
function prepare(binding: BoundOperation, surface: Surface, defaultTimeoutMs: number): Prepared {
  const { operation } = binding;
  const place = `operation ${operation.id}`;
  if (operation.id === '') throw new Error('an operation has no id');
  const access = operation.access as string | undefined;
  if (access === undefined || (access !== 'console' && access !== 'open' && !isScope(access))) {
    throw new Error(`${place}: access is neither a scope, nor "console", nor "open"`);
  }
  if (access === 'open' && operation.surface === undefined)
    throw new Error(`${place}: an open operation names its surface`);
  if (!operation.path.startsWith('/')) throw new Error(`${place}: the path begins with a slash`);
  if (operation.idempotent === true && operation.unit !== 'write' && operation.unit !== 'own') {
    throw new Error(`${place}: only a write can be idempotent`);
  }
  if (operation.body !== undefined && operation.method === 'GET') throw new Error(`${place}: a GET takes no body`);
  if (operation.ifMatch === true && operation.body === undefined)
    throw new Error(`${place}: ifMatch needs a body schema`);
  const body = operation.body === undefined ? undefined : bodyCheck(operation.body, `${place}, body`);
  return {
    binding,
    params: paramsCheck(operation.params, operation.path, `${place}, params`),
    query: queryReader(queryOf(operation, surface), `${place}, query`),
    body,
    bodyOptional: body !== undefined && body({}) === undefined,
    timeoutMs: operation.timeoutMs ?? defaultTimeoutMs,
  };
}

/** The parameters of the operation, with `dryRun` for writes that take it. */
function queryOf(operation: Operation, surface: Surface): Operation['query'] {
  if (!takesDryRun(operation)) return queryOn(surface, operation);
  const { properties = {} } = (operation.query ?? {}) as { properties?: Record<string, Type.TSchema> };
  return closed({ ...properties, dryRun: Type.Optional(Type.Boolean()) });
}

/**
 * Maps operations to paths. Operations with a scope get both prefixes, console operations the console prefix, open operations
 * the prefix of their declared surface.
 *
 * @throws Error if an id or a route is used twice, or a declaration is invalid: the service then does not start
 */
export function routesOf(bindings: readonly BoundOperation[], defaultTimeoutMs: number): Route[] {
  const ids = new Set<string>();
  const places = new Map<string, string>();
  const routes: Route[] = [];
  for (const binding of bindings) {
    const { operation } = binding;
    if (ids.has(operation.id)) throw new Error(`operation ${operation.id}: the id is declared twice`);
    ids.add(operation.id);
    const surfaces = surfacesOf(operation);
    const [first = 'public'] = surfaces;
    const shared = prepare(binding, first, defaultTimeoutMs);
    for (const surface of surfaces) {
      const prepared =
        operation.paged !== true || surface === first ? shared : prepare(binding, surface, defaultTimeoutMs);
      const path = PREFIX[surface] + operation.path;
      // Parameter names do not distinguish routes.
      const place = `${operation.method} ${path.replaceAll(/\{[^}]+\}/g, '{}')}`;
      const other = places.get(place) ?? (place.endsWith('/openapi.json') ? 'the document itself' : undefined);
      if (other !== undefined) throw new Error(`operation ${operation.id}: ${place} is already taken by ${other}`);
      places.set(place, operation.id);
      const scope = surface === 'public' && operation.access !== 'open' ? operation.access : undefined;
      routes.push({ surface, scope, path, prepared });
    }
  }
  return routes;
}

function surfacesOf(operation: BoundOperation['operation']): Surface[] {
  if (operation.access === 'open') return operation.surface === undefined ? [] : [operation.surface];
  return operation.access === 'console' ? ['console'] : ['public', 'console'];
}

/** The parts of a request before they are checked. */
export interface GivenInput {
  params: Record<string, string>;
  /** The text after the question mark. */
  query: string;
  /** The parsed body; undefined if there is none. */
  body: unknown;
  /** Adds the revision of the header `If-Match` to the body. */
  ifMatch?: (body: unknown, problems: FaultDetail[]) => unknown;
}

/** Reports all problems of query, headers and body at once. @throws Fault INVALID_REQUEST, NOT_FOUND */
export function readInput(prepared: Prepared, given: GivenInput): Input<Operation> {
  const { operation } = prepared.binding;
  const { query, problems } = prepared.query(given.query);
  let { body } = given;
  if (operation.ifMatch === true && given.ifMatch !== undefined) body = given.ifMatch(body, problems);
  if (prepared.body === undefined) {
    body = undefined;
  } else if (body === undefined) {
    if (prepared.bodyOptional) body = {};
    else problems.push(problemAt('', 'BODY_REQUIRED'));
  } else {
    problems.push(...(prepared.body(body) ?? []));
  }
  if (problems.length > 0) throw invalid(problems);
  // A malformed id gets the same answer as an unknown one, at the same point.
  const params = prepared.params(given.params);
  if (params === undefined) throw fault('NOT_FOUND');
  return { params, query, body } as unknown as Input<Operation>;
}

/** The methods available at each path, for 405 and OPTIONS. */
export class PathTable {
  /** Keyed by the number of segments. */
  readonly #paths = new Map<number, { segments: string[]; methods: Set<string> }[]>();

  add(path: string, method: string): void {
    const segments = path.split('/');
    const group = this.#paths.get(segments.length) ?? [];
    this.#paths.set(segments.length, group);
    let entry = group.find((one) => one.segments.join('/') === segments.join('/'));
    if (entry === undefined) {
      entry = { segments, methods: new Set() };
      group.push(entry);
    }
    entry.methods.add(method);
    if (method === 'GET') entry.methods.add('HEAD');
  }

  /** Sorted. Empty if no route matches the path. */
  methodsAt(path: string): string[] {
    const segments = path.split('/');
    const methods = new Set<string>();
    for (const entry of this.#paths.get(segments.length) ?? []) {
      const fits = entry.segments.every((part, i) =>
        part.startsWith('{') ? segments[i] !== '' : part === segments[i],
      );
      if (fits) for (const method of entry.methods) methods.add(method);
    }
    return [...methods].sort();
  }
}
