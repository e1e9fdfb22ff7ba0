/** Commands on a service elsewhere, `docket --url`, and the templates of `docket init` (docs/spec/configuration.md#command-line). */
import assert from 'node:assert/strict';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, describe, it } from 'node:test';
import { Docket } from '../client/src/index.ts';
import { TEMPLATE_NAMES } from '../src/cli/init.ts';
import { RemoteTarget } from '../src/cli/remote.ts';
import { startTestApp, type TestApp } from './support/app.ts';
import { makeCertificate } from './support/certificate.ts';
import { type CommandResult, runCommand } from './support/commands.ts';
import { docket as spawned, freePort } from './proofs/fault-service.ts';

const BUNDLE = `types:
  - code: remote-asset
    name: Remote asset
    title: title
    fields:
      - { code: title, name: Title, dataType: string, required: true }
roles:
  - code: remote-owner
    records:
      - { type: remote-asset, actions: [read, create, update], fields: { read: '*', write: '*' } }
    assignedTo: { users: [admin] }
importDefinitions:
  - code: remote-assets
    targetKind: object
    targetType: remote-asset
    format: CSV
    mode: UPSERT
    sourceCode: remote
    resolver: { externalIdField: number }
    mapping: [{ source: title, target: title }]
`;

/** How a record of each template goes from its creation to its end. `$me` is the caller. */
const WALKS: readonly {
  template: string;
  type: string;
  values: Record<string, unknown>;
  steps: readonly [code: string, values: Record<string, unknown>][];
  item: string;
  form: Record<string, unknown>;
  requesterField: string;
}[] = [
  {
    template: 'itsm',
    type: 'incident',
    values: { priority: 'p2' },
    steps: [
      ['take', { assignee: '$me' }],
      ['resolve', { solution: 'Replaced', closeCode: 'solved' }],
      ['close', {}],
    ],
    item: 'new-laptop',
    form: {},
    requesterField: 'requester',
  },
  {
    template: 'hr',
    type: 'hr-case',
    values: { topic: 'leave' },
    steps: [
      ['take', { assignee: '$me' }],
      ['ask', { $reason: 'Which days?' }],
      ['resume', {}],
      ['answer', { answer: 'Agreed' }],
      ['close', {}],
    ],
    item: 'vacation',
    form: { startsOn: '2027-02-01', endsOn: '2027-02-05' },
    requesterField: 'employee',
  },
  {
    template: 'facilities',
    type: 'facility-request',
    values: { kind: 'repair', danger: true },
    steps: [
      ['schedule', { assignee: '$me', plannedFor: '2027-02-01T09:00:00Z' }],
      ['finish', { result: 'New lock', cost: '15.50' }],
      ['close', {}],
    ],
    item: 'repair',
    form: { danger: false },
    requesterField: 'requester',
  },
  {
    template: 'bugs',
    type: 'bug',
    values: { severity: 'critical', steps: 'Click twice' },
    steps: [
      ['confirm', { severity: 'critical' }],
      ['start', { assignee: '$me' }],
      ['fix', { fixedIn: '1.2' }],
      ['verify', {}],
    ],
    item: 'report-bug',
    form: { steps: 'Open the page' },
    requesterField: 'reporter',
  },
];

let app: TestApp;
let folder: string;
let key: string;
let keyFile: string;

/** Runs a command in this process. The environment has nothing of a service but what is given. */
const docket = (args: readonly string[], env: Record<string, string> = {}): Promise<CommandResult> =>
  runCommand(args, { DOCKET_URL: app.url, DOCKET_KEY: key, ...env });

const bundle = async (name: string, text: string): Promise<string> => {
  const dir = path.join(folder, name);
  await mkdir(dir, { recursive: true });
  await writeFile(path.join(dir, 'a.yaml'), text);
  return dir;
};

const refused = ({ code, err, out }: CommandResult, why: RegExp, expected = 1): void => {
  assert.match(err, why);
  assert.equal(err.includes(key), false, 'no secret in messages');
  assert.doesNotMatch(err, /\n\s+at /);
  assert.deepEqual([code, out], [expected, '']);
};

