/**
 * Random groups, units, roles and audiences: a membership that is written without the lock (ADR 0024) would pass the full check,
 * no matter who gives it, also after all others that need no lock.
 */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import sql from 'sql-template-tag';
import { startTestApp, type TestApp } from '../../../test/support/app.ts';
import { RandomSource } from '../../../test/proofs/fuzz/random-source.ts';
import { bundle, RIGHTS, stored, user } from '../../../test/support/small-configuration.ts';
import type { Fault } from '../../lib/fault.ts';
import type { Caller, WriteContext } from '../../platform/unit-of-work/context.ts';
import { actorFor } from '../access/actor.ts';
import { loadUser } from '../access/store.ts';
import { join, place } from './changes.ts';
import { grantsNothing } from './escalation-rules.ts';
import { findMembershipFacts, findPlaceFacts } from './store-plain.ts';

const ROUNDS = 25;
const CHECKS = 24;
const PEOPLE = ['p0', 'p1', 'p2', 'p3'];
const CALLERS = ['clerk', 'other-clerk'];
const GROUPS = ['g0', 'g1', 'g2', 'g3', 'g4', 'g5'];
const UNITS = ['u0', 'u1', 'u2', 'u3', 'u4'];
const ROLES = ['auditor', 'by-group', 'by-unit', 'by-units', 'retired'];

const reads = (field: string, operator: string, value: string): string =>
  `records: [ { type: case, where: { field: ${field}, operator: ${operator}, value: ${value} }, actions: [read], fields: { read: '*' } } ]`;

/** Audiences name g0 and u0 (a service) and g1 and u1 (an article). */
const WORLD = `
settings: { defaultLocale: en-US }
types:
  - code: case
    title: title
    fields: [ { code: title, dataType: string }, { code: team, dataType: group }, { code: place, dataType: org-unit } ]
roles:
  - { code: administrator, rights: [${RIGHTS}], assignedTo: { users: [admin] } }
  - { code: clerk, rights: [user.administer], assignedTo: { users: [clerk, other-clerk] } }
  - { code: auditor, rights: [audit.read] }
  - { code: by-group, ${reads('team', 'in', '$myGroups')} }
  - { code: by-unit, ${reads('place', 'equals', '$myOrgUnit')} }
  - { code: by-units, ${reads('place', 'in', '$myOrgUnits')} }
  - { code: retired, rights: [audit.read] }
groups: [ ${GROUPS.map((code) => `{ code: ${code} }`).join(', ')} ]
orgUnits: [ ${UNITS.map((code) => `{ code: ${code} }`).join(', ')} ]
users:
${['admin', ...CALLERS, ...PEOPLE].map(user).join('')}
services: [ { code: mail, audience: { groups: [g0], orgUnits: [u0] } } ]
knowledgeBases: [ { code: it, visibility: internal, locales: [en-US], sections: [ { code: all } ] } ]
`;

type Change = { member: string; group: string } | { member: string; unit: string };

let app: TestApp;
const ids = new Map<string, string>();
const id = (code: string): string => ids.get(code) ?? assert.fail(code);

async function publish(key: string, adminKey: string): Promise<void> {
  const article = { code: 'a', baseId: 'it', sectionId: 'all', visibility: 'internal', locale: 'en-US' };
  const post = async (path: string, body: unknown) => await app.request('POST', `/api/v1${path}`, { key, body });
  const { versionId } = (await post('/kb/articles', { ...article, title: 'A', body: 'Text' })).body.data;
  const audiences = [
    { kind: 'group', id: id('g1') },
    { kind: 'orgUnit', id: id('u1') },
  ];
  await app.request('PUT', `/api/admin/v1/kb/article-versions/${versionId}/audiences`, {
    key: adminKey,
    body: { audiences },
  });
  assert.equal((await post('/kb/articles/publish', { versionId })).status, 200);
}

