/**
 * Differential leak test: whatever rules say, what they do does not depend on values that their user may not read. Two records that
 * differ only in these get the same comments, values, messages and new records.
 */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import fc from 'fast-check';
import { startTestApp, type TestApp } from '../../../test/support/app.ts';
import { ACTIONS, bundle, stored } from '../../../test/support/small-configuration.ts';

/** The robot cannot read `secret` anywhere, nor records of the kind `hidden`. */
const WORLD = `
settings: { defaultLocale: en-US, timezone: UTC }
types:
  - code: case
    title: title
    fields:
      - { code: title, dataType: string, required: true }
      - { code: kind, dataType: string }
      - { code: secret, dataType: string }
      - { code: note, dataType: string }
  - { code: copy, title: title, fields: [ { code: title, dataType: string }, { code: text, dataType: text } ] }
relationDefinitions: [ { code: copy-of, sourceTypes: [case], targetTypes: [copy] } ]
roles:
  - code: robot
    records:
      - { type: case, where: { field: kind, operator: not-equals, value: hidden }, actions: [${ACTIONS}], fields: { read: [title, kind, note], write: [note] } }
      - { type: copy, actions: [${ACTIONS}], fields: { read: '*', write: '*' } }
    assignedTo: { users: [robot] }
  - code: chief
    rights: [config.manage, role.assign]
    records: [{ type: '*', actions: [${ACTIONS}], fields: { read: '*', write: '*' } }]
    assignedTo: { users: [chief] }
signingSecrets: [main]
webhooks: [ { code: chat, endpoint: 'https://hooks.example.org/chat', secretRef: main, executionPrincipal: robot, eventTypes: [], enabled: false } ]
users: [ { login: robot }, { login: chief } ]`;

const SECRETS = ['alpha', 'beta', 'gamma', undefined] as const;
const leaf = fc.oneof(
  fc.record({
    field: fc.constantFrom('secret', 'kind', 'title', 'note'),
    operator: fc.constantFrom('equals', 'not-equals', 'starts-with'),
    value: fc.constantFrom('alpha', 'beta', 'a', 'x'),
  }),
  fc.record({ field: fc.constantFrom('secret', 'kind'), operator: fc.constant('is-empty'), value: fc.boolean() }),
  fc.record({
    field: fc.constant('changed'),
    operator: fc.constantFrom('contains', 'not-equals'),
    value: fc.constantFrom('secret', 'title'),
  }),
);
const { condition } = fc.letrec<{ condition: unknown }>((tie) => ({
  condition: fc.oneof(
    { maxDepth: 2 },
    leaf,
    fc.record({
      logic: fc.constantFrom('AND', 'OR'),
      conditions: fc.array(tie('condition'), { minLength: 1, maxLength: 2 }),
    }),
  ),
}));
const text = fc.constantFrom('{{ secret }}', '{{ title }} {{ secret }}', '{{ kind }} {{ note }}', 'plain');
const action = fc.oneof(
  fc.record({
    comment: fc.record({ visibility: fc.constantFrom('public', 'internal'), body: text.map((one) => `Says ${one}`) }),
  }),
  fc.record({ set: fc.record({ note: fc.constantFrom('one', 'two') }) }),
  fc.record({ post: fc.record({ connection: fc.constant('chat'), body: fc.record({ text, parts: fc.tuple(text) }) }) }),
  fc.record({
    create: fc.record({
      type: fc.constant('copy'),
      relation: fc.constant('copy-of'),
      values: fc.record({ title: text, text }),
    }),
  }),
);
const rule = fc.record({
  on: fc.subarray(['ObjectCreated', 'ObjectUpdated', 'CommentAdded'], { minLength: 1 }),
  when: fc.option(condition, { nil: undefined }),
  once: fc.constantFrom('becomes-true', 'every-time'),
  do: fc.array(action, { minLength: 1, maxLength: 2 }),
});

describe('rules', () => {
  let app: TestApp;
  let key: string;
  let fired = 0;

  before(async () => {
    app = await startTestApp({ bundle: bundle(WORLD) });
    key = (await app.createKey({ login: 'chief' })).key;
  });
  after(async () => {
    await app.close();
  });

  async function ok(method: string, path: string, body: unknown): Promise<any> {
    const answer = await app.request(method, `/api/v1${path}`, { key, body });
    assert.ok(answer.status < 300, JSON.stringify(answer.body));
    return answer.body.data;
  }

  /** What rules did while the record had these secrets, without ids. */
  async function effects(kind: string, secrets: readonly (string | undefined)[]): Promise<unknown[]> {
    const [first, ...others] = secrets;
    const values = { title: 'alpha case', kind, ...(first === undefined ? {} : { secret: first }) };
    const { id } = await ok('POST', '/objects', { typeDefinitionId: 'case', values });
    let revision = 1;
    for (const [at, secret] of others.entries()) {
      // Each call changes something: that a record changed is no secret, because its revision shows it.
      const changes = { title: `case ${at}`, secret: secret ?? null };
      ({ revision } = await ok('PATCH', `/objects/${id}`, { expectedRevision: revision, changes }));
    }
    await ok('POST', `/objects/${id}/comments`, { body: 'Hello', visibility: 'public' });
    const rows = await stored(
      app,
      `SELECT j.type, j.data ->> 'rule' AS rule, j.revision, c.body, j.data -> '$stored' ->> 'body' AS message,
          (SELECT jsonb_object_agg(key, value) FROM jsonb_each(j.changes)) AS changes
        FROM journal j LEFT JOIN comments c ON c.id::text = j.data ->> 'commentId'
        WHERE j.via = 'rule' AND (j.object_id = $1 OR EXISTS (SELECT FROM relations r WHERE r.source_id = $1 AND r.target_id = j.object_id))
        ORDER BY j.seq`,
      [id],
    );
    fired += rows.length;
    return rows;
  }

  it('do the same whatever the values are that their user may not read', async () => {
    const secrets = fc.array(fc.constantFrom(...SECRETS), { minLength: 3, maxLength: 3 });
    await fc.assert(
      fc.asyncProperty(
        fc.array(rule, { minLength: 4, maxLength: 4 }),
        fc.constantFrom('x', 'hidden'),
        fc.tuple(secrets, secrets),
        async (rules, kind, [one, other]) => {
          const all = rules.map((parts, at) => ({ code: `r${at}`, types: ['case'], runAs: 'robot', ...parts }));
          await app.apply([{ name: 'rules.yaml', text: JSON.stringify({ rules: all }) }]);
          await app.app.versions.refresh();
          const [left, right] = [await effects(kind, one), await effects(kind, other)];
          assert.deepEqual(left, right);
          assert.ok(!JSON.stringify(left).match(/beta|gamma/));
          if (kind === 'hidden') assert.deepEqual(left, [], 'nothing on records that the robot may not read');
        },
      ),
      { numRuns: 25 },
    );
    assert.ok(fired > 50, `only ${fired} effects were compared`);
  });
});
