/** Every operation has a worked example of request and answer in the documents, which is valid by its own schemas. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, it } from 'node:test';
import { readExamples } from '../src/contract/examples.ts';
import { MODULES } from '../src/modules.ts';
import { operationsOf } from '../src/platform/module.ts';
import { ROOT } from './support/source-files.ts';
import { valueProblems } from './support/response-check.ts';

type Json = Record<string, unknown>;

interface Content {
  [mediaType: string]: { schema: unknown; example?: unknown };
}

interface Described {
  operationId: string;
  summary: string;
  description?: string;
  parameters: { $ref?: string; name: string; in: string; required: boolean; schema: unknown; example?: unknown }[];
  requestBody?: { content: Content };
  responses: Record<string, { content?: Content }>;
}

const EMPTY = { components: {} };

/** Problems of the examples and descriptions of one operation. */
function problemsOf(document: Json, operation: Described): string[] {
  const problems: string[] = [];
  const oracle = (place: string, schema: unknown, example: unknown): void => {
    for (const problem of valueProblems(document, schema, example)) problems.push(`${place}: ${problem}`);
  };
  if ((operation.description ?? '').length < 30) problems.push('no description');
  for (const parameter of operation.parameters) {
    if (parameter.example !== undefined) oracle(parameter.name, parameter.schema, parameter.example);
    else if (parameter.in === 'path' || parameter.required === true) problems.push(`no example of ${parameter.name}`);
  }
  const body = operation.requestBody?.content['application/json'];
  if (body !== undefined && body.example === undefined) problems.push('no example of the body');
  else if (body !== undefined) oracle('body', body.schema, body.example);
  for (const [status, { content = {} }] of Object.entries(operation.responses)) {
    if (!/^20[0-4]$/.test(status)) continue;
    const media = Object.entries(content);
    const readable = media.filter(([type]) => /json|^text\//.test(type));
    const having = readable.filter(([, { example }]) => example !== undefined);
    if (readable.length > 0 && having.length === 0) problems.push('no example of the answer');
    for (const [type, { schema, example }] of having) oracle(`answer ${type}`, schema, example);
  }
  return problems;
}

describe('examples of the OpenAPI documents', () => {
  it('exist for every operation and no other', () => {
    const known = operationsOf(MODULES).map(({ id }) => id);
    assert.deepEqual(Object.keys(readExamples()).sort(), known.sort(), 'run npm run openapi:examples');
  });

  for (const name of ['v1', 'admin']) {
    it(`are complete and valid: ${name}`, () => {
      const document = JSON.parse(readFileSync(path.join(ROOT, 'openapi', `${name}.json`), 'utf8')) as Json;
      const described = Object.values(document['paths'] as Record<string, Record<string, Described>>).flatMap((item) =>
        Object.values(item),
      );
      assert.ok(described.length > 50);
      const problems = described.flatMap((one) =>
        problemsOf(document, one).map((what) => `${one.operationId}: ${what}`),
      );
      assert.deepEqual(problems, []);
    });
  }

  it('are rejected if invalid', () => {
    const schema = { type: 'object', required: ['data'], properties: { data: { type: 'integer' } } };
    const sample = (example: unknown, more: Partial<Described> = {}): Described => ({
      operationId: 'x',
      summary: 'x',
      description: 'What it does, and what it needs to do it.',
      parameters: [{ name: 'id', in: 'path', required: true, schema: { type: 'string' }, example: 'a' }],
      responses: {
        200: { content: { 'application/json': { schema, ...(example === undefined ? {} : { example }) } } },
      },
      ...more,
    });
    assert.deepEqual(problemsOf(EMPTY, sample({ data: 1 })), []);
    const parameters = [{ name: 'id', in: 'path', required: true, schema: { type: 'string' } }];
    for (const wrong of [
      sample(undefined),
      sample({ data: '1' }),
      sample({ data: 1, more: 1 }),
      sample({ data: 1 }, { description: '' }),
      sample({ data: 1 }, { parameters }),
      sample({ data: 1 }, { parameters: [{ ...parameters[0]!, example: 1 }] }),
      sample({ data: 1 }, { requestBody: { content: { 'application/json': { schema: {} } } } }),
      sample({ data: 1 }, { requestBody: { content: { 'application/json': { schema, example: {} } } } }),
    ]) {
      assert.ok(problemsOf(EMPTY, wrong).length > 0, JSON.stringify(wrong));
    }
  });
});
