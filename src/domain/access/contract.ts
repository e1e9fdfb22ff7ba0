/**
 * The API contract of keys, sessions, the explanation of rights and the audit log
 * (docs/spec/configuration.md#administration-api).
 */
import Type from 'typebox';
import { defineOperation } from '../../contract/operation.ts';
import { closed, Id, Instant, nullable, oneOf } from '../../contract/schemas.ts';
import { pagingQuery } from '../../contract/paging.ts';
import { INTERFACES } from '../../contract/rights.ts';

/** Limits of the length of a password, in characters. */
export const SHORTEST_PASSWORD = 12;
export const LONGEST_PASSWORD = 1000;

export const ApiKey = Type.Object(
  {
    id: Id,
    owner: Type.String({ description: 'Login of the owner.' }),
    ownerId: Id,
    name: Type.String(),
    prefix: Type.String({ description: 'The first characters of the key, which identify it.' }),
    scopes: Type.Array(Type.String()),
    allow: Type.Array(Type.String()),
    createdAt: Instant,
    expiresAt: nullable(Instant),
    lastUsedAt: nullable(Instant),
    revokedAt: nullable(Instant),
  },
  { $id: 'ApiKey' },
);

export const ShownKey = Type.Object(
  {
    id: Id,
    key: Type.String({ description: 'The key. It is not shown again.' }),
    owner: Type.String(),
    scopes: Type.Array(Type.String()),
    expiresAt: nullable(Instant),
  },
  { $id: 'ShownKey' },
);

const keyParams = closed({ id: Id });
const keys = { access: 'console', right: 'key.manage', tag: 'Keys' } as const;

export const listKeys = defineOperation({
  ...keys,
  id: 'keys.list',
  method: 'GET',
  path: '/keys',
  growth: 'whole',
  unit: 'read',
  status: 200,
  summary: 'List API keys',
  description:
    'Revoked and expired keys are included. Secrets are never returned. Without role.assign, only the keys of the caller are listed.',
  answer: Type.Array(ApiKey),
  faults: ['RIGHT_MISSING'],
});

export const createKey = defineOperation({
  ...keys,
  id: 'keys.create',
  method: 'POST',
  path: '/keys',
  unit: 'write',
  dryRun: false,
  status: 201,
  summary: 'Issue an API key',
  description:
    'The key is returned only by this call. To issue a key for another user, the caller also needs the right role.assign.',
  body: closed({
    owner: Type.String({ minLength: 1, maxLength: 255, description: 'Login of the owner.' }),
    name: Type.String({ minLength: 1, maxLength: 200 }),
    scopes: Type.Array(Type.String({ maxLength: 64 }), { minItems: 1, maxItems: 64 }),
    expiresAt: Type.Optional(Type.String({ maxLength: 40 })),
    allow: Type.Optional(Type.Array(Type.String({ maxLength: 64 }), { maxItems: 100 })),
  }),
  answer: ShownKey,
  faults: ['RIGHT_MISSING', 'ROLE_ESCALATION'],
});

export const revokeKey = defineOperation({
  ...keys,
  id: 'keys.revoke',
  method: 'POST',
  path: '/keys/{id}/revoke',
  unit: 'write',
  dryRun: false,
  status: 200,
  summary: 'Revoke an API key',
  description:
    'The key stops working within a second in every process. A revoked key cannot be used again; create a new one.',
  params: keyParams,
  answer: ApiKey,
  faults: ['NOT_FOUND', 'RIGHT_MISSING', 'LAST_ADMINISTRATOR'],
});

export const rotateKey = defineOperation({
  ...keys,
  id: 'keys.rotate',
  method: 'POST',
  path: '/keys/{id}/rotate',
  unit: 'write',
  dryRun: false,
  status: 200,
  summary: 'Rotate an API key',
  description:
    'The previous secret stays valid for `overlap`, an ISO 8601 duration (default PT0S). The new key is returned only by this call.',
  params: keyParams,
  body: closed({ overlap: Type.Optional(Type.String({ maxLength: 40 })) }),
  answer: ShownKey,
  faults: ['NOT_FOUND', 'RIGHT_MISSING', 'ARCHIVED'],
});

