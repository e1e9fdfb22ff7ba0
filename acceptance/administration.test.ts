/** Command line, configuration and administration interface, from outside. Rules by number: `COVERAGE.md`. */
import assert from 'node:assert/strict';
import { readdir } from 'node:fs/promises';
import path from 'node:path';
import { after, describe } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Answer, before, it, problemsOf, CONFIGURATION, Fixture } from './service.ts';

const PASSWORD = 'a long enough password';

let fixture: Fixture;
let admin: string;

const call = async (method: string, place: string, body?: unknown, key = admin): Promise<Answer> =>
  await fixture.send(method, `/api/admin/v1${place}`, { key, ...(body === undefined ? {} : { body }) });

function accepted(answer: Answer, status = 200): any {
  assert.equal(answer.status, status, answer.text.slice(0, 400));
  assert.deepEqual(problemsOf(answer), []);
  return answer.body.data;
}

describe('administration', () => {
  before(async () => {
    fixture = await Fixture.start();
    admin = await fixture.keyOf('chief', 'admin:manage');
  });
  after(() => fixture?.stop());

  it('prints the next steps when the service is ready (CL-serve)', () => {
    assert.match(fixture.output, /Docket answers at http:\/\/127\.0\.0\.1:\d+/);
    assert.match(fixture.output, /keys create/);
    assert.match(fixture.output, /curl/);
  });

  it('prints help and distinguishes usage errors from failures by exit code (CL-exit)', async () => {
    for (const args of [['--help'], ['keys', 'create', '--help']]) {
      const said = await fixture.docket(args);
      assert.equal(said.code, 0, args.join(' '));
      assert.match(said.stdout, /Usage:/);
    }
    for (const args of [['nonsense'], ['apply'], ['plan', 'x', '--nonsense']]) {
      assert.equal((await fixture.docket(args)).code, 2, args.join(' '));
    }
    const failed = await fixture.docket(['apply', '/nowhere']);
    assert.equal(failed.code, 1);
    assert.match(failed.stderr, /\/nowhere/);
    assert.equal(failed.stdout, '');
  });

  it('plans a bundle without changing anything and applies it once (CL-plan, CL-apply)', async () => {
    const folder = await fixture.bundle('again', CONFIGURATION);
    const planned = JSON.parse((await fixture.docket(['plan', folder, '--json'])).stdout) as {
      section: string;
      code: string;
      id: string;
      action: string;
    }[];
    assert.ok(planned.length >= 7);
    assert.deepEqual([...new Set(planned.map(({ action }) => action))], ['leave']);
    assert.deepEqual(
      [...new Set(((await fixture.apply(CONFIGURATION)) as { action: string }[]).map(({ action }) => action))],
      ['leave'],
    );
    const more = `${CONFIGURATION}groups: [{ code: new-group, name: New }]\n`;
    const folder2 = await fixture.bundle('more', more);
    const action = async (command: string): Promise<string | undefined> => {
      const done = await fixture.docket([command, folder2, '--json']);
      return (JSON.parse(done.stdout) as { code: string; action: string }[]).find((item) => item.code === 'new-group')
        ?.action;
    };
    assert.equal(await action('plan'), 'create');
    assert.equal(await action('plan'), 'create', 'a plan changes nothing');
    assert.equal(await action('apply'), 'create');
    assert.equal(await action('apply'), 'leave');
  });

  it('rejects an invalid bundle as a whole and reports file and line (CL-errors)', async () => {
    const broken: [string, RegExp][] = [
      ['groups: [{ code: fine, name: Fine }, { code: Not Fine, name: x }]\n', /bundle\.yaml.*1/s],
      ['groups:\n  - { code: fine, name: Fine }\nnonsense: 1\n', /bundle\.yaml.*3.*nonsense/s],
      [
        'types:\n  - code: broken\n    name: x\n    fields:\n      - { code: a, dataType: nonsense }\n',
        /bundle\.yaml.*5.*dataType/s,
      ],
      ['groups: [{ code: fine, name: Fine, users: [nobody-here] }]\n', /nobody-here/],
      ['groups: [{ code: fine, name: A }, { code: fine, name: B }]\n', /fine/],
      ['groups: [{ code: fine, name: A }\n', /bundle\.yaml/],
    ];
    for (const [text, says] of broken) {
      const refused = await fixture.docket(['apply', await fixture.bundle('broken', text)]);
      assert.equal(refused.code, 1, text);
      assert.match(refused.stderr, says, text);
    }
    assert.ok(!accepted(await call('GET', '/config/groups')).some((group: { code: string }) => group.code === 'fine'));
  });

  it('rejects an invalid workflow and states the reason', async () => {
    const workflow = (rest: string): string =>
      `workflows: [{ code: bad, initial: a, states: [{ code: a, category: open }, { code: b, category: done }], ${rest} }]\n`;
    for (const [text, says] of [
      [workflow('transitions: [{ code: go, from: [a], to: nowhere }]'), /nowhere/],
      [workflow('transitions: []'), /\bb\b/],
      [workflow('transitions: [{ code: go, from: [nowhere], to: b }]'), /nowhere/],
    ] as const) {
      const refused = await fixture.docket(['apply', await fixture.bundle('workflow', text)]);
      assert.equal(refused.code, 1, text);
      assert.match(refused.stderr, says);
    }
  });

  it('exports a bundle that plans without changes (CL-export)', async () => {
    const folder = path.join(fixture.folder, 'exported');
    assert.equal((await fixture.docket(['export', folder, '--identity'])).code, 0);
    assert.ok((await readdir(folder)).some((name) => name.endsWith('.yaml')));
    const planned = JSON.parse((await fixture.docket(['plan', folder, '--json'])).stdout) as { action: string }[];
    assert.deepEqual([...new Set(planned.map(({ action }) => action))], ['leave']);
  });

  it('takes effect in the running service within a second (CL-follow)', async () => {
    const text = 'types: [{ code: sudden, name: Sudden, fields: [{ code: a, dataType: string }] }]\n';
    assert.equal((await fixture.docket(['apply', await fixture.bundle('sudden', text)])).code, 0);
    await sleep(1000);
    const answer = await fixture.api('GET', '/metadata/types/sudden/fields');
    assert.equal(accepted(answer).fields[0].code, 'a');
  });

  it('issues, lists, rotates and revokes keys from the command line (CL-keys)', async () => {
    const json = async (...args: string[]): Promise<any> => {
      const done = await fixture.docket(['keys', ...args, '--json']);
      assert.equal(done.code, 0, done.stderr);
      return JSON.parse(done.stdout);
    };
    const made = await json(
      'create',
      '--owner',
      'helper',
      '--name',
      'cli',
      '--scopes',
      'metadata:read,objects:read',
      '--expires',
      '2099-01-01T00:00:00Z',
    );
    assert.deepEqual(Object.keys(made).sort(), ['expiresAt', 'id', 'key', 'owner', 'scopes']);
    assert.match(made.key, /^dk_[0-9A-Za-z]{16}_[0-9A-Za-z_-]{43}_[0-9A-Za-z]{6}$/);
    assert.equal((await fixture.api('GET', '/objects', { key: made.key })).status, 200);
    const all = await json('create', '--owner', 'helper', '--name', 'all', '--scopes', 'all');
    assert.equal(all.scopes.length, 26);
    const listed = (await json('list')) as { id: string; key?: string }[];
    assert.ok(listed.some((key) => key.id === made.id));
    assert.ok(!JSON.stringify(listed).includes(made.key.slice(20, 60)), 'a secret is shown once');
    const rotated = await json('rotate', made.id);
    await sleep(1000);
    assert.equal((await fixture.api('GET', '/objects', { key: rotated.key })).status, 200);
    assert.equal((await fixture.api('GET', '/objects', { key: made.key })).status, 401);
    await json('revoke', made.id);
    await sleep(1000);
    assert.equal((await fixture.api('GET', '/objects', { key: rotated.key })).status, 401);
    for (const wrong of [
      ['--owner', 'nobody-here', '--scopes', 'all'],
      ['--owner', 'helper', '--scopes', 'nonsense'],
    ]) {
      assert.equal((await fixture.docket(['keys', 'create', '--name', 'x', ...wrong])).code, 1);
    }
  });

  it('signs users in with a cookie and requires the CSRF token for writes (AD-session)', async () => {
    const refused = await fixture.send('POST', '/api/admin/v1/session', {
      key: undefined,
      body: { login: 'chief', password: 'wrong' },
    });
    assert.equal(refused.status, 401);
    assert.equal((await fixture.docket(['users', 'set-password', 'chief'], `${PASSWORD}\n`)).code, 0);
    const signedIn = await fixture.send('POST', '/api/admin/v1/session', {
      key: undefined,
      body: { login: 'CHIEF', password: PASSWORD },
    });
    const { csrfToken, user } = accepted(signedIn, 201);
    assert.equal(user.displayName, 'Главный');
    const set = signedIn.headers.get('set-cookie') ?? '';
    for (const part of [/^docket_session=/, /HttpOnly/, /SameSite=Strict/]) assert.match(set, part);
    const cookie = set.split(';')[0] as string;
    const send = (method: string, place: string, headers = {}, body?: unknown): Promise<Answer> =>
      fixture.send(method, place, {
        key: undefined,
        headers: { cookie, ...headers },
        ...(body === undefined ? {} : { body }),
      });
    const session = accepted(await send('GET', '/api/admin/v1/session'));
    assert.ok(session.rights.includes('config.manage'));
    const body = { typeDefinitionId: 'ticket', values: { subject: 'Из консоли' } };
    assert.equal((await send('POST', '/api/admin/v1/objects', {}, body)).status, 403, 'without the token');
    const made = accepted(await send('POST', '/api/admin/v1/objects', { 'x-docket-csrf': csrfToken }, body), 201);
    const [event] = accepted(await send('GET', `/api/admin/v1/objects/${made.id}/history`));
    assert.equal(event.actor.via, 'console');
    assert.equal((await send('GET', '/api/v1/objects')).status, 401, 'the cookie is for the administration alone');
    accepted(await send('DELETE', '/api/admin/v1/session', { 'x-docket-csrf': csrfToken }));
    assert.equal((await send('GET', '/api/admin/v1/session')).status, 401, 'signed out');
  });

  it('restores an archived record (AD-restore)', async () => {
    const { id } = await fixture.create();
    accepted(await fixture.api('DELETE', `/objects/${id}`, { body: { expectedRevision: 1 } }));
    const restored = accepted(await call('POST', `/objects/${id}/restore`));
    assert.deepEqual([restored.state, restored.revision, restored.workflowState.code], ['ACTIVE', 3, 'fresh']);
    assert.equal((await call('POST', `/objects/${id}/restore`)).status, 409);
    assert.equal((await fixture.api('POST', `/objects/${id}/restore`)).status, 404, 'not on the public interface');
  });

  it('lists every configuration section with ids (AD-config)', async () => {
    const types = accepted(await call('GET', '/config/types'));
    assert.deepEqual(Object.keys(types[0]).sort(), ['code', 'id', 'name', 'state']);
    for (const section of ['settings', 'types', 'workflows', 'roles', 'users', 'groups', 'orgUnits']) {
      assert.ok(Array.isArray(accepted(await call('GET', `/config/${section}`))), section);
    }
    assert.equal((await call('GET', '/config/nonsense')).status, 404);
    const files = [{ name: 'a.yaml', text: 'groups: [{ code: by-call, name: By call }]\n' }];
    assert.equal(
      accepted(await call('POST', '/config/plan', { files })).find((item: { code: string }) => item.code === 'by-call')
        .action,
      'create',
    );
    assert.equal(
      accepted(await call('POST', '/config/apply', { files })).find((item: { code: string }) => item.code === 'by-call')
        .action,
      'create',
    );
    assert.ok(
      accepted(await call('GET', '/config/groups')).some((group: { code: string }) => group.code === 'by-call'),
    );
    const bad = await call('POST', '/config/apply', { files: [{ name: 'a.yaml', text: 'nonsense: 1\n' }] });
    assert.equal(bad.status, 400, bad.text);
    assert.match(JSON.stringify(bad.body.error), /a\.yaml/);
    assert.ok(accepted(await call('GET', '/config/export')).files.length > 0);
  });

  it('records who changed what in the audit log (AD-audit)', async () => {
    fixture.isOwn('sign-ins with a password that the command line set');
    const made = accepted(
      await call('POST', '/keys', { owner: 'helper', name: 'audited', scopes: ['objects:read'] }),
      201,
    );
    accepted(await call('POST', `/keys/${made.id}/revoke`));
    const { rows } = accepted(await call('GET', '/audit?pageSize=100'));
    const about = rows.filter((row: { subject: string }) => row.subject === `key:${made.id}`);
    assert.deepEqual(
      about.map((row: { type: string }) => row.type),
      ['KeyRevoked', 'KeyCreated'],
      'newest first',
    );
    assert.equal(about[0].actor.displayName, 'Главный');
    const types = new Set(rows.map((row: { type: string }) => row.type));
    for (const type of ['SignedIn', 'SignInRefused', 'PasswordSet']) assert.ok(types.has(type), type);
    for (const secret of [made.key, PASSWORD]) assert.ok(!JSON.stringify(rows).includes(secret));
  });

  it('explains how a request of a user is decided (AD-explain)', async () => {
    const { id } = await fixture.create({ subject: 'explained' });
    const explain = async (method: string, body: unknown): Promise<any> => {
      const path = `/api/v1/objects/${id}`;
      return accepted(await call('POST', '/access/explain-request', { user: 'helper', method, path, body }));
    };
    const change = { expectedRevision: 1, changes: { urgency: 'high' } };
    const said = await explain('PATCH', change);
    assert.deepEqual([said.status, said.code], [403, 'FIELD_READ_ONLY']);
    const record = said.steps.find(({ kind }: any) => kind === 'record');
    const missing = record.fields.filter((field: any) => field.missing);
    assert.deepEqual(
      missing.map((field: any) => [field.field, field.access]),
      [['urgency', 'write']],
    );
    const [condition] = record.grants.find(({ role }: any) => role === 'narrow').conditions;
    assert.deepEqual([condition.field, condition.actual, condition.holds], ['open', true, true]);
    const key = await fixture.keyOf('helper');
    const real = await fixture.api('PATCH', `/objects/${id}`, { key, body: change });
    assert.deepEqual([real.status, real.body.error.code], [said.status, said.code]);
    const allowed = await explain('PATCH', { expectedRevision: 1, changes: { subject: 'other' } });
    assert.equal(allowed.status, 200);
    assert.equal((await fixture.api('GET', `/objects/${id}`)).body.data.revision, 1, 'nothing was done');
  });

  it('serves the OpenAPI document of the administration interface (AD-openapi)', async () => {
    const document = await fixture.send('GET', '/api/admin/v1/openapi.json', { key: undefined });
    assert.equal(document.status, 200);
    for (const place of ['/session', '/keys', '/audit', '/config/apply', '/objects/{objectId}/restore', '/objects']) {
      assert.ok(Object.hasOwn(document.body.paths, place), place);
    }
  });

  it('reports its own health with the doctor command (CL-doctor)', async () => {
    const done = await fixture.docket(['doctor', '--json']);
    const checks = JSON.parse(done.stdout) as { name: string; ok: boolean }[];
    assert.equal(done.code, 0, done.stdout);
    assert.ok(checks.length >= 4 && checks.every(({ ok }) => ok));
    assert.deepEqual(JSON.parse((await fixture.docket(['migrate', '--json'])).stdout), { applied: [] });
  });
});