/** Puts random memberships, roles, parents and states into the tables. */
async function shuffle(random: RandomSource): Promise<void> {
  const some = <T>(list: readonly T[], share: number): T[] => list.filter(() => random.next() < share);
  const everybody = [...PEOPLE, ...CALLERS];
  const members: [string, 'user' | 'group', string][] = [];
  // A group contains only later ones, so there is no cycle.
  const order = GROUPS.toSorted(() => random.next() - 0.5);
  for (const group of GROUPS) {
    for (const person of some(everybody, 0.15)) members.push([group, 'user', person]);
    for (const inner of some(order.slice(order.indexOf(group) + 1), 0.2)) members.push([group, 'group', inner]);
  }
  const assigned: [string, 'user' | 'group', string][] = [];
  for (const role of ROLES) {
    for (const group of some(GROUPS, 0.12)) assigned.push([role, 'group', group]);
    for (const person of some(everybody, 0.15)) assigned.push([role, 'user', person]);
  }
  await stored(app, 'DELETE FROM group_members');
  await stored(app, 'DELETE FROM org_members');
  await stored(app, `DELETE FROM role_assignments WHERE role_id = ANY ($1)`, [ROLES.map(id)]);
  for (const [group, type, member] of members) {
    await stored(
      app,
      `INSERT INTO group_members (id, group_id, member_type, member_id, created_at)
        VALUES (gen_random_uuid(), $1, $2, $3, now()) ON CONFLICT DO NOTHING`,
      [id(group), type, id(member)],
    );
  }
  for (const [role, type, member] of assigned) {
    await stored(app, 'INSERT INTO role_assignments VALUES ($1, $2, $3)', [id(role), type, id(member)]);
  }
  for (const group of GROUPS) {
    await stored(app, 'UPDATE groups SET state = $2 WHERE id = $1', [
      id(group),
      random.next() < 0.15 ? 'ARCHIVED' : 'ACTIVE',
    ]);
  }
  for (const [at, unit] of UNITS.entries()) {
    const parent = at > 0 && random.next() < 0.7 ? id(random.pick(UNITS.slice(0, at))) : null;
    await stored(app, 'UPDATE org_units SET parent_id = $2, state = $3 WHERE id = $1', [
      id(unit),
      parent,
      random.next() < 0.15 ? 'ARCHIVED' : 'ACTIVE',
    ]);
  }
  for (const person of some(everybody, 0.5)) await put(person, random.pick(UNITS));
  await stored(app, 'UPDATE cache_versions SET rights = rights + 1');
}

async function put(person: string, unit: string): Promise<void> {
  await stored(
    app,
    `INSERT INTO org_members (id, organization_unit_id, user_id, created_at) VALUES (gen_random_uuid(), $1, $2, now())
      ON CONFLICT (user_id) DO UPDATE SET organization_unit_id = excluded.organization_unit_id`,
    [id(unit), id(person)],
  );
}

async function callerOf(login: string): Promise<Caller> {
  const system = app.app.system();
  const row = (await loadUser(app.db, id(login))) ?? assert.fail(login);
  return { ...system, actor: actorFor(row, system.config) };
}

/** Whether the change needs no lock; undefined if it changes nothing or is refused for a state. */
async function isFree(caller: Caller, change: Change): Promise<boolean | undefined> {
  return await app.app.work.read(caller, async (ctx) => {
    if ('group' in change) {
      const facts = await findMembershipFacts(ctx, id(change.group), id(change.member));
      if (facts.standing !== null || facts.group !== 'ACTIVE') return undefined;
      return !facts.givesRole && grantsNothing(ctx.config, facts, ['$myGroups']);
    }
    const facts = await findPlaceFacts(ctx, id(change.unit), id(change.member));
    if (facts.standing?.organizationUnitId === id(change.unit) || facts.unit !== 'ACTIVE') return undefined;
    return grantsNothing(ctx.config, facts, ['$myOrgUnit', '$myOrgUnits']);
  });
}

