/**
 * An id is judged by the kind that its field names (docs/spec/records.md#data-types): whatever the other fields of a call hold,
 * an id of another kind is refused at its field, in every channel, and nothing is stored.
 */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import { startTestApp, type TestAnswer, type TestApp } from './support/app.ts';
import { ACTIONS, bundle, RIGHTS, stored, user } from './support/small-configuration.ts';
import { MODULES } from '../src/modules.ts';
import { collect } from '../src/platform/module.ts';
import { FileBlobs } from '../src/platform/blobs/filesystem.ts';

/** Kind of an id → the field that takes it. */
const FIELDS = { user: 'person', group: 'team', unit: 'unit', record: 'asset', service: 'service' } as const;
type Kind = keyof typeof FIELDS;
const KINDS = Object.keys(FIELDS) as Kind[];

const CODES = Object.values(FIELDS).flatMap((code) => [code, `${code}s`]);
const many = (dataType: string, code: string, more = ''): string =>
  `      - { code: ${code}, dataType: ${dataType}${more} }\n      - { code: ${code}s, dataType: ${dataType}, multiple: true${more} }\n`;

const WORLD = `
settings: { defaultLocale: en-US, timezone: UTC }
types:
  - code: ticket
    name: Ticket
    title: title
    workflow: flow
    fields:
      - { code: title, dataType: string }
${many('user', 'person')}${many('group', 'team')}${many('org-unit', 'unit')}${many('service', 'service')}${many('reference', 'asset', ', constraints: { types: [asset] }')}
  - code: asset
    name: Asset
    title: title
    fields: [{ code: title, dataType: string }]
workflows:
  - code: flow
    name: Flow
    initial: new
    states: [{ code: new, name: New, category: open }, { code: done, name: Done, category: done }]
    transitions:
      - { code: finish, name: Finish, from: [new], to: done, fields: [${CODES.map((code) => `{ code: ${code} }`).join()}] }
services: [{ code: mail, name: Mail }]
groups: [{ code: desk, name: Desk }]
orgUnits: [{ code: hq, name: Head office }]
catalogs:
  - code: shop
    categories: [{ code: all }]
    items:
      - code: ask
        category: all
        type: ticket
        form: [${CODES.map((code) => `{ code: ${code} }`).join()}]
        audience: { everyone: true }
roles:
  - code: chief
    name: Chief
    rights: [${RIGHTS}]
    records: [{ type: '*', actions: [${ACTIONS}], fields: { read: '*', write: '*' }, transitions: '*' }]
    assignedTo: { users: [chief, other] }
users:
${user('chief')}${user('other')}`;

type Values = Readonly<Record<string, unknown>>;

