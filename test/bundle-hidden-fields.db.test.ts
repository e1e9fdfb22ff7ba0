/**
 * A user who may change the configuration reads no hidden field through it: places that depend on values of a field need that the
 * caller may read the field on every record (docs/spec/configuration.md#conditions-on-hidden-fields). Tested over HTTP.
 */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { startTestApp, type TestApp } from './support/app.ts';
import { FIELD_PLACES, HIDDEN_WORLD } from './support/field-places.ts';
import { user } from './support/small-configuration.ts';

const RIGHTS = 'rights: [config.manage, webhook.manage, integration.manage, import.manage]';
const grants = (read: string, more = ''): string =>
  `records: [ { type: case, actions: [read, create, update, transition], fields: { read: ${read}, write: '*' }, transitions: '*' ${more} } ]`;
const ROLES = `
roles:
  - { code: spies, ${RIGHTS}, ${grants('[title, kind]')}, assignedTo: { users: [spy] } }
  - { code: some, ${RIGHTS}, ${grants("'*'", ', where: { field: kind, operator: equals, value: a }').replace(/\]$/, ', { type: case, actions: [read], fields: { read: [title, kind] } } ]')}, assignedTo: { users: [partial] } }
  - { code: sighted, ${RIGHTS}, ${grants('[title, kind, cost, memo, owner, asset, due]')}, assignedTo: { users: [reader] } }
  - { code: chiefs, rights: [config.manage, webhook.manage, integration.manage, import.manage, role.assign, user.administer], assignedTo: { users: [chief] } }
`;

const files = (...texts: string[]) => texts.map((text, index) => ({ name: `${index}.yaml`, text }));
const LOGINS = ['spy', 'partial', 'reader', 'chief'] as const;
type Login = (typeof LOGINS)[number];

