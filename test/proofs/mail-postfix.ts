/**
 * Mails between the service and Postfix (`npm run test:mail-postfix [-- MAILS]`, as root): sent over SMTP with STARTTLS, delivered
 * to boxes, handed in by deploy/postfix/docket-mail, signed with DKIM, returned as bounces, refused for the time being, and while
 * Postfix and the service are killed. Fails if a mail was lost, or was delivered twice with different message ids.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import assert from 'node:assert/strict';
import { generateKeyPairSync, type KeyObject } from 'node:crypto';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { simpleParser } from 'mailparser';
import { createTransport } from 'nodemailer';
import sql from 'sql-template-tag';
import { Database } from '../../src/platform/database/pool.ts';
import { startTestCluster } from '../support/cluster.ts';
import { docket, type Environment, freePort, type Service, startService } from './fault-service.ts';
import { Postfix, postfixVersion } from './postfix.ts';

const MAILS = Number(process.argv[2] ?? '100');
const KILLS = 10;
const PATIENCE_MS = 180_000;
const PYTHON = '/usr/bin/python3';

const version = postfixVersion();
const hasDkim = spawnSync(PYTHON, ['-c', 'import dkim']).status === 0;
if (version === undefined || !hasDkim || process.getuid?.() !== 0) {
  process.stderr.write('It needs root, Postfix and dkimpy: apt-get install postfix python3-dkim\n');
  process.exit(1);
}

const folder = await mkdtemp(path.join(tmpdir(), 'docket-postfix-'));
execFileSync('chmod', ['755', folder]);
const cluster = await startTestCluster();
const db = new Database({ url: cluster.url, max: 3 });
const smtpPort = await freePort();
const base: Environment = {
  DOCKET_DATA_DIR: path.join(folder, 'data-docket'),
  DATABASE_URL: cluster.url,
  DOCKET_SECRET_KEY: 'k'.repeat(32),
  DOCKET_PORT: String(await freePort()),
};
const url = `http://127.0.0.1:${base['DOCKET_PORT']}`;
const PEOPLE = ['anna', 'ghost', 'later'];
await mkdir(path.join(folder, 'bundle'));
await writeFile(
  path.join(folder, 'bundle', 'mail.yaml'),
  `settings: { defaultLocale: en-US }
mailboxes:
  - code: support
    address: support@example.org
    type: incident
    defaults: { priority: p3 }
    enabled: true
users:
  - { login: boss-mail, displayName: Boss }
  - { login: mail-server, displayName: Mail server }
${PEOPLE.map((login) => `  - { login: ${login}-mail, displayName: Person ${login}, email: ${login}@example.com }`).join('\n')}
roles:
  - code: boss-mail
    rights: [integration.manage]
    records: [{ type: incident, actions: [read, create, comment.create], fields: { read: '*', write: '*' } }]
    assignedTo: { users: [boss-mail] }
  - { code: mail-server, rights: [integration.manage], assignedTo: { users: [mail-server] } }
  - code: mail-people
    records: [{ type: incident, actions: [read, create, comment.create], fields: { read: '*', write: [title, description] } }]
    assignedTo: { users: [${PEOPLE.map((login) => `${login}-mail`).join(', ')}] }
`,
);

let env = base;
let service: Service | undefined;
let postfix: Postfix | undefined;
let signing: KeyObject | undefined;
let bossKey = '';

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}
function theService(): Service {
  return service ?? assert.fail('the service does not run');
}
function thePostfix(): Postfix {
  return postfix ?? assert.fail('Postfix does not run');
}
async function run(args: readonly string[]): Promise<string> {
  const { code, stdout, stderr } = await docket(args, env);
  assert.equal(code, 0, `docket ${args.join(' ')}: ${stdout}${stderr}`);
  return stdout;
}
async function newKey(owner: string, scopes: string): Promise<string> {
  const made = await run(['keys', 'create', '--owner', owner, '--name', 'test', '--scopes', scopes, '--json']);
  return (JSON.parse(made) as { key: string }).key;
}
async function call(method: string, place: string, body?: unknown): Promise<any> {
  const answer = await fetch(`${url}${place}`, {
    method,
    headers: { Authorization: `Bearer ${bossKey}`, 'Content-Type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await answer.text();
  assert.ok(answer.ok, `${method} ${place}: ${text}`);
  return JSON.parse(text).data;
}
async function until(what: string, done: () => Promise<boolean>): Promise<void> {
  for (const giveUp = Date.now() + PATIENCE_MS; !(await done()); await sleep(100)) {
    if (Date.now() < giveUp) continue;
    const log = (await postfix?.log())?.split('\n').slice(-30).join('\n') ?? '';
    const rows = await db.query(
      sql`SELECT status, count(*)::int AS n, max(error) AS error FROM mail_outgoing GROUP BY 1`,
    );
    assert.fail(`${what}: ${JSON.stringify(rows)}\n${log}`);
  }
}
async function count(text: ReturnType<typeof sql>): Promise<number> {
  return (await db.query<{ n: number }>(text))[0]?.n ?? 0;
}

const userIds = new Map<string, string>();
/** A record whose assignee gets a mail. @returns its id */
async function assign(title: string, login: string): Promise<string> {
  const values = { title, assignee: userIds.get(`${login}-mail`) };
  return (await call('POST', '/api/v1/objects', { typeDefinitionId: 'incident', values })).id;
}
interface Outgoing {
  id: string;
  status: string;
  attempts: number;
  error: string | null;
}
async function mailOf(objectId: string): Promise<Outgoing | undefined> {
  const rows = await db.query<Outgoing>(
    sql`SELECT id, status, attempts, error FROM mail_outgoing WHERE object_id = ${objectId}::uuid`,
  );
  return rows[0];
}
/** As time does: mails whose attempt failed are due. The lease of a running attempt ends later. */
const makeDue = (): Promise<unknown> =>
  db.query(sql`
    UPDATE mail_outgoing SET next_at = now() WHERE status = 'PENDING' AND attempts > 0 AND next_at < now() + interval '5 minutes'`);

