/**
 * A bundle must not bypass the rights of the endpoints: for every section × every right, the result of plan, apply, export and
 * the configuration reads equals that of the matching endpoint. A section without a case fails this test.
 */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { GLOBAL_RIGHTS } from '../src/contract/rights.ts';
import { assertRejected } from './support/record-fixture.ts';
import { startTestApp, type TestAnswer, type TestApp } from './support/app.ts';
import { SECTIONS } from './support/bundle-fixture.ts';
import { bundle, idOf, RIGHTS, user } from './support/small-configuration.ts';

interface Row {
  /** The section with one new item, as a bundle writes it. */
  item(code: string, login: string): string;
  /** Code of an existing item. */
  stands: string;
  /** The endpoint that makes the same thing, if there is one. */
  write?: (code: string, userId: string) => { path: string; body: unknown };
  /** The endpoint that reads such things. */
  read?: string;
  /** Needed in addition to the section's right if no endpoint creates such items. */
  needs?: string;
}

const listed = (section: string, rest = ''): Row['item'] => {
  return (code) => `${section}: [ { code: ${code}${rest} } ]`;
};
const IMPORT = `targetKind: group, format: CSV, mode: UPSERT, sourceCode: there, resolver: { externalIdField: x }, mapping: [ { source: x, target: code }, { source: y, target: name } ]`;
const MAPPING = 'config: { command: object.create, typeDefinitionId: case, mapping: [ { source: x, target: title } ] }';

const TABLE: Readonly<Record<string, Row>> = {
  settings: {
    item: (code) => `settings: { defaultLocale: ${code.endsWith('1') ? 'ru-RU' : 'en-US'} }`,
    stands: 'settings',
  },
  users: {
    item: (code) => `users: [ { login: ${code} } ]`,
    stands: 'boss',
    read: '/api/v1/identity/users',
    write: (code) => ({
      path: '/api/v1/identity/users',
      body: { login: code, displayName: code, email: `${code}@example.org` },
    }),
  },
  groups: {
    item: listed('groups'),
    stands: 'team',
    read: '/api/v1/identity/groups',
    write: (code) => ({ path: '/api/v1/identity/groups', body: { code, name: code } }),
  },
  orgUnits: {
    item: listed('orgUnits'),
    stands: 'hq',
    read: '/api/v1/identity/org-units',
    write: (code) => ({ path: '/api/v1/identity/org-units', body: { code, name: code } }),
  },
  workflows: {
    item: listed('workflows', ', initial: x, states: [ { code: x, category: open } ], transitions: []'),
    stands: 'flow',
  },
  types: { item: listed('types', ', fields: [ { code: title, dataType: string } ]'), stands: 'case' },
  roles: { item: listed('roles'), stands: 'everything', needs: 'role.assign' },
  calendars: { item: listed('calendars', ', timezone: Europe/Moscow, week: {}'), stands: 'days' },
  slaPolicies: {
    item: listed(
      'slaPolicies',
      ', type: case, calendar: days, targets: [ { duration: PT1H } ], start: { field: title, operator: is-empty }, stop: { field: title, operator: is-empty }',
    ),
    stands: 'quick',
  },
  relationDefinitions: {
    item: listed(
      'relationDefinitions',
      ', inverseName: Y, sourceTypes: [case], targetTypes: [case], cardinality: many-to-many',
    ),
    stands: 'about',
  },
  services: { item: listed('services'), stands: 'mail' },
  macros: { item: listed('macros', ', types: [case], set: { title: x }'), stands: 'fast' },
  synonyms: {
    item: (code) => `synonyms: [ [${code.replaceAll('-', '')}, x${code.replaceAll('-', '')}] ]`,
    stands: 'vpn',
  },
  rules: {
    item: (code, login) =>
      `rules: [ { code: ${code}, on: [ObjectCreated], types: [case], runAs: ${login}, do: [ { set: { title: x } } ] } ]`,
    stands: 'auto',
  },
  templates: { item: listed('templates', ', subject: x, body: y'), stands: 'letter' },
  mailboxes: {
    item: (code) => `mailboxes: [ { code: ${code}, address: ${code}@example.org, type: case } ]`,
    stands: 'box',
    needs: 'role.assign',
  },
  dashboards: {
    item: listed(
      'dashboards',
      ', tiles: [ { kind: number, title: All, query: { types: [case], measures: [count], period: { lastDays: 7 } } } ]',
    ),
    stands: 'board',
  },
  catalogs: { item: listed('catalogs', ', active: false'), stands: 'shop' },
  knowledgeBases: { item: listed('knowledgeBases', ', visibility: internal, locales: [en-US]'), stands: 'it' },
  signingSecrets: {
    item: (code) => `signingSecrets: [ ${code} ]`,
    stands: 'main',
    read: '/api/admin/v1/signing-secrets',
    write: (code) => ({ path: '/api/admin/v1/signing-secrets', body: { code } }),
  },
  webhooks: {
    item: (code, login) =>
      `webhooks: [ { code: ${code}, endpoint: 'https://1.1.1.1/x', secretRef: main, executionPrincipal: ${login}, eventTypes: [ObjectCreated], enabled: false } ]`,
    stands: 'hook',
    read: '/api/v1/webhooks',
    write: (code, executionPrincipalId) => ({
      path: '/api/v1/webhooks',
      body: {
        code,
        endpoint: 'https://1.1.1.1/x',
        secretRef: 'main',
        executionPrincipalId,
        eventTypes: ['ObjectCreated'],
        enabled: false,
      },
    }),
  },
  integrations: {
    item: (code, login) =>
      `integrations: [ { code: ${code}, type: inbound-webhook, executionPrincipal: ${login}, ${MAPPING} } ]`,
    stands: 'inlet',
    read: '/api/admin/v1/integrations',
    write: (code, executionPrincipalId) => ({
      path: '/api/v1/integrations',
      body: {
        code,
        type: 'inbound-webhook',
        executionPrincipalId,
        config: { command: 'object.create', typeDefinitionId: 'case', mapping: [{ source: 'x', target: 'title' }] },
      },
    }),
  },
  importDefinitions: {
    item: listed('importDefinitions', `, ${IMPORT}`),
    stands: 'teams',
    read: '/api/admin/v1/import-definitions',
    write: (code) => ({
      path: '/api/v1/import-definitions',
      body: {
        code,
        name: code,
        targetKind: 'group',
        format: 'CSV',
        mode: 'UPSERT',
        sourceCode: 'there',
        resolver: { externalIdField: 'x' },
        mapping: [
          { source: 'x', target: 'code' },
          { source: 'y', target: 'name' },
        ],
      },
    }),
  },
};