describe('hidden fields in configuration', () => {
  let app: TestApp;
  const keys = new Map<Login, string>();

  const ask = async (login: Login, step: 'plan' | 'apply', texts: string[], more: object = {}) =>
    await app.request('POST', `/api/admin/v1/config/${step}`, {
      key: keys.get(login) ?? '',
      body: { files: files(...texts), ...more },
    });
  const done = async (login: Login, step: 'plan' | 'apply', texts: string[], more: object = {}) => {
    const answer = await ask(login, step, texts, more);
    assert.equal(answer.status, 200, JSON.stringify(answer.body));
    return answer.body;
  };
  const refused = async (login: Login, texts: string[], at: string, more: object = {}): Promise<void> => {
    for (const step of ['plan', 'apply'] as const) {
      const { status, body } = await ask(login, step, texts, more);
      assert.equal(status, 403, `${step} ${at}: ${JSON.stringify(body)}`);
      assert.equal(body.error.code, 'RIGHT_MISSING');
      assert.deepEqual(body.error.details, { right: 'role.assign', path: at });
    }
  };

  before(async () => {
    app = await startTestApp({
      bundle: files(HIDDEN_WORLD, ROLES, `users:\n${LOGINS.map((one) => user(one)).join('\n')}`),
    });
    for (const login of LOGINS) keys.set(login, (await app.createKey({ login, scopes: ['admin:manage'] })).key);
  });
  after(() => app.close());

  for (const [place, { bundle, at }] of Object.entries(FIELD_PLACES)) {
    it(`are refused in ${place}`, async () => {
      await refused('spy', [bundle], at);
      await refused('partial', [bundle], at);
      // The rest of these bundles is sound: with the right to read, or to assign roles, they can be planned.
      await done('reader', 'plan', [
        bundle.replaceAll('spy', 'reader').replace('connection: hook', 'connection: mine'),
        MINE,
      ]);
      await done('chief', 'plan', [bundle]);
    });
  }

  const MINE = `webhooks: [ { code: mine, endpoint: 'https://hooks.example.org/x', secretRef: main, executionPrincipal: reader, eventTypes: [], enabled: false } ]`;
  const flow = (condition: string, code = 'flow', name = 'Flow'): string =>
    `workflows: [ { code: ${code}, name: ${name}, initial: new, states: [ { code: new, category: open }, { code: done, category: done } ], transitions: [ { code: close, from: [new], to: done${condition} } ] } ]`;
  const on = (field: string): string => `, condition: { field: ${field}, operator: is-empty, value: false }`;

  it('may stay where they are, and are not judged again', async () => {
    await done('chief', 'apply', [flow(on('cost'))]);
    await done('spy', 'apply', [flow(on('cost'), 'flow', 'Other')]);
    await refused(
      'spy',
      [flow(`, condition: { field: cost, operator: equals, value: 1 }`)],
      'workflows.flow.transitions.close.condition',
    );
    await done('spy', 'apply', [flow('')]);
    await refused('spy', [flow(on('cost'))], 'workflows.flow.transitions.close.condition');
  });

  it('are refused when a type takes a workflow, or another title, whose condition means them only then', async () => {
    const fields = HIDDEN_WORLD.slice(HIDDEN_WORLD.indexOf('    fields:'), HIDDEN_WORLD.indexOf('workflows:'));
    const type = (workflow: string, title: string): string =>
      `types:\n  - code: case\n    workflow: ${workflow}\n    title: ${title}\n${fields}`;
    await done('spy', 'apply', [flow(on('cost'), 'unused')]);
    await refused('spy', [type('unused', 'title')], 'types.case.workflow');
    await refused('spy', [type('flow', 'memo')], 'types.case.title');
  });

  it('are refused in a restored item', async () => {
    const macro = 'macros: [ { code: old, types: [case], set: { cost: 1 } } ]';
    await done('chief', 'apply', [macro]);
    await done('chief', 'apply', [], { archive: [{ section: 'macros', code: 'old' }] });
    await refused('spy', [macro], 'macros.old.set');
  });

  it('are not counted in a plan, and their removal needs a confirmation whether they are held or not', async () => {
    const create = async (values: object): Promise<void> => {
      const body = { typeDefinitionId: 'case', values };
      const { status } = await app.request('POST', '/api/admin/v1/objects', { key: keys.get('reader') ?? '', body });
      assert.equal(status, 201);
    };
    await create({ title: 'one', kind: 'a', cost: 1 });
    await create({ title: 'two', kind: 'b', cost: 2 });
    const without = HIDDEN_WORLD.slice(0, HIDDEN_WORLD.indexOf('workflows:')).replace(
      / {6}- \{ code: (cost|due),.*\n/g,
      '',
    );
    const counted = {
      cost: { spy: 0, partial: 1, reader: 2, chief: 2 },
      due: { spy: 0, partial: 0, reader: 0, chief: 0 },
    };
    for (const login of LOGINS) {
      const seen = login === 'reader' || login === 'chief' ? {} : { complete: false };
      const expected = (['cost', 'due'] as const).map((code) => ({
        path: `types.case.${code}`,
        kind: 'field',
        records: counted[code][login],
        ...seen,
      }));
      const { data } = await done(login, 'plan', [without]);
      assert.deepEqual(data[0].lost, expected, login);
      const { status, body } = await ask(login, 'apply', [without], { discard: ['types.case.cost'] });
      assert.deepEqual([status, body.error.code], [409, 'VALUES_WOULD_BE_LOST']);
      const [{ path, records, complete }] = body.error.details;
      assert.deepEqual(
        { path, records, complete },
        { complete: undefined, path: 'types.case.due', records: 0, ...seen },
      );
    }
  });

  it('are not proposed for a misspelt name, and neither are users to those who may not list them', async () => {
    const misspelt = [
      `macros: [ { code: m, types: [case], set: { cots: 1, tilte: x } } ]`,
      `groups: [ { code: g, users: [reade] } ]`,
    ];
    const messages = async (login: Login, text: string): Promise<string> => {
      const { status, body } = await ask(login, 'plan', [text]);
      assert.ok(status === 400 || status === 403, JSON.stringify(body));
      return JSON.stringify(body.error);
    };
    const [macro = '', group = ''] = misspelt;
    for (const login of LOGINS) {
      const said = await messages(login, macro);
      assert.match(said, /no field cots\./, login);
      assert.match(said, /no field tilte\. Did you mean title\?/, login);
      assert.equal(/Did you mean cost\?/.test(said), login === 'reader' || login === 'chief', `${login}: ${said}`);
    }
    const role = 'roles: [ { code: more, rights: [kb.read], assignedTo: { users: [reade] } } ]';
    assert.match(await messages('chief', group), /login reade\. Did you mean reader\?/);
    assert.match(await messages('chief', role), /login reade\. Did you mean reader\?/);
    assert.match(await messages('spy', role), /login reade\."/);
    assert.doesNotMatch(await messages('spy', role), /Did you mean/);
  });

  it('let a field come with its own default', async () => {
    await done('spy', 'plan', [
      `${HIDDEN_WORLD.slice(0, HIDDEN_WORLD.indexOf('workflows:'))}      - { code: fresh, dataType: string, default: x }\n`,
    ]);
  });
});
