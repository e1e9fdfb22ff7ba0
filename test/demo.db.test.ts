/** `npm run demo`: a filled Docket for people who look around before they configure anything. */
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { chooseLanguage, type Language, LANGUAGES, readDemo } from '../demo/content.ts';
import { PASSWORD } from '../demo/fill.ts';
import { isObject } from '../src/lib/json.ts';

const MAIN = path.join(import.meta.dirname, '..', 'demo', 'main.ts');

/** Keys and lengths, without the texts. */
function shapeOf(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(shapeOf);
  if (!isObject(value)) return typeof value;
  const members = Object.entries(value).map(([key, one]): [string, unknown] => [key, shapeOf(one)]);
  return Object.fromEntries(members.sort(([a], [b]) => (a < b ? -1 : 1)));
}

interface Running {
  child: ChildProcess;
  url: string;
  said: string;
}

/** Starts the demo and waits until it has said how to sign in. */
async function start(args: readonly string[], env: Record<string, string> = {}): Promise<Running> {
  // What another Docket of this machine is set to must not matter.
  const others = { DATABASE_URL: 'postgres://nobody@127.0.0.1:1/other', DOCKET_PORT: '1', DOCKET_DATA_DIR: '/nowhere' };
  const child = spawn(process.execPath, [MAIN, ...args], { env: { ...process.env, ...others, ...env } });
  let said = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (said += chunk.toString()));
  while (!said.includes('Ctrl-C')) {
    assert.equal(child.exitCode, null, said);
    await sleep(50);
  }
  return { child, said, url: /Open +(\S+)/.exec(said)?.[1] ?? '' };
}

async function stop({ child }: Running): Promise<void> {
  if (child.exitCode !== null) return;
  child.kill('SIGINT');
  const [code] = await once(child, 'close');
  assert.equal(code, 0);
}

/** Calls as a user who has signed in with the password. */
async function signIn(url: string, login: string): Promise<(at: string) => Promise<any>> {
  const headers = { 'content-type': 'application/json', origin: url };
  const body = JSON.stringify({ login, password: PASSWORD });
  const response = await fetch(`${url}/api/admin/v1/session`, { method: 'POST', headers, body });
  assert.ok(response.ok, `${login}: ${response.status} ${await response.clone().text()}`);
  const cookie = response.headers
    .getSetCookie()
    .map((one) => one.split(';')[0])
    .join('; ');
  return async (at) => {
    const answer = await fetch(`${url}/api/admin/v1${at}`, { headers: { cookie } });
    assert.equal(answer.status, 200, `${login} ${at}: ${await answer.clone().text()}`);
    return ((await answer.json()) as { data: unknown }).data;
  };
}

describe('the content of the demo', () => {
  it('has the same shape in both languages, and a text for all that the company has', async () => {
    const [russian, english] = [await readDemo('ru'), await readDemo('en')];
    assert.deepEqual(shapeOf(russian.texts), shapeOf(english.texts));
    const { company, texts } = russian;
    for (const section of ['incidents', 'problems', 'requests'] as const) {
      assert.deepEqual(Object.keys(texts[section]).sort(), Object.keys(company[section]).sort(), section);
      for (const [key, { says = [] }] of Object.entries(company[section])) {
        const { says: said = [], file } = texts[section][key] ?? {};
        assert.equal(said.length, says.length, key);
        assert.equal(
          file !== undefined,
          says.some((one) => one.file !== undefined),
          key,
        );
      }
    }
    assert.deepEqual(Object.keys(texts.people).sort(), [...Object.keys(company.people), 'admin'].sort());
    assert.deepEqual(Object.keys(texts.assets).sort(), Object.keys(company.assets).sort());
    assert.deepEqual(Object.keys(texts.articles).sort(), Object.keys(company.articles).sort());
    assert.doesNotMatch(JSON.stringify(english.texts), /\p{Script=Cyrillic}/u);
  });

  it('is in the language of the environment or of the option', () => {
    assert.equal(chooseLanguage(undefined, { LANG: 'ru_RU.UTF-8' }), 'ru');
    assert.equal(chooseLanguage(undefined, { LANG: 'ru_RU.UTF-8', LC_ALL: 'en_GB.UTF-8' }), 'en');
    assert.equal(chooseLanguage(undefined, { LANG: 'de_DE.UTF-8' }), 'en');
    assert.equal(chooseLanguage('ru', {}), 'ru');
    assert.throws(() => chooseLanguage('de', {}), /no texts in de/);
  });
});

