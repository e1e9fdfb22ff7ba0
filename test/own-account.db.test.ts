/** The own account (docs/spec/access.md#own-account): profile, password and sessions, with their races. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { Authenticator, setPassword } from '../src/domain/access/index.ts';
import { touchSessions } from '../src/domain/access/store.ts';
import { type Clock, systemClock } from '../src/platform/clock.ts';
import { Database } from '../src/platform/database/pool.ts';
import { startTestApp, type TestAnswer, type TestApp } from './support/app.ts';

const OLD = 'the first password of all';
const NEW = 'the next password of all';

let one: TestApp;
/** Another process on the same database. */
let two: TestApp;
let people = 0;
let ahead = 0;
const clock: Clock = { now: () => systemClock.now() + ahead };

/** A user without any right who can sign in. @returns the login */
async function person(): Promise<string> {
  const login = `own-${people++}`;
  const { key } = await one.createKey({ login: 'admin', scopes: ['all'] });
  const body = { login, displayName: 'Анна Петрова', email: `${login}@example.org` };
  assert.equal((await one.request('POST', '/api/v1/identity/users', { key, body })).status, 201);
  await one.app.work.write(one.app.system(), (ctx) => setPassword(ctx, login, OLD));
  return login;
}

interface Session {
  login: string;
  headers: Record<string, string>;
}

function attempt(login: string, password: string, userAgent = 'node'): Promise<TestAnswer> {
  return one.request('POST', '/api/admin/v1/session', {
    body: { login, password },
    headers: { 'user-agent': userAgent },
  });
}

async function signIn(login: string, password = OLD, userAgent?: string): Promise<Session> {
  const answer = await attempt(login, password, userAgent);
  assert.equal(answer.status, 201, JSON.stringify(answer.body));
  const cookie = (answer.headers.getSetCookie()[0] ?? '').split(';')[0] ?? '';
  return { login, headers: { cookie, 'x-docket-csrf': answer.body.data.csrfToken } };
}

const send = (app: TestApp, { headers }: Session, method: string, path: string, body?: unknown) =>
  app.request(method, `/api/admin/v1${path}`, { headers, ...(body === undefined ? {} : { body }) });
const statusOf = async (app: TestApp, session: Session): Promise<number> =>
  (await send(app, session, 'GET', '/me')).status;
const sessionsOf = async (session: Session): Promise<any[]> =>
  (await send(one, session, 'GET', '/me/sessions')).body.data;
const changePassword = (session: Session, oldPassword: string, newPassword = NEW): Promise<TestAnswer> =>
  send(one, session, 'POST', '/me/password', { oldPassword, newPassword });

