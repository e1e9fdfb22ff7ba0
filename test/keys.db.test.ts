/**
 * API keys in the administration: who may issue, see, rotate and revoke them, and concurrent rotations
 * (docs/spec/access.md#api-keys).
 */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { bundle } from './support/small-configuration.ts';
import { startTestApp, type TestApp } from './support/app.ts';
import { watchAnswers } from './support/response-check.ts';

const WORLD = `
roles:
  - { code: owner-of-keys, rights: [key.manage], records: [], assignedTo: { users: [keeper] } }
  - { code: giver, rights: [key.manage, role.assign], records: [], assignedTo: { users: [giver] } }
users:
  - { login: keeper, displayName: Keeper, email: keeper@example.org }
  - { login: giver, displayName: Giver, email: giver@example.org }
  - { login: other, displayName: Other, email: other@example.org }
`;

describe('API keys', () => {
  let app: TestApp;
  let keeper: string;
  let giver: string;
  const ask = async (key: string, method: string, path: string, body?: unknown): Promise<any> =>
    await app.request(method, `/api/admin/v1${path}`, { key, ...(body === undefined ? {} : { body }) });
  const issue = async (key: string, owner: string, more: object = {}): Promise<any> =>
    await ask(key, 'POST', '/keys', { owner, name: 'made', scopes: ['objects:read'], ...more });
  const works = async (key: string): Promise<number> => {
    return (await app.request('GET', '/api/v1/objects', { key })).status;
  };

  before(async () => {
    app = await startTestApp({ bundle: bundle(WORLD) });
    watchAnswers(app);
    keeper = (await app.createKey({ login: 'keeper', scopes: ['admin:manage'] })).key;
    giver = (await app.createKey({ login: 'giver', scopes: ['admin:manage'] })).key;
  });
  after(() => app.close());

  it('for another owner require role.assign, regardless of the owner', async () => {
    for (const owner of ['other', 'giver', 'nobody-at-all']) {
      const refused = await issue(keeper, owner);
      assert.equal(refused.status, 403, owner);
      assert.deepEqual(refused.body.error.details, { right: 'role.assign' });
    }
    assert.equal((await issue(giver, 'other')).status, 201);
    const unknown = await issue(giver, 'nobody-at-all');
    assert.deepEqual([unknown.status, unknown.body.error.details[0].path], [400, '/owner']);
    const own = await issue(keeper, 'KEEPER');
    assert.deepEqual([own.status, own.body.data.owner], [201, 'keeper'], 'logins are equal regardless of case');
  });

  it('of others are hidden from users who may not issue them', async () => {
    const theirs = (await issue(giver, 'other')).body.data;
    const absent = '01890000-0000-7000-8000-000000000000';
    for (const [verb, body] of [
      ['revoke', undefined],
      ['rotate', { overlap: 'PT1H' }],
    ] as const) {
      const hidden = await ask(keeper, 'POST', `/keys/${theirs.id}/${verb}`, body);
      const missing = await ask(keeper, 'POST', `/keys/${absent}/${verb}`, body);
      assert.equal(hidden.status, 404, verb);
      assert.equal(hidden.body.error.message, missing.body.error.message);
    }
    assert.equal(await works(theirs.key), 200);
    const seen = (await ask(keeper, 'GET', '/keys')).body.data;
    assert.ok(seen.length > 0);
    assert.deepEqual([...new Set(seen.map(({ owner }: { owner: string }) => owner))], ['keeper']);
    const all = (await ask(giver, 'GET', '/keys')).body.data;
    assert.ok(all.some(({ id }: { id: string }) => id === theirs.id));
    assert.ok(!JSON.stringify(all).includes(theirs.key), 'a secret is shown once');
  });

  it('are rejected with all invalid paths', async () => {
    const wrong = {
      scopes: ['objects:read', 'objects:fly'],
      expiresAt: '2020-01-01T00:00:00Z',
      allow: ['10.0.0.0/8', 'home'],
    };
    const { status, body } = await issue(keeper, 'keeper', wrong);
    assert.equal(status, 400);
    const places = body.error.details.map(({ path, code }: { path: string; code: string }) => `${path} ${code}`);
    assert.deepEqual(places, ['/scopes/1 UNKNOWN_SCOPE', '/expiresAt IN_THE_PAST', '/allow/1 INVALID_CIDR']);
  });

  it('rotate to a new secret at once and keep the old one for the requested time', async () => {
    const made = (await issue(keeper, 'keeper')).body.data;
    const kept = (await ask(keeper, 'POST', `/keys/${made.id}/rotate`, { overlap: 'PT1H' })).body.data;
    assert.deepEqual([await works(made.key), await works(kept.key)], [200, 200]);
    const cut = (await ask(keeper, 'POST', `/keys/${made.id}/rotate`, {})).body.data;
    assert.deepEqual([await works(made.key), await works(kept.key), await works(cut.key)], [401, 401, 200]);
    for (const overlap of ['1 hour', '-PT1H', 'P99999999Y']) {
      const refused = await ask(keeper, 'POST', `/keys/${made.id}/rotate`, { overlap });
      assert.deepEqual([refused.status, refused.body.error.details?.[0]?.path], [400, '/overlap'], overlap);
    }
    assert.equal(await works(cut.key), 200);
  });

  it('have one valid secret after sixteen concurrent rotations', async () => {
    const made = (await issue(keeper, 'keeper')).body.data;
    const answers = await Promise.all(
      Array.from({ length: 16 }, () => ask(keeper, 'POST', `/keys/${made.id}/rotate`, {})),
    );
    const shown = answers.filter(({ status }) => status === 200).map(({ body }) => body.data.key);
    assert.ok(shown.length > 0, JSON.stringify(answers.map(({ status }) => status)));
    assert.ok(answers.every(({ status }) => status === 200 || status === 409 || status === 503));
    const alive = [];
    for (const key of shown) if ((await works(key)) === 200) alive.push(key);
    assert.equal(alive.length, 1);
    assert.equal(await works(made.key), 401);
  });

  it('end permanently when they are revoked', async () => {
    const made = (await issue(keeper, 'keeper')).body.data;
    const [first, second] = [
      await ask(keeper, 'POST', `/keys/${made.id}/revoke`),
      await ask(keeper, 'POST', `/keys/${made.id}/revoke`),
    ];
    assert.deepEqual([first.status, second.status], [200, 200]);
    assert.equal(second.body.data.revokedAt, first.body.data.revokedAt);
    assert.equal(await works(made.key), 401);
    const again = await ask(keeper, 'POST', `/keys/${made.id}/rotate`, { overlap: 'PT1H' });
    assert.deepEqual([again.status, again.body.error.code], [409, 'ARCHIVED']);
    assert.equal(await works(made.key), 401);
  });
});