/** A server for one test. @returns what `use` returns */
async function serving<T>(listener: RequestListener, use: (url: string) => Promise<T>): Promise<T> {
  const server = createServer(listener);
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  try {
    return await use(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  } finally {
    server.closeAllConnections();
    server.close();
  }
}

const drained = async (request: IncomingMessage): Promise<void> => {
  for await (const _ of request) {
    // Read to the end.
  }
};

describe('commands on a service elsewhere', () => {
  before(async () => {
    app = await startTestApp();
    folder = await mkdtemp(path.join(tmpdir(), 'docket-remote-'));
    ({ key } = await app.createKey({ login: 'admin', scopes: ['admin:manage'] }));
    keyFile = path.join(folder, 'key');
    await writeFile(keyFile, `${key}\n`);
  });
  after(async () => {
    await app.close();
    await rm(folder, { recursive: true, force: true });
  });

  it('sends a sample of a webhook subscription', async () => {
    const dir = await bundle(
      'hook',
      `users: [{ login: admin }]
signingSecrets: [remote]
webhooks:
  - code: remote-hook
    endpoint: https://receiver.invalid/hook
    secretRef: remote
    executionPrincipal: admin
    eventTypes: [ObjectCreated]
    enabled: false
`,
    );
    assert.equal((await docket(['apply', dir])).code, 0);
    refused(await docket(['webhooks', 'test', 'remote-hook']), /The signing secret has no value yet/);
    await app.request('POST', '/api/admin/v1/signing-secrets', { key, body: { code: 'remote' } });
    const sent = await docket(['webhooks', 'test', 'remote-hook', '--event', 'CommentAdded', '--json']);
    const { request, answer, verdict } = JSON.parse(sent.out);
    assert.equal(request.url, 'https://receiver.invalid/hook');
    assert.equal(JSON.parse(request.body).eventType, 'CommentAdded');
    assert.match(answer.error, /^no answer/);
    assert.deepEqual([sent.code, verdict], [1, 'PENDING']);
    refused(await docket(['webhooks', 'test', 'absent']), /There is no subscription absent/);
    refused(await docket(['--url', app.url, 'webhooks', 'redispatch']), /are for plan/, 2);
  });

  it('plans, applies, exports, writes types and imports with a key that has admin:manage alone', async () => {
    const dir = await bundle('whole', BUNDLE);
    const local = { DATABASE_URL: app.databaseUrl, DOCKET_DATA_DIR: folder, DOCKET_URL: '' };
    const planned = await docket(['plan', dir]);
    assert.match(planned.out, /^create {3}types\/remote-asset$/m);
    assert.equal(planned.out, (await docket(['plan', dir], local)).out, 'as through the database');
    const applied = await docket(['apply', dir, '--json']);
    assert.deepEqual([applied.code, applied.err], [0, '']);
    const items = JSON.parse(applied.out) as { code: string; action: string; id: string }[];
    assert.deepEqual(items.map(({ code, action }) => [code, action]).sort(), [
      ['remote-asset', 'create'],
      ['remote-assets', 'create'],
      ['remote-owner', 'create'],
    ]);
    assert.match((await docket(['plan', dir])).out, /^Nothing to change; 3 unchanged\.$/m);

    const exported = path.join(folder, 'exported');
    assert.equal((await docket(['export', exported, '--identity'])).code, 0);
    const schema = await app.request('GET', '/api/admin/v1/config/schema');
    assert.equal(schema.headers.get('content-type'), 'application/schema+json');
    assert.deepEqual(JSON.parse(await readFile(path.join(exported, 'docket.schema.json'), 'utf8')), schema.body);
    const written = await readFile(path.join(exported, 'types.yaml'), 'utf8');
    assert.ok(written.startsWith('# yaml-language-server: $schema=./docket.schema.json\ntypes:\n'));
    const again = await docket(['plan', exported, '--prune', '--prune-identity']);
    assert.match(again.out, /^Nothing to change/);

    const types = await docket(['types']);
    assert.match(types.out, /interface RemoteAssetCreate/);
    assert.equal(types.out, (await docket(['types'], local)).out);

    const file = path.join(folder, 'assets.csv');
    await writeFile(file, 'number,title\n1,Printer\n2,\n');
    const imported = await docket(['import', file, '--definition', 'remote-assets']);
    assert.match(imported.out, /of 2 rows:\n {2}1 created or updated, 0 skipped, 1 failed\.\n {2}row 2: /);
    refused(await docket(['import', file, '--definition', 'nothing']), /import definition|does not exist|No /i);
    await writeFile(file, Buffer.from([0x6e, 0xc8, 0x0a]));
    refused(await docket(['import', file, '--definition', 'remote-assets']), /not UTF-8/);
  });

  it('runs in a process without settings of a service, with the key in a file', async () => {
    const dir = await bundle('spawned', BUNDLE);
    const env = { DOCKET_DATA_DIR: path.join(folder, 'no', 'such'), DATABASE_URL: 'not a database' };
    const { code, stdout, stderr } = await spawned(['--url', app.url, '--key-file', keyFile, 'plan', dir], env);
    assert.deepEqual([code, stderr], [0, '']);
    assert.match(stdout, /remote-asset|Nothing to change/);
  });

  it('warns of --key and rejects what does not fit together', async () => {
    const dir = await bundle('usage', BUNDLE);
    const none = { DOCKET_URL: '', DOCKET_KEY: '' };
    const warned = await docket(['plan', dir, '--url', app.url, '--key', key], none);
    assert.equal(warned.code, 0);
    assert.match(warned.err, /^docket: --key is visible in process lists/);
    assert.equal(warned.err.includes(key), false);
    refused(await docket(['plan', dir, '--key', key], none), /need --url/, 2);
    refused(await docket(['plan', dir, '--key', key, '--key-file', keyFile]), /exclude each other/, 2);
    refused(await docket(['keys', 'list', '--url', app.url]), /are for plan, apply, export, types, import/, 2);
    refused(await docket(['plan', dir], { DOCKET_KEY: '' }), /DOCKET_KEY holds no key/);
    refused(await docket(['plan', dir], { DOCKET_KEY: 'a b' }), /holds no API key: it contains blanks/);
    refused(await docket(['plan', dir, '--key-file', path.join(folder, 'absent')]), /absent cannot be read/);
    refused(await docket(['plan', dir], { DOCKET_URL: 'docket.example.org' }), /DOCKET_URL must be the address/);
    const secret = app.url.replace('http://', 'http://user:geheim@');
    const said = await docket(['plan', dir], { DOCKET_URL: secret });
    refused(said, /no user name, password/);
    assert.doesNotMatch(said.err, /geheim/);
  });

  it('says what the service refused, as a command on the database does', async () => {
    const wrong = await bundle('wrong', 'roles:\n  - code: clerk\n    nam: Clerk\n');
    const place = /a\.yaml:3:5 roles\[0\]\.nam: Unknown key nam/;
    refused(await docket(['apply', wrong]), place);
    refused(await docket(['apply', wrong], { DATABASE_URL: app.databaseUrl, DOCKET_URL: '' }), place);
    const dir = await bundle('refused', BUNDLE);
    const other = await app.createKey({ login: 'admin', scopes: 'all' });
    refused(await docket(['plan', dir], { DOCKET_KEY: other.key }), /lacks the scope .*keys create/);
    refused(await docket(['plan', dir], { DOCKET_KEY: 'dk_none' }), /key of DOCKET_KEY is unknown to http/);
    await app.apply([{ name: 'u.yaml', text: 'users: [{ login: nobody, displayName: Nobody }]' }]);
    const weak = await app.createKey({ login: 'nobody', scopes: ['admin:manage'] });
    refused(await docket(['plan', dir], { DOCKET_KEY: weak.key }), /config\.manage/);
    refused(
      await docket(['plan', dir], { DOCKET_URL: `${app.url}/nowhere` }),
      /not as a Docket service|nothing at this/,
    );
  });

  it('says what is wrong with the address', async () => {
    const dir = await bundle('address', BUNDLE);
    const answering = (status: number, headers: Record<string, string>, body: string): RequestListener => {
      return (_request, response) => response.writeHead(status, headers).end(body);
    };
    await serving(answering(301, { Location: 'https://elsewhere.example.org' }, ''), async (url) =>
      refused(await docket(['plan', dir], { DOCKET_URL: url }), /answers with a redirect/),
    );
    await serving(answering(403, { 'Content-Type': 'text/html' }, '<html>'), async (url) =>
      refused(await docket(['plan', dir], { DOCKET_URL: url }), /answers with 403, and not as a Docket service/),
    );
    const { cert, key: certKey } = makeCertificate(['127.0.0.1']);
    const secure = createSecureServer({ cert, key: certKey }).listen(0, '127.0.0.1');
    await new Promise((resolve) => {
      secure.once('listening', resolve);
    });
    const url = `https://127.0.0.1:${(secure.address() as AddressInfo).port}`;
    refused(await docket(['plan', dir], { DOCKET_URL: url }), /certificate .* not accepted .*NODE_EXTRA_CA_CERTS/);
    secure.close();
    const remote = { url: `http://127.0.0.1:${await freePort()}`, key, keySource: 'DOCKET_KEY' };
    await assert.rejects(new RemoteTarget(remote, 300).plan([], {}), /does not answer \(ECONNREFUSED\)/);
  });

  it('names the versions if they differ', async () => {
    const dir = await bundle('versions', BUNDLE);
    const other: RequestListener = (_request, response) => {
      response.writeHead(200, { 'Docket-Version': '99.0.0' }).end('{"data":[],"meta":{}}');
    };
    const said = await serving(other, (url) => docket(['plan', dir], { DOCKET_URL: url }));
    assert.match(said.err, /^docket: the service is Docket 99\.0\.0, this command is \d+\.\d+\.\d+\.$/m);
    const older: RequestListener = (_request, response) => {
      const details = [{ path: '/discard', code: 'UNKNOWN', message: 'Unknown property discard.' }];
      const error = { code: 'INVALID_REQUEST', message: 'The request has a problem.', details };
      response.writeHead(400, { 'Docket-Version': '0.0.1' }).end(JSON.stringify({ error, meta: {} }));
    };
    const unknown = await serving(older, (url) => docket(['plan', dir], { DOCKET_URL: url }));
    refused(
      unknown,
      /problem\. Note: the service is Docket 0\.0\.1, this command is .*\n {2}\/discard: Unknown property/,
    );
  });

  it('waits as long as the service says, and repeats an apply with the same idempotency key', async () => {
    const dir = await bundle('again', BUNDLE);
    const keys: unknown[] = [];
    const times: number[] = [];
    const slow = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
      // The port was another program's a moment ago, and its clients may still ask there.
      if (request.headers.authorization !== `Bearer ${key}`) {
        response.writeHead(404).end();
        return;
      }
      keys.push(request.headers['idempotency-key']);
      times.push(performance.now());
      await drained(request);
      if (keys.length === 1) response.writeHead(503, { 'Retry-After': '1' }).end();
      else if (keys.length === 2) request.socket.destroy();
      else response.writeHead(200).end('{"data":[],"meta":{}}');
    };
    const said = await serving(
      (...both) => void slow(...both),
      (url) => docket(['apply', dir], { DOCKET_URL: url }),
    );
    assert.equal(said.code, 0, said.err);
    assert.equal(keys.length, 3);
    assert.match(String(keys[0]), /^[0-9a-f-]{36}$/);
    assert.equal(new Set(keys).size, 1);
    assert.ok((times[1] ?? 0) - (times[0] ?? 0) >= 990, 'not before Retry-After');
    const files = [{ name: 'a.yaml', text: 'services: [{ code: replayed }]' }];
    const apply = () =>
      app.request('POST', '/api/admin/v1/config/apply', { key, idempotencyKey: 'replay', body: { files } });
    const [first, second] = [await apply(), await apply()];
    assert.deepEqual([first.status, first.body.data[0].action], [200, 'create']);
    assert.deepEqual(second.body.data, first.body.data);
    assert.equal(second.headers.get('idempotency-replayed'), 'true');
    assert.equal(await readFile(keyFile, 'utf8'), `${key}\n`);
  });

  for (const walk of WALKS) {
    it(`starts the template ${walk.template}: records, SLA and catalogue work`, async () => {
      const dir = path.join(folder, `template-${walk.template}`);
      const init = ['init', dir, '--template', walk.template];
      assert.match((await docket(init)).out, /^Wrote 10-settings\.yaml, .*docket\.schema\.json to /);
      refused(await docket(init), /is not empty; nothing was written/);
      const applied = await docket(['apply', dir]);
      assert.deepEqual([applied.code, applied.err], [0, '']);
      assert.match((await docket(['plan', dir])).out, /^Nothing to change/);

      const client = new Docket({ url: app.url, key, surface: 'admin' });
      const me = (await client.identity.users()).find(({ login }) => login === 'admin');
      assert.ok(me);
      const records = client.records(walk.type);
      let record: Awaited<ReturnType<typeof records.create>> = await records.create({ title: 'First', ...walk.values });
      const [sla] = await client.sla.list(record.id);
      assert.equal(sla?.status, 'ACTIVE');
      for (const [code, values] of walk.steps) {
        const filled = Object.entries(values).map(([name, value]) => [name, value === '$me' ? me.id : value]);
        record = await records.transition(record, code, Object.fromEntries(filled));
      }
      assert.equal(record.workflowState?.category, 'done');
      const [stopped] = await client.sla.list(record.id);
      assert.equal(stopped?.status, 'STOPPED');

      const catalog = await client.catalog.get();
      const item = catalog?.items.find((one) => one.code === walk.item);
      assert.ok(item, walk.item);
      const made = await client.catalog.request(item.id, {
        requesterId: me.id,
        values: { title: 'Please', ...walk.form },
      });
      const requested = await client.objects.get(made.id);
      assert.equal(requested.values[walk.requesterField], me.id);
    });
  }

  it('writes a template only into an empty folder and knows which there are', async () => {
    const dir = await bundle('taken', 'roles: []\n');
    refused(await docket(['init', dir, '--template', 'bugs']), /is not empty/);
    refused(await docket(['init', path.join(folder, 'other')]), /--template <name>' not specified/, 2);
    refused(await docket(['init', dir, '--template', 'erp']), /Allowed choices are itsm, hr, facilities, bugs/, 2);
    assert.deepEqual(
      WALKS.map(({ template }) => template),
      TEMPLATE_NAMES,
    );
  });
});