/** The mail program of a person. */
async function write(message: { to: string; subject: string; text: string; messageId?: string; inReplyTo?: string }) {
  const ca = await readFile(thePostfix().certificate, 'utf8');
  const transport = createTransport({
    host: '127.0.0.1',
    port: smtpPort,
    secure: false,
    requireTLS: true,
    tls: { ca },
  });
  try {
    await transport.sendMail({ from: 'Anna <anna@example.com>', ...message });
  } finally {
    transport.close();
  }
}
const messageIdOf = (raw: Buffer): string => /^message-id:\s*(<[^>]*>)/im.exec(raw.toString('latin1'))?.[1] ?? '';

async function restartService(): Promise<void> {
  await service?.kill();
  service = await startService(env);
}
async function restartPostfix(): Promise<void> {
  await thePostfix().kill();
  await thePostfix().start();
}

async function setUp(): Promise<void> {
  // The first start creates the record types of the starter.
  service = await startService(base);
  await service.stop();
  await run(['apply', path.join(folder, 'bundle')]);
  bossKey = await newKey('boss-mail', 'all,admin:manage');
  const users = await db.query<{ id: string; login: string }>(sql`SELECT id, login FROM users`);
  for (const { id, login } of users) userIds.set(login, id);
  await mkdir(path.join(folder, 'postfix'), { mode: 0o755 });
  postfix = await Postfix.create({
    folder: path.join(folder, 'postfix'),
    port: smtpPort,
    boxes: ['anna@example.com', 'later@example.com'],
    docket: { url, key: await newKey('mail-server', 'integrations:execute') },
  });
  const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  signing = publicKey;
  const keyFile = path.join(folder, 'dkim.pem');
  await writeFile(keyFile, privateKey.export({ type: 'pkcs8', format: 'pem' }));
  env = {
    ...base,
    DOCKET_PUBLIC_URL: 'http://desk.example.org',
    DOCKET_SMTP_URL: `smtp://127.0.0.1:${smtpPort}`,
    DOCKET_DKIM: `desk@example.org:${keyFile}`,
    NODE_EXTRA_CA_CERTS: postfix.certificate,
  };
  await postfix.start();
  service = await startService(env);
}