/** What the full check says. */
async function fullCheck(caller: Caller, change: Change): Promise<string> {
  const write = async (ctx: WriteContext): Promise<object> => {
    const userId = id(change.member);
    if ('group' in change) join(ctx, { groupId: id(change.group), memberId: userId, memberType: 'user' });
    else {
      const [row] = await ctx.query<{ unit: string }>(
        sql`SELECT organization_unit_id AS unit FROM org_members WHERE user_id = ${userId}::uuid`,
      );
      place(ctx, { userId, from: row?.unit ?? null, to: id(change.unit) });
    }
    return {};
  };
  return await app.app.work.dryRun(async (units) => {
    try {
      await units.write(caller, write);
      return 'passes';
    } catch (error) {
      return (error as Fault).code;
    }
  });
}

describe('memberships without the lock', () => {
  before(async () => {
    app = await startTestApp({ bundle: bundle(WORLD) });
    for (const text of [
      'SELECT login AS code, id FROM users',
      'SELECT code, id FROM groups',
      'SELECT code, id FROM org_units',
      `SELECT code, id FROM config_items WHERE section = 'roles' AND code <> 'clerk'`,
    ]) {
      for (const row of await stored<{ code: string; id: string }>(app, text)) ids.set(row.code, row.id);
    }
    const [plain, admin] = await Promise.all(
      (['all', ['admin:manage']] as const).map((scopes) => app.createKey({ login: 'admin', scopes: scopes as 'all' })),
    );
    await publish(plain?.key ?? '', admin?.key ?? '');
  });
  after(() => app.close());

  it('pass the full check for every caller, also after all others without the lock', async () => {
    const seed = Number(process.env['SEED'] ?? Date.now() % 1_000_000);
    const random = new RandomSource(seed);
    const seen = { free: 0, refused: 0, checked: 0 };
    for (let round = 0; round < ROUNDS; round++) {
      await shuffle(random);
      await app.app.versions.refresh();
      const callers = await Promise.all(CALLERS.map(callerOf));
      const all: Change[] = PEOPLE.flatMap((member) => [
        ...GROUPS.map((group) => ({ member, group })),
        ...UNITS.map((unit) => ({ member, unit })),
      ]);
      const free: Change[] = [];
      for (const change of all) {
        const found = await Promise.all(callers.map((caller) => isFree(caller, change)));
        assert.equal(new Set(found).size, 1, 'the answer depends on no caller');
        if (found[0] === undefined) continue;
        if (found[0]) free.push(change);
        if (random.next() > CHECKS / all.length) continue;
        for (const caller of callers) {
          const says = await fullCheck(caller, change);
          assert.ok(!found[0] || says === 'passes', `seed ${seed}, round ${round}: ${JSON.stringify(change)} ${says}`);
          seen[found[0] ? 'free' : says === 'passes' ? 'checked' : 'refused']++;
        }
      }
      // All at once, each user in one unit.
      for (const change of free) {
        if ('unit' in change) await put(change.member, change.unit);
        else {
          await stored(
            app,
            `INSERT INTO group_members (id, group_id, member_type, member_id, created_at)
              VALUES (gen_random_uuid(), $1, 'user', $2, now())`,
            [id(change.group), id(change.member)],
          );
        }
      }
      for (const change of free.filter(() => random.next() < 0.3)) {
        if ('unit' in change) await stored(app, 'DELETE FROM org_members WHERE user_id = $1', [id(change.member)]);
        else {
          const [member, group] = [id(change.member), id(change.group)];
          await stored(app, 'DELETE FROM group_members WHERE member_id = $1 AND group_id = $2', [member, group]);
        }
        for (const caller of callers) {
          const says = await fullCheck(caller, change);
          assert.equal(says, 'passes', `seed ${seed}, round ${round}, after all others: ${JSON.stringify(change)}`);
        }
        if ('unit' in change) await put(change.member, change.unit);
      }
    }
    for (const [what, count] of Object.entries(seen)) assert.ok(count > 20, `${what}: ${JSON.stringify(seen)}`);
  });
});
