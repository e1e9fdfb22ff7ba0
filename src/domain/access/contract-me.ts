/** The API contract of the caller's own account (docs/spec/access.md#own-account). None of it needs a right. */
import Type from 'typebox';
import { defineOperation } from '../../contract/operation.ts';
import { closed, Id, Instant, LocaleCode, nullable, Revision } from '../../contract/schemas.ts';
import { LONGEST_PASSWORD, SHORTEST_PASSWORD } from './contract.ts';

const Text = Type.String({ minLength: 1, maxLength: 255 });
const shared = { access: 'console', tag: 'Account', status: 200 } as const;

const Profile = Type.Object(
  {
    id: Id,
    login: Type.String(),
    displayName: Type.String(),
    email: nullable(Type.String()),
    locale: nullable(Type.String()),
    timezone: nullable(Type.String({ description: 'IANA name of the time zone.' })),
    revision: Revision,
  },
  { $id: 'OwnProfile' },
);

export const getProfile = defineOperation({
  ...shared,
  id: 'me.get',
  method: 'GET',
  path: '/me',
  growth: 'few',
  unit: 'read',
  summary: 'Read the profile of the caller',
  description: 'Returns the user of the session, or the owner of the key.',
  answer: Profile,
  faults: ['NOT_FOUND'],
});

export const changeProfile = defineOperation({
  ...shared,
  id: 'me.change',
  method: 'PATCH',
  path: '/me',
  unit: 'write',
  summary: 'Change name, locale and time zone of the caller',
  description:
    'Omitted properties keep their values; null clears a property. With `expectedRevision`, the call is refused if the user has changed since. Login, e-mail address and external id are changed by users with the right user.administer.',
  body: closed({
    expectedRevision: Type.Optional(Revision),
    displayName: Type.Optional(Text),
    locale: Type.Optional(nullable(LocaleCode)),
    timezone: Type.Optional(nullable(Text)),
  }),
  answer: Profile,
  faults: ['NOT_FOUND', 'REVISION_CONFLICT', 'INVALID_VALUES'],
});

export const changePassword = defineOperation({
  ...shared,
  id: 'me.changePassword',
  method: 'POST',
  path: '/me/password',
  unit: 'own',
  dryRun: false,
  explained: false,
  summary: 'Change the password of the caller',
  description:
    'Needs the current password; attempts are limited as for signing in. All other sessions of the user end. A wrong current password is 400 with the detail code WRONG_PASSWORD. A user without a password asks an administrator to set one.',
  body: closed({
    oldPassword: Type.String({ minLength: 1, maxLength: LONGEST_PASSWORD }),
    newPassword: Type.String({ minLength: SHORTEST_PASSWORD, maxLength: LONGEST_PASSWORD }),
  }),
  answer: Type.Object({ id: Id }),
  faults: [],
});

export const listSessions = defineOperation({
  ...shared,
  id: 'me.sessions',
  method: 'GET',
  path: '/me/sessions',
  growth: 'whole',
  unit: 'read',
  summary: 'List the open sessions of the caller',
  description: 'The session of this request comes first, then the one last seen.',
  answer: Type.Array(
    Type.Object(
      {
        id: Id,
        userAgent: nullable(Type.String({ description: 'The header User-Agent of the sign-in.' })),
        address: nullable(Type.String({ description: 'The address of the last use.' })),
        createdAt: Instant,
        lastSeenAt: nullable({ ...Instant, description: 'Updated at most once a minute.' }),
        expiresAt: Instant,
        current: Type.Boolean({ description: 'Whether it is the session of this request.' }),
      },
      { $id: 'OwnSession' },
    ),
  ),
  faults: [],
});

const Ended = Type.Object({ ended: Type.Literal(true) });

export const endSession = defineOperation({
  ...shared,
  id: 'me.endSession',
  method: 'DELETE',
  path: '/me/sessions/{id}',
  unit: 'write',
  dryRun: false,
  summary: 'End a session of the caller',
  description:
    'All processes reject the session from then on. Ending a session that has already ended changes nothing.',
  params: closed({ id: Id }),
  answer: Ended,
  faults: ['NOT_FOUND'],
});

export const endOtherSessions = defineOperation({
  ...shared,
  id: 'me.endOtherSessions',
  method: 'DELETE',
  path: '/me/sessions',
  unit: 'write',
  dryRun: false,
  summary: 'End all other sessions of the caller',
  description: 'The session of this request stays open. With an API key, all sessions of its owner end.',
  answer: Ended,
  faults: ['NOT_FOUND'],
});
