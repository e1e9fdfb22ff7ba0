/**
 * A fixture for services, the catalogue and the knowledge base: users in units and nested groups, and items for some of them.
 */
import assert from 'node:assert/strict';
import { startTestApp, type TestAnswer, type TestApp, type TestOptions } from './app.ts';
import { watchAnswers } from './response-check.ts';
import { ACTIONS, bundle, idOf, stored } from './small-configuration.ts';

/**
 * - chief: all rights. bot: may make requests for others, and nothing else.
 * - anna: in the unit lab, which is below hq, and in the group night, which is in the group desk. boris: in the unit branch.
 * - carl: in no unit and no group, and may create nothing. dora: archived. reader, writer, publisher: knowledge base rights
 * only.
 */
export const USERS = ['chief', 'bot', 'anna', 'boris', 'carl', 'dora', 'reader', 'writer', 'publisher'] as const;
export type FixtureUser = (typeof USERS)[number];

const WORLD = `
settings: { defaultLocale: en-US, timezone: UTC }
types:
  - code: asset
    title: title
    fields:
      - { code: title, dataType: string, required: true }
      - { code: owner, dataType: user }
  - code: request
    numbering: { prefix: REQ, digits: 4 }
    title: title
    workflow: request
    fields:
      - { code: title, dataType: string, required: true, constraints: { maxLength: 50 } }
      - { code: model, name: { ru-RU: Модель, en-US: Model }, dataType: enum, constraints: { options: [{ code: small, name: { ru-RU: Малая, en-US: Small } }, { code: large }] } }
      - { code: count, dataType: integer, default: 1 }
      - { code: note, dataType: text }
      - { code: secret, dataType: string }
      - { code: grade, dataType: string }
      - { code: requester, dataType: user }
      - { code: affected, dataType: reference, multiple: true, constraints: { types: [asset], maxItems: 3 } }
      - { code: priority, dataType: enum, constraints: { options: [{ code: p1 }, { code: p3 }] } }
      - { code: neededAt, dataType: datetime }
      - { code: unit, dataType: org-unit }
      - { code: service, dataType: service }
  - code: strict
    title: title
    fields:
      - { code: title, dataType: string, required: true }
      - { code: must, dataType: string, required: true }
      - { code: requester, dataType: user }
workflows:
  - { code: request, initial: new, states: [{ code: new, name: { ru-RU: Новая, en-US: New }, category: open }], transitions: [] }
services:
  - { code: laptop, name: { ru-RU: Ноутбук, en-US: Laptop, de-DE: Notebook }, description: { ru-RU: Для работы }, audience: { everyone: true } }
  - { code: desk-only, name: Desk, audience: { groups: [desk] } }
  - { code: hq-only, name: { de-DE: Zentrale, fr-FR: Siège }, audience: { orgUnits: [hq] } }
  - { code: boris-only, name: Boris, audience: { users: [boris] } }
  - { code: nobody, name: Nobody }
catalogs:
  - code: main
    name: { ru-RU: Каталог, en-US: Catalogue }
    categories:
      - { code: hardware, name: { ru-RU: Оборудование, en-US: Hardware } }
      - { code: portable, name: Portable, parent: hardware }
      - { code: hollow, name: Hollow }
      - { code: below, name: Below, parent: hollow }
      - { code: private, name: Private }
    items:
      - code: new-laptop
        name: { ru-RU: Новый ноутбук, en-US: New laptop }
        description: { ru-RU: Описание }
        category: portable
        service: laptop
        type: request
        form: [{ code: title, required: true }, { code: model, required: true }, { code: count }, { code: secret }, { code: grade }, { code: affected }]
        requesterField: requester
        assetField: affected
        set: { priority: p3, neededAt: $now+P7D, unit: $myOrgUnit, service: laptop }
        audience: { everyone: true }
      - { code: for-hq, name: HQ, category: private, service: boris-only, type: request, form: [{ code: title }], requesterField: requester, audience: { orgUnits: [hq] } }
      - { code: for-desk, name: Desk, category: private, type: request, form: [{ code: title }, { code: requester }], requesterField: requester, audience: { groups: [desk] } }
      - { code: for-boris, name: Boris, category: private, type: request, form: [{ code: title }], requesterField: requester, audience: { users: [boris] } }
      - { code: for-nobody, name: None, category: hollow, type: request, form: [{ code: title }] }
      - { code: unasked, name: No requester, category: hardware, type: request, form: [{ code: title }, { code: note }], set: { note: $$paid }, audience: { everyone: true } }
      - { code: lacking, name: Lacking, category: hardware, type: strict, form: [{ code: title }], requesterField: requester, audience: { everyone: true } }
  - code: old
    active: false
    categories: [{ code: all }]
    items: [{ code: old-item, category: all, type: request, form: [{ code: title }], audience: { everyone: true } }]
knowledgeBases:
  - { code: it, name: IT, visibility: internal, locales: [ru-RU, en-US], sections: [{ code: network, name: { ru-RU: Сеть, en-US: Network } }, { code: mail, name: Mail, parent: network }] }
  - { code: portal, name: Portal, visibility: portal, locales: [ru-RU], sections: [{ code: start }] }
roles:
  - code: everything
    rights: [catalog.impersonate, kb.read, kb.write, kb.publish, config.manage, role.assign, user.administer]
    records: [{ type: '*', actions: [${ACTIONS}], fields: { read: '*', write: '*' }, transitions: '*' }]
    assignedTo: { users: [chief] }
  - { code: bot, rights: [catalog.impersonate], assignedTo: { users: [bot] } }
  - code: requester
    records:
      - type: request
        where: { field: requester, operator: equals, value: $me }
        actions: [read, create, history]
        fields: { read: [title, model, count, note, grade, affected, requester, priority], write: [title, model, count, note, affected, requester] }
      - { type: strict, where: { field: requester, operator: equals, value: $me }, actions: [read, create], fields: { read: [title], write: [title] } }
      - { type: asset, where: { field: owner, operator: equals, value: $me }, actions: [read], fields: { read: '*' } }
    assignedTo: { users: [anna, boris, dora] }
  - { code: reader, rights: [kb.read], assignedTo: { users: [reader, anna, boris] } }
  - { code: writer, rights: [kb.read, kb.write], assignedTo: { users: [writer] } }
  - { code: publisher, rights: [kb.read, kb.publish], assignedTo: { users: [publisher] } }
orgUnits: [{ code: hq, name: HQ }, { code: lab, name: Lab, parent: hq }, { code: branch, name: Branch }]
groups: [{ code: night, name: Night, users: [anna] }, { code: desk, name: Desk, groups: [night] }]
users:
${USERS.map((login) => {
  const unit = new Map([
    ['anna', 'lab'],
    ['boris', 'branch'],
  ]).get(login);
  return `  - { login: ${login}, displayName: Person ${login}, email: ${login}@example.org${unit === undefined ? '' : `, orgUnit: ${unit}`} }`;
}).join('\n')}
`;

