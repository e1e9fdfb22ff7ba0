/** Calls of the operations for the tests over all modules (docs/how-to/write-a-module.md#the-cases). */
import { randomUUID } from 'node:crypto';
import type { TestApp } from '../../../test/support/app.ts';
import { longValues, records } from '../../../test/support/largest-texts.ts';
import { ALLOWED, type Login, missing, PASSWORD } from '../../../test/support/operation-calls-case.ts';
import type { ModuleCases } from '../../../test/support/operation-calls-fixture.ts';
import { idOf } from '../../../test/support/small-configuration.ts';

/** Signs in and returns the id of the session. */
async function sessionOf(app: TestApp, login: Login): Promise<string> {
  const signedIn = await app.request('POST', '/api/admin/v1/session', { body: { login, password: PASSWORD } });
  const cookie = (signedIn.headers.get('set-cookie') ?? '').split(';')[0] ?? '';
  const { body } = await app.request('GET', '/api/admin/v1/me/sessions', { headers: { cookie } });
  return body.data[0].id;
}

/** The question how a change of a record by the user with every right is decided. */
const explained = (record: string, changes: object, expectedRevision = 2) => {
  const body = { expectedRevision, changes };
  const request = { user: 'full', method: 'PATCH', path: `/api/v1/objects/${record}`, body };
  return { name: 'a change', body: request, status: 200 };
};

export const cases: ModuleCases = {
  of: (make) => {
    /** A key of `partial` itself is theirs to manage, one of another owner is not there for them. */
    const key = (own: boolean): Promise<string> =>
      make.app.createKey({ login: own ? 'partial' : 'full' }).then(({ id }) => id);
    const person = async (): Promise<string> => {
      const login = `x-${randomUUID()}`;
      const body = { login, displayName: 'Somebody', email: `${login}@example.org` };
      return (await make.send('POST', '/identity/users', body)).id;
    };
    return {
      'keys.list': { call: () => ({}), lacks: missing('key.manage') },
      'keys.create': {
        call: () => ({ body: { owner: 'partial', name: 'n', scopes: ['objects:read'] } }),
        lacks: missing('key.manage'),
      },
      'keys.revoke': { ...make.on('id', key), lacks: missing('key.manage') },
      'keys.rotate': { ...make.on('id', key, () => ({})), lacks: missing('key.manage') },
      'session.create': {
        call: () => ({ body: { login: 'partial', password: PASSWORD } }),
        lacks: { login: 'nobody', status: 201 },
        open: true,
      },
      'session.ways': { call: () => ({}), lacks: ALLOWED, open: true },
      'session.get': { call: () => ({}), lacks: ALLOWED },
      'access.explanation': {
        call: async () => ({
          query: `?userId=${await idOf(make.app, 'users', 'full')}&objectId=${await make.record(true)}`,
        }),
        lacks: missing('role.assign'),
        assigns: true,
      },
      'access.explainRequest': {
        call: async () => {
          const path = `/api/v1/objects/${await make.record(true)}`;
          return { body: { user: 'partial', method: 'GET', path } };
        },
        lacks: missing('role.assign'),
        assigns: true,
        // Several runs of one change within the time limit of a dry run, on a busy machine too: of a record without other long texts.
        large: async (seen) => {
          const [id = ''] = await records(seen, 1);
          return [explained(id, longValues('compounds', 2), 1)];
        },
      },
      'identity.setPassword': {
        call: async () => ({ params: { id: await person() }, body: { password: 'a password of a user' } }),
        lacks: missing('user.administer', 'reader'),
        hidden: make.hidesNothing('id', { password: 'a password of a user' }),
      },
      'me.get': { call: () => ({}), lacks: ALLOWED },
      'me.change': { call: () => ({ body: { timezone: 'Europe/Moscow' } }), lacks: ALLOWED },
      'me.changePassword': {
        call: () => ({ body: { oldPassword: PASSWORD, newPassword: PASSWORD } }),
        lacks: ALLOWED,
        large: () => [
          {
            name: 'a wrong password',
            body: { oldPassword: 'x'.repeat(200), newPassword: 'y'.repeat(200) },
            status: 400,
            code: 'INVALID_REQUEST',
          },
        ],
      },
      'me.sessions': { call: () => ({}), lacks: ALLOWED },
      // Ending a session of another user does nothing, like ending one that never existed.
      'me.endSession': {
        call: () => ({ params: { id: randomUUID() } }),
        lacks: ALLOWED,
        hidden: {
          seen: async () => ({ params: { id: await sessionOf(make.app, 'full') } }),
          absent: () => ({ params: { id: randomUUID() } }),
          status: 200,
        },
      },
      'me.endOtherSessions': { call: () => ({}), lacks: ALLOWED },
      'audit.list': { call: () => ({}), lacks: missing('audit.read') },
      'session.delete': { call: () => ({}), lacks: ALLOWED },
    };
  },
};