const languages = Object.keys(LANGUAGES) as Language[];

describe('the demo', { concurrency: languages.length }, () => {
  for (const language of languages) {
    describe(`in ${language}`, { concurrency: 1 }, () => {
      let folder: string;
      let demo: Running;

      before(async () => {
        folder = await mkdtemp(path.join(tmpdir(), 'docket-demo-'));
        demo = await start(['--folder', folder, '--port', '0'], { LC_ALL: `${language}_XX.UTF-8` });
      });
      after(async () => {
        if (demo !== undefined) await stop(demo);
        await rm(folder, { recursive: true, force: true });
      });

      it('names the address, the password and a user of each role, who can sign in', async () => {
        const { company, texts } = await readDemo(language);
        assert.match(demo.said, new RegExp(PASSWORD));
        for (const login of Object.values(company.signIn)) {
          assert.match(demo.said, new RegExp(`^ +${login} .*${texts.people[login]}$`, 'm'));
          const session = await (await signIn(demo.url, login))('/session');
          assert.equal(session.user.displayName, texts.people[login]);
          assert.equal(session.user.locale, LANGUAGES[language]);
        }
      });

      it('has work for the agent: queues, time limits that run and some that are over', async () => {
        const call = await signIn(demo.url, 'max');
        const { rows } = await call('/objects?typeId=incident&pageSize=100');
        assert.ok(rows.length >= 25, String(rows.length));
        const states = new Set(rows.map((row: { workflowState: { code: string } }) => row.workflowState.code));
        assert.deepEqual([...states].sort(), ['cancelled', 'closed', 'in-progress', 'new', 'pending', 'resolved']);
        // A critical incident that nobody takes is overdue a minute after it was reported.
        const { title } = (await readDemo(language)).texts.incidents['line-stopped'] ?? {};
        const { id } = rows.find((row: { title: string }) => row.title === title);
        const timers: { startedAt: string; dueAt: string; status: string }[] = await call(`/objects/${id}/sla`);
        const minutes = timers
          .filter(({ status }) => status === 'ACTIVE')
          .map(({ startedAt, dueAt }) => Math.round((Date.parse(dueAt) - Date.parse(startedAt)) / 60_000));
        assert.ok(minutes.includes(1), String(minutes));
        const counts = new Map<string, number>();
        for (const { code, count } of await call('/desk/queues/built-in')) counts.set(code, count);
        assert.ok(counts.has('overdue'));
        for (const code of ['mine', 'unassigned']) assert.ok((counts.get(code) ?? 0) > 0, code);
      });

      it('shows a requester their own records, with conversations, and articles', async () => {
        const call = await signIn(demo.url, 'anna');
        const { incidents, requests } = (await readDemo(language)).texts;
        const { rows: own } = await call('/objects?pageSize=100');
        const titles = new Set(own.map((row: { title: string }) => row.title));
        for (const text of [incidents['vpn-drops'], requests['laptop-new']]) assert.ok(titles.has(text?.title));
        assert.ok(!titles.has(incidents['line-stopped']?.title));
        const vpn = own.find((row: { title: string }) => row.title === incidents['vpn-drops']?.title);
        const comments = await call(`/objects/${vpn.id}/comments`);
        assert.equal(comments.length, 3, 'without the internal one');
        const files = await call(`/objects/${vpn.id}/attachments`);
        assert.deepEqual(
          files.map(({ originalFilename, commentId }: Record<string, string>) => [originalFilename, commentId]),
          [['vpn.log', comments[1].id]],
        );
        assert.equal((await call('/kb/articles')).length, 6);
      });

      if (language === 'en') {
        it('is as it was after a second start, takes another port where the first is in use, and starts again', async () => {
          const numbers = async (): Promise<string[]> => {
            const { rows } = await (await signIn(demo.url, 'max'))('/objects?typeId=incident&pageSize=100');
            return rows.map((row: { number: string }) => row.number).sort();
          };
          const before = await numbers();
          await stop(demo);
          const taken: Server = createServer();
          // Another program of this machine may have the port already.
          taken.on('error', () => {});
          taken.listen(8090, '127.0.0.1');
          await sleep(100);
          demo = await start(['--folder', folder, '--language', language]);
          assert.doesNotMatch(demo.said, /Filling/);
          assert.notEqual(new URL(demo.url).port, '8090');
          taken.close();
          assert.deepEqual(await numbers(), before);
        });
      }
    });
  }
});
