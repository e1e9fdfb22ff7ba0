/** Compares responses with the OpenAPI document. Undocumented content is a problem. */
import { Compile } from 'typebox/schema';
import { MODULES } from '../../src/modules.ts';
import { operationsOf } from '../../src/platform/module.ts';
import { buildDocument } from '../../src/contract/openapi.ts';
import type { TestAnswer, TestApp } from './app.ts';

type Json = Record<string, unknown>;

interface Described {
  method: string;
  /** Matches the path below the prefix. */
  path: RegExp;
  responses: Json;
}

/** Returns the deviations of a response; empty if there are none. */
export type AnswerCheck = (method: string, url: string, answer: TestAnswer) => string[];

const REFERENCE = /#\/components\/schemas\/([\w.-]+)/g;

/**
 * A self-contained schema of the document: the components that it refers to become its `$defs`. Other keywords of OpenAPI are
 * annotations to a validator.
 */
function standalone(schema: unknown, document: Json): Json {
  const components = (document['components'] as { schemas?: Json }).schemas ?? {};
  const moved = (text: string): Json => JSON.parse(text.replaceAll(REFERENCE, '#/$defs/$1')) as Json;
  const root = JSON.stringify(schema);
  const parts: Json = {};
  for (const texts = [root]; texts.length > 0; ) {
    for (const [, name = ''] of (texts.pop() ?? '').matchAll(REFERENCE)) {
      if (Object.hasOwn(parts, name)) continue;
      const part = JSON.stringify(components[name]);
      parts[name] = moved(part);
      texts.push(part);
    }
  }
  return { ...moved(root), $defs: parts };
}

/** Schemas allow unknown properties for clients, so undocumented properties of a response are detected separately. */
function closed(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(closed);
  if (typeof schema !== 'object' || schema === null) return schema;
  // The parts of an `allOf` each describe some properties, so none of them can be closed.
  const inner = Object.fromEntries(
    Object.entries(schema).map(([name, part]) => [name, name === 'allOf' ? part : closed(part)]),
  );
  const isObject = Object.hasOwn(inner, 'properties') && [inner['type']].flat().includes('object');
  return isObject && !Object.hasOwn(inner, 'additionalProperties') && !Object.hasOwn(inner, 'patternProperties')
    ? { ...inner, additionalProperties: false }
    : inner;
}

function describedIn(document: Json): Described[] {
  const parameters = (path: string): number => path.split('{').length;
  // A path that is written out goes before one that would fit it too.
  const paths = Object.entries(document['paths'] as Record<string, Json>).sort(
    ([a], [b]) => parameters(a) - parameters(b),
  );
  return paths.flatMap(([path, item]) =>
    Object.entries(item)
      .filter(([method]) => ['get', 'post', 'patch', 'put', 'delete'].includes(method))
      .map(([method, operation]) => ({
        method: method.toUpperCase(),
        path: new RegExp(`^${path.replaceAll('.', '\\.').replaceAll(/\{[^}]+\}/g, '[^/]+')}$`),
        responses: (operation as { responses: Json }).responses,
      })),
  );
}

function resolved(part: unknown, document: Json): Json {
  const reference = (part as { $ref?: string } | undefined)?.$ref;
  if (reference === undefined) return (part ?? {}) as Json;
  const found = reference
    .slice(2)
    .split('/')
    .reduce<unknown>((at, name) => (at as Json)[name], document);
  return resolved(found, document);
}

/** A check of responses below `prefix` against one document. Other paths are left to other tests. */
export function documentCheck(document: Json, prefix: string): AnswerCheck {
  const described = describedIn(document);
  const compiled = new Map<string, ReturnType<typeof Compile>>();
  return (method, url, answer) => {
    const path = url.split('?')[0] ?? '';
    if (!path.startsWith(`${prefix}/`)) return [];
    const operation = described.find((one) => one.method === method && one.path.test(path.slice(prefix.length)));
    if (operation === undefined) return [];
    const where = `${method} ${url} → ${answer.status}`;
    if (!Object.hasOwn(operation.responses, String(answer.status))) return [`${where}: the status is not described`];
    const response = resolved(operation.responses[String(answer.status)], document);
    const problems: string[] = [];
    for (const [name, header] of Object.entries((response['headers'] ?? {}) as Json)) {
      const wanted = resolved(header, document)['required'] === true;
      if (wanted && !answer.headers.has(name)) problems.push(`${where}: the header ${name} is missing`);
    }
    // Optional parts that depend on the setup must all be documented.
    const position = 'X-Docket-Position';
    if (answer.headers.has(position) && !Object.hasOwn((response['headers'] ?? {}) as Json, position)) {
      problems.push(`${where}: the header ${position} is not described`);
    }
    const content = (response['content'] ?? {}) as Record<string, { schema?: unknown }>;
    const type = (answer.headers.get('content-type') ?? '').split(';')[0] ?? '';
    if (answer.status === 304) return problems;
    if (!Object.hasOwn(content, type)) return [...problems, `${where}: the content type "${type}" is not described`];
    const key = `${method} ${operation.path.source} ${answer.status} ${type}`;
    let validator = compiled.get(key);
    if (validator === undefined) {
      validator = Compile(closed(standalone(content[type]?.schema ?? {}, document)) as object);
      compiled.set(key, validator);
    }
    if (!validator.Check(answer.body)) {
      const [, errors] = validator.Errors(answer.body);
      const said = errors.slice(0, 3).map((error) => `${error.instancePath} ${error.message}`);
      problems.push(`${where}: ${said.join('; ')}: ${JSON.stringify(answer.body).slice(0, 600)}`);
    }
    return problems;
  };
}

/** Validates a value against a schema of the document. @returns deviations, including undocumented properties */
export function valueProblems(document: Json, schema: unknown, value: unknown): string[] {
  const validator = Compile(closed(standalone(schema, document)) as never);
  if (validator.Check(value)) return [];
  const [, errors] = validator.Errors(value);
  return errors.map((error) => `${error.instancePath} ${error.message}`);
}

/** Validates the body of a delivery against the document's `webhooks`. @returns deviations; empty if there are none */
export function deliveryProblems(document: Json, body: { eventType: string }): string[] {
  const described = (document['webhooks'] as Record<string, { post: { requestBody: Json } }>)[body.eventType];
  if (described === undefined) return [`${body.eventType} is not described`];
  const { content } = described.post.requestBody as { content: Record<string, { schema: unknown }> };
  const validator = Compile(closed(standalone(content['application/json']?.schema, document)) as never);
  if (validator.Check(body)) return [];
  const [, errors] = validator.Errors(body);
  return errors.map((error) => `${body.eventType} ${error.instancePath} ${error.message}: ${JSON.stringify(body)}`);
}

/** Watches every answer of an app from now on. @returns what the documents do not describe, growing */
export function watchAnswers(app: TestApp): string[] {
  const problems: string[] = [];
  const checks = [
    documentCheck(buildDocument(operationsOf(MODULES), { surface: 'public' }), '/api/v1'),
    documentCheck(buildDocument(operationsOf(MODULES), { surface: 'console' }), '/api/admin/v1'),
  ];
  app.onAnswer = (method, path, answer) => {
    for (const check of checks) problems.push(...check(method, path, answer));
  };
  return problems;
}