describe('an id of another kind', () => {
  let app: TestApp;
  let key: string;
  let ids: Record<Kind, string>;
  let asker: string;
  let finish: string;
  let item: string;
  let ticketOf: () => Promise<{ id: string; revision: number; workflowState: { id: string } }>;

  const call = (method: string, path: string, body?: unknown): Promise<TestAnswer> =>
    app.request(method, `/api/v1${path}`, { key, ...(body === undefined ? {} : { body }) });
  const ok = async (method: string, path: string, body?: unknown): Promise<any> => {
    const answer = await call(method, path, body);
    assert.ok(answer.status < 300, `${method} ${path}: ${JSON.stringify(answer.body)}`);
    return answer.body.data;
  };
  const refusal = ({ status, body }: TestAnswer): unknown => (status < 300 ? null : body.error);
  const create = async (values: Values): Promise<unknown> =>
    refusal(await call('POST', '/objects', { typeDefinitionId: 'ticket', values }));
  const request = async (requesterId: string, values: Values): Promise<unknown> =>
    refusal(await call('POST', `/catalog/items/${item}/requests`, { requesterId, values }));

  let inbound: Record<'create' | 'update', string>;
  let importing: string;

  /** Channel → the error of the call that gives these values; null if it succeeds. */
  const CHANNELS: Record<string, (values: Values) => Promise<unknown>> = {
    create,
    update: async (changes) => {
      const { id, revision } = await ticketOf();
      return refusal(await call('PATCH', `/objects/${id}`, { expectedRevision: revision, changes }));
    },
    bulk: async (changes) => {
      const { id, revision } = await ticketOf();
      const items = [{ objectId: id, expectedRevision: revision, changes }];
      const [result] = await ok('POST', '/bulk', { operation: 'update', items });
      return result.error ?? null;
    },
    'bulk dry run': async (changes) => {
      const { id, revision } = await ticketOf();
      const items = [{ objectId: id, expectedRevision: revision, changes }];
      const [result] = await ok('POST', '/bulk?dryRun=true', { operation: 'update', items });
      return result.error ?? null;
    },
    transition: async (values) => {
      const { id, revision, workflowState } = await ticketOf();
      const body = { transitionId: finish, expectedRevision: revision, expectedStateId: workflowState.id, values };
      return refusal(await call('POST', `/objects/${id}/transitions`, body));
    },
    'import of a new record': async (values) => {
      const content = JSON.stringify([{ ext: randomUUID(), ...values }]);
      const { rows } = await ok('POST', '/imports/run', { definitionId: importing, content, dryRun: false });
      return rows[0].status === 'FAILED' ? { code: 'INVALID_VALUES', details: rows[0].errors } : null;
    },
    'import of a known record': async (values) => {
      const ext = randomUUID();
      const run = (row: Values): Promise<any> =>
        ok('POST', '/imports/run', { definitionId: importing, content: JSON.stringify([row]), dryRun: false });
      await run({ ext, title: 'known' });
      const { rows } = await run({ ext, ...values });
      return rows[0].status === 'FAILED' ? { code: 'INVALID_VALUES', details: rows[0].errors } : null;
    },
    catalogue: async (values) => await request(ids.user, values),
    'catalogue for another': async (values) => await request(asker, values),
    'inbound create': async (values) => refusal(await call('POST', `/inbound/${inbound.create}`, values)),
    'inbound update': async (values) => {
      const { id, revision } = await ticketOf();
      const body = { objectId: id, expectedRevision: revision, ...values };
      return refusal(await call('POST', `/inbound/${inbound.update}`, body));
    },
  };

  /** Values with the id in the field of the kind `taker`, and in that of its own kind too. */
  const crossed = (given: Kind, taker: Kind, multiple: boolean): Values => {
    const code = `${FIELDS[taker]}${multiple ? 's' : ''}`;
    return { [FIELDS[given]]: ids[given], [code]: multiple ? [...new Set([ids[taker], ids[given]])] : ids[given] };
  };

  before(async () => {
    app = await startTestApp({ bundle: bundle(WORLD) });
    ({ key } = await app.createKey({ login: 'chief' }));
    const one = async (statement: string): Promise<string> =>
      (await stored<{ id: string }>(app, statement))[0]?.id ?? assert.fail(statement);
    const record = await ok('POST', '/objects', { typeDefinitionId: 'asset', values: { title: 'An asset' } });
    ids = {
      user: await one(`SELECT id FROM users WHERE login = 'chief'`),
      group: await one(`SELECT id FROM groups WHERE code = 'desk'`),
      unit: await one(`SELECT id FROM org_units WHERE code = 'hq'`),
      record: record.id,
      service: await one(`SELECT id FROM config_items WHERE section = 'services' AND code = 'mail'`),
    };
    asker = await one(`SELECT id FROM users WHERE login = 'other'`);
    finish = await one(`SELECT id FROM config_ids WHERE code = 'finish'`);
    item = await one(`SELECT id FROM config_ids WHERE code = 'ask'`);
    ticketOf = () => ok('POST', '/objects', { typeDefinitionId: 'ticket', values: { title: 'A ticket' } });
    const mapping = ['title', ...CODES].map((code) => ({ source: code, target: code }));
    const integration = async (config: object): Promise<string> => {
      const code = `i-${randomUUID()}`;
      const body = { code, type: 'inbound-webhook', executionPrincipalId: ids.user, enabled: true, config };
      return (await ok('POST', '/integrations', body)).id;
    };
    const system = ['objectId', 'expectedRevision'].map((code) => ({ source: code, target: code }));
    inbound = {
      create: await integration({ command: 'object.create', typeDefinitionId: 'ticket', mapping }),
      update: await integration({ command: 'object.update', mapping: [...system, ...mapping] }),
    };
    const definition = {
      code: 'tickets',
      targetKind: 'object',
      targetTypeId: 'ticket',
      format: 'JSON',
      mode: 'UPSERT',
      sourceCode: 'there',
      resolver: { externalIdField: 'ext' },
      mapping,
    };
    importing = (await ok('POST', '/import-definitions', definition)).id;
  });
  after(() => app.close());

  for (const [channel, send] of Object.entries(CHANNELS)) {
    it(`is refused at its field: ${channel}`, async () => {
      for (const multiple of [false, true]) {
        for (const taker of KINDS) {
          assert.equal(await send(crossed(taker, taker, multiple)), null, `${channel}: ${taker} in its own field`);
          for (const given of KINDS.filter((kind) => kind !== taker)) {
            const error = (await send(crossed(given, taker, multiple))) as { code: string; details: any[] } | null;
            const what = `${channel}: ${given} in a field for ${taker}${multiple ? 's' : ''}`;
            assert.ok(error !== null, `${what} was stored`);
            const code = `${FIELDS[taker]}${multiple ? 's' : ''}`;
            const places = error.details.map((detail) => `${detail.code} ${String(detail.path).split('/').at(-1)}`);
            assert.deepEqual([error.code, places], ['INVALID_VALUES', [`UNKNOWN_REFERENCE ${code}`]], what);
          }
        }
      }
    });
  }

  it('is in no stored record', async () => {
    const check = collect(MODULES, 'checks').find(({ name }) => name.startsWith('I15')) ?? assert.fail();
    const blobs = new FileBlobs(app.blobFolder);
    const found = await check.find({ db: app.db, config: app.app.versions.current(), blobs });
    assert.deepEqual(found, { total: 0, named: [] });
  });

  it('is refused as member, manager, unit, responsible, principal and audience', async () => {
    const other: Record<'user' | 'group' | 'unit', readonly Kind[]> = {
      user: ['group', 'unit', 'record', 'service'],
      group: ['user', 'unit', 'record', 'service'],
      unit: ['user', 'group', 'record', 'service'],
    };
    const calls: [keyof typeof other, (id: string) => readonly [string, string, unknown]][] = [
      ['user', (id) => ['POST', '/identity/group-memberships', { groupId: ids.group, memberId: id }]],
      [
        'user',
        (id) => ['POST', '/identity/group-memberships', { groupId: ids.group, memberId: id, memberType: 'user' }],
      ],
      [
        'group',
        (id) => ['POST', '/identity/group-memberships', { groupId: ids.group, memberId: id, memberType: 'group' }],
      ],
      ['group', (id) => ['POST', '/identity/group-memberships', { groupId: id, memberId: ids.user }]],
      ['user', (id) => ['POST', '/identity/org-memberships', { organizationUnitId: ids.unit, userId: id }]],
      ['unit', (id) => ['POST', '/identity/org-memberships', { organizationUnitId: id, userId: ids.user }]],
      [
        'user',
        (id) => ['POST', '/identity/org-units', { code: 'c', name: 'C', parentId: ids.unit, managerUserId: id }],
      ],
      [
        'unit',
        (id) => ['POST', '/identity/org-units', { code: 'c', name: 'C', parentId: id, managerUserId: ids.user }],
      ],
      ['user', (id) => ['POST', `/catalog/items/${item}/requests`, { requesterId: id, values: { person: id } }]],
      [
        'user',
        (id) => [
          'POST',
          '/webhooks',
          {
            code: `w-${id}`,
            url: 'https://a.org',
            executionPrincipalId: id,
            eventTypes: ['ObjectCreated'],
            enabled: true,
          },
        ],
      ],
    ];
    for (const [kind, of] of calls) {
      for (const given of other[kind]) {
        const [method, path, body] = of(ids[given]);
        const answer = await call(method, path, body);
        assert.ok([400, 404].includes(answer.status), `${given} for ${kind}: ${path} ${JSON.stringify(answer.body)}`);
      }
    }
  });
});
