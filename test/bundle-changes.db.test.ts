/**
 * The effect of a changed bundle on existing items: pruning, users, versions of types, reused codes
 * (docs/spec/configuration.md#bundle).
 */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import sql from 'sql-template-tag';
import type { Fault } from '../src/lib/fault.ts';
import { type BundleFixture, changed, file, startBundleFixture } from './support/bundle-fixture.ts';

/** A bundle of one type with a title and these fields. */
const type = (fields: string, rest = ''): string =>
  `types: [ { code: a, ${rest} fields: [ { code: title, dataType: string }, ${fields} ] } ]\n`;

async function versions(fixture: BundleFixture): Promise<string[]> {
  const rows = await fixture.db.query<{ version: number; codes: string[] }>(sql`
    SELECT v.version, (SELECT jsonb_agg(f->>'code' ORDER BY o) FROM jsonb_array_elements(v.compiled->'fields') WITH ORDINALITY AS x (f, o)) AS codes
    FROM type_versions v JOIN config_items c ON c.id = v.type_id WHERE c.code = 'a' ORDER BY v.version`);
  return rows.map(({ version, codes }) => `${version} ${codes.join()}`);
}

async function insertRecord(fixture: BundleFixture, version: number, values: object, state?: string): Promise<void> {
  await fixture.db.query(sql`
    INSERT INTO objects (id, type_id, type_version, revision, "values", folded, created_at, updated_at, workflow_state_id)
    SELECT gen_random_uuid(), id, ${version}::int, 1, ${JSON.stringify(values)}::jsonb, '{}', now(), now(), ${state ?? null}::uuid
    FROM config_items WHERE section = 'types' AND code = 'a'`);
}

