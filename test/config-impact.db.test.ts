/** The impact of a plan: counts equal what each user reads before and after the apply. */
import assert from 'node:assert/strict';
import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, describe, it } from 'node:test';
import fc from 'fast-check';
import { runCommand } from './support/commands.ts';
import { startTestApp, type TestApp } from './support/app.ts';
import { watchAnswers } from './support/response-check.ts';
import { bundle } from './support/small-configuration.ts';

const LOGINS = ['anna', 'boris', 'clara'] as const;

const WORLD = `
types:
  - code: ticket
    workflow: flow
    fields:
      - { code: title, dataType: string, required: true, constraints: { maxLength: 50 } }
      - { code: kind, dataType: enum, constraints: { options: [ { code: a }, { code: b }, { code: c } ] } }
      - { code: owner, dataType: user }
      - { code: team, dataType: group }
workflows:
  - code: flow
    initial: open
    states: [ { code: open, category: open }, { code: closed, category: done } ]
    transitions: [ { code: close, from: [open], to: closed } ]
  - { code: other, initial: fresh, states: [ { code: fresh, category: open } ] }
roles:
  - code: reader
    records: [ { type: ticket, actions: [read], fields: { read: '*' } } ]
    assignedTo: { users: [anna], groups: [red] }
  - code: planner
    rights: [config.manage, webhook.manage]
    records: [ { type: ticket, where: { field: kind, operator: equals, value: a }, actions: [read], fields: { read: '*' } } ]
    assignedTo: { users: [planner] }
groups: [ { code: red, users: [boris] }, { code: blue, users: [clara] } ]
users:
${['anna', 'boris', 'clara', 'planner'].map((login) => `  - { login: ${login}, displayName: ${login}, email: ${login}@example.org }`).join('\n')}
calendars: [ { code: always, timezone: UTC, week: { mon: ['00:00-24:00'], tue: ['00:00-24:00'], wed: ['00:00-24:00'], thu: ['00:00-24:00'], fri: ['00:00-24:00'], sat: ['00:00-24:00'], sun: ['00:00-24:00'] } } ]
slaPolicies:
  - { code: soon, type: ticket, calendar: always, targets: [ { duration: PT8H } ], start: { field: kind, operator: equals, value: a }, stop: { field: kind, operator: equals, value: c } }
integrations:
  - { code: alarm, type: inbound-webhook, executionPrincipal: anna, enabled: true, config: { command: object.create, typeDefinitionId: ticket, mapping: [ { source: t, target: title } ] } }
`;

