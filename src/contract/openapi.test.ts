import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { describe, it } from 'node:test';
import { promisify } from 'node:util';
import Type from 'typebox';
import { buildDocument, faultsOf } from './openapi.ts';
import { defineOperation, type Operation } from './operation.ts';
import { pagingQuery } from './paging.ts';
import { closed, Id, nullable, Revision } from './schemas.ts';

const Part = Type.Object({ id: Id, note: nullable(Type.String()) }, { $id: 'Part' });
const Thing = Type.Object(
  { id: Id, kind: Type.Union([Type.Literal('a'), Type.Literal('b')]), parts: Type.Array(Part), part: nullable(Part) },
  { $id: 'Thing' },
);
const Tree = Type.Cyclic({ Node: Type.Object({ children: Type.Array(Type.Ref('Node')) }) }, 'Node');
const tag = 'Things';

const list = defineOperation({
  id: 'things.list',
  method: 'GET',
  path: '/things',
  access: 'objects:read',
  unit: 'read',
  status: 200,
  tag,
  summary: 'List things',
  description: 'What it does.',
  query: closed({ q: Type.Optional(Type.String({ description: 'Words.' })), locale: Type.String(), ...pagingQuery }),
  answer: Type.Array(Thing),
  faults: [],
});

const create = defineOperation({
  id: 'things.create',
  method: 'POST',
  path: '/things',
  access: 'objects:write',
  right: 'create',
  unit: 'write',
  idempotent: true,
  status: 201,
  tag,
  summary: 'Create a thing',
  description: 'Longer.',
  body: closed({ name: Type.String(), tree: Type.Optional(Tree) }),
  answer: Thing,
  faults: ['INVALID_VALUES', 'ALREADY_EXISTS'],
});

const remove = defineOperation({
  id: 'things.archive',
  method: 'DELETE',
  path: '/things/{thingId}',
  access: 'objects:write',
  unit: 'write',
  ifMatch: true,
  status: 200,
  tag,
  summary: 'Archive a thing',
  description: 'What it does.',
  params: closed({ thingId: Id }),
  body: closed({ expectedRevision: Revision }),
  answer: Thing,
  faults: ['REVISION_CONFLICT'],
});

const download = defineOperation({
  id: 'things.content',
  method: 'GET',
  path: '/things/{thingId}/content',
  growth: 'few',
  access: 'files:read',
  unit: 'own',
  status: 200,
  tag,
  summary: 'Content of a thing',
  description: 'What it does.',
  params: closed({ thingId: Id }),
  answer: Type.Unknown(),
  raw: { mediaTypes: ['application/octet-stream'] },
  faults: [],
});

const signIn = defineOperation({
  id: 'session.create',
  method: 'POST',
  path: '/session',
  access: 'open',
  surface: 'console',
  unit: 'own',
  status: 201,
  tag: 'Session',
  summary: 'Sign in',
  description: 'What it does.',
  body: closed({ login: Type.String(), password: Type.String() }),
  answer: Type.Object({ csrfToken: Type.String() }),
  faults: ['UNAUTHENTICATED'],
});

const signOut = defineOperation({
  id: 'session.delete',
  method: 'DELETE',
  path: '/session',
  access: 'console',
  unit: 'own',
  status: 204,
  tag: 'Session',
  summary: 'Sign out',
  description:
    'Ends the session and deletes the cookie. With an API key there is no session to end, and `signedOut` is false.',
  answer: Type.Unknown(),
  faults: [],
});

const sample: Operation[] = [list, create, remove, download, signIn, signOut];

// The document is arbitrary JSON.
type Any = any;
const built = (surface: 'public' | 'console'): Any => buildDocument(sample, { surface });