/** A caller for each right in addition to `config.manage`, one with only that right, and one with all the others. */
const CALLERS: Readonly<Record<string, readonly string[]>> = {
  'config-alone': ['config.manage'],
  'all-but-config': GLOBAL_RIGHTS.filter((right) => right !== 'config.manage'),
  ...Object.fromEntries(
    GLOBAL_RIGHTS.filter((right) => right !== 'config.manage').map((right) => [
      `with-${right.replace('.', '-')}`,
      ['config.manage', right],
    ]),
  ),
};

const FEW = new Set(['config-alone', 'all-but-config', 'with-role-assign', 'with-user-administer']);

const records = `records: [ { type: case, actions: [read, create], fields: { read: '*', write: '*' } } ]`;
const WORLD = `
settings: { defaultLocale: en-US }
${TABLE['orgUnits']?.item('hq', '')}
groups: [ { code: team, users: [boss] } ]
users:
${['boss', ...Object.keys(CALLERS)].map(user).join('')}
${TABLE['workflows']?.item('flow', '')}
${TABLE['types']?.item('case', '')}
roles:
  - { code: everything, rights: [${RIGHTS}], ${records}, assignedTo: { users: [boss] } }
${Object.entries(CALLERS)
  .map(
    ([login, rights]) => `  - { code: ${login}, rights: [${rights}], ${records}, assignedTo: { users: [${login}] } }`,
  )
  .join('\n')}
${TABLE['calendars']?.item('days', '')}
${TABLE['slaPolicies']?.item('quick', '')}
${TABLE['relationDefinitions']?.item('about', '')}
${TABLE['services']?.item('mail', '')}
${TABLE['macros']?.item('fast', '')}
${TABLE['synonyms']?.item('vpn', '')}
${TABLE['rules']?.item('auto', 'boss')}
${TABLE['dashboards']?.item('board', '')}
catalogs: [ { code: shop } ]
${TABLE['knowledgeBases']?.item('it', '')}
signingSecrets: [ main ]
${TABLE['webhooks']?.item('hook', 'boss')}
${TABLE['integrations']?.item('inlet', 'boss')}
${TABLE['importDefinitions']?.item('teams', '')}
${TABLE['templates']?.item('letter', '')}
${TABLE['mailboxes']?.item('box', '')}
`;

let app: TestApp;
let keys: Record<string, { scoped: string; admin: string; id: string }>;

function rowOf(section: string): Row {
  return TABLE[section] ?? assert.fail(`section ${section} has no row in this test`);
}

async function call(who: string, method: string, path: string, body?: unknown): Promise<TestAnswer> {
  const key = path.startsWith('/api/v1/') ? keys[who]?.scoped : keys[who]?.admin;
  return await app.request(method, path, { key: key ?? assert.fail(who), ...(body === undefined ? {} : { body }) });
}

const files = (text: string): { files: { name: string; text: string }[] } => ({ files: bundle(text) });

/** The missing right according to the response; undefined on success. Anything else fails. */
function missing(answer: TestAnswer, what: string): string | undefined {
  if (answer.status < 300) return undefined;
  assertRejected(answer, 403, 'RIGHT_MISSING', what);
  return answer.body.error.details.right as string;
}

