/**
 * Access: API keys and scopes, sessions, roles and grants, and the only evaluator of rights.
 *
 * Own tables: `api_keys`, `sessions`, `sign_in_attempts`, `sign_in_origins`, `role_assignments`. A scope limits a key and is
 * checked by the HTTP layer. A right belongs to the owner of the key and is checked with `ctx.actor`. Invariants: only hashes
 * of secrets are stored. A change of keys, roles, memberships or states changes the rights version in the same transaction.
 * Rights come from grants alone, and no user is exempt from the rules.
 */
export { anonymousActor, systemActor } from './actor.ts';
export { type Authenticated, Authenticator, type Credentials } from './authenticate.ts';
export { administratorFollower, sessionFollower } from './follow.ts';
export { whoHolds } from './store-holders.ts';
export { createKey, listKeys, revokeKey, rotateKey } from './keys.ts';
export { type RestrictedFields, restrictedFieldView, type OwnFields, ownFieldView } from './roles.ts';
export { Oidc, OIDC_PATH } from './oidc.ts';
export { type Explanation, type ExplainParts, explainRequest } from './explain-request.ts';
export { accessRoutes } from './routes.ts';
export { setPassword } from './sessions.ts';
export { DEVICE_COOKIE, SignIns } from './sign-in.ts';
export { purgeSessions, touchKeys, touchSessions } from './store.ts';
export { purgeSignIns } from './store-sign-in.ts';
export { accessImpact } from './impact.ts';