const SessionAnswer = Type.Object(
  {
    user: Type.Object({
      id: nullable(Id),
      login: Type.Optional(Type.String()),
      displayName: Type.String(),
      locale: nullable(Type.String()),
      timezone: nullable(Type.String({ description: 'IANA name of the time zone.' })),
    }),
    groups: Type.Array(Id, { description: 'Groups of the user, including groups that contain these groups.' }),
    orgUnit: nullable(Id),
    rights: Type.Array(Type.String()),
    interfaces: Type.Array(oneOf(INTERFACES), {
      description:
        'Interfaces of the console that the roles of the user are for. The console opens the first; with several the user may switch.',
    }),
    csrfToken: Type.Optional(Type.String({ description: 'Value for the header X-Docket-CSRF. Only with a session.' })),
  },
  { $id: 'Session' },
);

export const signIn = defineOperation({
  id: 'session.create',
  method: 'POST',
  path: '/session',
  access: 'open',
  surface: 'console',
  unit: 'own',
  dryRun: false,
  status: 201,
  tag: 'Session',
  summary: 'Sign in with a password',
  description:
    'Sets the cookie docket_session; writes need the header X-Docket-CSRF with `csrfToken`. Attempts are limited by login and by address: a 429 response gives the waiting time in Retry-After, at most 30 s. The cookie docket_device identifies the device, so that failed attempts from other devices do not delay this user.',
  body: closed({
    login: Type.String({ minLength: 1, maxLength: 255 }),
    password: Type.String({ minLength: 1, maxLength: 1000 }),
  }),
  answer: Type.Object({ user: Type.Object({ id: Id, displayName: Type.String() }), csrfToken: Type.String() }),
  faults: ['UNAUTHENTICATED'],
});

export const signInWays = defineOperation({
  id: 'session.ways',
  method: 'GET',
  path: '/session/ways',
  growth: 'few',
  access: 'open',
  surface: 'console',
  unit: 'read',
  status: 200,
  tag: 'Session',
  summary: 'List the ways to sign in besides a password',
  description: '`oidc` is null if no OpenID Connect provider is configured.',
  answer: Type.Object({
    oidc: nullable(Type.Object({ name: Type.String({ description: 'Host of the OpenID Connect provider.' }) })),
  }),
  faults: [],
});

export const getSession = defineOperation({
  id: 'session.get',
  method: 'GET',
  path: '/session',
  growth: 'few',
  access: 'console',
  unit: 'read',
  status: 200,
  tag: 'Session',
  summary: 'Read the signed-in user with their rights',
  description:
    'Returns the user, their groups and their global rights. With a session, also the token for the header X-Docket-CSRF.',
  answer: SessionAnswer,
  faults: [],
});

export const setPassword = defineOperation({
  id: 'identity.setPassword',
  method: 'POST',
  path: '/identity/users/{id}/password',
  access: 'console',
  right: 'user.administer',
  unit: 'write',
  dryRun: false,
  status: 200,
  tag: 'Identity',
  summary: 'Set the console password of a user',
  description:
    'All sessions of the user end. The password lets the caller sign in as that user. Callers without the right role.assign can therefore set it only for themselves and for users who have no access that the caller lacks.',
  params: closed({ id: Id }),
  body: closed({ password: Type.String({ minLength: SHORTEST_PASSWORD, maxLength: LONGEST_PASSWORD }) }),
  answer: Type.Object({ id: Id }),
  faults: ['NOT_FOUND', 'RIGHT_MISSING', 'ARCHIVED', 'ROLE_ESCALATION'],
});