describe('the own account', () => {
  before(async () => {
    one = await startTestApp({ clock });
    two = await startTestApp({ on: one, clock });
  });
  after(async () => {
    await two.close();
    await one.close();
  });

  it('changes name, locale and time zone without a right, and nothing else', async () => {
    const session = await signIn(await person());
    const { data } = (await send(one, session, 'GET', '/me')).body;
    const change = {
      expectedRevision: data.revision,
      displayName: 'Анна Ким',
      locale: 'en-US',
      timezone: 'Asia/Tokyo',
    };
    const changed = await send(one, session, 'PATCH', '/me', change);
    assert.equal(changed.status, 200, JSON.stringify(changed.body));
    assert.deepEqual(changed.body.data, {
      ...data,
      displayName: 'Анна Ким',
      locale: 'en-US',
      timezone: 'Asia/Tokyo',
      revision: 2,
    });
    const again = await send(one, session, 'PATCH', '/me', { ...change, displayName: 'Анна Ли' });
    assert.equal(again.body.error.code, 'REVISION_CONFLICT');
    assert.equal((await send(one, session, 'GET', '/session')).body.data.user.displayName, 'Анна Ким');
    for (const body of [{ email: 'x@example.org' }, { login: 'x' }, { externalId: 'x' }, { timezone: 'Moon' }]) {
      assert.equal((await send(one, session, 'PATCH', '/me', body)).status, 400, JSON.stringify(body));
    }
    const foreign = await send(one, session, 'PATCH', `/identity/users/${data.id}`, {
      expectedRevision: 2,
      displayName: 'x',
    });
    assert.equal(foreign.body.error.code, 'RIGHT_MISSING');
  });

  it('shows the sessions of the user with device, address and last use', async () => {
    const login = await person();
    const phone = await signIn(login, OLD, 'Phone/1.0');
    const desk = await signIn(login, OLD, 'Desk/2.0');
    await signIn(await person());
    const [own, other, ...more] = await sessionsOf(desk);
    assert.deepEqual(
      [own.userAgent, own.current, other.userAgent, other.current, more.length],
      ['Desk/2.0', true, 'Phone/1.0', false, 0],
    );
    assert.match(own.address, /^(127\.0\.0\.1|::1)$/);
    const before = other.lastSeenAt as string;
    const db = new Database({ url: one.databaseUrl, max: 1 });
    const authenticator = new Authenticator({ db, versions: one.app.versions, clock });
    /** The phone is used from another address, and the background task runs. */
    const use = async (): Promise<void> => {
      await authenticator.authenticate({
        authorization: undefined,
        sessionToken: phone.headers['cookie']?.split('=')[1],
        csrfToken: undefined,
        method: 'GET',
        surface: 'console',
        ip: '192.0.2.7',
        lookUp: (work) => work(),
      });
      await touchSessions(db, authenticator.takeSessionUses());
      assert.equal(authenticator.takeSessionUses().size, 0);
    };
    ahead = 30_000;
    await use();
    assert.equal((await sessionsOf(desk)).find(({ id }) => id === other.id).lastSeenAt, before, 'within a minute');
    ahead = 90_000;
    await use();
    const seen = (await sessionsOf(desk)).find(({ id }) => id === other.id);
    assert.deepEqual([seen.lastSeenAt > before, seen.address], [true, '192.0.2.7']);
    ahead = 0;
    await db.close();
  });

  it('ends one session or all others, at once in every process', async () => {
    const login = await person();
    const [mine, lost, phone] = [await signIn(login), await signIn(login), await signIn(login)];
    const stranger = await signIn(await person());
    for (const app of [one, two]) assert.equal(await statusOf(app, lost), 200);
    const [lostId] = (await sessionsOf(lost)).map(({ id }) => id as string);
    assert.equal((await send(one, stranger, 'DELETE', `/me/sessions/${lostId}`)).status, 200);
    assert.equal(await statusOf(two, lost), 200, 'users cannot end sessions of others');
    assert.equal((await send(one, mine, 'DELETE', `/me/sessions/${lostId}`)).status, 200);
    for (const app of [two, one]) assert.equal(await statusOf(app, lost), 401);
    assert.equal((await send(two, mine, 'DELETE', '/me/sessions')).status, 200);
    for (const app of [one, two]) {
      assert.deepEqual(
        [await statusOf(app, mine), await statusOf(app, phone), await statusOf(app, stranger)],
        [200, 401, 200],
      );
    }
  });

  it('changes the password with the old one; all other sessions end', async () => {
    const login = await person();
    const [mine, other] = [await signIn(login), await signIn(login)];
    const wrong = await changePassword(mine, 'not the old password');
    assert.deepEqual([wrong.status, wrong.body.meta.reasons[0].reason], [400, 'WRONG_PASSWORD']);
    assert.equal((await changePassword(mine, OLD, 'short')).status, 400);
    assert.deepEqual([await statusOf(one, other), (await changePassword(mine, OLD)).status], [200, 200]);
    for (const app of [one, two]) assert.deepEqual([await statusOf(app, mine), await statusOf(app, other)], [200, 401]);
    assert.equal((await attempt(login, OLD)).status, 401);
    await signIn(login, NEW);
  });

  it('limits attempts with a wrong old password like sign-ins', async () => {
    const session = await signIn(await person());
    const statuses: number[] = [];
    while (statuses.length < 20 && statuses.at(-1) !== 429) {
      statuses.push((await changePassword(session, 'a wrong guess, no. 1')).status);
    }
    assert.equal(statuses.at(-1), 429, statuses.join());
    assert.equal((await changePassword(session, OLD)).status, 429, 'also with the right one');
    assert.equal(await statusOf(one, session), 200, 'the session stays open');
  });

  it('leaves no session of the old password when it changes during sign-ins', async () => {
    let changes = 0;
    for (let round = 0; round < 20 && changes < 5; round++) {
      const login = await person();
      const mine = await signIn(login);
      // Another process verifies the sign-ins, so that they run at the same time as the change.
      const attempts = [1, 2, 3].map(() =>
        two.request('POST', '/api/admin/v1/session', { body: { login, password: OLD } }),
      );
      const [changed, ...answers] = await Promise.all([changePassword(mine, OLD), ...attempts]);
      // All sign-ins may be counted before the change, which is refused then.
      if (changed.status === 429) continue;
      changes++;
      assert.equal(changed.status, 200, JSON.stringify(changed.body));
      for (const answer of answers) {
        assert.ok([201, 401].includes(answer.status), JSON.stringify(answer.body));
        if (answer.status === 401) continue;
        const cookie = (answer.headers.getSetCookie()[0] ?? '').split(';')[0] ?? '';
        assert.equal(await statusOf(two, { login, headers: { cookie } }), 401, 'it ended with the change');
      }
      assert.deepEqual(
        (await sessionsOf(mine)).map(({ current }) => current),
        [true],
      );
    }
    assert.equal(changes, 5);
  });

  it('lets one of two concurrent changes of the password win', async () => {
    const login = await person();
    const [left, right] = [await signIn(login), await signIn(login)];
    const change = (app: TestApp, session: Session, newPassword: string) =>
      send(app, session, 'POST', '/me/password', { oldPassword: OLD, newPassword });
    const answers = await Promise.all([change(one, left, `${NEW} left`), change(two, right, `${NEW} right`)]);
    const won = answers.map(({ status }) => status === 200);
    assert.equal(won.filter(Boolean).length, 1, answers.map(({ status }) => status).join());
    assert.deepEqual(
      [await statusOf(one, left), await statusOf(one, right)],
      won.map((is) => (is ? 200 : 401)),
    );
    await signIn(login, `${NEW} ${won[0] === true ? 'left' : 'right'}`);
  });
});
