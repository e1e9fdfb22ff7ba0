/** Every section of the bundle together: applied, exported, planned without drift (docs/spec/configuration.md#bundle). */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import fc from 'fast-check';
import sql from 'sql-template-tag';
import { Ajv } from 'ajv';
import { parse } from 'yaml';
import { bundleSchema } from '../src/configuration/bundle-schema.ts';
import { type BundleFixture, changed, file, SECTIONS, startBundleFixture } from './support/bundle-fixture.ts';

const EVERYTHING = `
settings: { defaultLocale: ru-RU, timezone: Europe/Moscow, attachmentMaxBytes: 7340032, searchExactTotal: 1000 }
types:
  - code: incident
    name: { ru-RU: Инцидент, en-US: Incident }
    category: object
    numbering: { prefix: INC, digits: 7 }
    title: title
    workflow: incident
    fields:
      - { code: title, name: { ru-RU: Тема, en-US: Title }, dataType: string, required: true, constraints: { maxLength: 200 }, search: { text: true, filter: true, facet: false } }
      - { code: priority, dataType: enum, default: p3, constraints: { options: [ { code: p1, name: Critical }, { code: p2 }, { code: p3 } ] }, search: { filter: true, facet: true } }
      - { code: requester, dataType: user }
      - { code: assignee, dataType: user }
      - { code: assignmentGroup, dataType: group }
      - { code: affected, dataType: reference, multiple: true, constraints: { types: [asset] } }
      - { code: internalCost, dataType: decimal, readOnly: false }
      - { code: solution, dataType: text }
      - { code: startedAt, dataType: datetime }
  - { code: problem, fields: [ { code: title, dataType: string } ] }
  - { code: asset, category: dictionary, title: null, fields: [ { code: title, dataType: string }, { code: service, dataType: service, default: laptop } ] }
  - { code: request, fields: [ { code: title, dataType: string }, { code: model, dataType: string }, { code: requester, dataType: user }, { code: affected, dataType: reference }, { code: priority, dataType: integer } ] }
workflows:
  - code: incident
    initial: new
    states:
      - { code: new, name: Новый, category: open }
      - { code: in-progress, category: open }
      - { code: pending, category: waiting }
      - { code: resolved, category: done }
    transitions:
      - { code: take, from: [new, pending], to: in-progress, condition: { field: assignee, operator: is-empty, value: false }, fields: [ { code: assignee, required: true } ], set: { startedAt: $now } }
      - { code: wait, from: [in-progress], to: pending }
      - { code: resolve, from: [in-progress], to: resolved, fields: [ { code: solution, required: true }, { code: $reason, required: true }, { code: $decisionReport } ] }
roles:
  - code: agent
    name: Агент
    rights: [export.execute, kb.read]
    records:
      - type: incident
        where: { field: assignmentGroup, operator: in, value: $myGroups }
        actions: [read, create, update, archive, history, transition, comment.create, comment.edit, Private Comment, attachment.add, attachment.delete, relation.create, relation.delete]
        fields: { read: '*', write: [title, priority, assignee] }
        transitions: '*'
    assignedTo: { users: [petrova], groups: [service-desk] }
orgUnits:  [ { code: hq, name: Head office, parent: null, manager: ivanov, location: Moscow } ]
groups:    [ { code: service-desk, name: Service desk, users: [petrova], groups: [night-shift] }, { code: night-shift } ]
users:
  - { login: petrova, displayName: Анна Петрова, email: petrova@example.org, locale: ru-RU, timezone: Europe/Moscow, orgUnit: hq, employeeId: '17', externalId: hr-17 }
  - { login: ivanov }
calendars:
  - code: office
    timezone: Europe/Moscow
    week: { mon: ['09:00-13:00', '14:00-18:00'], tue: ['09:00-18:00'] }
    exceptions: [ { date: '2027-01-01', hours: [] }, { date: '2027-01-02', hours: ['10:00-14:00'] } ]
slaPolicies:
  - code: incident-resolution
    type: incident
    calendar: office
    targets: [ { when: { field: priority, operator: equals, value: p1 }, duration: PT4H }, { duration: PT24H } ]
    start: { field: workflowState, operator: in, value: [new, in-progress] }
    pause: { field: workflowState, operator: equals, value: pending }
    stop:  { field: workflowState, operator: equals, value: resolved }
    warnAt: [50, 90]
relationDefinitions:
  - { code: caused-by, name: Caused by, inverseName: Causes, sourceTypes: [incident], targetTypes: [problem], cardinality: many-to-one, acyclic: true, active: true }
services: [ { code: laptop, name: { ru-RU: Ноутбук, en-US: Laptop }, audience: { everyone: true } } ]
catalogs:
  - code: main
    active: true
    categories: [ { code: hardware, name: Оборудование, parent: null } ]
    items:
      - code: new-laptop
        name: Новый ноутбук
        category: hardware
        service: laptop
        type: request
        form: [ { code: title, required: true }, { code: model, required: true } ]
        requesterField: requester
        assetField: affected
        set: { priority: 3 }
        audience: { groups: [], orgUnits: [hq], users: [] }
knowledgeBases:
  - { code: it, name: ИТ, visibility: internal, locales: [ru-RU, en-US], sections: [ { code: network, name: Сеть, parent: null } ] }
signingSecrets: [ mail, main ]
webhooks:
  - { code: cmdb, endpoint: 'https://hooks.example.org/docket', secretRef: main, executionPrincipal: petrova, eventTypes: [ObjectCreated], filters: { types: [incident], condition: { field: requester, operator: equals, value: ivanov } }, retryPolicy: { maxAttempts: 3, baseDelayMs: 1000 }, enabled: false }
integrations:
  - { code: monitoring, type: inbound-webhook, executionPrincipal: petrova, enabled: true, config: { command: object.create, typeDefinitionId: incident, mapping: [ { source: alert.summary, target: title } ] } }
importDefinitions:
  - { code: snow, name: ServiceNow, targetKind: object, targetType: incident, format: CSV, mode: UPSERT, sourceCode: snow, resolver: { externalIdField: number }, mapping: [ { source: short_description, target: title, transform: trim } ] }
dashboards:
  - code: desk
    name: { ru-RU: Работа, en-US: Work }
    tiles:
      - { kind: number, title: Open, query: { types: [incident], measures: [count], filter: { field: priority, operator: equals, value: p1 }, period: { lastDays: 7 } }, width: 1 }
    sharedWith: { roles: [agent], groups: [] }
macros:
  - code: solved
    name: { ru-RU: Решено, en-US: Solved }
    types: [incident]
    comment: { visibility: public, body: { ru-RU: '{{ requester }}, {{ number }} решён', en-US: '{{ number }} is solved' } }
    transition: resolve
    set: { priority: p3, assignee: $me, $reason: Solved }
    roles: [agent]
rules:
  - code: urgent
    name: { ru-RU: Срочное, en-US: Urgent }
    on: [ObjectUpdated]
    types: [incident]
    runAs: petrova
    when: { logic: AND, conditions: [ { field: changed, operator: contains, value: priority }, { field: requester, operator: equals, value: ivanov } ] }
    once: every-time
    do:
      - set: { assignee: petrova }
      - comment: { visibility: internal, body: '{{ number }}: {{ requester }}' }
synonyms: [ [ютуб, YouTube], [МФУ, принтер, wi-fi] ]
templates:
  - { code: assigned, name: { ru-RU: Назначено, en-US: Assigned }, subject: { ru-RU: '{{ number }}', en-US: '{{ number }}' }, body: { ru-RU: '[Открыть]({{$url}})', en-US: '[Open]({{$url}})' } }
mailboxes:
  - { code: support, address: support@example.org, type: incident, defaults: { priority: p3 }, authServer: mx.example.org, unknownSender: refuse, imap: { host: imap.example.org, port: 993, tls: implicit, user: support, secretRef: mail }, enabled: false }
`;