describe('a changed type', () => {
  let fixture: BundleFixture;
  before(async () => {
    fixture = await startBundleFixture();
    await fixture.apply(file(type('{ code: cost, dataType: decimal }')));
  });
  after(() => fixture.close());

  it('keeps its version while existing records remain valid', async () => {
    const wider = file(type('{ code: cost, dataType: decimal }, { code: note, dataType: text }'));
    const [planned] = await fixture.plan(wider);
    assert.deepEqual(planned?.version, { from: 1, to: 1, compatible: true, reasons: [], notes: [] });
    await fixture.apply(wider);
    assert.deepEqual(await versions(fixture), ['1 title,cost,note']);
  });

  it('gets a new version when they do not, and reports why', async () => {
    const without = file(type('{ code: note, dataType: text }'));
    const [planned] = await fixture.plan(without);
    assert.equal(planned?.action, 'change');
    const message = 'cost: the field is gone';
    const notes = [{ reason: 'FIELD_REMOVED', params: { field: 'cost' }, message }];
    assert.deepEqual(planned?.version, { from: 1, to: 2, compatible: false, reasons: [message], notes });
    await fixture.apply(without, { discard: ['types.a.cost'] });
    assert.deepEqual(await versions(fixture), ['1 title,cost,note', '2 title,note']);
    assert.deepEqual(changed(await fixture.apply(without)), []);
  });

  it('may not reuse a code with another data type while records hold the old one', async () => {
    await insertRecord(fixture, 1, { title: 'x', cost: '12.5' });
    const other = file(type('{ code: note, dataType: text }, { code: cost, dataType: string }'));
    const problems = await fixture.refused(other);
    assert.deepEqual(
      problems.map(({ path, code }) => `${path} ${code}`),
      ['types[0].fields[2].code CODE_IN_USE'],
    );
    assert.match(problems[0]?.message ?? '', /migrate-type a/);
    await assert.rejects(fixture.plan(other), /Nothing was changed/);
    // Either the record was migrated, or the code is reused unchanged.
    await fixture.db.query(sql`UPDATE objects SET type_version = 2, "values" = "values" - 'cost'`);
    assert.deepEqual(changed(await fixture.plan(other)), ['types/a change']);
  });

  it('does not grant old rights on a reused code', async () => {
    const role = (fields: string): string =>
      `roles: [ { code: r, records: [ { type: a, actions: [read], fields: { read: [${fields}] } } ] } ]\n`;
    // An older version has it, so a role may go on naming it.
    await fixture.apply(file(role('title, cost')));
    const back = type('{ code: note, dataType: text }, { code: cost, dataType: decimal }');
    for (const text of [back, back + role('title, cost')]) {
      const problems = await fixture.refused(file(text));
      assert.deepEqual(
        problems.map(({ code }) => code),
        ['RIGHTS_REMAIN'],
      );
      assert.match(problems[0]?.message ?? '', /roles r /);
    }
    await fixture.apply(file(role('title')));
    await fixture.apply(file(back + role('title')));
    await fixture.apply(file(role('title, cost')));
    assert.deepEqual(await versions(fixture), ['1 title,cost,note', '2 title,note,cost']);
  });

  it('makes a changed workflow a new version and keeps states that records are in', async () => {
    const flow = (states: string): string =>
      `workflows: [ { code: w, initial: x, states: [ { code: x, category: open }${states} ], transitions: [ ${states === '' ? '' : '{ code: t, from: [x], to: y }'} ] } ]\n`;
    const withFlow = type('{ code: note, dataType: text }, { code: cost, dataType: decimal }', 'workflow: w,');
    const items = await fixture.apply(file(withFlow + flow(', { code: y, category: done }')));
    assert.deepEqual(items.find(({ section }) => section === 'types')?.version?.reasons, ['the workflow changed']);
    const [state] = await fixture.db.query<{ id: string }>(
      sql`SELECT id FROM config_ids WHERE scope = 'workflows/w/states' AND code = 'y'`,
    );
    await insertRecord(fixture, 3, {}, state?.id);
    await assert.rejects(fixture.apply(file(flow('')), { discard: ['workflows.w.y'] }), (error: Fault) => {
      assert.equal(error.code, 'STATE_IN_USE');
      assert.deepEqual(
        (error.details as unknown as { path: string; records: number }[]).map(({ path, records }) => ({
          path,
          records,
        })),
        [{ path: 'workflows.w.y', records: 1 }],
      );
      return true;
    });
    assert.deepEqual((await fixture.plan(file(flow(''))))[0]?.lost, [
      { path: 'workflows.w.y', kind: 'state', records: 1 },
    ]);
    await fixture.db.query(sql`DELETE FROM objects`);
    // Also without a record in the state.
    await assert.rejects(fixture.apply(file(flow(''))), { code: 'VALUES_WOULD_BE_LOST' });
    await fixture.apply(file(flow('')), { discard: ['workflows.w.y'] });
    // A code keeps its id, even after it was removed.
    await fixture.apply(file(flow(', { code: y, category: done }')));
    const [again] = await fixture.db.query<{ id: string }>(sql`
      SELECT compiled->'states'->1->>'id' AS id FROM config_items WHERE section = 'workflows'`);
    assert.equal(again?.id, state?.id);
  });
});

const PEOPLE = `
users: [ { login: anna, displayName: Anna, email: a@example.org, employeeId: '1', orgUnit: hq }, { login: boris } ]
groups: [ { code: desk, name: Desk, users: [anna, boris] }, { code: night } ]
orgUnits: [ { code: hq, manager: anna }, { code: it, parent: hq } ]
roles: [ { code: r, rights: [kb.read], assignedTo: { users: [anna, boris], groups: [desk] } }, { code: s } ]
services: [ { code: mail }, { code: vpn } ]
`;

