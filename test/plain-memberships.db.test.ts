/**
 * Memberships that need no lock (ADR 0024), against concurrent changes that would make them harmful: each pair ends as one of the
 * two orders. Their effects in all processes.
 */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { startTestApp, type TestAnswer, type TestApp } from './support/app.ts';
import { duringTransaction } from './support/database.ts';
import { type EscalationFixture, type FixtureUser, startEscalationFixture } from './support/escalation-fixture.ts';
import { countOutcomes } from './support/record-fixture.ts';

const RUNS = 16;
/** As in two-processes.db.test.ts: the version row is read every 300 ms; the rest is for a busy machine. */
const FRESH_MS = 30_000;

let fixture: EscalationFixture;
let other: TestApp;

interface Named {
  id: string;
  code: string;
}

const group = async (): Promise<Named> => {
  const code = `g-${randomUUID()}`;
  return { id: (await fixture.ok('admin', 'POST', '/identity/groups', { code, name: 'G' })).id, code };
};
const unit = async (): Promise<string> => (await fixture.ok('admin', 'POST', '/identity/org-units', { name: 'U' })).id;
const join = (who: FixtureUser, groupId: string, memberId: string, memberType = 'user'): Promise<TestAnswer> =>
  fixture.call(who, 'POST', '/identity/group-memberships', { groupId, memberId, memberType });
const put = (who: FixtureUser, organizationUnitId: string, userId: string): Promise<TestAnswer> =>
  fixture.call(who, 'POST', '/identity/org-memberships', { organizationUnitId, userId });
const apply = (text: string): Promise<TestAnswer> =>
  fixture.call('admin', 'POST', '!/config/apply', { files: [{ name: 'x.yaml', text }] });
const nameOf = ({ status, body }: TestAnswer): string => (status < 300 ? 'ok' : `${status} ${body.error.code}`);

/** A membership and a change that concern each other, on items of their own. */
type Pair = () => Promise<[() => Promise<TestAnswer>, () => Promise<TestAnswer>]>;

const CASE = (condition: string): string =>
  `records: [ { type: case, where: ${condition}, actions: [read], fields: { read: '*' } } ]`;
const BY_GROUP = CASE('{ field: team, operator: in, value: $myGroups }');
const BY_UNIT = CASE('{ field: place, operator: equals, value: $myOrgUnit }');
const BY_TITLE = CASE('{ field: title, operator: equals, value: x }');

/** A group with a role that has the records. */
async function withRole(records: string): Promise<Named> {
  const made = await group();
  const answer = await apply(`roles: [ { code: r-${made.code}, ${records}, assignedTo: { groups: [${made.code}] } } ]`);
  assert.equal(nameOf(answer), 'ok', JSON.stringify(answer.body));
  return made;
}

const shared = new Map<string, Promise<Named>>();

/** The same for all that ask for these records. */
function sharedRole(records: string): Promise<Named> {
  const found = shared.get(records) ?? withRole(records);
  shared.set(records, found);
  return found;
}

async function article(): Promise<string> {
  const body = { code: `a-${randomUUID()}`, baseId: 'it', sectionId: 'all', visibility: 'internal', locale: 'en-US' };
  const { versionId } = await fixture.ok('admin', 'POST', '/kb/articles', { ...body, title: 'A', body: 'Text' });
  return versionId;
}