/** Sections that no other one refers to. */
const INDEPENDENT = [
  'slaPolicies',
  'relationDefinitions',
  'catalogs',
  'knowledgeBases',
  'importDefinitions',
  'macros',
  'synonyms',
  'rules',
  'templates',
  'mailboxes',
];

/** The files of all sections in any order, with other names and without some sections and items. */
function variant(name: fc.Arbitrary<unknown>): fc.Arbitrary<{ name: string; text: string }[]> {
  const {
    users: _users,
    groups: _groups,
    orgUnits: _units,
    ...sections
  } = parse(EVERYTHING) as Record<string, unknown>;
  const keys = Object.keys(sections);
  return fc
    .record({
      names: fc.array(name, { minLength: 5, maxLength: 20 }),
      without: fc.subarray(INDEPENDENT),
      order: fc.shuffledSubarray(keys, { minLength: keys.length }),
      reversed: fc.boolean(),
    })
    .map(({ names, without, order, reversed }) => {
      let next = 0;
      const renamed = (key: string, value: unknown) => (key === 'name' ? names[next++ % names.length] : value);
      return order
        .filter((key) => !without.includes(key))
        .map((key, index) => {
          const items = sections[key];
          const ordered = reversed && Array.isArray(items) ? items.toReversed() : items;
          const content = JSON.parse(JSON.stringify({ [key]: ordered }), renamed) as object;
          return { name: `${String(index).padStart(2, '0')}.yaml`, text: JSON.stringify(content) };
        });
    });
}

