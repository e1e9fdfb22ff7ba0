/** Mailboxes that are read over IMAP, by processes of the service that are killed at the worst moments. */
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { startTestApp, TEST_KEY, TEST_SECRETS, type TestApp } from '../../../test/support/app.ts';
import { ImapServer } from '../../../test/support/imap-server.ts';
import { bounce } from '../../../test/proofs/mail-bounces.ts';
import { mail } from '../../../test/support/mail-messages.ts';
import { bundle, changeRights, stored } from '../../../test/support/small-configuration.ts';
import { setSecret } from '../webhooks/index.ts';
import { leaseMailbox, listUnreadable, noteReading, releaseMailbox, type Unreadable } from './store.ts';

const WORKER = fileURLToPath(new URL('../../../test/proofs/webhook-sender-process.ts', import.meta.url));
const PATIENCE_MS = 60_000;

const world = (port: number): string => `
settings: { defaultLocale: en-US }
types:
  - code: incident
    name: Incident
    title: title
    numbering: { prefix: INC, digits: 4 }
    fields:
      - { code: title, dataType: string, required: true }
      - { code: description, dataType: text }
      - { code: requester, dataType: user }
signingSecrets: [support-mail]
mailboxes:
  - { code: support, address: support@example.org, type: incident, imap: { host: 127.0.0.1, port: ${port}, user: support, secretRef: support-mail }, enabled: true }
roles:
  - code: requester
    records:
      - { type: incident, where: { field: requester, operator: equals, value: $me }, actions: [read, create, comment.create], fields: { read: '*', write: [title, description] } }
    assignedTo: { users: [anna] }
  - { code: boss, rights: [integration.manage], assignedTo: { users: [boss] } }
users:
  - { login: boss, displayName: Boss }
  - { login: anna, displayName: Anna, email: anna@example.com }
`;