describe('rights for bundles', () => {
  before(async () => {
    app = await startTestApp({ bundle: bundle(WORLD) });
    keys = {};
    for (const login of ['boss', ...Object.keys(CALLERS)]) {
      const scoped = (await app.createKey({ login })).key;
      const admin = (await app.createKey({ login, scopes: ['admin:manage'] })).key;
      keys[login] = { scoped, admin, id: await idOf(app, 'users', login) };
    }
  });
  after(() => app.close());

  it('have one case for every section and no other', () => {
    assert.deepEqual(Object.keys(TABLE).sort(), SECTIONS.map(({ key }) => key).sort());
  });

  for (const section of SECTIONS.map(({ key }) => key)) {
    it(`equal those of the endpoints: ${section}`, async () => {
      const row = rowOf(section);
      let made = 0;
      // Sections without endpoints need no further right, except those that grant access.
      const all = row.write !== undefined || row.read !== undefined;
      for (const [who, rights] of Object.entries(CALLERS)) {
        if (!all && !FEW.has(who)) continue;
        const configures = rights.includes('config.manage');
        const code = `${section.toLowerCase()}-${made++}`;
        const what = `${who} ${section}`;
        const endpoint = row.write?.(`${code}-called`, keys[who]?.id ?? '');
        const called =
          endpoint === undefined ? undefined : missing(await call(who, 'POST', endpoint.path, endpoint.body), what);
        const needed = called ?? (row.needs === undefined || rights.includes(row.needs) ? undefined : row.needs);
        const expected = configures ? needed : 'config.manage';
        const text = row.item(code, who);
        assert.equal(missing(await call(who, 'POST', '/api/admin/v1/config/apply', files(text)), what), expected, what);
        const read = row.read === undefined ? undefined : missing(await call(who, 'GET', row.read), what);
        const reads = configures ? read : 'config.manage';
        const other = row.item(`${code}-planned`, who);
        for (const answer of [
          await call(who, 'POST', '/api/admin/v1/config/plan', files(other)),
          await call(who, 'GET', `/api/admin/v1/config/${section}`),
          await call(who, 'GET', `/api/admin/v1/config/${section}/${row.stands}`),
        ]) {
          assert.equal(missing(answer, what), reads, what);
        }
        if (!configures) continue;
        const identity = ['users', 'groups', 'orgUnits'].includes(section);
        const exported = await call(who, 'GET', `/api/admin/v1/config/export?identity=${identity}`);
        if (identity) assert.equal(missing(exported, what), reads, what);
        else {
          assert.equal(exported.status, 200, what);
          const names = exported.body.data.files.map(({ name }: { name: string }) => name);
          assert.equal(names.includes(`${section}.yaml`), reads === undefined, what);
          assert.equal(exported.body.data.leftOut.includes(section), reads !== undefined, what);
        }
      }
    });
  }

  it('hide stored user data from callers who may not read it, in every response', async () => {
    const plan = (who: string, body: object) => call(who, 'POST', '/api/admin/v1/config/plan', body);
    const unchanged = files('users: [ { login: boss, email: boss@example.org } ]');
    assert.equal(missing(await plan('config-alone', unchanged), 'a guess that is right'), 'user.administer');
    assert.equal(missing(await plan('config-alone', files('users: []')), 'no user'), 'user.administer');
    assert.equal(
      missing(await plan('config-alone', files('users: [ { login: x, email: nobody } ]')), 'a problem'),
      'user.administer',
    );
    const pruned = { ...files('services: [ { code: mail } ]'), prune: true, pruneIdentity: true };
    assert.equal(missing(await plan('config-alone', pruned), 'pruned'), 'user.administer');
    const exact = { ...files(`roles: [ { code: everything, rights: [kb.read] } ]`), exact: true };
    const planned = await plan('config-alone', exact);
    assert.equal(planned.status, 200);
    assert.ok(!JSON.stringify(planned.body).includes('boss'), 'who holds a role');
    assert.ok(JSON.stringify((await plan('with-role-assign', exact)).body).includes('boss'));
    const item = await call('config-alone', 'GET', '/api/admin/v1/config/roles/everything');
    assert.ok(!JSON.stringify(item.body).includes('boss'), 'who holds a role');
    const seen = await call('with-role-assign', 'GET', '/api/admin/v1/config/roles/everything');
    assert.match(seen.body.data.text, /boss/);
  });

  it('apply to an integration that runs as another user, also before the change', async () => {
    const steal = (who: string, section: string) =>
      call(who, 'POST', '/api/admin/v1/config/apply', files(rowOf(section).item(rowOf(section).stands, who)));
    assert.equal(missing(await steal('with-webhook-manage', 'webhooks'), 'webhooks'), 'role.assign');
    assert.equal(missing(await steal('with-integration-manage', 'integrations'), 'integrations'), 'role.assign');
  });
});
