/**
 * The OpenAPI documents match the service: generated files are current and pass lint, routes and documents agree in both
 * directions, and the response check detects deviations.
 */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, it } from 'node:test';
import { promisify } from 'node:util';
import { WEBHOOK_EVENTS } from '../src/contract/events.ts';
import { MODULES } from '../src/modules.ts';
import { collect, operationsOf } from '../src/platform/module.ts';
import { readExamples } from '../src/contract/examples.ts';
import { buildDocument } from '../src/contract/openapi.ts';
import { routesOf } from '../src/http/route.ts';
import type { TestAnswer } from './support/app.ts';
import { documentCheck } from './support/response-check.ts';
import { ROOT } from './support/source-files.ts';

type Json = Record<string, unknown>;

const SURFACES = [
  ['public', 'v1.json', '/api/v1'],
  ['console', 'admin.json', '/api/admin/v1'],
] as const;

async function lint(file: string): Promise<string[]> {
  const cli = path.join(ROOT, 'node_modules/@redocly/cli/bin/cli.js');
  const call = [cli, 'lint', '--config', path.join(ROOT, 'redocly.yaml'), '--format', 'json', file];
  const env = { ...process.env, REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' };
  // It exits 1 when there are problems; they are in its output all the same.
  const { stdout } = await promisify(execFile)(process.execPath, call, { env }).catch(
    (error: { stdout: string }) => error,
  );
  const { totals, problems } = JSON.parse(stdout) as {
    totals: object;
    problems: { ruleId: string; message: string }[];
  };
  assert.ok(totals, 'the lint has run');
  return problems.map((problem) => `${problem.ruleId}: ${problem.message}`);
}

/** `GET /objects/{}`, regardless of parameter names. */
const place = (method: string, route: string): string =>
  `${method.toUpperCase()} ${route.replaceAll(/\{[^}]+\}/g, '{}')}`;

function described(document: Json): string[] {
  return Object.entries(document['paths'] as Record<string, Json>)
    .flatMap(([route, item]) => Object.keys(item).map((method) => place(method, route)))
    .sort();
}

const answer = (status: number, body: unknown, headers: Record<string, string> = {}): TestAnswer => ({
  status,
  body,
  headers: new Headers({ 'content-type': 'application/json; charset=utf-8', 'x-correlation-id': 'c', ...headers }),
});

describe('the OpenAPI documents', () => {
  for (const [surface, file, prefix] of SURFACES) {
    it(`match the operations: ${surface}`, async () => {
      const document = buildDocument(operationsOf(MODULES), {
        surface,
        events: collect(MODULES, 'events'),
        examples: readExamples(),
      });
      const text = `${JSON.stringify(document, null, 2)}\n`;
      const written = await readFile(path.join(ROOT, 'openapi', file), 'utf8');
      assert.ok(written === text, `openapi/${file} is stale: run node tools/openapi.ts`);
    });

    it(`pass lint: ${surface}`, async () => {
      assert.deepEqual(await lint(path.join(ROOT, 'openapi', file)), []);
    });

    it(`describe exactly the served routes: ${surface}`, () => {
      const document = buildDocument(operationsOf(MODULES), { surface, events: collect(MODULES, 'events') });
      const bound = operationsOf(MODULES).map((operation) => ({ operation, run: async () => undefined }));
      const served = routesOf(bound, 1000)
        .filter((route) => route.surface === surface)
        .map((route) => place(route.prepared.binding.operation.method, route.path.slice(prefix.length)));
      assert.deepEqual(described(document), [...served, 'GET /openapi.json'].sort());
      assert.equal(document['openapi'], '3.1.0');
      assert.equal((document['info'] as Json)['version'], '1.0.0');
      assert.deepEqual(document['servers'], [{ url: prefix }]);
    });

    it(`require a key except for open operations: ${surface}`, () => {
      const document = buildDocument(operationsOf(MODULES), { surface, events: collect(MODULES, 'events') });
      const open = Object.entries(document['paths'] as Record<string, Record<string, { security: unknown[] }>>).flatMap(
        ([route, item]) =>
          Object.entries(item).flatMap(([method, { security }]) =>
            security.length === 0 ? [place(method, route)] : [],
          ),
      );
      assert.deepEqual(
        open,
        surface === 'public'
          ? ['GET /openapi.json']
          : ['GET /openapi.json', 'POST /session', 'GET /session/ways', 'GET /config/schema'],
      );
    });
  }

  it('contain every operation of the specification with its scope', () => {
    const scopes = Object.fromEntries(
      operationsOf(MODULES).map(({ method, path: route, access }) => [place(method, route), access]),
    );
    const table: Record<string, string> = {
      'GET /metadata/types': 'metadata:read',
      'GET /metadata/types/{}/fields': 'metadata:read',
      'GET /objects/{}/schema': 'metadata:read',
      'GET /objects': 'objects:read',
      'POST /objects': 'objects:write',
      'GET /objects/{}': 'objects:read',
      'PATCH /objects/{}': 'objects:write',
      'DELETE /objects/{}': 'objects:write',
      'GET /objects/{}/history': 'objects:read',
      'GET /services': 'catalog:read',
      'GET /services/{}': 'catalog:read',
      'GET /catalog': 'catalog:read',
      'POST /catalog/items/{}/requests': 'catalog:impersonate',
      'GET /kb/articles': 'kb:read',
      'GET /kb/articles/{}': 'kb:read',
      'POST /kb/articles': 'kb:write',
      'PATCH /kb/article-versions/{}': 'kb:write',
      'POST /kb/articles/publish': 'kb:write',
      'POST /kb/articles/archive': 'kb:write',
      'PUT /kb/article-versions/{}/audiences': 'console',
      'GET /kb/articles/{}/material': 'console',
      'GET /session': 'console',
      'POST /session': 'open',
      'GET /keys': 'console',
      'POST /keys': 'console',
      'POST /keys/{}/revoke': 'console',
      'POST /keys/{}/rotate': 'console',
      'POST /objects/{}/restore': 'console',
      'GET /config/{}': 'console',
      'POST /config/plan': 'console',
      'POST /config/apply': 'console',
      'GET /config/export': 'console',
      'GET /audit': 'console',
    };
    for (const [route, access] of Object.entries(table)) assert.equal(scopes[route], access, route);
  });

  it('describe the webhook payload of each event kind', () => {
    const document = buildDocument(operationsOf(MODULES), { surface: 'public', events: collect(MODULES, 'events') });
    const webhooks = document['webhooks'] as Record<string, { post: { parameters: { name: string }[] } }>;
    assert.deepEqual(Object.keys(webhooks), [...WEBHOOK_EVENTS]);
    for (const { post } of Object.values(webhooks)) {
      const names = new Set(post.parameters.map(({ name }) => name));
      for (const name of ['X-ITSM-Delivery', 'X-ITSM-Timestamp', 'X-ITSM-Signature', 'webhook-signature'])
        assert.ok(names.has(name), name);
    }
    assert.deepEqual(
      buildDocument(operationsOf(MODULES), { surface: 'console', events: collect(MODULES, 'events') })['webhooks'],
      {},
    );
  });

  it('are compared with responses by a check that finds deviations', () => {
    const check = documentCheck(buildDocument(operationsOf(MODULES), { surface: 'public' }), '/api/v1');
    const meta = { correlationId: 'c', apiVersion: 'v1' };
    const type = { id: '0197a3c2-5d8e-7c10-9f2b-6d1f1b0a7c55', code: 'a', name: 'A', objectCategory: 'object' };
    const send = (body: unknown, status = 200, headers = {}): string[] =>
      check('GET', '/api/v1/metadata/types', answer(status, body, headers));
    assert.deepEqual(send({ data: { types: [type] }, meta }), []);
    for (const body of [
      { data: { types: [type] } },
      { data: { types: [{ ...type, objectCategory: 'else' }] }, meta },
      { data: { types: [{ ...type, id: 5 }] }, meta },
      { data: { types: [{ code: 'a', name: 'A', objectCategory: 'object' }] }, meta },
      { data: { types: [{ ...type, extra: 1 }] }, meta },
      { data: { types: [type], more: 1 }, meta },
      { data: { types: [type] }, meta: { ...meta, apiVersion: 'v2' } },
      { data: { types: [type] }, meta, rest: 1 },
      [],
    ]) {
      assert.equal(send(body).length, 1, JSON.stringify(body));
    }
    assert.equal(send({ data: { types: [] }, meta }, 201).length, 1, 'another status');
    assert.equal(send('x', 200, { 'content-type': 'text/plain' }).length, 1, 'another content type');
    assert.deepEqual(
      send({ error: { code: 'UNAUTHENTICATED', message: 'm', details: [] }, meta }, 401, {
        'www-authenticate': 'Bearer',
      }),
      [],
    );
    assert.equal(send({ error: { message: 'm', details: [] }, meta }, 401, { 'www-authenticate': 'Bearer' }).length, 1);
  });
});
