/**
 * Hands in every file of the named folders as a received mail (`npm run test:mail-corpus -- [--json FILE] FOLDER…`; needs
 * python3, whose mail parser is the second opinion). A file without header fields is taken as the text of a reply. It prints the
 * outcomes and what differs from the second opinion. Fails if a message was answered with an error, had a second effect, held
 * the event loop or took too much memory. What differs is for people to judge: many of these messages are malformed.
 */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { makeReplyToken, replyAddress, TOKEN_KEY } from '../../src/domain/mail/reply-token.ts';
import { makeThreads } from '../../src/domain/mail/store.ts';
import { Database } from '../../src/platform/database/pool.ts';
import { SecretBox } from '../../src/platform/secrets.ts';
import { startTestCluster } from '../support/cluster.ts';
import { docket, type Environment, freePort, startService } from './fault-service.ts';

const MAX_HELD_MS = 50;
const MAX_MEMORY_MIB = 1024;
const KEY = 'k'.repeat(32);
const SENDER = 'sender@corpus.example';
const MAILBOX = 'corpus@example.org';

const BUNDLE = `
types:
  - code: letter
    name: Letter
    title: title
    numbering: { prefix: LET, digits: 5 }
    fields:
      - { code: title, name: Title, dataType: string, required: true }
      - { code: description, name: Text, dataType: rich-text }
      - { code: requester, name: Requester, dataType: user }
mailboxes:
  - { code: corpus, address: ${MAILBOX}, type: letter, enabled: true }
users:
  - { login: corpus-sender, displayName: Sender, email: ${SENDER} }
  - { login: corpus-reader, displayName: Reader, email: reader@corpus.example }
roles:
  - code: corpus-sender
    records:
      - { type: letter, actions: [read, create, comment.create, attachment.add], fields: { read: '*', write: [title, description] } }
    assignedTo: { users: [corpus-sender] }
  - code: corpus-reader
    rights: [integration.manage]
    records:
      - { type: letter, actions: [read, comment.create, Private Comment], fields: { read: '*', write: [] } }
    assignedTo: { users: [corpus-reader] }
`;

/** What the second opinion found in a file. */
interface Parts {
  error?: string;
  type: string;
  subject: string | null;
  texts: { type: string; charset: string | null; words: string[] }[];
  files: { type: string; name: string | null; bytes: number; embedded: boolean }[];
}

interface Answer {
  id: string;
  state: string;
  reason: string | null;
  objectId: string | null;
  commentId: string | null;
}

/** What one file became. */
interface Result {
  folder: string;
  file: string;
  outcome: string;
  title?: string;
  text?: string;
  attachments?: string[];
  /** What differs from the second opinion. */
  surprises: string[];
  /** Processor time of the longest turn of the service's event loop during the request, in ms. */
  longestMs: number;
}

const { values: options, positionals: folders } = parseArgs({
  options: { json: { type: 'string' } },
  allowPositionals: true,
});
if (folders.length === 0) {
  process.stderr.write('Usage: npm run test:mail-corpus -- [--json FILE] FOLDER…\n');
  process.exit(2);
}

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}

async function filesOf(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { withFileTypes: true, recursive: true });
  const files = entries.filter((entry) => entry.isFile()).map((entry) => path.join(entry.parentPath, entry.name));
  return files.toSorted();
}

function secondOpinion(files: readonly string[]): Parts[] {
  const script = path.join(path.dirname(fileURLToPath(import.meta.url)), 'mail-parts.py');
  const output = execFileSync('python3', [script], { input: `${files.join('\n')}\n`, maxBuffer: 2 ** 30 });
  return output
    .toString()
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Parts);
}

function startsWithHeader(raw: Buffer): boolean {
  return /^(?:From |[!-9;-~]+[ \t]*:)/.test(raw.subarray(0, 1000).toString('latin1'));
}

/**
 * The message as if the known sender had written it. Its `Message-ID` is left out, so that two messages of a collection with one
 * id are judged both.
 */