describe('every section of the bundle', () => {
  let fixture: BundleFixture;
  before(async () => {
    fixture = await startBundleFixture();
    await fixture.apply(file(EVERYTHING));
  });
  after(() => fixture.close());

  it('is applied and then unchanged', async () => {
    const items = await fixture.plan(file(EVERYTHING), { prune: true, pruneIdentity: true });
    assert.deepEqual(changed(items), []);
    assert.equal(new Set(items.map((item) => item.section)).size, 23);
  });

  it('is exported to the same bytes after an apply of what was exported', async () => {
    const name = fc.string({
      unit: fc.constantFrom('a', 'Я', '"', "'", ':', ' ', '#', '\n', '{', '🙂', '-'),
      minLength: 1,
      maxLength: 12,
    });
    const text = fc.oneof(name, fc.record({ 'en-US': name, 'ru-RU': name }));
    const code = fc.constantFrom('alpha', 'beta', 'gamma', 'delta');
    const coded = <T>(more: { [K in keyof T]: fc.Arbitrary<T[K]> }) =>
      fc.uniqueArray(fc.record({ code, name: text, ...more }), { selector: (item) => item.code, maxLength: 4 });
    const field = coded({
      dataType: fc.constantFrom('string', 'integer', 'boolean'),
      required: fc.boolean(),
      search: fc.record({ text: fc.constant(false), filter: fc.boolean() }, { requiredKeys: [] }),
    });
    const sections = fc.record({
      services: coded({ audience: fc.oneof(fc.constant({ everyone: true }), fc.constant({ orgUnits: ['hq'] })) }),
      types: coded({ fields: field }),
      calendars: coded({
        timezone: fc.constantFrom('UTC', 'Europe/Moscow'),
        week: fc.dictionary(fc.constantFrom('mon', 'tue', 'sun'), fc.constant(['09:00-18:00'])),
      }),
      roles: coded({ rights: fc.subarray(['kb.read', 'kb.write', 'audit.read']) }),
    });
    const inOrder = fc.tuple(
      sections,
      fc.shuffledSubarray(['services', 'types', 'calendars', 'roles'] as const, { minLength: 4 }),
    );
    const other = await startBundleFixture();
    try {
      await other.apply(file('orgUnits: [ { code: hq, name: HQ } ]\nsettings: { defaultLocale: en-US }'));
      const replace = async (files: Parameters<typeof other.apply>[0]) => {
        const plan = await other.plan(files, { prune: true });
        const discard = plan.flatMap(({ lost = [] }) => lost.map(({ path }) => path));
        return await other.apply(files, { prune: true, discard });
      };
      await fc.assert(
        fc.asyncProperty(inOrder, async ([parts, order]) => {
          const made = order.map((key, index) => ({
            name: `${index}.yaml`,
            text: JSON.stringify({ [key]: parts[key] }),
          }));
          await replace(made);
          const exported = await other.export(false);
          assert.deepEqual(changed(await other.apply(exported.toReversed(), { prune: true })), []);
          assert.deepEqual(await other.export(false), exported);
          await replace(file('settings: {}'));
          await replace(exported.toReversed());
          const again = await other.export(false);
          assert.deepEqual(again, exported, 'also where it was gone');
        }),
        { numRuns: 10 },
      );
      await other.apply(file(EVERYTHING));
      await fc.assert(
        fc.asyncProperty(variant(text), async (made) => {
          await replace(made);
          const exported = await other.export(false);
          assert.deepEqual(changed(await other.apply(exported.toReversed(), { prune: true })), []);
          assert.deepEqual(await other.export(false), exported);
        }),
        { numRuns: 5 },
      );
    } finally {
      await other.close();
    }
  });

  it('is exported without drift and recreates the same configuration elsewhere', async () => {
    const exported = await fixture.export(true);
    assert.equal(exported.length, 23);
    assert.deepEqual(changed(await fixture.plan(exported, { prune: true, pruneIdentity: true })), []);
    const other = await startBundleFixture();
    try {
      await other.apply(exported);
      assert.deepEqual(await other.export(true), exported);
    } finally {
      await other.close();
    }
  });

  it('is exported in the form of the JSON Schema', async () => {
    const fits = new Ajv({ strict: false, allErrors: true }).compile(bundleSchema(SECTIONS));
    const contents = (await fixture.export(true)).map(({ text }) => parse(text) as object);
    assert.equal(new Set(contents.flatMap((content) => Object.keys(content))).size, 23);
    for (const content of contents) assert.ok(fits(content), JSON.stringify(fits.errors?.slice(0, 3)));
  });

  it('has ids for nested items that stay the same after a change', async () => {
    const ids = async (): Promise<unknown> => {
      const [row] = await fixture.db.query<{
        catalog: {
          items: { id: string; serviceId: string; categoryId: string; audience: unknown }[];
          categories: { id: string }[];
        };
        base: { sections: { id: string }[] };
        hook: Record<string, unknown>;
      }>(sql`
        SELECT (SELECT compiled FROM config_items WHERE section = 'catalogs') AS catalog, (SELECT compiled FROM config_items WHERE section = 'knowledgeBases') AS base,
          (SELECT compiled FROM config_items WHERE section = 'webhooks') AS hook`);
      assert.ok(row);
      const [laptop] = await fixture.db.query<{ id: string; petrova: string; hq: string; ivanov: string }>(sql`
        SELECT id, (SELECT id FROM users WHERE login = 'petrova') AS petrova, (SELECT id FROM users WHERE login = 'ivanov') AS ivanov,
          (SELECT id FROM org_units) AS hq FROM config_items WHERE section = 'services'`);
      const [item] = row.catalog.items;
      assert.equal(item?.serviceId, laptop?.id);
      assert.equal(item?.categoryId, row.catalog.categories[0]?.id);
      assert.deepEqual(item?.audience, { everyone: false, groups: [], orgUnits: [laptop?.hq], users: [] });
      assert.equal(row.hook['executionPrincipalId'], laptop?.petrova);
      assert.deepEqual((row.hook['filters'] as { condition: { value: string } }).condition.value, laptop?.ivanov);
      return [item?.id, item?.categoryId, row.base.sections[0]?.id];
    };
    const before = await ids();
    await fixture.apply(file(EVERYTHING.replace('Новый ноутбук', 'Ноутбук').replace('Сеть', 'Сети')));
    assert.deepEqual(await ids(), before);
  });

  it('reports that an enabled integration is disabled during its change', async () => {
    // Its secret needs a value first; of what kind does not matter here.
    await fixture.db.query(sql`
      INSERT INTO signing_secret_values (secret_id, version, sealed, created_at)
      SELECT id, 1, '\\x00', now() FROM config_items WHERE section = 'signingSecrets'`);
    const enabled = EVERYTHING.replace('baseDelayMs: 1000 }, enabled: false', 'baseDelayMs: 1000 }, enabled: true');
    await fixture.apply(file(enabled));
    const items = await fixture.plan(file(enabled.replace('maxAttempts: 3', 'maxAttempts: 5')));
    assert.match(items.find((item) => item.section === 'webhooks')?.note ?? '', /disabled, changed and enabled/);
  });

  it('raises the version of a changed calendar only', async () => {
    const version = async (): Promise<number | undefined> => {
      const [row] = await fixture.db.query<{ version: number }>(
        sql`SELECT version FROM config_items WHERE section = 'calendars'`,
      );
      return row?.version;
    };
    const first = await version();
    await fixture.apply(file(EVERYTHING.replace("tue: ['09:00-18:00']", "tue: ['09:00-17:00']")));
    assert.equal(await version(), (first ?? 0) + 1);
    await fixture.apply(file(EVERYTHING.replace("tue: ['09:00-18:00']", "tue: ['09:00-17:00']")));
    assert.equal(await version(), (first ?? 0) + 1);
  });

  it('protects referenced items from removal', async () => {
    for (const section of ['calendars', 'services', 'signingSecrets']) {
      const without = EVERYTHING.replace(new RegExp(`^${section}:[^]*?(?=^[a-zA-Z]+:)`, 'm'), '');
      const problems = await fixture.refused(file(without), { prune: true });
      assert.ok(
        problems.every(({ code }) => code === 'UNKNOWN_REFERENCE'),
        section,
      );
      assert.match(problems[0]?.message ?? '', /would be archived/);
    }
  });
});