const PAIRS: Readonly<Record<string, Pair>> = {
  'a role is assigned to the group': async () => {
    const [{ id, code }, person] = [await group(), await fixture.user()];
    const role = `roles: [ { code: r-${code}, rights: [audit.read], assignedTo: { groups: [${code}] } } ]`;
    return [() => join('clerk', id, person), () => apply(role)];
  },
  'the group becomes a member of a group with a role': async () => {
    const [{ id }, person, auditors] = [await group(), await fixture.user(), await fixture.id('auditors')];
    return [() => join('clerk', id, person), () => join('admin', auditors, id, 'group')];
  },
  'a group with a role is restored around the group': async () => {
    const [{ id }, around, person] = [await group(), await withRole('rights: [audit.read]'), await fixture.user()];
    await fixture.ok('admin', 'POST', '/identity/group-memberships', {
      groupId: around.id,
      memberId: id,
      memberType: 'group',
    });
    await fixture.ok('admin', 'POST', `!/identity/groups/${around.id}/archive`);
    return [
      () => join('clerk', id, person),
      () => fixture.call('admin', 'POST', `!/identity/groups/${around.id}/restore`),
    ];
  },
  'another membership of the user gives a role with $myGroups': async () => {
    const [{ id }, giving, person] = [await group(), await sharedRole(BY_GROUP), await fixture.user()];
    return [() => join('clerk', id, person), () => join('admin', giving.id, person)];
  },
  'a role of the user gets a condition with $myGroups': async () => {
    const [{ id }, giving, person] = [await group(), await withRole(BY_TITLE), await fixture.user()];
    await fixture.ok('admin', 'POST', '/identity/group-memberships', { groupId: giving.id, memberId: person });
    return [() => join('clerk', id, person), () => apply(`roles: [ { code: r-${giving.code}, ${BY_GROUP} } ]`)];
  },
  'an audience of a service names the group': async () => {
    const [{ id, code }, person] = [await group(), await fixture.user()];
    const service = `services: [ { code: s-${code}, audience: { groups: [${code}] } } ]`;
    return [() => join('clerk', id, person), () => apply(service)];
  },
  'an article is published for the group': async () => {
    const [{ id }, person, versionId] = [await group(), await fixture.user(), await article()];
    const audiences = [{ kind: 'group', id }];
    await fixture.ok('admin', 'PUT', `!/kb/article-versions/${versionId}/audiences`, { audiences });
    return [
      () => join('clerk', id, person),
      () => fixture.call('admin', 'POST', '/kb/articles/publish', { versionId }),
    ];
  },
  'the group is archived': async () => {
    const [{ id }, person] = [await group(), await fixture.user()];
    return [() => join('clerk', id, person), () => fixture.call('admin', 'POST', `!/identity/groups/${id}/archive`)];
  },
  'the user is archived': async () => {
    const [{ id }, person] = [await group(), await fixture.user()];
    return [() => join('clerk', id, person), () => fixture.call('admin', 'POST', `!/identity/users/${person}/archive`)];
  },
  'somebody changes the e-mail address of the user, who gets records of another group': async () => {
    const [{ id }, giving, person] = [await group(), await sharedRole(BY_GROUP), await fixture.user()];
    for (const memberId of [person, await fixture.id('member')]) {
      await fixture.ok('admin', 'POST', '/identity/group-memberships', { groupId: giving.id, memberId });
    }
    const change = { expectedRevision: 1, email: `${randomUUID()}@example.org` };
    return [
      () => join('admin', id, person),
      () => fixture.call('member', 'PATCH', `!/identity/users/${person}`, change),
    ];
  },
  'a role of a new member of the unit has $myOrgUnit': async () => {
    const [place, giving, person] = [await unit(), await sharedRole(BY_UNIT), await fixture.user()];
    return [() => put('clerk', place, person), () => join('admin', giving.id, person)];
  },
  'the unit moves below one that an audience names': async () => {
    const [place, above, person] = [await unit(), await fixture.id('apart'), await fixture.user()];
    const move = { expectedRevision: 1, parentId: above };
    return [
      () => put('clerk', place, person),
      () => fixture.call('admin', 'PATCH', `!/identity/org-units/${place}`, move),
    ];
  },
};