function fromKnownSender(raw: Buffer): Buffer {
  const text = raw.toString('latin1');
  const end = /\r?\n\r?\n/.exec(text)?.index ?? text.length;
  const head = text
    .slice(0, end)
    .replace(/^From .*\r?\n/, '')
    .replace(/^(?:message-id|from)[ \t]*:.*(?:\r?\n[ \t].*)*(?:\r?\n)?/gim, '');
  return Buffer.from(`From: ${SENDER}\r\n${head}${text.slice(end)}`, 'latin1');
}

/** Character sequences of text that was decoded with a wrong charset: UTF-8 as Latin-1 or as Windows-1251. */
const MOJIBAKE =
  /Ã[\u0080-\u00bf©¨¤¶¼ŸŒ]|â€[™œ“”¦]|Ð[\u0080-\u00bf°±µ¾]|[РС][\u0080-\u00bf°±µ]{1}[РС][\u0080-\u00bf°±µ]|\ufffd/;

const lettersOf = (text: string): string =>
  text
    .normalize('NFKC')
    .replace(/[^\p{L}\p{N}]/gu, '')
    .toLowerCase();

/** Compares a used message with the second opinion. */
function surprisesOf(parts: Parts, found: { title: string; text: string; attachments: string[] }): string[] {
  const surprises: string[] = [];
  if (parts.error !== undefined) return surprises;
  const all = lettersOf(`${found.title} ${found.text} ${found.attachments.join(' ')}`);
  for (const { type, charset, words } of parts.texts) {
    const missing = words.filter((word) => !all.includes(lettersOf(word)));
    if (words.length === 0 || missing.length * 2 < words.length) continue;
    const sample = missing.slice(0, 5).join(' ');
    surprises.push(`${missing.length} of ${words.length} words of ${type} (${charset}) are missing: ${sample}`);
  }
  const files = parts.files.filter(({ bytes }) => bytes > 0);
  const [least, most] = [files.filter(({ embedded }) => !embedded).length, files.length];
  const notes = (found.text.match(/File not attached|Файл не приложен/g) ?? []).length;
  const count = found.attachments.length + notes;
  if (count < least || count > most) {
    const names = files.map(({ name, type }) => name ?? type).join(', ');
    surprises.push(`${count} files instead of ${least} to ${most}: [${found.attachments.join(', ')}] for [${names}]`);
  }
  if (parts.subject !== null && !lettersOf(parts.subject).startsWith(lettersOf(found.title).slice(0, 100))) {
    if (lettersOf(parts.subject) !== '') surprises.push(`the title ${found.title} for ${parts.subject}`);
  }
  const wrong = MOJIBAKE.exec(`${found.title}\n${found.text}\n${found.attachments.join('\n')}`);
  if (wrong !== null)
    surprises.push(`characters of a wrong charset: ${wrong.input.slice(wrong.index - 10, wrong.index + 20)}`);
  return surprises.map((line) => line.replace(/\s+/g, ' '));
}

/** Text of a stored rich text, a line for each text node. */
function plainText(value: unknown): string {
  if (typeof value !== 'object' || value === null) return '';
  if ('text' in value) return `${String(value.text)}\n`;
  return Object.values(value).map(plainText).join('');
}

function memoryMib(pid: number): number {
  return Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'latin1'))?.[1]) / 1024;
}

const scratch = await mkdtemp(path.join(tmpdir(), 'docket-mails-'));
const cluster = await startTestCluster();
const db = new Database({ url: cluster.url, max: 2 });
const env: Environment = {
  DOCKET_DATA_DIR: path.join(scratch, 'data'),
  DATABASE_URL: cluster.url,
  DOCKET_SECRET_KEY: KEY,
  DOCKET_PORT: String(await freePort()),
  TURN_METER: path.join(scratch, 'longest-turn'),
};
const METER = { NODE_OPTIONS: `--import=${new URL('./turn-meter.ts', import.meta.url).href}` };
await mkdir(path.join(scratch, 'bundle'));
await writeFile(path.join(scratch, 'bundle', 'mail.yaml'), BUNDLE);

