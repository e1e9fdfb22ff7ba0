/** Which interface of the console a user gets (docs/spec/access.md#interface). */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { startTestApp, type TestApp } from '../../../test/support/app.ts';
import { bundle } from '../../../test/support/small-configuration.ts';
import type { BundleError } from '../../configuration/errors.ts';
import { GLOBAL_RIGHTS, RECORD_ACTIONS } from '../../contract/rights.ts';

let app: TestApp;

/** The interfaces of a user who holds exactly these roles. Codes begin with `name`. */
async function interfacesOf(name: string, roles: readonly string[]): Promise<string[]> {
  const items = roles.map((role, index) => `  - { code: ${name}-${index}, ${role}, assignedTo: { users: [${name}] } }`);
  await app.apply(bundle(`users: [{ login: ${name} }]\n${items.length === 0 ? '' : `roles:\n${items.join('\n')}\n`}`));
  const { key } = await app.createKey({ login: name, scopes: ['admin:manage'] });
  const { status, body } = await app.request('GET', '/api/admin/v1/session', { key });
  assert.equal(status, 200, JSON.stringify(body));
  return body.data.interfaces;
}

const may = (actions: string): string => `records: [{ type: asset, actions: [${actions}], fields: { read: '*' } }]`;

describe('the interface of a user', () => {
  before(async () => {
    app = await startTestApp();
  });
  after(() => app.close());

  it('is the portal for a requester of the starter who may read the whole knowledge base', async () => {
    await app.apply(
      bundle('users: [{ login: anna }]\nroles: [{ code: reader, rights: [kb.read], assignedTo: { users: [anna] } }]'),
    );
    const { key } = await app.createKey({ login: 'anna', scopes: ['admin:manage'] });
    const session = async () => (await app.request('GET', '/api/admin/v1/session', { key })).body.data;
    const exported = await app.request('GET', '/api/admin/v1/config/roles/requester', {
      key: (await app.createKey({ login: 'admin', scopes: ['admin:manage'] })).key,
    });
    assert.equal(exported.status, 200);
    const { definition } = exported.body.data;
    assert.equal(definition.interface, 'portal');
    await app.apply(bundle(JSON.stringify({ roles: [{ ...definition, assignedTo: { users: ['anna'] } }] })));
    assert.deepEqual(await session().then(({ interfaces, rights }) => ({ interfaces, rights })), {
      interfaces: ['portal'],
      rights: ['kb.portal', 'kb.read'],
    });
  });

  it('is what the role says, whatever it grants', async () => {
    assert.deepEqual(
      await interfacesOf('says-portal', [`interface: portal, rights: [config.manage], ${may('update')}`]),
      ['portal'],
    );
    assert.deepEqual(await interfacesOf('says-desk', [`interface: desk, ${may('read')}`]), ['desk']);
  });

  it('follows from actions and rights where the role says nothing', async () => {
    const desk = new Set<string>(['update', 'archive', 'transition', 'Private Comment']);
    for (const [index, action] of RECORD_ACTIONS.entries()) {
      const expected = desk.has(action) ? 'desk' : 'portal';
      assert.deepEqual(await interfacesOf(`action${index}`, [may(action)]), [expected], action);
    }
    const portal = new Set<string>(['kb.portal', 'kb.read', 'catalog.impersonate']);
    for (const [index, right] of GLOBAL_RIGHTS.entries()) {
      const expected = portal.has(right) ? 'portal' : 'desk';
      assert.deepEqual(await interfacesOf(`right${index}`, [`rights: [${right}]`]), [expected], right);
    }
  });

  it('is both for roles of both kinds, the desk in front, and the portal without a role', async () => {
    assert.deepEqual(await interfacesOf('both', ['interface: portal', 'interface: desk']), ['desk', 'portal']);
    assert.deepEqual(await interfacesOf('nobody', []), ['portal']);
  });

  it('is refused by a plan if it is neither', async () => {
    await assert.rejects(app.apply(bundle('roles: [{ code: wrong, interface: console }]')), (error: BundleError) =>
      error.problems.some(({ path }) => path.includes('interface')),
    );
  });
});