describe('memberships without the lock', () => {
  before(async () => {
    fixture = await startEscalationFixture();
    other = await startTestApp({ on: fixture.app });
    const base =
      'knowledgeBases: [ { code: it, visibility: internal, locales: [en-US], sections: [ { code: all } ] } ]';
    assert.equal(nameOf(await apply(base)), 'ok');
  });
  after(async () => {
    await other.close();
    await fixture.close();
  });

  for (const [what, make] of Object.entries(PAIRS)) {
    it(`end as one of both orders: ${what}`, async () => {
      const orders: string[] = [];
      for (const isFirst of [true, false]) {
        const pair = await make();
        const answers = [];
        for (const send of isFirst ? pair : pair.toReversed()) answers.push(nameOf(await send()));
        orders.push((isFirst ? answers : answers.reverse()).join(', '));
      }
      assert.notEqual(orders[0], orders[1], 'the order matters');
      for (let run = 0; run < RUNS; run++) {
        const [join, change] = await make();
        const late = async (send: () => Promise<TestAnswer>, ms: number): Promise<TestAnswer> => {
          if (ms > 0) await sleep(ms);
          return await send();
        };
        // From the membership first to the change first.
        const lead = (run % 8) * 2 - 8;
        const answers = await Promise.all([late(join, lead), late(change, -lead)]);
        const ended = answers.map(nameOf).join(', ');
        assert.ok(orders.includes(ended), `${ended} is none of ${orders.join(' | ')}`);
      }
    });
  }

  it('are checked again if something else changed after the check', async () => {
    const [{ id }, person] = [await group(), await fixture.user()];
    const { role } =
      (await fixture.rows<{ role: string }>(`SELECT id AS role FROM config_items WHERE code = 'audited'`))[0] ??
      assert.fail();
    const answer = await duringTransaction(fixture.app.db, async (client) => {
      // A change that is no plain membership raises only `rights`.
      await client.query('UPDATE cache_versions SET rights = rights + 1');
      await client.query(`INSERT INTO role_assignments VALUES ($1, 'group', $2)`, [role, id]);
      const sent = join('clerk', id, person);
      await lockAwaited();
      await client.query('COMMIT');
      return await sent;
    });
    assert.equal(nameOf(answer), '403 ROLE_ESCALATION');
    assert.deepEqual(await fixture.rows('SELECT 1 FROM group_members WHERE group_id = $1', [id]), []);
  });

  it('of the caller, taken while the full check waits, count in it', async () => {
    const [secret, member, reader] = await Promise.all(['secret', 'member', 'by-group'].map(fixture.id));
    const [standing] = await fixture.rows<{ id: string }>(
      'SELECT id FROM group_members WHERE group_id = $1 AND member_id = $2',
      [secret, member],
    );
    const answer = await duringTransaction(fixture.app.db, async (client) => {
      // As the statement of a removal without the lock.
      await client.query('DELETE FROM group_members WHERE id = $1', [standing?.id]);
      await client.query('UPDATE cache_versions SET rights = rights + 1, memberships = memberships + 1');
      const sent = join('member', secret ?? '', reader ?? '');
      await lockAwaited();
      await client.query('COMMIT');
      return await sent;
    });
    assert.equal(nameOf(answer), '403 ROLE_ESCALATION');
    assert.equal(nameOf(await join('admin', secret ?? '', member ?? '')), 'ok');
    assert.equal(nameOf(await join('member', secret ?? '', reader ?? '')), 'ok', 'a member may');
  });

  it('are written in groups, one version for each, and once each', async () => {
    const [groups, person] = [await Promise.all(Array.from({ length: 40 }, group)), await fixture.user()];
    const people = await Promise.all(Array.from({ length: 8 }, () => fixture.user()));
    const versions = async () =>
      (
        await fixture.rows<{ plain: number; structure: number }>(
          'SELECT memberships::int AS plain, (rights - memberships)::int AS structure FROM cache_versions',
        )
      )[0] ?? assert.fail();
    const [from, { statements, units }] = [await versions(), { ...fixture.app.app.work.counts }];
    const answers = await Promise.all([
      ...groups.flatMap(({ id }, at) => [join('clerk', id, people[at % 8] ?? ''), join('admin', id, person)]),
      ...groups.map(({ id }) => join('clerk', id, person)),
    ]);
    assert.deepEqual(countOutcomes(answers), { 201: 120 });
    const to = await versions();
    assert.deepEqual([to.plain - from.plain, to.structure - from.structure], [80, 0]);
    const { counts } = fixture.app.app.work;
    assert.ok(counts.statements - statements < counts.units - units, 'some share a statement');
    const events = await fixture.rows<{ n: number }>(
      `SELECT count(*)::int AS n FROM journal WHERE type = 'GroupMemberAdded' AND subject = ANY ($1)`,
      [groups.map(({ id }) => `group:${id}`)],
    );
    assert.deepEqual(events, [{ n: 80 }]);
  });

  it('of one user and one group, given and taken by many, end as some order', async () => {
    const [{ id }, person] = [await group(), await fixture.user()];
    for (let run = 0; run < 10; run++) {
      const rows = () => fixture.rows<{ id: string }>('SELECT id FROM group_members WHERE group_id = $1', [id]);
      const [standing] = await rows();
      const answers = await Promise.all([
        ...Array.from({ length: 6 }, () => join('clerk', id, person)),
        ...Array.from({ length: 3 }, () =>
          fixture.call('clerk', 'DELETE', `!/identity/group-memberships/${standing?.id ?? randomUUID()}`),
        ),
      ]);
      const given = new Set(answers.slice(0, 6).map(({ status, body }) => (assert.equal(status, 201), body.data.id)));
      const taken = answers.slice(6).filter(({ status }) => status < 300).length;
      assert.equal(taken, standing === undefined ? 0 : 1, JSON.stringify(countOutcomes(answers)));
      const now = await rows();
      assert.ok(now.length <= 1);
      if (now[0] !== undefined) assert.ok(given.has(now[0].id) || now[0].id === standing?.id);
    }
  });

  it('drop the rights of their users only', async () => {
    const misses = async (): Promise<number> =>
      Number(/docket_rights_cache_total\{result="miss"\} (\d+)/.exec(await fixture.app.app.metrics())?.[1] ?? 'NaN');
    const [{ id }, people] = [await group(), await Promise.all(Array.from({ length: 30 }, () => fixture.user()))];
    // What earlier tests changed is dropped before.
    await fixture.app.app.versions.refresh();
    await join('clerk', id, people[0] ?? '');
    const from = await misses();
    for (const person of people.slice(1)) assert.equal((await join('clerk', id, person)).status, 201);
    assert.equal(await misses(), from, 'key and rights of the caller stay known');
    await group();
    const answer = await join('admin', await fixture.id('auditors'), people[0] ?? '');
    assert.equal(answer.status, 201);
    assert.equal((await join('clerk', id, people[0] ?? '')).status, 201);
    assert.ok((await misses()) > from, 'a membership with a role drops all');
  });

  it('give and take access in every process', async () => {
    const [{ id }, reader] = [await group(), await fixture.id('by-group')];
    const values = { title: 'Theirs', team: id };
    const record = await fixture.ok('admin', 'POST', '/objects', { typeDefinitionId: 'case', values });
    const { key } = await fixture.app.createKey({ login: 'by-group' });
    const sees = async (app: TestApp): Promise<number> =>
      (await app.request('GET', `/api/v1/objects/${record.id}`, { key })).status;
    const soon = async (status: number): Promise<void> => {
      assert.equal(await sees(fixture.app), status, 'the next request in the process');
      const began = performance.now();
      while ((await sees(other)) !== status) {
        assert.ok(performance.now() - began < FRESH_MS, 'in the other process');
        await sleep(20);
      }
    };
    await soon(404);
    for (let turn = 0; turn < 3; turn++) {
      const joined = await fixture.ok('admin', 'POST', '/identity/group-memberships', {
        groupId: id,
        memberId: reader,
      });
      await soon(200);
      await fixture.ok('admin', 'DELETE', `!/identity/group-memberships/${joined.id}`);
      await soon(404);
    }
    // More memberships than the row names: the other process drops everything.
    const many = await Promise.all(Array.from({ length: 80 }, group));
    const answers = await Promise.all([...many, { id, code: '' }].map((each) => join('admin', each.id, reader)));
    assert.deepEqual(countOutcomes(answers), { 201: 81 });
    await soon(200);
  });
});

/** Waits until a statement waits for a lock. */
async function lockAwaited(): Promise<void> {
  const began = performance.now();
  for (;;) {
    const rows = await fixture.rows(`SELECT 1 FROM pg_stat_activity WHERE datname = current_database()
      AND wait_event_type = 'Lock' AND query LIKE '%insert_group_members%'`);
    if (rows.length > 0) return;
    assert.ok(performance.now() - began < FRESH_MS, 'nothing waits');
    await sleep(5);
  }
}