describe('a mailbox that is read over IMAP', () => {
  let app: TestApp;
  let server: ImapServer;
  const workers = new Set<ChildProcess>();
  before(async () => {
    server = await ImapServer.start({ user: 'support', password: 'a password' });
    app = await startTestApp({ bundle: bundle(world(server.port)) });
  });
  after(async () => {
    await Promise.all([...workers].map(kill));
    await app.close();
    await server.stop();
  });

  async function start(): Promise<ChildProcess> {
    const options = {
      databaseUrl: app.databaseUrl,
      ca: server.certificate.cert,
      key: TEST_KEY,
      limitMs: 10_000,
      leaseMs: 10_000,
    };
    const child = spawn(process.execPath, [WORKER, JSON.stringify(options)], { stdio: ['ignore', 'pipe', 'inherit'] });
    workers.add(child);
    await new Promise<void>((resolve, reject) => {
      child.stdout?.once('data', () => resolve());
      child.once('exit', (code) => reject(new Error(`a worker ended with ${code} before it was ready`)));
    });
    return child;
  }
  async function kill(child: ChildProcess): Promise<void> {
    workers.delete(child);
    if (child.exitCode === null && child.signalCode === null) {
      const gone = new Promise((resolve) => child.once('exit', resolve));
      child.kill('SIGKILL');
      await gone;
    }
    // As time does: another process need not wait for the end of the lease.
    await changeRights(app, 'UPDATE mailbox_readers SET until = now()', []);
  }
  async function until(done: () => boolean | Promise<boolean>): Promise<void> {
    for (const giveUp = Date.now() + PATIENCE_MS; !(await done()); await sleep(20)) {
      assert.ok(Date.now() < giveUp, `${server.seen().join()}; ${server.commands.slice(-10).join(' | ')}`);
    }
  }

  it('loses and doubles nothing if the process is killed between fetch and commit, or before the mark', async () => {
    const subjects = Array.from({ length: 10 }, (_, index) => `Printer ${index}`);
    for (const subject of subjects) server.deliver(mail({ subject }));
    let isDead = false;
    // Without a password, it cannot be read.
    let worker = await start();
    let unreadable: Unreadable[] = [];
    await until(async () => (unreadable = await listUnreadable(app.db)).length > 0);
    const [{ mailbox, error } = assert.fail()] = unreadable;
    assert.deepEqual([mailbox, error], ['support', 'The secret support-mail of a mailbox has no value.']);
    await kill(worker);
    await app.app.work.write(app.app.system(), (ctx) => setSecret(ctx, TEST_SECRETS, 'support-mail', 'a password'));
    worker = await start();
    // Delays after the content was sent: during parsing, about the commit, and after it.
    for (const delayMs of [0, 30]) {
      isDead = false;
      server.onSent = () => {
        setTimeout(() => {
          isDead = worker.kill('SIGKILL');
        }, delayMs);
      };
      await until(() => isDead || server.seen().every(Boolean));
      server.onSent = () => undefined;
      await kill(worker);
      worker = await start();
    }
    // After the commit for certain: the mark was asked for.
    isDead = false;
    server.breaksAtMark = () => {
      server.breaksAtMark = () => false;
      isDead = worker.kill('SIGKILL');
      return true;
    };
    await until(() => isDead);
    await kill(worker);
    worker = await start();
    await until(() => server.seen().every(Boolean));
    const rows = await stored<{ subject: string; state: string; n: number }>(
      app,
      'SELECT subject, state, count(*)::int AS n FROM mail_messages GROUP BY 1, 2',
    );
    assert.deepEqual(
      rows.map(({ subject, state, n }) => `${subject} ${state} ${n}`).sort(),
      subjects.map((subject) => `${subject} USED 1`).sort(),
    );
    const [made] = await stored<{ records: number; linked: number }>(
      app,
      'SELECT (SELECT count(*)::int FROM objects) AS records, (SELECT count(DISTINCT object_id)::int FROM mail_messages) AS linked',
    );
    assert.deepEqual(made, { records: 10, linked: 10 });
    // A message that arrives later is taken by the connection that waits.
    server.deliver(mail({ subject: 'Later' }));
    await until(() => server.seen().every(Boolean));
    assert.deepEqual(await listUnreadable(app.db), []);
    await kill(worker);
  });

  it('ties a bounce to the mail that it is about', async () => {
    const id = '01a206fc-9149-7d9e-b6de-00000000000a';
    const [box] = await stored<{ id: string }>(app, "SELECT id FROM config_items WHERE section = 'mailboxes'");
    await changeRights(
      app,
      `INSERT INTO mail_outgoing (id, user_id, notification_ids, status, due_at, next_at, finished_at, mailbox_id, address)
      SELECT $1, id, ARRAY[$1::uuid], 'SENT', now(), now(), now(), $2, email FROM users WHERE login = 'anna'`,
      [id, box?.id ?? ''],
    );
    const worker = await start();
    server.deliver(bounce({ about: `<docket.${id}.several@example.org>`, recipient: 'anna@example.com' }));
    await until(() => server.seen().every(Boolean));
    const rows = await stored(
      app,
      'SELECT b.error, m.reason FROM mail_bounces b JOIN mail_messages m USING (mail_id) WHERE b.mail_id = $1',
      [id],
    );
    const error = '550 5.1.1 <anna@example.com>: Recipient address rejected';
    assert.deepEqual(rows, [{ error, reason: 'BOUNCE' }]);
    await kill(worker);
  });

  it('is leased by one process at a time', async () => {
    const [box] = await stored<{ id: string }>(app, "SELECT id FROM config_items WHERE section = 'mailboxes'");
    const id = box?.id ?? '';
    const [first, second] = ['01a206fc-9149-7d9e-b6de-000000000001', '01a206fc-9149-7d9e-b6de-000000000002'];
    assert.equal(await leaseMailbox(app.db, id, first, 60_000), true);
    assert.equal(await leaseMailbox(app.db, id, second, 60_000), false);
    assert.equal(await leaseMailbox(app.db, id, first, 0), true);
    await sleep(10);
    assert.equal(await leaseMailbox(app.db, id, second, 60_000), true);
    await releaseMailbox(app.db, first, null);
    assert.equal(await leaseMailbox(app.db, id, first, 60_000), false);
    await releaseMailbox(app.db, second, id);
    assert.equal(await leaseMailbox(app.db, id, first, 60_000), true);
  });

  it('is reported while it cannot be read, with the time of the first failure', async () => {
    const { key } = await app.createKey({ login: 'boss', scopes: ['admin:manage'] });
    const reported = async (): Promise<Unreadable[]> =>
      (await app.request('GET', '/api/admin/v1/mail/received', { key })).body.data.unreadable;
    const [box] = await stored<{ id: string }>(app, "SELECT id FROM config_items WHERE section = 'mailboxes'");
    const id = box?.id ?? '';
    await noteReading(app.db, id, 'No route to the host.');
    const [first] = await reported();
    await sleep(10);
    await noteReading(app.db, id, `Wrong password: ${'x'.repeat(1000)}`);
    const [second] = await reported();
    assert.deepEqual([second?.mailbox, second?.since, second?.error.length], ['support', first?.since, 500]);
    const { body } = await app.request('GET', '/metrics');
    assert.match(String(body), /^docket_mailbox_unreadable_seconds 0?[.0-9]*[1-9]/m);
    await app.apply(bundle(world(server.port).replace('enabled: true', 'enabled: false')));
    await app.app.versions.refresh();
    assert.deepEqual(await reported(), []);
    await noteReading(app.db, id, null);
    await app.apply(bundle(world(server.port)));
    assert.deepEqual(await reported(), []);
  });
});