describe('what a bundle omits', () => {
  let fixture: BundleFixture;
  before(async () => {
    fixture = await startBundleFixture();
    await fixture.apply(file(PEOPLE));
  });
  after(() => fixture.close());

  it('remains unchanged', async () => {
    assert.deepEqual(changed(await fixture.apply(file('services: [ { code: mail } ]'))), []);
  });

  it('remains unchanged for properties of a user; null removes them', async () => {
    const items = await fixture.apply(file('users: [ { login: anna, displayName: Anna P., employeeId: null } ]'));
    assert.deepEqual(changed(items), ['users/anna change']);
    const [anna] = await fixture.db.query<Record<string, unknown>>(sql`
      SELECT display_name, email, employee_id, (SELECT count(*) FROM org_members m WHERE m.user_id = u.id) AS units FROM users u WHERE login = 'anna'`);
    assert.deepEqual(anna, { display_name: 'Anna P.', email: 'a@example.org', employee_id: null, units: 1 });
  });

  it('remains unchanged for members and role holders, since a bundle adds', async () => {
    await fixture.apply(
      file(
        'groups: [ { code: desk, users: [boris] } ]\nroles: [ { code: r, rights: [kb.read], assignedTo: { groups: [night] } } ]',
      ),
    );
    const [row] = await fixture.db.query<{ members: number; holders: number }>(
      sql`SELECT (SELECT count(*) FROM group_members) AS members, (SELECT count(*) FROM role_assignments) AS holders`,
    );
    assert.deepEqual(row, { members: 2, holders: 4 });
  });

  it('moves a user from one unit to another and never keeps them in two', async () => {
    await fixture.apply(file('users: [ { login: anna, orgUnit: it } ]'));
    const rows = await fixture.db.query<{ code: string }>(sql`
      SELECT o.code FROM org_members m JOIN org_units o ON o.id = m.organization_unit_id JOIN users u ON u.id = m.user_id WHERE u.login = 'anna'`);
    assert.deepEqual(rows, [{ code: 'it' }]);
  });

  it('is archived by prune, except users, memberships and assignments', async () => {
    const kept = `roles: [ { code: r, rights: [kb.read] } ]\nservices: [ { code: mail } ]`;
    const items = await fixture.apply(file(kept), { prune: true });
    assert.deepEqual(changed(items), ['roles/s archive', 'services/vpn archive']);
    assert.deepEqual(changed(await fixture.apply(file(kept), { prune: true })), []);
    const [row] = await fixture.db.query<{ people: number; holders: number }>(
      sql`SELECT (SELECT count(*) FROM users WHERE state = 'ACTIVE') AS people, (SELECT count(*) FROM role_assignments) AS holders`,
    );
    assert.deepEqual(row, { people: 2, holders: 4 });
    const problems = await fixture.refused(
      file(
        'slaPolicies: []\ncatalogs: [ { code: c, categories: [ { code: x } ], items: [ { code: i, category: x, type: t, service: vpn } ] } ]\ntypes: [ { code: t } ]',
      ),
    );
    assert.match(problems[0]?.message ?? '', /is archived. Add it to the bundle to restore it/);
  });

  it('is restored with its id when it is named again', async () => {
    const [before] = await fixture.db.query<{ id: string }>(sql`SELECT id FROM config_items WHERE code = 'vpn'`);
    const items = await fixture.apply(file('services: [ { code: vpn } ]'));
    assert.deepEqual(changed(items), ['services/vpn restore']);
    assert.equal(items[0]?.id, before?.id);
  });

  it('removes users only on request', async () => {
    const kept = `
users: [ { login: anna } ]
groups: [ { code: desk, users: [anna] } ]
roles: [ { code: r, rights: [kb.read], assignedTo: { users: [anna] } } ]
services: [ { code: mail }, { code: vpn } ]
`;
    const items = await fixture.apply(file(kept), { prune: true, pruneIdentity: true });
    assert.deepEqual(
      changed(items).sort(),
      [
        'groups/desk change',
        'groups/night archive',
        'orgUnits/hq archive',
        'orgUnits/it archive',
        'roles/r change',
        'users/anna change',
        'users/boris archive',
      ].sort(),
    );
    const [row] = await fixture.db.query<Record<string, unknown>>(sql`
      SELECT (SELECT jsonb_agg(login) FROM users WHERE state = 'ACTIVE') AS people, (SELECT count(*) FROM group_members) AS members,
        (SELECT count(*) FROM role_assignments) AS holders, (SELECT count(*) FROM org_members) AS units`);
    assert.deepEqual(row, { people: ['anna'], members: 1, holders: 1, units: 0 });
    assert.deepEqual(changed(await fixture.apply(file(kept), { prune: true, pruneIdentity: true })), []);
  });

  it('does not restore users by itself', async () => {
    const items = await fixture.apply(file('users: [ { login: boris } ]'));
    assert.deepEqual(
      items.map(({ action, note }) => [action, note]),
      [['leave', 'archived by a call or an import and remains archived']],
    );
    const restored = await fixture.apply(file(PEOPLE), { prune: true, pruneIdentity: true });
    assert.ok(changed(restored).includes('users/boris restore'));
  });
});