describe('the impact of a plan', () => {
  let app: TestApp;
  let admin: string;
  let keys: Record<string, string>;
  let undocumented: string[];
  const ask = async (key: string, method: string, place: string, body?: unknown): Promise<any> =>
    await app.request(method, `/api/admin/v1${place}`, { key, ...(body === undefined ? {} : { body }) });
  const ok = async (method: string, place: string, body?: unknown, key = admin): Promise<any> => {
    const answer = await ask(key, method, place, body);
    assert.ok(answer.status < 300, JSON.stringify(answer.body));
    return answer.body;
  };
  const impactOf = async (text: string, more: object = {}, key = admin): Promise<any> =>
    (await ok('POST', '/config/plan', { files: bundle(text), impact: true, ...more }, key)).meta.impact;
  const records: { id: string; kind: string }[] = [];
  /** Ids of the records that the user reads, and of those that the user may change: a change to the same value is one. */
  const access = async (login: string): Promise<{ read: Set<string>; write: Set<string> }> => {
    const key = keys[login] as string;
    const { data } = await ok('GET', '/objects?pageSize=100', undefined, key);
    const write = new Set<string>();
    for (const { id, kind } of records) {
      const change = { expectedRevision: 1, changes: { kind } };
      const { status } = await ask(key, 'PATCH', `/objects/${id}`, change);
      if (status === 200) write.add(id);
    }
    return { read: new Set(data.rows.map(({ id }: { id: string }) => id)), write };
  };

  before(async () => {
    app = await startTestApp();
    undocumented = watchAnswers(app);
    admin = (await app.createKey({ login: 'admin', scopes: ['admin:manage'] })).key;
    await ok('POST', '/config/apply', { files: bundle(WORLD) });
    const made = [...LOGINS, 'planner'].map(async (login) => {
      const { key } = await app.createKey({ login, scopes: ['admin:manage'] });
      return [login, key] as const;
    });
    keys = Object.fromEntries(await Promise.all(made));
    const ids = new Map<string, string>();
    for (const section of ['users', 'groups']) {
      for (const { code, id } of (await ok('GET', `/config/${section}`)).data) ids.set(code, id);
    }
    for (let index = 0; index < 12; index++) {
      const kind = 'abc'[index % 3] as string;
      const { data } = await ok('POST', '/objects', {
        typeDefinitionId: 'ticket',
        values: {
          title: `Ticket ${'x'.repeat(index)}`,
          kind,
          owner: ids.get(LOGINS[index % 2] as string),
          team: ids.get(index % 4 === 0 ? 'red' : 'blue'),
        },
      });
      records.push({ id: data.id, kind });
    }
  });
  after(() => app.close());

  it('counts what each user reads and may change before and after', async () => {
    const where = fc.constantFrom(
      '',
      'where: { field: kind, operator: equals, value: a }, ',
      'where: { field: owner, operator: equals, value: $me }, ',
      'where: { field: team, operator: in, value: $myGroups }, ',
    );
    const role = fc.record({
      where,
      actions: fc.constantFrom('read', 'read, update', 'update'),
      other: fc.option(where, { nil: null }),
      users: fc.subarray([...LOGINS]),
      groups: fc.subarray(['red', 'blue']),
    });
    type Access = Awaited<ReturnType<typeof access>>;
    const NONE = { gained: 0, lost: 0, writable: { gained: 0, lost: 0 } };
    const was = new Map<string, Access>();
    for (const login of LOGINS) was.set(login, await access(login));
    await fc.assert(
      fc.asyncProperty(role, fc.subarray(['boris', 'clara']), async (made, members) => {
        const text = `roles:
  - code: reader
    records:
      - { type: ticket, ${made.where}actions: [${made.actions}], fields: { read: '*', write: '*' } }
      ${made.other === null ? '' : `- { type: ticket, ${made.other}actions: [update], fields: { read: '*', write: '*' } }`}
    assignedTo: { users: [${made.users.join()}], groups: [${made.groups.join()}] }
groups: [ { code: red, users: [${members.join()}] } ]`;
        const impact = await impactOf(text, { exact: true });
        assert.deepEqual([impact.complete, impact.exact, impact.errorBound], [true, true, 0]);
        await ok('POST', '/config/apply', { files: bundle(text), exact: true });
        for (const login of LOGINS) {
          const [old, now] = [was.get(login) as Access, await access(login)];
          was.set(login, now);
          const person = impact.people.find((one: any) => one.login === login);
          const counted = person?.records.find((one: any) => one.type === 'ticket') ?? NONE;
          const of = (kind: keyof Access) => ({
            gained: now[kind].difference(old[kind]).size,
            lost: old[kind].difference(now[kind]).size,
          });
          const { gained, lost, writable } = counted;
          assert.deepEqual({ gained, lost, writable }, { ...of('read'), writable: of('write') }, `${login}: ${text}`);
        }
      }),
      { numRuns: 8 },
    );
  });

  it('names roles, fields, examples and sums, and changes nothing', async () => {
    await ok('POST', '/config/apply', { files: bundle(WORLD), exact: true });
    const before = (await ok('GET', '/config/export')).meta.configVersion;
    const text = `roles: [ { code: reader, records: [ { type: ticket, where: { field: kind, operator: equals, value: b }, actions: [read], fields: { read: [title, kind] } } ] } ]`;
    const impact = await impactOf(text);
    const [role] = impact.roles;
    assert.equal(role.role, 'reader');
    assert.deepEqual(
      role.records.map(({ type, gained, lost, examples }: any) => [type, gained, lost, examples.length]),
      [['ticket', 0, 8, 8]],
    );
    assert.ok(role.fields.some((one: any) => one.field === 'owner' && one.access === 'read' && one.change === 'lost'));
    assert.deepEqual(
      impact.people.map(({ login }: any) => login),
      ['anna', 'boris'],
    );
    assert.equal(impact.affectedPeople, 2);
    // Two users lose 8 records each, and two fields on the 4 records that they still read.
    assert.equal(impact.totals['lost-access'], 2 * (8 + 2 * 4) + role.fields.length);
    assert.equal((await ok('GET', '/config/export')).meta.configVersion, before);
    assert.equal((await ok('POST', '/config/plan', { files: bundle(text) })).meta.impact, undefined);
  });

  it('counts records on which a field becomes readable or writable, or stops being so', async () => {
    const role = (where: string, field: string): string =>
      `roles: [ { code: reader, records: [ { type: ticket, actions: [read, update], fields: { read: [title, kind], write: [] } }, { type: ticket, ${where}actions: [], fields: ${field} } ], assignedTo: { users: [anna], groups: [red] } } ]`;
    const onKind = 'where: { field: kind, operator: equals, value: a }, ';
    const seen = ({ fields }: any) =>
      fields.map((one: any) => [one.field, one.access, one.change, one.records, one.examples.length]);
    for (const [access, field] of [
      ['read', '{ read: [owner] }'],
      ['write', '{ write: [owner] }'],
    ] as const) {
      await ok('POST', '/config/apply', { files: bundle(role(onKind, field)), exact: true });
      const wider = await impactOf(role('', field), { exact: true });
      assert.deepEqual(seen(wider.roles[0]), [['owner', access, 'gained', 8, 8]]);
      assert.deepEqual(wider.people.map(seen), [seen(wider.roles[0]), seen(wider.roles[0])]);
      assert.deepEqual([wider.totals['gained-access'], wider.totals['lost-access']], [2 * 8 + 1, 0]);
      assert.deepEqual(wider.totalErrors['gained-access'], 0);
      await ok('POST', '/config/apply', { files: bundle(role('', field)), exact: true });
      const narrower = await impactOf(role(onKind, field), { exact: true });
      assert.deepEqual(seen(narrower.roles[0]), [['owner', access, 'lost', 8, 8]]);
      const moved = await impactOf(role(onKind.replace('value: a', 'value: b'), field), { exact: true });
      assert.deepEqual(seen(moved.roles[0]), [['owner', access, 'lost', 8, 8]]);
    }
    await ok('POST', '/config/apply', { files: bundle(WORLD), exact: true });
  });

  it('counts records that no longer fit, due times that move and what stops working', async () => {
    await ok('POST', '/desk/queues', {
      name: 'By team',
      shared: true,
      definition: { type: 'ticket', filter: { field: 'team', operator: 'is-empty', value: false } },
    });
    const impact = await impactOf(`
types:
  - code: ticket
    workflow: other
    fields:
      - { code: title, dataType: string, required: true, constraints: { maxLength: 12 } }
      - { code: kind, dataType: enum, constraints: { options: [ { code: a }, { code: c } ] } }
      - { code: owner, dataType: user }
slaPolicies:
  - { code: soon, type: ticket, calendar: always, targets: [ { duration: PT1S } ], start: { field: kind, operator: equals, value: a }, stop: { field: kind, operator: equals, value: c } }
integrations:
  - { code: alarm, type: inbound-webhook, executionPrincipal: anna, enabled: false, config: { command: object.create, typeDefinitionId: ticket, mapping: [ { source: t, target: title } ] } }
`);
    assert.deepEqual(impact.constraints.map((one: any) => [one.path, one.records]).sort(), [
      ['types.ticket.fields.kind', 4],
      ['types.ticket.fields.title', 6],
    ]);
    assert.deepEqual(
      impact.states.map(({ type, state, records }: any) => [type, state, records]),
      [['ticket', 'open', 12]],
    );
    const [sla] = impact.sla;
    assert.deepEqual([sla.policy, sla.moved], ['soon', 4]);
    assert.ok(Date.parse(sla.earliest) > 0);
    assert.deepEqual(impact.broken, [
      { section: 'integrations', code: 'alarm', reason: 'DISABLED' },
      { section: 'queues', code: 'By team', reason: 'TYPE_OR_FIELD_MISSING' },
    ]);
    assert.deepEqual([impact.totals['invalid-records'], impact.totals.broken], [22, 2]);
  });

  it('counts records that conditions of unchanged roles no longer match', async () => {
    const impact = await impactOf(
      WORLD.replace(
        'dataType: enum, constraints: { options: [ { code: a }, { code: b }, { code: c } ] }',
        'dataType: string',
      ),
      { discard: ['types.ticket.kind'] },
    );
    const planner = impact.people.find((one: any) => one.login === 'planner');
    assert.deepEqual(
      planner?.records.map(({ type, gained, lost }: any) => [type, gained, lost]),
      [['ticket', 0, 4]],
      JSON.stringify(impact),
    );
  });

  it('counts only what the caller may read without role.assign, and needs config.manage', async () => {
    const text = `roles: [ { code: reader, records: [] } ]`;
    const impact = await impactOf(text, {}, keys['planner']);
    assert.deepEqual([impact.complete, impact.people], [false, []]);
    assert.deepEqual(
      impact.roles[0].records.map(({ lost }: any) => lost),
      [4],
    );
    assert.equal(impact.roles[0].records[0].examples.length, 4);
    assert.equal(
      (await ask(keys['anna'] as string, 'POST', '/config/plan', { files: bundle(text), impact: true })).status,
      403,
    );
  });

  it('tells nothing about hidden values or connections without the right to them', async () => {
    await ok('POST', '/config/apply', {
      files: bundle(`
roles:
  - { code: maker, records: [ { type: ticket, actions: [create], fields: { write: '*' } } ], assignedTo: { users: [anna] } }
  - { code: mechanic, rights: [config.manage], records: [ { type: ticket, actions: [read], fields: { read: [kind] } } ], assignedTo: { users: [mechanic] } }
users: [ { login: mechanic, displayName: Mechanic } ]`),
    });
    const { key } = await app.createKey({ login: 'mechanic', scopes: ['admin:manage'] });
    // Reads the title only; conditions of the SLA policy use the kind.
    const blind = `roles: [ { code: mechanic, rights: [config.manage], records: [ { type: ticket, actions: [read], fields: { read: [title] } } ] } ]`;
    const guess = `roles: [ { code: reader, records: [ { type: ticket, where: { field: title, operator: equals, value: 'Ticket x' }, actions: [read], fields: { read: '*' } } ] } ]`;
    assert.equal((await impactOf(guess)).roles[0].records[0].lost, 11);
    const refusedAt = async (text: string, by: string): Promise<unknown> => {
      const { status, body } = await ask(by, 'POST', '/config/plan', { files: bundle(text), impact: true });
      return [status, body.error.details.path];
    };
    assert.deepEqual(await refusedAt(guess, key), [403, 'roles.reader.records.0.where']);
    const short = WORLD.slice(0, WORLD.indexOf('workflows:')).replace('maxLength: 50', 'maxLength: 8');
    assert.ok((await impactOf(short)).constraints.length > 0);
    assert.deepEqual((await impactOf(short, {}, key)).constraints, []);
    const stopped = 'roles: [ { code: maker, records: [] } ]';
    const alarm = { section: 'integrations', code: 'alarm', reason: 'PRINCIPAL_MAY_NOT_CREATE' };
    const [all, part] = [await impactOf(stopped), await impactOf(stopped, {}, key)];
    assert.deepEqual([all.broken, all.totals.broken], [[alarm], 1]);
    assert.deepEqual([part.broken, part.totals.broken], [[], 1]);
    // The records of holders would tell who they are.
    const own = `roles: [ { code: maker, records: [ { type: ticket, where: { field: owner, operator: equals, value: $me }, actions: [read], fields: { read: '*' } } ] } ]`;
    assert.ok((await impactOf(own)).roles[0].records[0].gained > 0);
    assert.deepEqual(await refusedAt(own, keys['planner'] as string), [403, 'roles.maker.records.0.where']);
    const faster = `slaPolicies:${(WORLD.split('slaPolicies:')[1] as string).split('integrations:')[0]}`.replace(
      'PT8H',
      'PT1S',
    );
    assert.deepEqual(
      [(await impactOf(faster)).sla.length, (await impactOf(faster, {}, keys['planner'])).sla.length],
      [1, 1],
    );
    await ok('POST', '/config/apply', { files: bundle(blind) });
    assert.deepEqual((await impactOf(faster, {}, key)).sla, []);
  });

  it('names integrations whose principal may no longer do what their command does', async () => {
    const connections = (actions: string): string => `
roles: [ { code: maker, records: [ { type: ticket, actions: [${actions}], fields: { read: '*', write: '*' } } ], assignedTo: { users: [anna] } } ]
integrations:
  - { code: change, type: inbound-webhook, executionPrincipal: anna, enabled: true, config: { command: object.update, mapping: [ { source: i, target: objectId }, { source: r, target: expectedRevision }, { source: t, target: title } ] } }
  - { code: remark, type: inbound-webhook, executionPrincipal: anna, enabled: true, config: { command: comment.add, typeDefinitionId: ticket, mapping: [ { source: i, target: objectId }, { source: b, target: body } ] } }
`;
    await ok('POST', '/config/apply', {
      files: bundle(connections("create, read, update, comment.create, 'Private Comment'")),
    });
    const broken = async (actions: string): Promise<unknown> =>
      (await impactOf(connections(actions))).broken.map(({ code, reason }: any) => `${code} ${reason}`);
    assert.deepEqual(await broken("create, read, update, comment.create, 'Private Comment', history"), []);
    assert.deepEqual(await broken('read, update, comment.create'), [
      'alarm PRINCIPAL_MAY_NOT_CREATE',
      'remark PRINCIPAL_MAY_NOT_COMMENT',
    ]);
    assert.deepEqual(await broken("create, read, comment.create, 'Private Comment'"), [
      'change PRINCIPAL_MAY_NOT_UPDATE',
    ]);
  });

  it('is a gate of docket apply', async () => {
    const text = `roles: [ { code: reader, records: [] } ]`;
    const run = (key: string, ...args: string[]) => runCommand(['--url', app.url, ...args], { DOCKET_KEY: key });
    const folder = await mkdtemp(path.join(tmpdir(), 'docket-impact-'));
    await writeFile(`${folder}/a.yaml`, text);
    const planned = await run(admin, 'plan', folder, '--impact');
    assert.match(planned.out, /^Role reader:\n {2}ticket: 12 no longer readable/m);
    assert.match(
      planned.out,
      /^Impact: lost-access \d+, gained-access 0, invalid-records 0, sla-breached 0, broken 0\.$/m,
    );
    assert.match(
      (await run(admin, 'plan', folder, '--impact', '--markdown')).out,
      /#### Impact\n\n```text\nRole reader:/,
    );
    const refused = await run(admin, 'apply', folder, '--refuse-if', 'lost-access>0');
    assert.deepEqual([refused.code, refused.out], [1, '']);
    assert.match(refused.err, /Refused because of lost-access>0 \(\d+\)\. Nothing was applied/);
    assert.match((await run(admin, 'apply', folder, '--refuse-if', 'access>0')).err, /"access>0" is not a comparison/);
    const planner = await run(keys['planner'] as string, 'apply', folder, '--refuse-if', 'lost-access>0');
    assert.match(planner.err, /--refuse-if needs the right role\.assign/);
    const shown = await run(admin, 'plan', folder, '--refuse-if', 'lost-access>0');
    assert.deepEqual([shown.code, /^Impact: lost-access/m.test(shown.out)], [1, true]);
    assert.match(shown.err, /Refused because of lost-access>0 \(\d+\)\.$/m);
    assert.equal((await run(admin, 'plan', folder, '--refuse-if', 'broken>0')).code, 0);
    assert.match((await run(admin, 'plan', folder, '--expected', '1')).err, /has version \d+, not 1/);
    for (const args of [
      ['apply', folder, '--expected', 'x'],
      ['plan', folder, '--refuse-if', 'x>1'],
      ['config', 'diff', '0', '1'],
      ['config', 'log', '--page', 'x'],
    ]) {
      const { code, out } = await run(admin, ...args);
      assert.deepEqual([code, out], [2, ''], args.join(' '));
    }
    const applied = await run(
      admin,
      'apply',
      '--discard',
      'types.ticket.kind',
      folder,
      '--refuse-if',
      'lost-access>0 && broken>0',
    );
    assert.match(applied.out, /^change {3}roles\/reader\n/m);
  });

  it('answers as the OpenAPI document describes', () => {
    assert.deepEqual(undocumented.slice(0, 3), []);
  });
});
