/**
 * Plan, apply and export on a database (docs/spec/configuration.md#command-line, docs/spec/configuration.md#bundle,
 * docs/spec/records.md#type-versions).
 */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { after, before, describe, it } from 'node:test';
import sql from 'sql-template-tag';
import { type BundleFixture, changed, file, startBundleFixture } from './support/bundle-fixture.ts';
import { ROOT } from './support/source-files.ts';

const BASE = `
settings: { defaultLocale: en-US }
types:
  - code: ticket
    name: { ru-RU: Заявка, en-US: Ticket }
    numbering: { prefix: TIC }
    workflow: ticket
    fields:
      - { code: title, dataType: string, required: true }
      - { code: priority, dataType: enum, default: low, constraints: { options: [ { code: low }, { code: high } ] }, search: { filter: true } }
      - { code: assignee, dataType: user, default: Petrova }
      - { code: cost, dataType: decimal, constraints: { min: '0.50', scale: 2 } }
workflows:
  - code: ticket
    initial: new
    states: [ { code: new, category: open }, { code: done, category: done } ]
    transitions:
      - { code: finish, from: [new], to: done, condition: { field: assignee, operator: equals, value: petrova }, set: { assignee: $me } }
roles:
  - code: agent
    rights: [export.execute]
    records: [ { type: ticket, where: { field: assignee, operator: in, value: [petrova, $me] }, actions: [read], fields: { read: [title, cost] }, transitions: [finish] } ]
    assignedTo: { users: [petrova], groups: [desk] }
orgUnits: [ { code: hq, manager: petrova }, { code: it, parent: hq, location: Tomsk } ]
groups: [ { code: desk, name: Desk, users: [petrova], groups: [night] }, { code: night } ]
users: [ { login: petrova, displayName: Анна, email: p@example.org, orgUnit: it }, { login: ivanov } ]
`;

const rowCount = async (fixture: BundleFixture): Promise<string> => {
  const [row] = await fixture.db.query<{ digest: string }>(sql`
    SELECT md5(concat((SELECT jsonb_agg(to_jsonb(c) ORDER BY id) FROM config_items c), (SELECT jsonb_agg(to_jsonb(u) ORDER BY id) FROM users u),
      (SELECT jsonb_agg(to_jsonb(m) ORDER BY id) FROM group_members m), (SELECT count(*) FROM journal), (SELECT to_jsonb(e) FROM cache_versions e),
      (SELECT jsonb_agg(to_jsonb(v) ORDER BY type_id, version) FROM type_versions v), (SELECT count(*) FROM config_ids))) AS digest`);
  return row?.digest ?? '';
};