async function run(args: readonly string[]): Promise<string> {
  const { code, stdout, stderr } = await docket(args, env);
  assert.equal(code, 0, `docket ${args.join(' ')}: ${stdout}${stderr}`);
  return stdout;
}

let service = await startService(env);
try {
  await service.stop();
  await run(['apply', path.join(scratch, 'bundle')]);
  const made = await run([
    'keys',
    'create',
    '--owner',
    'corpus-reader',
    '--name',
    'corpus',
    '--scopes',
    'all',
    '--json',
  ]);
  const { key } = JSON.parse(made) as { key: string };
  service = await startService({ ...env, ...METER });

  const request = async (method: string, route: string, body?: object): Promise<{ status: number; body: any }> => {
    const answer = await fetch(`${service.url}/api/v1${route}`, {
      method,
      headers: { authorization: `Bearer ${key}`, ...(body && { 'content-type': 'application/json' }) },
      ...(body && { body: JSON.stringify(body) }),
    });
    return { status: answer.status, body: await answer.json() };
  };
  const handIn = (raw: Buffer) => request('POST', '/mailboxes/corpus/messages', { raw: raw.toString('base64') });
  /** Processor time of the longest turn of the event loop since the last call, in ms. */
  const longestTurn = async (): Promise<number> => {
    const file = env['TURN_METER'] ?? '';
    await rm(file, { force: true });
    process.kill(service.pid, 'SIGUSR2');
    for (;;) {
      const text = await readFile(file, 'utf8').catch(() => '');
      if (text !== '') return Number(text);
      await sleep(5);
    }
  };

  /** Hands in a message. `isLong`: it held the event loop. */
  const timed = async (raw: Buffer) => {
    await longestTurn();
    const answer = await handIn(raw);
    const longestMs = await longestTurn();
    return { answer, longestMs, isLong: longestMs > MAX_HELD_MS };
  };

  /** Address of a reply to a record. */
  const replyTo = await (async (): Promise<string> => {
    const first = `From: ${SENDER}\r\nSubject: Answered\r\n\r\nThe record that is answered`;
    const answer = (await handIn(Buffer.from(first))).body.data as Answer;
    assert.equal(answer.state, 'USED', JSON.stringify(answer));
    const [user] = await db.query<{ id: string }>({ text: 'SELECT id FROM users WHERE email = $1', values: [SENDER] });
    const [thread] = await makeThreads(db, [{ objectId: answer.objectId ?? '', userId: user?.id ?? '' }]);
    assert.ok(thread);
    return replyAddress(MAILBOX, makeReplyToken(new SecretBox(KEY).deriveKey(TOKEN_KEY), thread, Date.now()));
  })();
  const asReply = (body: Buffer): Buffer => {
    const type = 'MIME-Version: 1.0\r\nContent-Type: text/plain; charset=utf-8';
    return Buffer.concat([Buffer.from(`From: ${SENDER}\r\nTo: ${replyTo}\r\nSubject: Re: x\r\n${type}\r\n\r\n`), body]);
  };

  const readUsed = async ({ objectId, commentId }: Answer) => {
    const record = (await request('GET', `/objects/${objectId}`)).body.data;
    const comments: { id: string; body: string }[] = (await request('GET', `/objects/${objectId}/comments`)).body.data;
    const attachments: { originalFilename: string }[] = (await request('GET', `/objects/${objectId}/attachments`)).body
      .data;
    const comment = comments.find(({ id }) => id === commentId)?.body ?? '';
    const text = `${plainText(record.values?.description ?? record.description)}${comment}`;
    return { title: String(record.title), text, attachments: attachments.map((one) => one.originalFilename) };
  };

  const seen = new Set<string>();
  const problems: string[] = [];
  const rowCount = async (): Promise<number> =>
    (await db.query<{ n: number }>({ text: 'SELECT count(*)::int AS n FROM mail_messages', values: [] }))[0]?.n ?? 0;

  const examine = async (folder: string, file: string, parts: Parts): Promise<Result> => {
    const raw = await readFile(file);
    const isReply = !startsWithHeader(raw);
    let message = isReply ? asReply(raw) : raw;
    let { answer, ...held } = await timed(message);
    let first = '';
    if (['SENDER_UNKNOWN', 'SENDER_INVALID'].includes(answer.body.data?.reason)) {
      if (answer.body.data.reason === 'SENDER_INVALID') first = 'SENDER_INVALID, then ';
      message = fromKnownSender(raw);
      ({ answer, ...held } = await timed(message));
    }
    const result: Result = {
      folder: path.basename(folder),
      file: path.basename(file),
      outcome: '',
      surprises: [],
      longestMs: held.longestMs,
    };
    // Three times: other work of the service takes time, too. Another message of this content is not known yet.
    for (let attempt = 1; held.isLong && attempt <= 3; attempt++) {
      if (attempt === 3)
        problems.push(`${file}: the event loop was held (${held.longestMs.toFixed(0)} ms of processor time)`);
      else held = await timed(Buffer.concat([message, Buffer.from('\n'.repeat(attempt))]));
    }
    if (answer.status !== 201) {
      problems.push(`${file}: ${answer.status} ${JSON.stringify(answer.body).slice(0, 300)}`);
      return { ...result, outcome: String(answer.status) };
    }
    const data = answer.body.data as Answer;
    const rows = await rowCount();
    const again = await handIn(message);
    const isSame = again.body.data?.id === data.id && again.body.data?.objectId === data.objectId;
    if (!isSame || (await rowCount()) !== rows) problems.push(`${file}: delivered again, it had another effect`);
    if (seen.has(data.id)) return { ...result, outcome: `${first}same message` };
    seen.add(data.id);
    if (data.state !== 'USED') return { ...result, outcome: `${first}${data.reason}` };
    const found = await readUsed(data);
    const outcome = isReply ? 'comment' : `${first}record`;
    return { ...result, ...found, outcome, surprises: isReply ? [] : surprisesOf(parts, found) };
  };

  const results: Result[] = [];
  for (const folder of folders) {
    const files = await filesOf(folder);
    const opinions = secondOpinion(files);
    for (const [index, file] of files.entries()) {
      results.push(await examine(folder, file, opinions[index] as Parts));
    }
    say(`${path.basename(folder)}: ${files.length} messages, ${memoryMib(service.pid).toFixed(0)} MiB at most`);
  }
  for (const { folder, file, surprises } of results) {
    for (const line of surprises) say(`${folder}/${file}: ${line}`);
  }
  const names = folders.map((folder) => path.basename(folder));
  const outcomes = [...new Set(results.map(({ outcome }) => outcome))].toSorted();
  say(`\n| outcome | ${names.join(' | ')} | all |\n|---|${names.map(() => '---|').join('')}---|`);
  for (const outcome of outcomes) {
    const of = results.filter((one) => one.outcome === outcome);
    const counts = names.map((name) => of.filter(({ folder }) => folder === name).length);
    say(`| ${outcome} | ${counts.join(' | ')} | ${of.length} |`);
  }
  const peak = memoryMib(service.pid);
  if (peak > MAX_MEMORY_MIB) problems.push(`${peak.toFixed(0)} MiB of memory`);
  if (options.json !== undefined) await writeFile(options.json, JSON.stringify(results, null, 1));
  const surprising = results.filter(({ surprises }) => surprises.length > 0).length;
  const longest = Math.max(...results.map((one) => one.longestMs)).toFixed(0);
  say(
    `\n${results.length} messages, ${surprising} with differences, at most ${peak.toFixed(0)} MiB, at most ${longest} ms of processor time in one turn of the event loop`,
  );
  for (const problem of problems) say(`PROBLEM ${problem}`);
  process.exitCode = problems.length === 0 ? 0 : 1;
} finally {
  await service.kill();
  await db.close();
  await cluster.stop();
  await rm(scratch, { recursive: true, force: true });
}