export interface CatalogFixture {
  app: TestApp;
  keys: Record<FixtureUser, string>;
  people: Record<FixtureUser, string>;
  /** Calls below `/api/v1` as the person. */
  call(who: FixtureUser, method: string, path: string, body?: unknown, idempotencyKey?: string): Promise<TestAnswer>;
  /** As `call`, and the answer's `data`; anything but a success fails the test. */
  ok<T = any>(who: FixtureUser, method: string, path: string, body?: unknown): Promise<T>;
  /** Calls below `/api/admin/v1` with a key of the person's that may. */
  admin(who: FixtureUser, method: string, path: string, body?: unknown, idempotencyKey?: string): Promise<TestAnswer>;
  adminOk<T = any>(who: FixtureUser, method: string, path: string, body?: unknown): Promise<T>;
  /** Id of a service, unit, group, category, catalogue item, base or section, by code. */
  id(code: string): string;
  rows<Row>(statement: string, values?: readonly unknown[]): Promise<Row[]>;
  /** @throws AssertionError when an answer was not as the documents describe it */
  close(): Promise<void>;
}

const keyed = (idempotencyKey: string | undefined) => (idempotencyKey === undefined ? {} : { idempotencyKey });

function succeeded(answer: TestAnswer, what: string): any {
  assert.ok(answer.status < 300, `${what}: ${answer.status} ${JSON.stringify(answer.body)}`);
  return answer.body.data;
}

export async function startCatalogFixture(options: Omit<TestOptions, 'bundle'> = {}): Promise<CatalogFixture> {
  const app = await startTestApp({ ...options, bundle: bundle(WORLD) });
  const undocumented = watchAnswers(app);
  const keysFor = async (scopes: 'all' | string[]): Promise<Record<FixtureUser, string>> => {
    const made = USERS.map(async (login) => [login, (await app.createKey({ login, scopes })).key] as const);
    return Object.fromEntries(await Promise.all(made)) as Record<FixtureUser, string>;
  };
  const [keys, adminKeys] = [await keysFor('all'), await keysFor(['admin:manage'])];
  const ids = new Map<string, string>();
  for (const table of ['config_items', 'config_ids', 'org_units', 'groups']) {
    for (const { code, id } of await stored<{ code: string; id: string }>(app, `SELECT code, id FROM ${table}`))
      ids.set(code, id);
  }
  const people = await Promise.all(USERS.map(async (login) => [login, await idOf(app, 'users', login)] as const));
  await stored(app, `UPDATE users SET state = 'ARCHIVED' WHERE login = 'dora'`);
  await stored(app, 'UPDATE cache_versions SET rights = rights + 1');
  await app.app.versions.refresh();
  const send = (key: string, method: string, path: string, body: unknown, extra = {}): Promise<TestAnswer> =>
    app.request(method, path, { key, ...(body === undefined ? {} : { body }), ...extra });
  const self: CatalogFixture = {
    app,
    keys,
    people: Object.fromEntries(people) as Record<FixtureUser, string>,
    call: (who, method, path, body, key) => send(keys[who], method, `/api/v1${path}`, body, keyed(key)),
    ok: async (who, method, path, body) => succeeded(await self.call(who, method, path, body), `${method} ${path}`),
    admin: (who, method, path, body, key) => send(adminKeys[who], method, `/api/admin/v1${path}`, body, keyed(key)),
    adminOk: async (who, method, path, body) =>
      succeeded(await self.admin(who, method, path, body), `${method} ${path}`),
    id: (code) => ids.get(code) ?? assert.fail(`nothing is called ${code}`),
    rows: (statement, values) => stored(app, statement, values),
    close: async () => {
      await app.close();
      assert.deepEqual(undocumented.slice(0, 3), [], 'what answers said that the documents do not describe');
    },
  };
  return self;
}