describe('apply, plan and export', () => {
  let fixture: BundleFixture;
  before(async () => {
    fixture = await startBundleFixture();
    const planned = await fixture.plan(file(BASE));
    assert.ok(planned.every(({ action, id }) => action === 'create' && id === null));
    const applied = await fixture.apply(file(BASE));
    assert.deepEqual(
      applied.map(({ section, code, action }) => ({ section, code, action })),
      planned.map(({ section, code, action }) => ({ section, code, action })),
    );
    assert.ok(applied.every(({ id }) => /^[0-9a-f-]{36}$/.test(id ?? '')));
  });
  after(() => fixture.close());

  it('changes and writes nothing the second time', async () => {
    const before = await rowCount(fixture);
    const items = await fixture.apply(file(BASE));
    assert.deepEqual(changed(items), []);
    assert.equal(items.length, 10);
    assert.ok(items.every(({ id }) => id !== null));
    assert.equal(await rowCount(fixture), before);
  });

  it('stores ids in place of logins and codes', async () => {
    const [row] = await fixture.db.query<{
      type: { fields: { code: string; default: unknown }[] };
      role: never;
      flow: never;
      petrova: string;
      ticket: string;
    }>(sql`
      SELECT (SELECT compiled FROM type_versions) AS type, (SELECT compiled FROM config_items WHERE section = 'roles') AS role,
        (SELECT compiled FROM config_items WHERE section = 'workflows') AS flow, (SELECT id FROM users WHERE login = 'petrova') AS petrova`);
    assert.ok(row);
    assert.equal(row.type.fields.find((field) => field.code === 'assignee')?.default, row.petrova);
    const role = row.role as { records: { where: unknown }[]; assignedTo?: unknown };
    assert.deepEqual(role.records[0]?.where, { field: 'assignee', operator: 'in', value: [row.petrova, '$me'] });
    assert.equal(role.assignedTo, undefined);
    const flow = row.flow as {
      initialId: string;
      states: { id: string; code: string }[];
      transitions: { from: string[]; toId: string; condition: unknown; set: unknown }[];
    };
    assert.equal(flow.initialId, flow.states[0]?.id);
    assert.deepEqual(flow.transitions[0]?.from, [flow.initialId]);
    assert.equal(flow.transitions[0]?.toId, flow.states[1]?.id);
    assert.deepEqual(flow.transitions[0]?.condition, { field: 'assignee', operator: 'equals', value: row.petrova });
    assert.deepEqual(flow.transitions[0]?.set, { assignee: '$me' });
  });

  it('writes an audit entry and raises the configuration version', async () => {
    const rows = await fixture.db.query<{ subject: string; data: { action: string; after?: { code?: string } } }>(
      sql`SELECT subject, data FROM journal WHERE type = 'ConfigChanged' ORDER BY seq`,
    );
    assert.equal(rows.length, 10);
    const role = rows.find((row) => row.subject === 'roles:agent');
    assert.equal(role?.data.action, 'create');
    assert.equal(role?.data.after?.code, 'agent');
    const [epoch] = await fixture.db.query<{ config: number; rights: number }>(
      sql`SELECT config, rights FROM cache_versions`,
    );
    assert.deepEqual(epoch, { config: 2, rights: 2 });
  });

  it('exports a bundle that plans without changes, with users and without', async () => {
    for (const identity of [true, false]) {
      const files = await fixture.export(identity);
      assert.deepEqual(
        changed(await fixture.plan(files, { prune: true, pruneIdentity: identity })),
        [],
        `identity ${identity}`,
      );
      const text = files.map((one) => one.text).join('');
      assert.equal(/^users:|^groups:|assignedTo/m.test(text), identity);
    }
  });

  it('recreates the configuration on an empty database from an export', async () => {
    const other = await startBundleFixture();
    try {
      await other.apply(await fixture.export(true));
      assert.deepEqual(await other.export(true), await fixture.export(true));
    } finally {
      await other.close();
    }
  });

  it('matches users regardless of the case of their login', async () => {
    const items = await fixture.plan(file('groups: [ { code: desk, users: [PETROVA] } ]'));
    assert.deepEqual(changed(items), []);
  });

  it('checks existing items too: a referenced item cannot be removed', async () => {
    const problems = await fixture.refused(
      file(
        BASE.replace("- { code: cost, dataType: decimal, constraints: { min: '0.50', scale: 2 } }", '')
          .replace('workflow: ticket\n', '\n')
          .replace(/workflows:[\s\S]*?roles:/, 'roles:'),
      ),
      { prune: true },
    );
    assert.deepEqual(
      problems.map(({ path: at, code }) => `${at} ${code}`),
      ['roles[0].records[0].transitions[0] UNKNOWN_NAME'],
    );
    const stored = await fixture.refused(
      file('types: [ { code: ticket, fields: [ { code: title, dataType: string, required: true } ] } ]'),
    );
    assert.deepEqual(stored.map(({ file: name, path: at, code }) => `${name} ${at} ${code}`).sort(), [
      'null roles/agent records[0].transitions[0] UNKNOWN_NAME',
      'null roles/agent records[0].where.field UNKNOWN_FIELD',
    ]);
    const used = await fixture.refused(file(`${BASE.replace(/workflows:[\s\S]*?roles:/, 'roles:')}`), { prune: true });
    assert.ok(used.some(({ path: at, code }) => at === 'types[0].workflow' && code === 'UNKNOWN_REFERENCE'));
  });

  it('applies two concurrent bundles one after the other', async () => {
    const one = file(BASE.replace('Ticket }', 'One }'));
    const two = file(BASE.replace('Ticket }', 'Two }'));
    const results = await Promise.all(
      Array.from({ length: 6 }, (_, turn) => fixture.apply(turn % 2 === 0 ? one : two)),
    );
    for (const result of results) assert.ok(changed(result).length <= 1);
    const [row] = await fixture.db.query<{ name: { 'en-US': string }; version: number }>(
      sql`SELECT definition->'name' AS name, version FROM config_items WHERE section = 'types'`,
    );
    assert.ok(['One', 'Two'].includes(row?.name['en-US'] ?? ''));
    assert.equal(row?.version, 1 + results.filter((result) => changed(result).length > 0).length);
    await fixture.apply(file(BASE));
  });

  it('creates items once when two processes apply to an empty database', async () => {
    const other = await startBundleFixture();
    try {
      const results = await Promise.all([other.apply(file(BASE)), other.apply(file(BASE))]);
      assert.deepEqual(
        results.map((result) => changed(result).length).sort((a, b) => a - b),
        [0, 10],
      );
      assert.deepEqual(new Set(results[0]?.map(({ id }) => id)), new Set(results[1]?.map(({ id }) => id)));
    } finally {
      await other.close();
    }
  });

  it('requires config.manage, and role.assign if assignments change', async () => {
    const harmless = file('settings: { defaultLocale: ru-RU }');
    await assert.rejects(fixture.applyAs([], harmless), /config.manage/);
    await fixture.applyAs(['config.manage'], harmless);
    await assert.rejects(
      fixture.applyAs(['config.manage'], file('roles: [ { code: boss, rights: [audit.read] } ]')),
      /role.assign/,
    );
    const people = ['config.manage', 'user.administer'];
    const desk = file('groups: [ { code: desk, users: [ivanov] } ]');
    await assert.rejects(fixture.applyAs(['config.manage'], desk), /user.administer/);
    await assert.rejects(fixture.applyAs(people, desk), /role.assign/);
    // A member of a nested group also holds the roles of the outer group.
    await assert.rejects(fixture.applyAs(people, file('groups: [ { code: night, users: [ivanov] } ]')), /role.assign/);
    await fixture.applyAs(people, file('groups: [ { code: free, users: [ivanov] } ]'));
    const hook = (login: string) =>
      file(
        `signingSecrets: [ main ]\nwebhooks: [ { code: h, endpoint: 'https://hooks.example.org/x', secretRef: main, executionPrincipal: ${login}, eventTypes: [ObjectCreated], enabled: false } ]`,
      );
    const [ivanov] = await fixture.db.query<{ id: string }>(sql`SELECT id FROM users WHERE login = 'ivanov'`);
    const hooks = ['config.manage', 'webhook.manage'];
    await assert.rejects(fixture.applyAs(['config.manage'], hook('ivanov'), ivanov?.id), /webhook.manage/);
    await assert.rejects(fixture.applyAs(hooks, hook('petrova'), ivanov?.id), /role.assign/);
    await fixture.applyAs(hooks, hook('ivanov'), ivanov?.id);
  });
});

describe('the starter bundle', () => {
  it('applies, plans and exports without drift', async () => {
    const fixture = await startBundleFixture();
    try {
      const folder = path.join(ROOT, 'config/itsm');
      const files = readdirSync(folder).map((name) => ({ name, text: readFileSync(path.join(folder, name), 'utf8') }));
      const applied = await fixture.apply(files);
      const codes = applied.map(({ section, code }) => `${section}/${code}`);
      for (const code of ['incident', 'problem', 'request', 'asset', 'category', 'location', 'asset-model'])
        assert.ok(codes.includes(`types/${code}`), code);
      for (const code of ['administrator', 'agent', 'requester']) assert.ok(codes.includes(`roles/${code}`), code);
      assert.deepEqual(
        codes.filter((code) => code.startsWith('users/')),
        ['users/admin', 'users/desk-robot'],
      );
      assert.deepEqual(changed(await fixture.apply(files)), []);
      assert.deepEqual(
        changed(await fixture.plan(await fixture.export(true), { prune: true, pruneIdentity: true })),
        [],
      );
    } finally {
      await fixture.close();
    }
  });
});