/** dkimpy, with the key as the only DNS record. */
const VERIFY = `import sys, dkim
record = b'v=DKIM1; k=rsa; p=' + sys.argv[1].encode()
names = []
def txt(name, timeout=5):
    names.append(name)
    return record
print(dkim.verify(sys.stdin.buffer.read(), dnsfunc=txt), names[0].decode() if names else '')
`;
function verified(raw: Buffer): string {
  const key = (signing ?? assert.fail()).export({ type: 'spki', format: 'der' }).toString('base64');
  return execFileSync(PYTHON, ['-c', VERIFY, key], { input: raw, encoding: 'utf8' }).trim();
}

async function thereAndBack(): Promise<void> {
  const id = await assign('Принтер не печатает', 'anna');
  await until('a mail to Anna', async () => (await thePostfix().box('anna@example.com')).length === 1);
  const [raw = Buffer.of()] = await thePostfix().box('anna@example.com');
  const mail = await simpleParser(raw);
  assert.match(String(mail.headers.get('received')), /using TLSv1\.[23]/);
  assert.match(raw.toString('latin1'), /^Return-Path: <support@example\.org>/m);
  say(`sent with STARTTLS and delivered: ${mail.subject}`);
  assert.equal(verified(raw), 'True desk._domainkey.example.org.');
  const changed = Buffer.from(raw.toString('latin1').replace('support+', 'support+a'), 'latin1');
  assert.notEqual(changed.length, raw.length);
  assert.match(verified(changed), /^False/);
  say('the DKIM signature of the delivered mail is valid for dkimpy, and not after a change of Reply-To');
  const to = mail.replyTo?.value[0]?.address ?? assert.fail('no Reply-To');
  await write({ to, subject: `Re: ${mail.subject}`, text: 'It prints again.', inReplyTo: mail.messageId ?? '' });
  let comments: any[] = [];
  await until('the comment', async () => (comments = await call('GET', `/api/v1/objects/${id}/comments`)).length > 0);
  assert.deepEqual([comments.length, comments[0].body], [1, 'It prints again.']);
  assert.equal(comments[0].author.displayName, 'Person anna');
  say('the reply came back through the transport and became a comment');
}

async function bounced(): Promise<void> {
  const id = await assign('Nobody gets this', 'ghost');
  let found: any;
  await until('a bounce', async () => {
    const { items } = await call('GET', '/api/admin/v1/mail/sent?state=BOUNCED');
    found = items.find((one: any) => one.objectId === id);
    return found !== undefined;
  });
  assert.match(found.error, /^5\.1\.1 .*ghost@example\.com/);
  const { items } = await call('GET', '/api/admin/v1/mail/received?state=LISTED');
  const bounce = items.find((one: any) => one.sentMail?.id === found.id) ?? assert.fail('the bounce is not listed');
  assert.deepEqual([bounce.reason, bounce.sentMail.state], ['BOUNCE', 'BOUNCED']);
  say(`an unknown recipient: ${bounce.subject} | ${found.error}`);
}

async function refusedForNow(): Promise<void> {
  await thePostfix().refuse(['later@example.com']);
  await restartPostfix();
  const id = await assign('Later', 'later');
  await until('a refusal', async () => (await mailOf(id))?.error?.includes('450') === true);
  const refused = await mailOf(id);
  assert.deepEqual([refused?.status, refused?.attempts], ['PENDING', 1]);
  await thePostfix().refuse([]);
  await restartPostfix();
  await makeDue();
  await until('the next attempt', async () => (await thePostfix().box('later@example.com')).length === 1);
  await until('its note', async () => (await mailOf(id))?.status === 'SENT');
  say(`refused for the time being, then sent: ${refused?.error}`);
}

