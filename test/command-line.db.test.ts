/** What commands reject, with which messages, and what they leave unchanged (docs/spec/configuration.md#command-line). */
import assert from 'node:assert/strict';
import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, describe, it } from 'node:test';
import pg from 'pg';
import { verifyWebhook } from '../client/src/index.ts';
import { WEBHOOK_EVENTS } from '../src/contract/events.ts';
import { buildDocument } from '../src/contract/openapi.ts';
import { MODULES } from '../src/modules.ts';
import { collect, operationsOf } from '../src/platform/module.ts';
import { migrate } from '../src/platform/database/migrate.ts';
import { nextVersion, runCommand, type CommandResult } from './support/commands.ts';
import { createEmptyDatabase, createTestDatabase, type TestDatabase } from './support/database.ts';
import { docket as spawned } from './proofs/fault-service.ts';
import { startReceiver } from './support/receiver.ts';
import { deliveryProblems } from './support/response-check.ts';

const NOWHERE = 'postgres://docket:geheim@127.0.0.1:1/docket';
const ITSM = path.resolve(import.meta.dirname, '../config/itsm');

describe('the command line', () => {
  let database: TestDatabase;
  let folder: string;
  let env: Record<string, string>;

  const docket = (args: readonly string[], more: Record<string, string> = {}): Promise<CommandResult> =>
    runCommand(args, { ...env, ...more });
  const inFolder = async (name: string, files: Readonly<Record<string, string | Buffer>>): Promise<string> => {
    const made = path.join(folder, name);
    await mkdir(made, { recursive: true });
    for (const [file, content] of Object.entries(files)) await writeFile(path.join(made, file), content);
    return made;
  };
  const refused = (said: CommandResult, why: RegExp, code = 1): void => {
    assert.match(said.err, why);
    assert.doesNotMatch(said.err, /\n\s+at |geheim/);
    assert.equal(said.out, '');
    assert.equal(said.code, code);
  };

  before(async () => {
    database = await createTestDatabase();
    folder = await mkdtemp(path.join(tmpdir(), 'docket-commands-'));
    env = { DATABASE_URL: database.url, DOCKET_DATA_DIR: path.join(folder, 'data') };
    assert.equal((await docket(['apply', ITSM])).code, 0);
  });
  after(async () => {
    await database.drop();
    await rm(folder, { recursive: true, force: true });
  });

  it('remarks on misspelt settings without their values, and uses the rest', async () => {
    const { code, out, err } = await docket(['keys', 'list'], {
      DOCKET_PROT: 'geheim',
      DATABSE_URL: 'geheim',
      DOCKET_DATA_DIRECTORY_OF_OTHERS: 'geheim',
      DOCKET_POOOL: '7',
    });
    assert.equal(code, 0, err);
    assert.doesNotMatch(out + err, /geheim/);
    const remarks = err.split('\n').filter((line) => line.includes('There is no setting'));
    assert.deepEqual(remarks, [
      'docket: There is no setting DOCKET_PROT. Did you mean DOCKET_PORT?',
      'docket: There is no setting DATABSE_URL. Did you mean DATABASE_URL?',
      'docket: There is no setting DOCKET_POOOL. Did you mean DOCKET_POOL?',
    ]);
  });

  it('doctor runs every documented check', async () => {
    const sound = await docket(['doctor', '--json']);
    const checks = JSON.parse(sound.out) as { name: string; ok: boolean; says: string }[];
    const names = checks.map(({ name }) => name).join(', ');
    assert.equal(
      names,
      'data folder, file store, database, durability, clock, migrations, field indexes, search projection, dispatch, ' +
        'audit heads, master key, signing secrets, webhooks, mailboxes',
    );
    assert.match(checks.find(({ name }) => name === 'field indexes')?.says ?? '', /^\d+ field indexes pending/);
  });

  it('doctor lists all problems of each check', async () => {
    const file = path.join(await inFolder('sick', { file: 'x' }), 'file');
    const sick = { DATABASE_URL: NOWHERE, DOCKET_DATA_DIR: file, DOCKET_BLOBS: `file:${file}/blobs` };
    const said = await docket(['doctor'], sick);
    assert.match(said.out, /^FAIL {2}data folder: .* is not a folder/m);
    assert.match(said.out, /^FAIL {2}file store: .* cannot be used: .*DOCKET_BLOBS/m);
    assert.match(
      said.out,
      /^FAIL {2}database: connect ECONNREFUSED 127\.0\.0\.1:1: no server answers there; .*DATABASE_URL/m,
    );
    assert.equal(said.code, 1);
    assert.doesNotMatch(said.out + said.err, /geheim/);
  });

  it('doctor reports events without deliveries, and redispatch creates them', async () => {
    const client = new pg.Client({ connectionString: database.url });
    await client.connect();
    try {
      // A subscription took the event, and it was dispatched without a delivery.
      await client.query(`INSERT INTO webhook_periods (id, subscription_id, from_at, event_types, max_attempts, base_delay_ms)
        SELECT gen_random_uuid(), id, now(), '{ObjectCreated}', 3, 1000 FROM config_items ORDER BY id LIMIT 1`);
      await client.query(`INSERT INTO journal (id, at, type, via, hash)
        VALUES (gen_random_uuid(), now(), 'ObjectCreated', 'api', '\\x00')`);
      await client.query(`WITH placed AS (
          INSERT INTO journal_places (place, seq) SELECT p.place + row_number() OVER (ORDER BY j.seq), j.seq FROM journal j, journal_placing p
          WHERE NOT EXISTS (SELECT FROM journal_places x WHERE x.seq = j.seq) RETURNING place
        ), last AS (UPDATE journal_placing SET place = (SELECT max(place) FROM placed), done = pg_current_snapshot())
        UPDATE journal_consumers SET place = (SELECT max(place) FROM placed) WHERE name = 'webhooks'`);
      const lost =
        /^FAIL {2}dispatch: \d+ events waiting for dispatch; 1 events have no delivery for .+: run docket webhooks redispatch$/m;
      assert.match((await docket(['doctor'])).out, lost);
      const mended = await docket(['webhooks', 'redispatch', '--json']);
      assert.deepEqual([mended.code, JSON.parse(mended.out)], [0, { events: 1 }]);
      assert.match((await docket(['doctor'])).out, /^ok {4}dispatch: \d+ events waiting for dispatch$/m);
      assert.equal((await docket(['webhooks', 'redispatch'])).out, 'Every event has its deliveries.\n');
    } finally {
      await client.query('DELETE FROM webhook_periods');
      await client.end();
    }
  });

  it('plan shows pending indexes beside its list', async () => {
    const said = await docket(['plan', ITSM, '--json']);
    assert.equal(said.code, 0);
    assert.ok((JSON.parse(said.out) as { action: string }[]).every(({ action }) => action === 'leave'));
    assert.match(said.err, /^\d+ field indexes pending \([a-z-]+\.[a-zA-Z]+, .*\); a running service builds them\n$/);
  });

  it('plan shows old and new values, also as Markdown, and what happens to connections', async () => {
    const hook = (enabled: boolean): string =>
      `importDefinitions: [ { code: people, targetKind: user, format: CSV, mode: UPSERT, sourceCode: hr, resolver: { externalIdField: id }, mapping: [ { source: name, target: displayName } ] } ]
integrations: [ { code: alarm, type: inbound-webhook, executionPrincipal: admin, enabled: ${enabled}, config: { command: object.create, typeDefinitionId: incident, mapping: [ { source: a, target: title } ] } } ]
users: [ { login: admin, displayName: Admin } ]
settings: { searchExactTotal: ${enabled ? 900 : 800} }\n`;
    const dir = await inFolder('differences', { 'a.yaml': hook(true) });
    assert.match((await docket(['plan', dir])).out, /integrations\/alarm\n {11}it is enabled\n/);
    assert.equal((await docket(['apply', dir])).code, 0);
    await inFolder('differences', { 'a.yaml': hook(false).replace('{ source: name,', '{ source: "`name`",') });
    const { out } = await docket(['plan', dir]);
    assert.match(out, /^change {3}settings\/settings\n {9}~ searchExactTotal: 900 → 800\n/m);
    assert.match(out, /integrations\/alarm\n {11}enabled until now: it is disabled\n {9}~ enabled: true → false\n/);
    assert.match(out, /importDefinitions\/people\n {11}in use: the next import follows the change\n/);
    const markdown = (await docket(['plan', dir, '--markdown'])).out;
    assert.match(markdown, /^### Docket: 3 changes; \d+ unchanged\n/);
    assert.match(markdown, /```diff\n- searchExactTotal: 900\n\+ searchExactTotal: 800\n```/);
    const [first] = JSON.parse((await docket(['plan', dir, '--json'])).out) as { differences: unknown[] }[];
    assert.deepEqual(first?.differences, [{ path: 'searchExactTotal', before: 900, after: 800 }]);
    assert.doesNotMatch(out, /\u001b/u, 'no colours outside a terminal');
  });

  it('applies parts of a bundle, lists versions and goes back to one', async () => {
    const version = async (): Promise<number> => Number((await docket(['config', 'version'])).out);
    const old = await version();
    const dir = await inFolder('part', {
      'calendars.yaml': 'calendars: [ { code: nights, timezone: UTC, week: { mon: ["20:00-23:00"] } } ]\n',
      'services.yaml': 'services: [ { code: coffee, name: Coffee } ]\n',
    });
    const part = path.join(dir, 'services.yaml');
    for (const command of ['plan', 'apply']) {
      refused(await docket([command, part, '--prune']), /is a part of a bundle/);
      refused(await docket([command, dir, '--prune']), /does not name .*workflows.*; pruning would archive/);
    }
    assert.match(
      (await docket(['apply', part, '--expected', String(old)])).out,
      /^create {3}services\/coffee\nApplied 1/m,
    );
    assert.equal(await version(), old + 1);
    const late = await docket(['apply', dir, '--expected', String(old)]);
    refused(late, /The configuration changed since version \d+; it is now version \d+\. Plan again/);
    assert.match(late.err, /"sections":\["services"\]/);
    assert.equal((await docket(['export', '--section', 'services,webhooks', dir])).code, 0);
    const yaml = (await readdir(dir)).filter((name) => name.endsWith('.yaml'));
    assert.deepEqual(yaml, ['calendars.yaml', 'services.yaml', 'webhooks.yaml'], 'other files stay; one says: none');

    const log = (await docket(['config', 'log'])).out.split('\n');
    assert.match(log[0] ?? '', new RegExp(`^${old + 1}  \\d{4}-.*Z  system: create services/coffee$`));
    const diff = (await docket(['config', 'diff', String(old), String(old + 1)])).out;
    assert.match(diff, /^create {3}services\/coffee\n.*\+ name: "Coffee"\n.*Found 1 changes; 0 unchanged\.\n$/s);
    const planned = await docket(['config', 'restore', String(old), '--plan']);
    assert.match(planned.out, /^archive {2}services\/coffee\nWould apply 1 changes/m);
    assert.equal(await version(), old + 1);
    assert.match((await docket(['config', 'restore', String(old)])).out, /^archive {2}services\/coffee\nApplied 1/m);
    assert.equal(
      (await docket(['config', 'diff', String(old), String(old + 2)])).out,
      'Nothing to change; 0 unchanged.\n',
    );
  });

  it('updates no schema without a request, and creates one in an empty database', async () => {
    const empty = await createEmptyDatabase();
    const client = new pg.Client({ connectionString: empty.url });
    await client.connect();
    try {
      const there = { DATABASE_URL: empty.url };
      refused(await docket(['audit', 'verify'], there), /0001-baseline is pending\): run docket migrate first/);
      refused(await docket(['plan', ITSM], { ...there, DOCKET_MIGRATE: 'off' }), /run docket migrate first/);
      refused(await docket(['serve'], { ...there, DOCKET_MIGRATE: 'off' }), /run docket migrate first/);
      await migrate(client);
      const next = await nextVersion(path.join(folder, 'next'), 'CREATE TABLE sample (id uuid PRIMARY KEY);');
      const nextDocket = (args: readonly string[]): Promise<CommandResult> =>
        runCommand(args, { ...env, ...there }, next);
      for (const args of [
        ['plan', ITSM],
        ['apply', ITSM],
        ['keys', 'list'],
        ['backup', path.join(folder, 'b')],
      ])
        refused(await nextDocket(args), /-sample is pending\): run docket migrate first/);
      const { rows } = await client.query(`SELECT to_regclass('sample') AS sample`);
      assert.deepEqual(rows, [{ sample: null }]);
      assert.equal((await nextDocket(['migrate'])).code, 0);
      assert.equal((await nextDocket(['apply', ITSM])).code, 0);
      // With DOCKET_MIGRATE=off the old version works on the newer schema, but makes no backup of it.
      refused(await docket(['keys', 'list'], there), /by a newer version of Docket/);
      const off = { ...there, DOCKET_MIGRATE: 'off' };
      assert.equal((await docket(['keys', 'list'], off)).code, 0);
      refused(await docket(['backup', path.join(folder, 'b')], off), /by a newer version of Docket/);
      // The database was found sound before the check that fails.
      const lines = (await docket(['doctor'], there)).out.split('\n');
      const names = lines.flatMap((line) => /^(?:ok  |FAIL) {2}([^:]+):/.exec(line)?.[1] ?? []);
      assert.deepEqual(names, [...new Set(names)]);
      assert.match(lines.join('\n'), /^FAIL {2}migrations: .*by a newer version of Docket/m);
      // A database of a build before the first release is not a newer one.
      await client.query(`UPDATE schema_migrations SET checksum = repeat('0', 64) WHERE name = '0001-baseline'`);
      for (const settings of [there, off])
        for (const args of [['migrate'], ['serve'], ['keys', 'list'], ['backup', path.join(folder, 'b')]])
          refused(await docket(args, settings), /made by a build of Docket before 0\.1\.0, which cannot be upgraded/);
    } finally {
      await client.end();
      await empty.drop();
    }
  });

  it('rejects a database that counts bytes instead of characters', async () => {
    const empty = await createEmptyDatabase();
    const client = new pg.Client({ connectionString: empty.url });
    await client.connect();
    const name = `docket_test_ascii_${process.pid}`;
    try {
      await client.query(`CREATE DATABASE ${name} ENCODING 'SQL_ASCII' LOCALE 'C' TEMPLATE template0`);
      const url = new URL(empty.url);
      url.pathname = `/${name}`;
      const there = { DATABASE_URL: url.toString() };
      refused(await docket(['migrate'], there), /has the encoding SQL_ASCII: .*ENCODING 'UTF8'/);
      assert.match((await docket(['doctor'], there)).out, /^FAIL {2}database: .*SQL_ASCII; create the database/m);
    } finally {
      await client.query(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
      await client.end();
      await empty.drop();
    }
  });

  it('rejects a bundle that is not UTF-8 and reports the position', async () => {
    // Windows-1251 for «Имя», which would be stored as three question marks.
    const bytes = Buffer.concat([
      Buffer.from('roles:\n  - code: clerk\n    name: '),
      Buffer.from([0xc8, 0xec, 0xff, 0x0a]),
    ]);
    refused(await docket(['apply', await inFolder('ansi', { 'a.yaml': bytes })]), /a\.yaml:3:1: The file is not UTF-8/);
    const nested = await inFolder('nested', {});
    await mkdir(path.join(nested, 'a.yaml'));
    refused(await docket(['plan', nested]), /it is a folder/);
  });

  it('stores no webhook to a private address unless the setting allows it', async () => {
    const text = (attempts: number): string =>
      [
        'users: [ { login: hooked } ]',
        'signingSecrets: [ private ]',
        'webhooks:',
        '  - code: private',
        '    endpoint: https://127.0.0.1:8443/hook',
        '    secretRef: private',
        '    executionPrincipal: hooked',
        '    eventTypes: [ObjectCreated]',
        `    retryPolicy: { maxAttempts: ${attempts} }`,
        '    enabled: false',
        '',
      ].join('\n');
    const dir = await inFolder('private', { 'hooks.yaml': text(3) });
    const place = /hooks\.yaml:5:15 webhooks\[0\]\.endpoint: The address is not public\./;
    for (const command of ['plan', 'apply']) refused(await docket([command, dir]), place);
    const allowed = await docket(['apply', dir], { DOCKET_WEBHOOK_ALLOW_PRIVATE: 'true' });
    assert.deepEqual([allowed.code, allowed.err], [0, '']);
    await inFolder('private', { 'hooks.yaml': text(4) });
    assert.match((await docket(['apply', dir])).out, /^change {3}webhooks\/private$/m, 'the endpoint stays');
  });

  it('sends a signed sample to a subscription or a URL, in the shape of real deliveries', async () => {
    const receiver = await startReceiver();
    try {
      const dir = await inFolder('sampled', {
        'hooks.yaml': `users: [{ login: sampler }]
signingSecrets: [sampled]
webhooks:
  - code: sampled
    endpoint: https://localhost:${receiver.port}/hook
    secretRef: sampled
    executionPrincipal: sampler
    eventTypes: [ObjectTransitioned]
    enabled: false
`,
      });
      const there = { DOCKET_WEBHOOK_ALLOW_PRIVATE: 'true' };
      assert.equal((await docket(['apply', dir], there)).code, 0);
      const test = ['webhooks', 'test', 'sampled'];
      refused(await docket(test, there), /The signing secret has no value yet/);
      const { secret } = JSON.parse((await docket(['secrets', 'create', 'sampled', '--json'])).out) as {
        secret: string;
      };
      const untrusted = await docket(test, there);
      assert.match(untrusted.out, /no answer: [A-Z_]*(?:SELF_SIGNED|UNABLE_TO_VERIFY)/);
      assert.match(untrusted.err, /The service would try again/);
      assert.match((await docket(test)).out, /not public/, 'the rule on addresses holds');

      await writeFile(path.join(folder, 'ca.pem'), receiver.ca);
      const trusting = { ...env, ...there, NODE_EXTRA_CA_CERTS: path.join(folder, 'ca.pem') };
      const sent = await spawned(test, trusting);
      assert.deepEqual([sent.code, sent.stderr], [0, '']);
      assert.match(sent.stdout, /^POST https:.*\n[^]*webhook-signature: v1,[^]*\n200 after \d+ ms\n/);
      const [request] = receiver.received;
      assert.ok(request);
      const { eventType } = await verifyWebhook({ secrets: [secret], headers: request.headers, body: request.raw });
      assert.equal(eventType, 'ObjectTransitioned');

      await writeFile(path.join(folder, 'secret'), `${secret}\n`);
      const bodies: string[] = [];
      const server = createServer((incoming, response) => {
        let body = '';
        incoming.setEncoding('utf8').on('data', (part: string) => {
          body += part;
        });
        incoming.on('end', () => {
          bodies.push(body);
          response.writeHead(bodies.length === 1 ? 401 : 202).end('heard');
        });
      });
      await new Promise<void>((resolve) => {
        server.listen(0, '127.0.0.1', resolve);
      });
      const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`;
      const toUrl = ['webhooks', 'test', url, '--secret-file', path.join(folder, 'secret')];
      const nowhere = { DATABASE_URL: NOWHERE };
      const rejected = await docket(toUrl, nowhere);
      assert.match(rejected.out, /401 after \d+ ms\nheard\n$/);
      assert.match(rejected.err, /would not try again/);
      const document = buildDocument(operationsOf(MODULES), { surface: 'public', events: collect(MODULES, 'events') });
      for (const event of WEBHOOK_EVENTS) assert.equal((await docket([...toUrl, '--event', event], nowhere)).code, 0);
      const delivered = bodies.slice(1).map((body) => JSON.parse(body) as { eventType: string });
      assert.deepEqual(
        delivered.map(({ eventType: one }) => one),
        [...WEBHOOK_EVENTS],
      );
      assert.deepEqual(
        delivered.flatMap((body) => deliveryProblems(document, body)),
        [],
      );
      server.closeAllConnections();
      server.close();
      refused(await docket(['webhooks', 'test', url]), /a URL needs --secret-file/, 2);
      refused(await docket([...test, '--secret-file', 'x']), /is for a URL/, 2);
      refused(await docket([...test, '--rule', 'none']), /no active rule with this code that posts/);
      refused(await docket([...test, '--rule', 'none', '--event', 'ObjectCreated']), /either --event or --rule/, 2);
      refused(await docket(['webhooks', 'test', 'absent']), /There is no such subscription/);
    } finally {
      await receiver.close();
    }
  });

  it('applies the bundles of the recipes to the starter configuration', async () => {
    for (const recipe of ['alertmanager', 'spreadsheet']) {
      const applied = await docket(['apply', path.resolve(ITSM, '../../deploy', recipe, 'docket')]);
      assert.deepEqual([applied.code, applied.err], [0, '']);
    }
  });

  it('exports into no folder that holds another bundle', async () => {
    const mine = await inFolder('mine', { 'mine.yaml': 'roles: []\n', 'notes.txt': 'kept' });
    refused(await docket(['export', mine]), /holds mine\.yaml, which would be read together/);
    assert.deepEqual(await readdir(mine), ['mine.yaml', 'notes.txt']);
    await rm(path.join(mine, 'mine.yaml'));
    assert.equal((await docket(['export', mine, '--identity'])).code, 0);
    assert.equal((await docket(['export', mine, '--identity'])).code, 0, 'over its own files');
    // Without users: a previous users file would remain and become outdated.
    refused(await docket(['export', mine]), /holds groups\.yaml, users\.yaml, which/);
    assert.match((await docket(['plan', mine, '--prune', '--prune-identity'])).out, /^Nothing to change/);
  });

  it('exports a bundle that plans without changes if nothing is configured', async () => {
    const plain = await createTestDatabase();
    try {
      const there = { DATABASE_URL: plain.url };
      const made = path.join(folder, 'bare');
      assert.equal((await docket(['export', made, '--identity'], there)).code, 0);
      const planned = await docket(['plan', made, '--prune', '--prune-identity'], there);
      assert.deepEqual([planned.code, planned.out], [0, 'Nothing to change; 0 unchanged.\n']);
    } finally {
      await plain.drop();
    }
  });

  it('reports what is wrong with a file instead of the system error', async () => {
    refused(
      await docket(['backup', path.join(folder, 'no', 'b.docket')]),
      /no\/\S+ cannot be read or written: .*does not exist/,
    );
    refused(await docket(['backup', 'verify', path.join(folder, 'none')]), /none cannot be read or written/);
    refused(await docket(['keys', 'list'], { DATABASE_URL: NOWHERE }), /no server answers there; .*DATABASE_URL/);
  });

  it('issues no key for incomplete or invalid options', async () => {
    const create = (...more: string[]): Promise<CommandResult> =>
      docket(['keys', 'create', '--owner', 'admin', '--name', 'k', '--scopes', 'all', ...more]);
    refused(await create('--allow', ''), /--allow needs at least one range/, 2);
    refused(await create('--scopes', ' , '), /\/scopes: Select at least one scope/);
    refused(await create('--name', ' '), /\/name: A name has 1 to 200 characters/);
    assert.match((await docket(['keys', 'list'])).out, /^There are no keys\.$/m);
    for (const command of ['revoke', 'rotate'])
      refused(await docket(['keys', command, 'first']), /There is no such key/);
    const made = await create('--allow', '10.0.0.0/8', '--expires', '2999-01-01T00:00:00Z');
    assert.equal(made.code, 0);
    assert.match((await docket(['keys', 'list'])).out, / expires 2999-01-01T\S+ {2}only from 10\.0\.0\.0\/8$/m);
  });

  it('prints its version', async () => {
    assert.match((await docket(['--version'])).out, /^\d+\.\d+\.\d+ \(commit [0-9a-f]{12}\)\n$/);
  });
});
