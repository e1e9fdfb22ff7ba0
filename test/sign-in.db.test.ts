/** Sign-in attempts: what is counted, and who has to wait. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { setPassword } from '../src/domain/access/index.ts';
import { type Clock, systemClock } from '../src/platform/clock.ts';
import { startTestApp, type TestAnswer, type TestApp } from './support/app.ts';

const PASSWORD = 'the right one, long enough';
const LONGEST_WAIT_S = 30;

let app: TestApp;
/** Milliseconds by which tests moved the service's clock. */
let ahead = 0;
let addresses = 0;
let people = 0;

/** The service's time stands still unless a test moves it, so that no wait is over on a slow machine. */
const started = systemClock.now();
const clock: Clock = { now: () => started + ahead };

/** An address that nothing came from before. */
const newAddress = (): string => `198.51.${(100 + (addresses >> 8)) % 256}.${addresses++ % 256}`;

interface Attempt {
  from: string;
  login: string;
  password?: string;
  device?: string | undefined;
}

function attempt({ from, login, password = PASSWORD, device }: Attempt): Promise<TestAnswer> {
  return app.request('POST', '/api/admin/v1/session', {
    body: { login, password },
    headers: {
      'x-forwarded-for': from,
      ...(device === undefined ? {} : { cookie: `docket_device=${device}` }),
    },
  });
}

const deviceOf = (answer: TestAnswer): string | undefined =>
  /docket_device=([^;]+)/.exec(answer.headers.getSetCookie().join('\n'))?.[1];
const retryAfter = (answer: TestAnswer): number => Number(answer.headers.get('retry-after'));

/** A person who can sign in. */
async function person(): Promise<string> {
  const login = `person-${people++}`;
  const { key } = await app.createKey({ login: 'admin', scopes: ['all'] });
  const made = await app.request('POST', '/api/v1/identity/users', {
    key,
    body: { login, displayName: login, email: `${login}@example.org` },
  });
  assert.equal(made.status, 201, JSON.stringify(made.body));
  await app.app.work.write(app.app.system(), (ctx) => setPassword(ctx, login, PASSWORD));
  return login;
}

/** Wrong guesses from one address until it has to wait. @returns how many were verified */
async function guessUntilRefused(login: string, from: string): Promise<number> {
  for (let guesses = 0; guesses < 100; guesses++) {
    const { status } = await attempt({ from, login, password: 'a wrong guess, no. 1' });
    if (status === 429) return guesses;
    assert.equal(status, 401);
  }
  throw new Error('no limit was met');
}

/** Wrong guesses from many addresses, until an address that is new must wait. */
async function besiege(login: string): Promise<void> {
  for (let guesses = 0; guesses < 30; guesses++) {
    const { status } = await attempt({ from: newAddress(), login, password: 'a wrong guess, no. 2' });
    if (status === 429) return;
  }
  throw new Error('no limit was met');
}

