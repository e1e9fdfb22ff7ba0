/** What a session is answered when its token is wrong and when it has ended (CSRF_TOKEN_INVALID, `session: "ended"`). */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type RecordFixture, PASSWORD, assertRejected, startRecordFixture } from './support/record-fixture.ts';
import { changeRights } from './support/small-configuration.ts';

let fixture: RecordFixture;
let now = Date.parse('2026-11-22T10:00:00.000Z');

interface SignedIn {
  cookie: string;
  token: string;
}

async function signIn(): Promise<SignedIn> {
  const body = { login: 'chief', password: PASSWORD };
  const answer = await fixture.app.request('POST', '/api/admin/v1/session', { body });
  assert.equal(answer.status, 201);
  return {
    cookie: (answer.headers.get('set-cookie') ?? '').split(';')[0] ?? '',
    token: answer.body.data.csrfToken,
  };
}

const asked = (method: string, path: string, headers: Record<string, string>, body?: unknown) =>
  fixture.app.request(method, `/api/admin/v1${path}`, { headers, ...(body === undefined ? {} : { body }) });

const RECORD = { typeDefinitionId: 'case', values: { title: 'x', kind: 'a' } };

/** The response says that the session has ended. */
async function ended(cookie: string, token: string, why: string): Promise<void> {
  for (const [method, path, body] of [
    ['GET', '/objects', undefined],
    ['GET', '/session', undefined],
    ['POST', '/objects', RECORD],
  ] as const) {
    const answer = await asked(method, path, { cookie, 'X-Docket-CSRF': token }, body);
    assertRejected(answer, 401, 'UNAUTHENTICATED', why);
    assert.deepEqual(answer.body.error.details, { session: 'ended' }, why);
    assert.equal(answer.headers.get('www-authenticate'), 'Bearer', why);
  }
}

describe('a session', () => {
  before(async () => {
    fixture = await startRecordFixture({ clock: { now: () => now } });
  });
  after(() => fixture.close());

  it('gets 403 CSRF_TOKEN_INVALID for a write without its token, and remains open', async () => {
    const [one, other] = [await signIn(), await signIn()];
    for (const token of [undefined, '', 'wrong', other.token]) {
      const headers = { cookie: one.cookie, ...(token === undefined ? {} : { 'X-Docket-CSRF': token }) };
      for (const [method, path, body] of [
        ['POST', '/objects', RECORD],
        ['DELETE', '/session', undefined],
      ] as const) {
        const answer = await asked(method, path, headers, body);
        assertRejected(answer, 403, 'CSRF_TOKEN_INVALID', String(token));
        assert.deepEqual(answer.body.error.details, []);
      }
      assert.equal((await asked('GET', '/objects', headers)).status, 200, 'reading needs no token');
    }
    const right = await asked('POST', '/objects', { cookie: one.cookie, 'X-Docket-CSRF': one.token }, RECORD);
    assert.equal(right.status, 201, JSON.stringify(right.body));
  });

  it('gets a specific error once it has ended: signed out, expired, unknown, or of an archived user', async () => {
    const out = await signIn();
    const answer = await asked('DELETE', '/session', { cookie: out.cookie, 'X-Docket-CSRF': out.token });
    assert.equal(answer.status, 200);
    await ended(out.cookie, out.token, 'signed out');
    await ended('docket_session=unknown', out.token, 'unknown');
    const expired = await signIn();
    now += 13 * 3_600_000;
    await ended(expired.cookie, expired.token, 'expired');
    const archived = await signIn();
    await changeRights(fixture.app, `UPDATE users SET state = 'ARCHIVED' WHERE login = $1`, ['chief']);
    await fixture.app.app.versions.refresh();
    await ended(archived.cookie, archived.token, 'archived');
  });

  it('gets no session error if it never existed', async () => {
    const none = await asked('GET', '/objects', {});
    assertRejected(none, 401, 'UNAUTHENTICATED');
    assert.deepEqual(none.body.error.details, []);
    const publicly = await fixture.app.request('GET', '/api/v1/objects', { headers: { cookie: 'docket_session=x' } });
    assertRejected(publicly, 401, 'UNAUTHENTICATED');
    assert.deepEqual(publicly.body.error.details, [], 'the public interface takes no cookie');
  });
});