async function killsWhileSending(): Promise<void> {
  const before = new Set((await thePostfix().box('anna@example.com')).map(messageIdOf));
  const ids: string[] = [];
  const made = (async () => {
    for (let index = 0; index < MAILS; index++) {
      ids.push(await assign(`Mail ${index}`, 'anna'));
      await sleep(Math.random() * 200);
    }
  })();
  for (let index = 0; index < KILLS; index++) {
    await sleep(500 + Math.random() * 1500);
    await restartPostfix();
    await makeDue();
  }
  await made;
  const sent = sql`SELECT count(*)::int AS n FROM mail_outgoing WHERE status = 'SENT' AND object_id = ANY(${ids}::uuid[])`;
  await until('all mails', async () => {
    await makeDue();
    return (await count(sent)) === MAILS;
  });
  await until('an empty queue', async () => (await thePostfix().queued()) === 0);
  const delivered = (await thePostfix().box('anna@example.com')).map(messageIdOf).filter((id) => !before.has(id));
  const wanted = await db.query<{ id: string; objectId: string }>(
    sql`SELECT id, object_id AS "objectId" FROM mail_outgoing WHERE object_id = ANY(${ids}::uuid[])`,
  );
  const expected = wanted.map(({ id, objectId }) => `<docket.${id}.${objectId}@example.org>`);
  assert.deepEqual([...new Set(delivered)].sort(), expected.sort(), 'each mail arrived, and no other');
  assert.equal(expected.length, MAILS);
  const failed = await count(
    sql`SELECT sum(attempts - 1)::int AS n FROM mail_outgoing WHERE object_id = ANY(${ids}::uuid[])`,
  );
  say(
    `${MAILS} mails sent during ${KILLS} kills of Postfix: ${delivered.length} delivered with ${MAILS} message ids, ${failed} attempts repeated`,
  );
}

async function killsWhileReceiving(): Promise<void> {
  let repeated = 0;
  const written = (async () => {
    for (let index = 0; index < MAILS; index++) {
      const message = {
        to: 'support@example.org',
        subject: `Incoming ${index}`,
        text: 'Help',
        messageId: `<in${index}@example.com>`,
      };
      // As mail programs do: until a server takes it.
      while (
        !(await write(message).then(
          () => true,
          () => false,
        ))
      ) {
        repeated++;
        await sleep(200);
      }
    }
  })();
  for (let index = 0; index < KILLS; index++) {
    await sleep(500 + Math.random() * 1500);
    await restartPostfix();
    if (index % 3 === 1) await restartService();
  }
  await written;
  const used = sql`SELECT count(*)::int AS n FROM mail_messages WHERE state = 'USED' AND subject LIKE 'Incoming %'`;
  await until('all records', async () => (await count(used)) === MAILS && (await thePostfix().queued()) === 0);
  const records = await count(sql`SELECT count(*)::int AS n FROM objects WHERE title LIKE 'Incoming %'`);
  const titles = await count(sql`SELECT count(DISTINCT title)::int AS n FROM objects WHERE title LIKE 'Incoming %'`);
  assert.deepEqual([records, titles], [MAILS, MAILS], 'each mail became one record');
  say(
    `${MAILS} mails received during ${KILLS} kills of Postfix and 3 of the service: ${records} records, ${repeated} refused attempts repeated`,
  );
}

async function serviceAway(): Promise<void> {
  await theService().kill();
  await write({ to: 'support@example.org', subject: 'While away', text: 'Help' });
  await until('a deferred mail', async () => /status=deferred .*temporary failure/.test(await thePostfix().log()));
  service = await startService(env);
  const made = sql`SELECT count(*)::int AS n FROM objects WHERE title = 'While away'`;
  await until('the record', async () => (await count(made)) === 1);
  say('a mail that arrived while the service was away waited in the queue and became a record');
}

try {
  await setUp();
  const began = performance.now();
  await thereAndBack();
  await bounced();
  await refusedForNow();
  await killsWhileSending();
  await killsWhileReceiving();
  await serviceAway();
  const listed = await count(sql`SELECT count(*)::int AS n FROM mail_messages WHERE state = 'LISTED'`);
  assert.equal(listed, 1, 'nothing but the bounce is in the list');
  say(`Postfix ${version}: no mail lost, in ${((performance.now() - began) / 1000).toFixed(0)} s`);
} finally {
  await service?.kill();
  await postfix?.kill();
  await db.close();
  await cluster.stop();
  await rm(folder, { recursive: true, force: true });
}