describe('the OpenAPI document', () => {
  it('states the version and describes itself without a key', () => {
    const document = built('public');
    assert.equal(document.openapi, '3.1.0');
    assert.equal(document.info.version, '1.0.0');
    assert.deepEqual(document.servers, [{ url: '/api/v1' }]);
    assert.deepEqual(document.paths['/openapi.json'].get.security, []);
    assert.deepEqual(document.webhooks, {});
  });

  it('contains on each surface exactly the mounted operations', () => {
    const paths = Object.keys(built('public').paths);
    assert.deepEqual(paths, ['/openapi.json', '/things', '/things/{thingId}', '/things/{thingId}/content']);
    assert.deepEqual(Object.keys(built('console').paths), [...paths, '/session']);
    assert.deepEqual(Object.keys(built('console').paths['/session']), ['post', 'delete']);
  });

  it('states scope, right and security', () => {
    const { post } = built('public').paths['/things'];
    assert.equal(post['x-scope'], 'objects:write');
    assert.equal(post['x-right'], 'create');
    assert.deepEqual(post.security, [{ key: [] }]);
    assert.deepEqual(built('console').paths['/things'].post.security, [{ key: [] }, { session: [], csrf: [] }]);
    assert.deepEqual(built('console').paths['/session'].post.security, []);
  });

  it('marks as required what must be present and has no default', () => {
    const parameters: Any[] = built('public').paths['/things'].get.parameters;
    const required = parameters.filter((one) => one.in === 'query').map((one) => [one.name, one.required]);
    assert.deepEqual(required, [
      ['q', false],
      ['locale', true],
      ['page', false],
      ['pageSize', false],
    ]);
    assert.deepEqual(parameters[0].description, 'Words.');
    assert.equal(built('public').paths['/things'].post.requestBody.required, true);
    assert.equal(
      built('public').paths['/things/{thingId}'].delete.requestBody.required,
      false,
      'If-Match may stand for it',
    );
  });

  it('wraps responses in the envelope, except raw ones', () => {
    const { paths } = built('public');
    const { schema } = paths['/things'].post.responses[201].content['application/json'];
    assert.deepEqual(schema.properties, {
      data: { $ref: '#/components/schemas/Thing' },
      meta: { $ref: '#/components/schemas/WriteMeta' },
    });
    assert.deepEqual(paths['/things/{thingId}/content'].get.responses[200].content, {
      'application/octet-stream': { schema: {} },
    });
    assert.equal(built('console').paths['/session'].delete.responses[204].content, undefined);
  });

  it('titles inline bodies and answers for generators', () => {
    const { post } = built('public').paths['/things'];
    assert.match(post.requestBody.content['application/json'].schema.title, /^[A-Z][A-Za-z]+Body$/);
    assert.match(post.responses[201].content['application/json'].schema.title, /^[A-Z][A-Za-z]+Answer$/);
  });

  it('makes one component of each named schema', () => {
    const { schemas } = built('public').components;
    assert.deepEqual(Object.keys(schemas), [
      'Effects',
      'Error',
      'ErrorDetail',
      'ErrorMeta',
      'ErrorReason',
      'Meta',
      'Node',
      'Part',
      'PlannedDelivery',
      'PlannedEvent',
      'PlannedNotification',
      'PlannedRule',
      'PlannedSlaChange',
      'Thing',
      'WriteMeta',
    ]);
    assert.deepEqual(schemas.Thing.properties.kind, { type: 'string', enum: ['a', 'b'] });
    assert.deepEqual(schemas.Thing.properties.part, {
      oneOf: [{ $ref: '#/components/schemas/Part' }, { type: 'null' }],
    });
    assert.deepEqual(schemas.Node.properties.children.items, { $ref: '#/components/schemas/Node' });
    assert.equal(JSON.stringify(built('public')).includes('$id'), false);
  });

  it('rejects two schemas with one name', () => {
    const other = { ...list, id: 'x', path: '/x', answer: Type.Object({ other: Type.String() }, { $id: 'Thing' }) };
    assert.throws(
      () => buildDocument([list, other as Operation], { surface: 'public' }),
      /two different schemas are called Thing/,
    );
  });

  it('names components so that generators can use the names as identifiers', () => {
    for (const group of Object.values(built('console').components) as Any[]) {
      for (const name of Object.keys(group)) assert.match(name, /^[A-Za-z][A-Za-z0-9._-]*$/);
    }
  });

  it('includes the examples of an operation', () => {
    const body = { name: 'a' };
    const thing = { id: '0197a3c2-5d8e-7c10-9f2b-6d1f1b0a7c55', kind: 'a', parts: [], part: null };
    const examples = {
      'things.create': { body, answer: thing },
      'things.list': { query: { q: 'a' }, answer: [thing] },
    };
    const { paths }: Any = buildDocument(sample, { surface: 'public', examples });
    assert.deepEqual(paths['/things'].post.requestBody.content['application/json'].example, body);
    assert.deepEqual(paths['/things'].post.responses[201].content['application/json'].example.data, thing);
    assert.equal(paths['/things'].get.parameters[0].example, 'a');
    assert.equal(Object.hasOwn(paths['/things/{thingId}'].delete.parameters[0], 'example'), false);
  });

  it('lists every status with its error codes', () => {
    const { responses } = built('public').paths['/things'].post;
    const statuses = ['201', '400', '401', '403', '409', '413', '415', '429', '431', '500', '503'];
    assert.deepEqual(Object.keys(responses), statuses);
    const name = responses[409].$ref.split('/').at(-1);
    const conflict = built('public').components.responses[name];
    assert.match(conflict.description, /`ALREADY_EXISTS`: /);
    assert.deepEqual(conflict.content['application/json'].schema.allOf[1].properties.error.properties.code.enum, [
      'ALREADY_EXISTS',
      'IDEMPOTENCY_IN_PROGRESS',
      'IDEMPOTENCY_KEY_REUSED',
    ]);
    assert.ok(faultsOf(create, 'public').includes('SCOPE_MISSING'));
    const open = faultsOf(signIn, 'console');
    assert.ok(open.includes('RATE_LIMITED') && !open.includes('SCOPE_MISSING'));
    assert.ok(!open.includes('CSRF_TOKEN_INVALID') && !faultsOf(create, 'public').includes('CSRF_TOKEN_INVALID'));
    assert.ok(faultsOf(create, 'console').includes('CSRF_TOKEN_INVALID'));
  });

  for (const surface of ['public', 'console'] as const) {
    it(`passes lint: ${surface}`, async () => {
      assert.deepEqual(await lint(built(surface)), []);
    });
  }
});

async function lint(document: object): Promise<string[]> {
  const root = path.resolve(import.meta.dirname, '../..');
  const folder = await mkdtemp(path.join(tmpdir(), 'openapi-'));
  try {
    const file = path.join(folder, 'document.json');
    await writeFile(file, JSON.stringify(document));
    const cli = path.join(root, 'node_modules/@redocly/cli/bin/cli.js');
    const call = [cli, 'lint', '--config', path.join(root, 'redocly.yaml'), '--format', 'json', file];
    const environment = { ...process.env, REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' };
    // The command exits with 1 if there are problems, which are still in its output.
    const run = promisify(execFile)(process.execPath, call, { env: environment });
    const { stdout } = await run.catch((error: { stdout: string }) => error);
    const { problems } = JSON.parse(stdout) as { problems: { ruleId: string; message: string }[] };
    return problems.map((problem) => `${problem.ruleId}: ${problem.message}`);
  } finally {
    await rm(folder, { recursive: true });
  }
}