export const signOut = defineOperation({
  id: 'session.delete',
  method: 'DELETE',
  path: '/session',
  access: 'console',
  unit: 'write',
  dryRun: false,
  status: 200,
  tag: 'Session',
  summary: 'Sign out',
  description:
    'Ends the session and deletes the cookie. With an API key there is no session to end, and `signedOut` is false.',
  answer: Type.Object({ signedOut: Type.Boolean() }),
  faults: [],
});

const NamesOrAll = Type.Union([Type.Literal('*'), Type.Array(Type.String())]);

export const explainAccess = defineOperation({
  id: 'access.explanation',
  method: 'GET',
  path: '/access/explanation',
  growth: 'record',
  access: 'console',
  right: 'role.assign',
  unit: 'read',
  status: 200,
  tag: 'Rights',
  summary: 'Explain the rights of a user, in general or on one record',
  description:
    'All roles of the user with the assignment that gives each, and all record grants. With `objectId`: the grants on its type, whether the condition of each is met, and the resulting actions and fields.',
  query: closed({ userId: Id, objectId: Type.Optional(Id) }),
  answer: Type.Object(
    {
      user: Type.Object({ id: Id, login: Type.String(), displayName: Type.String(), state: Type.String() }),
      object: nullable(
        Type.Object({
          id: Id,
          number: nullable(Type.String()),
          title: nullable(Type.String()),
          typeCode: Type.String(),
          state: Type.String(),
        }),
      ),
      roles: Type.Array(
        Type.Object({
          id: Id,
          code: Type.String(),
          name: Type.String(),
          rights: Type.Array(Type.String()),
          held: Type.Array(
            Type.Object({
              kind: Type.Union([Type.Literal('user'), Type.Literal('group')]),
              id: Id,
              code: Type.String(),
            }),
          ),
        }),
      ),
      grants: Type.Array(
        Type.Object(
          {
            role: Type.String(),
            type: Type.String({ description: 'Code of a type, or * for all.' }),
            where: Type.Unknown({ description: 'The condition; null if there is none.' }),
            whereHidden: Type.Boolean({ description: 'The condition names fields that the caller may not read.' }),
            holds: nullable(Type.Boolean({ description: 'Null if no record was given.' })),
            actions: Type.Array(Type.String()),
            read: NamesOrAll,
            write: NamesOrAll,
            transitions: NamesOrAll,
          },
          { $id: 'ExplainedGrant' },
        ),
      ),
      result: nullable(
        Type.Object({
          actions: Type.Array(Type.String()),
          read: Type.Array(Type.String()),
          write: Type.Array(Type.String()),
        }),
      ),
    },
    { $id: 'AccessExplanation' },
  ),
  faults: ['NOT_FOUND', 'RIGHT_MISSING'],
});

const AuditEntry = Type.Object(
  {
    id: Id,
    at: Instant,
    type: Type.String(),
    subject: nullable(Type.String()),
    actor: Type.Object({ id: nullable(Id), displayName: Type.String(), via: Type.String() }),
    keyId: nullable(Id),
    correlationId: nullable(Type.String()),
    data: Type.Record(Type.String(), Type.Unknown()),
  },
  { $id: 'AuditEntry' },
);

export const readAudit = defineOperation({
  id: 'audit.list',
  method: 'GET',
  path: '/audit',
  access: 'console',
  right: 'audit.read',
  unit: 'read',
  status: 200,
  tag: 'Audit',
  summary: 'Read the audit log, newest first',
  description:
    'Changes of configuration, keys, rights and identity, and sign-ins. Filter by type of event and by subject.',
  query: closed({
    type: Type.Optional(Type.String({ minLength: 1, maxLength: 64 })),
    subject: Type.Optional(Type.String({ minLength: 1, maxLength: 200 })),
    ...pagingQuery,
  }),
  answer: Type.Object({
    rows: Type.Array(AuditEntry),
    page: Type.Integer(),
    pageSize: Type.Integer(),
    hasMore: Type.Boolean(),
  }),
  faults: ['RIGHT_MISSING'],
});
