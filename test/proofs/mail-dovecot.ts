/**
 * Reads a mailbox of Dovecot while the service and Dovecot's processes are killed (`npm run test:mail-dovecot [-- KILLS]`, as
 * root). Messages are delivered as files of the Maildir, as a delivery agent does. Fails if a message was lost, had two effects,
 * or was not marked.
 */
import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { chown, mkdir, mkdtemp, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import sql from 'sql-template-tag';
import { Database } from '../../src/platform/database/pool.ts';
import { makeCertificate } from '../support/certificate.ts';
import { startTestCluster } from '../support/cluster.ts';
import { docket, type Environment, freePort, type Service, startService } from './fault-service.ts';
import { contentCases, mail } from '../support/mail-messages.ts';

const KILLS = Number(process.argv[2] ?? '20');
const DOVECOT = '/usr/sbin/dovecot';
/** nobody: Dovecot opens no mail as root. */
const OWNER = 65_534;
const PATIENCE_MS = 120_000;
const PASSWORD = 'correct-horse';
const TOO_LARGE = 65 * 1024 * 1024;

const version = ((): string => {
  try {
    return execFileSync(DOVECOT, ['--version'], { encoding: 'utf8' }).trim();
  } catch {
    process.stderr.write('Dovecot is not installed: apt-get install dovecot-imapd\n');
    process.exit(1);
  }
})();
if (process.getuid?.() !== 0) {
  process.stderr.write('Dovecot needs root.\n');
  process.exit(1);
}

const folder = await mkdtemp(path.join(tmpdir(), 'docket-dovecot-'));
execFileSync('chmod', ['755', folder]);
const inbox = path.join(folder, 'mail');
for (const name of ['new', 'cur', 'tmp']) await mkdir(path.join(inbox, name), { recursive: true });
execFileSync('chown', ['-R', `${OWNER}:${OWNER}`, inbox]);
const { cert, key } = makeCertificate(['127.0.0.1']);
const certificate = path.join(folder, 'cert.pem');
await writeFile(certificate, cert);
await writeFile(path.join(folder, 'key.pem'), key);
const port = await freePort();
await writeFile(
  path.join(folder, 'dovecot.conf'),
  `base_dir = ${folder}/run
state_dir = ${folder}/state
log_path = ${folder}/dovecot.log
protocols = imap
listen = 127.0.0.1
ssl = required
ssl_cert = <${certificate}
ssl_key = <${folder}/key.pem
mail_location = maildir:${inbox}
first_valid_uid = 1
first_valid_gid = 1
service imap-login {
  inet_listener imap {
    port = 0
  }
  inet_listener imaps {
    port = ${port}
    ssl = yes
  }
}
passdb {
  driver = static
  args = password=${PASSWORD}
}
userdb {
  driver = static
  args = uid=${OWNER} gid=${OWNER} home=${inbox}
}
`,
);

let dovecot: ChildProcess | undefined;
function startDovecot(): void {
  dovecot = spawn(DOVECOT, ['-F', '-c', path.join(folder, 'dovecot.conf')], { stdio: 'inherit' });
}
async function stopDovecot(): Promise<void> {
  const running = dovecot;
  if (running === undefined) return;
  // They end after it.
  const pids = connections();
  const ended = new Promise((resolve) => running.once('exit', resolve));
  running.kill('SIGTERM');
  await ended;
  while (pids.some((pid) => existsSync(`/proc/${pid}`))) await sleep(50);
  dovecot = undefined;
}

/** Dovecot's processes that serve connections. */
function connections(): number[] {
  const children = execFileSync('ps', ['-o', 'pid=,comm=', '--ppid', String(dovecot?.pid)], { encoding: 'utf8' });
  return [...children.matchAll(/^ *(\d+) imap$/gm)].map(([, pid]) => Number(pid));
}
async function breakConnections(): Promise<void> {
  const pids = connections();
  assert.ok(pids.length > 0);
  for (const pid of pids) process.kill(pid, 'SIGKILL');
}

let delivered = 0;
/** Delivers a message as a delivery agent does: a file of `tmp` that is moved to `new`. */
async function deliver(raw: Uint8Array): Promise<void> {
  const name = `${Date.now()}.M${++delivered}.test`;
  const file = path.join(inbox, 'tmp', name);
  await writeFile(file, raw);
  await chown(file, OWNER, OWNER);
  await rename(file, path.join(inbox, 'new', name));
}
/** Number of messages by their flags, those without flags as ''. */
async function flags(): Promise<Record<string, number>> {
  const found: Record<string, number> = {};
  for (const name of ['new', 'cur']) {
    for (const file of await readdir(path.join(inbox, name))) {
      const set = /:2,(\w*)$/.exec(file)?.[1] ?? '';
      found[set] = (found[set] ?? 0) + 1;
    }
  }
  return found;
}

const cluster = await startTestCluster();
const db = new Database({ url: cluster.url, max: 3 });
const env: Environment = {
  DOCKET_DATA_DIR: path.join(folder, 'data'),
  DATABASE_URL: cluster.url,
  DOCKET_SECRET_KEY: 'k'.repeat(32),
  DOCKET_PORT: String(await freePort()),
  DOCKET_IMAP_ALLOW_PRIVATE: 'true',
  NODE_EXTRA_CA_CERTS: certificate,
};
await mkdir(path.join(folder, 'bundle'));
await writeFile(
  path.join(folder, 'bundle', 'mail.yaml'),
  `signingSecrets: [support-mail]
mailboxes:
  - code: support
    address: support@example.org
    type: incident
    defaults: { priority: p3 }
    imap: { host: 127.0.0.1, port: ${port}, user: support@example.org, secretRef: support-mail }
    enabled: true
users:
  - { login: anna-mail, displayName: Anna, email: anna@example.com }
roles:
  - code: mail-sender
    records:
      - { type: incident, where: { field: requester, operator: equals, value: $me }, actions: [read, create, comment.create, attachment.add], fields: { read: '*', write: [title, description] } }
    assignedTo: { users: [anna-mail] }
`,
);

async function run(args: readonly string[], input = ''): Promise<string> {
  const { code, stdout, stderr } = await docket(args, env, input);
  assert.equal(code, 0, `docket ${args.join(' ')}: ${stdout}${stderr}`);
  return stdout;
}
async function count(text: ReturnType<typeof sql>): Promise<number> {
  return (await db.query<{ n: number }>(text))[0]?.n ?? 0;
}
const rows = (): Promise<number> => count(sql`SELECT count(*)::int AS n FROM mail_messages`);
async function until(what: string, done: () => Promise<boolean>): Promise<void> {
  for (const giveUp = Date.now() + PATIENCE_MS; !(await done()); await sleep(50)) {
    assert.ok(Date.now() < giveUp, `${what}: ${await rows()} rows, ${JSON.stringify(await flags())}`);
  }
}
const allMarked = async (): Promise<boolean> => Object.keys(await flags()).every((set) => set.includes('S'));
/** As time does: the next process need not wait for the end of the lease. */
const endLease = (): Promise<unknown> => db.query(sql`UPDATE mailbox_readers SET until = now()`);
function say(line: string): void {
  process.stdout.write(`${line}\n`);
}

let service: Service | undefined;
async function restart(): Promise<void> {
  await service?.kill();
  await endLease();
  service = await startService(env);
}

/** Messages by their subject; each is one record. */
let subjects = 0;
const next = (): Promise<void> => deliver(mail({ subject: `Message ${++subjects}` }));
let others = 0;

async function fetchAll(): Promise<void> {
  for (let index = 0; index < 100; index++) await next();
  const began = performance.now();
  startDovecot();
  service = await startService(env);
  await until('the messages that were there', allMarked);
  say(`100 messages that were there: read in ${((performance.now() - began) / 1000).toFixed(1)} s, with both starts`);
  const cases = contentCases();
  for (const { raw } of cases) await deliver(raw);
  others += cases.length;
  await until('messages of every kind', allMarked);
  say(`${cases.length} messages of every structure and character set`);
  const delays: number[] = [];
  for (let index = 0; index < 5; index++) {
    // Long enough for the connection to wait with IDLE.
    await sleep(1500);
    const start = performance.now();
    await next();
    await until('a message that arrives', allMarked);
    delays.push(performance.now() - start);
  }
  say(`5 messages that arrived while the connection waited: marked after at most ${Math.max(...delays).toFixed(0)} ms`);
}

/** The server shows all messages as unseen again, and has a second copy of each. */
async function repeat(): Promise<void> {
  const before = await rows();
  await stopDovecot();
  const files = await readdir(path.join(inbox, 'cur'));
  for (const file of files) {
    const name = file.replace(/:2,.*$/, '');
    await rename(path.join(inbox, 'cur', file), path.join(inbox, 'new', name));
    execFileSync('cp', ['-p', path.join(inbox, 'new', name), path.join(inbox, 'new', `${name}-again`)]);
  }
  startDovecot();
  await restart();
  await until('repeated messages', allMarked);
  assert.equal(await rows(), before);
  say(`${files.length} messages unseen again, and a copy of each: no effect`);
}

/** Holds the effect of a message back: the service has fetched it, and its statement waits for the lock. */
async function betweenFetchAndCommit(act: () => Promise<void>): Promise<void> {
  await db.transaction(
    'BEGIN',
    async (tx) => {
      await tx.query(sql`LOCK TABLE mail_messages IN SHARE MODE`);
      await next();
      await until('a statement that waits', async () => {
        const waiting = sql`SELECT count(*)::int AS n FROM pg_locks WHERE relation = 'mail_messages'::regclass AND NOT granted`;
        return (await count(waiting)) > 0;
      });
      await act();
    },
    () => true,
  );
}

async function kills(): Promise<void> {
  for (let index = 0; index < 3; index++) {
    const before = await rows();
    await betweenFetchAndCommit(async () => {
      await service?.kill();
      // The database does not notice while the statement waits, and would run it.
      await db.query(sql`SELECT pg_terminate_backend(pid) FROM pg_locks
        WHERE relation = 'mail_messages'::regclass AND NOT granted`);
    });
    await sleep(500);
    assert.equal(await rows(), before, 'nothing was committed');
    await restart();
    await until('a message whose reader was killed', allMarked);
    assert.equal(await rows(), before + 1);
  }
  say('3 kills of the service between fetch and commit');
  for (let index = 0; index < 3; index++) {
    const before = await rows();
    await betweenFetchAndCommit(breakConnections);
    await until('the commit', async () => (await rows()) === before + 1);
    assert.ok(!(await allMarked()), 'it was not marked');
    await until('a message whose mark was lost', allMarked);
    assert.equal(await rows(), before + 1);
  }
  say('3 connections broken between commit and mark');
  for (let index = 0; index < KILLS; index++) {
    for (let more = 0; more < 10; more++) await next();
    await sleep(Math.random() * 600);
    await restart();
  }
  await until('messages during kills', allMarked);
  say(`${KILLS} kills of the service at any moment, ${KILLS * 10} messages`);
  await service?.kill();
  await next();
  const start = performance.now();
  service = await startService(env);
  await until('a message after a kill', allMarked);
  say(`after a kill another process took over in ${((performance.now() - start) / 1000).toFixed(1)} s, with its start`);
}

async function unreadable(): Promise<void> {
  await stopDovecot();
  const noted = sql`SELECT count(*)::int AS n FROM mailbox_readers WHERE failing_since IS NOT NULL`;
  // The first failure is that the server closed the connection; the next attempt is refused.
  const refused = sql`SELECT count(*)::int AS n FROM mailbox_readers WHERE error LIKE '%ECONNREFUSED%'`;
  await until('the note of the failure', async () => (await count(refused)) === 1);
  const { code, stdout } = await docket(['doctor'], env);
  const line = stdout.split('\n').find((one) => one.includes('mailboxes')) ?? '';
  assert.match(line, /^FAIL {2}mailboxes: cannot be read: support since 20.*ECONNREFUSED/);
  assert.equal(code, 1);
  say(line);
  startDovecot();
  await next();
  await until('a message after the server was away', allMarked);
  await until('the end of the failure', async () => (await count(noted)) === 0);
  assert.match((await docket(['doctor'], env)).stdout, /^ok {4}mailboxes/m);
}

async function tooLarge(): Promise<void> {
  const line = `${'a'.repeat(76)}\r\n`;
  await deliver(mail({ subject: 'Large', body: line.repeat(TOO_LARGE / line.length) }));
  others++;
  await until('a message that is too large', allMarked);
  assert.equal((await flags())['FS'], 1);
  const [row] = await db.query<{ reason: string; size: number }>(
    sql`SELECT reason, size FROM mail_messages WHERE subject = 'Large'`,
  );
  assert.ok(row?.reason === 'TOO_LARGE' && row.size > 64 * 1024 * 1024, JSON.stringify(row));
  say(`a message of ${row.size} bytes: in the list, flagged`);
}

async function compare(): Promise<void> {
  const found = await db.query<{ subject: string; state: string; n: number; records: number }>(sql`
    SELECT subject, state, count(*)::int AS n, count(DISTINCT object_id)::int AS records
    FROM mail_messages WHERE subject ~ '^Message \\d+$' GROUP BY 1, 2`);
  const wrong = found.filter(({ state, n, records }) => state !== 'USED' || n !== 1 || records !== 1);
  assert.deepEqual(wrong, []);
  assert.equal(found.length, subjects, 'nothing is lost');
  const records = await count(sql`SELECT count(*)::int AS n FROM objects WHERE title ~ '^Message \\d+$'`);
  assert.equal(records, subjects, 'nothing is doubled');
  assert.equal(await rows(), subjects + others);
  const used = await count(sql`SELECT count(*)::int AS n FROM mail_messages WHERE state = 'USED'`);
  assert.equal(await count(sql`SELECT count(DISTINCT object_id)::int AS n FROM mail_messages`), used);
  say(`Dovecot ${version}: ${subjects + others} messages, none lost, none with two effects.`);
}

try {
  // The first start creates the record types of the starter.
  service = await startService(env);
  await service.stop();
  await run(['apply', path.join(folder, 'bundle')]);
  await run(['secrets', 'set', 'support-mail'], PASSWORD);
  await fetchAll();
  await repeat();
  await kills();
  await unreadable();
  await tooLarge();
  await compare();
} finally {
  await service?.kill();
  await stopDovecot();
  await db.close();
  await cluster.stop();
  await rm(folder, { recursive: true, force: true });
}