describe('sign-in', () => {
  before(async () => {
    app = await startTestApp({ clock, trustedProxies: ['127.0.0.0/8'] });
  });
  after(() => app?.close());

  describe('sign-in attempts', () => {
    it('are counted before verification: of 60 concurrent guesses the right one, sent 48th, is rejected', async () => {
      const login = await person();
      const from = newAddress();
      const answers = await Promise.all(
        Array.from({ length: 60 }, (_, turn) =>
          attempt({ from, login, ...(turn === 47 ? {} : { password: `a wrong guess, no. ${turn}` }) }),
        ),
      );
      assert.ok(answers.every(({ status }) => [401, 429, 503].includes(status)));
      const verified = answers.filter(({ status }) => status === 401).length;
      assert.ok(verified >= 1 && verified <= 5, `${verified} were verified`);
      for (const answer of answers) if (answer.status !== 401) assert.ok(retryAfter(answer) >= 1);
    });

    it('at two processes are counted together', async () => {
      const login = await person();
      const from = newAddress();
      const other = await startTestApp({ on: app, clock, trustedProxies: ['127.0.0.0/8'] });
      try {
        const answers = await Promise.all(
          Array.from({ length: 24 }, (_, turn) =>
            (turn % 2 === 0 ? app : other).request('POST', '/api/admin/v1/session', {
              body: { login, password: `a wrong guess, no. ${turn}` },
              headers: { 'x-forwarded-for': from },
            }),
          ),
        );
        assert.ok(answers.filter(({ status }) => status === 401).length <= 5);
      } finally {
        await other.close();
      }
    });

    it('from one address wait increasingly long, up to 30 s, and an early attempt extends nothing', async () => {
      const login = await person();
      const from = newAddress();
      assert.equal(await guessUntilRefused(login, from), 5);
      for (let round = 0; round < 7; round++) {
        const early = await attempt({ from, login });
        assert.equal(early.status, 429);
        const wait = Math.min(2 ** (round + 1), LONGEST_WAIT_S);
        assert.equal(retryAfter(early), wait, `round ${round}`);
        assert.equal(retryAfter(await attempt({ from, login })), wait);
        ahead += wait * 1000;
        assert.equal((await attempt({ from, login, password: 'a wrong guess, no. 3' })).status, 401);
      }
      ahead += LONGEST_WAIT_S * 1000;
      assert.equal((await attempt({ from, login })).status, 201);
      // Who signed in has every attempt again.
      assert.equal(await guessUntilRefused(login, from), 5);
    });

    it('of others do not lock out a user at an address that signed in before', async () => {
      const login = await person();
      const home = newAddress();
      assert.equal((await attempt({ from: home, login })).status, 201);
      await besiege(login);
      for (let one = 0; one < 3; one++) assert.equal((await attempt({ from: home, login })).status, 201);
    });

    it('of others do not lock out a user with a device that signed in before, from any address', async () => {
      const login = await person();
      const device = deviceOf(await attempt({ from: newAddress(), login }));
      assert.ok(device !== undefined);
      await besiege(login);
      const away = newAddress();
      assert.equal((await attempt({ from: away, login })).status, 429);
      assert.equal((await attempt({ from: away, login, device })).status, 201);
      // A stranger at the same address does not slow the device down either.
      const shared = newAddress();
      await guessUntilRefused(login, shared);
      assert.equal((await attempt({ from: shared, login, device })).status, 201);
    });

    it('from a known device are limited too, and a device counts only for its own users', async () => {
      const login = await person();
      const other = await person();
      const device = deviceOf(await attempt({ from: newAddress(), login }));
      await besiege(login);
      await besiege(other);
      let verified = 0;
      while ((await attempt({ from: newAddress(), login, device, password: 'a wrong guess, no. 4' })).status === 401) {
        verified++;
      }
      assert.equal(verified, 5);
      assert.equal((await attempt({ from: newAddress(), login: other, device })).status, 429);
      const forged = `${device?.slice(0, -4)}AAAA`;
      assert.equal((await attempt({ from: newAddress(), login, device: forged })).status, 429);
    });

    it('from an unknown address wait 30 s at most, however many others guess', async () => {
      const login = await person();
      await besiege(login);
      const from = newAddress();
      const first = await attempt({ from, login });
      assert.equal(first.status, 429);
      assert.ok(retryAfter(first) <= LONGEST_WAIT_S);
      const until = retryAfter(first) * 1000;
      for (let one = 0; one < 20; one++) {
        ahead += until / 20;
        await attempt({ from: newAddress(), login, password: 'a wrong guess, no. 5' });
      }
      assert.equal((await attempt({ from, login })).status, 201);
    });

    it('for many logins from one address delay that address only', async () => {
      const login = await person();
      const from = newAddress();
      let statuses = 0;
      for (let one = 0; one < 60; one++) {
        const { status } = await attempt({ from, login: `nobody-${one}`, password: 'a wrong guess, no. 6' });
        if (status === 429) statuses++;
        else assert.equal(status, 401);
      }
      assert.ok(statuses >= 5, `${statuses} had to wait`);
      assert.equal((await attempt({ from, login })).status, 429);
      assert.equal((await attempt({ from: newAddress(), login })).status, 201);
    });

    it('get the same response for a login that does not exist', async () => {
      const [known, unknown] = [await person(), 'nobody-at-all'];
      const ask = async (login: string): Promise<unknown[]> => {
        const from = newAddress();
        const answers: unknown[] = [];
        for (let one = 0; one < 6; one++) {
          const { status, body } = await attempt({ from, login, password: 'a wrong guess, no. 7' });
          answers.push([status, body.error.code, body.error.message]);
        }
        return answers;
      };
      assert.deepEqual(await ask(unknown), await ask(known));
    });
  });

  describe('a flood of sign-in attempts', () => {
    it('is rejected over a limit and does not block writes of authenticated callers', async () => {
      const { key } = await app.createKey({ login: 'admin' });
      const attempts = Array.from({ length: 60 }, (_, turn) =>
        fetch(`${app.url}/api/admin/v1/session`, {
          method: 'POST',
          headers: { 'content-type': 'application/json', 'x-forwarded-for': newAddress() },
          body: JSON.stringify({ login: `flood-${turn}`, password: 'a wrong guess, no. 8' }),
        }),
      );
      const flood = Promise.all(attempts);
      let over = false;
      void flood.finally(() => {
        over = true;
      });
      let made = 0;
      while (!over) {
        const body = { typeDefinitionId: 'incident', values: { title: 'made while many sign in' } };
        const { status } = await fetch(`${app.url}/api/v1/objects`, {
          method: 'POST',
          headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
          body: JSON.stringify(body),
        });
        assert.equal(status, 201);
        made++;
      }
      assert.ok(made > 0);
      const statuses = (await flood).map(({ status }) => status);
      assert.ok(statuses.includes(401) && statuses.includes(503), statuses.join(' '));
      for (const answer of await flood) if (answer.status === 503) assert.ok(answer.headers.get('retry-after'));
    });
  });
});
