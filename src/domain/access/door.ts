/**
 * Access: API keys and scopes, sessions, roles and grants, and the one evaluator of rights.
 *
 * Own tables: `api_keys`, `sessions`, `sign_in_attempts`, `sign_in_places`, `role_assignments`. A scope limits a key and is checked at the edge; a right belongs to
 * the owner and is asked of `ctx.actor`. Invariants: only hashes of secrets are stored; a change of keys, roles, memberships or
 * states raises the epoch in its own transaction; nothing is allowed that no grant allows, and nobody is above the rules.
 */
export { anonymousActor, systemActor } from './actor.ts';
export { type Authenticated, Authenticator, type Credentials } from './authenticate.ts';
export { administratorFollower, sessionFollower } from './follow.ts';
export { createKey, listKeys, revokeKey, rotateKey } from './keys.ts';
export { type HiddenFields, hiddenFieldSlice, type OwnFields, ownFieldSlice } from './roles.ts';
export { Oidc, OIDC_PATH } from './oidc.ts';
export { accessRoutes } from './routes.ts';
export { setPassword } from './sessions.ts';
export { DEVICE_COOKIE, SignIns } from './sign-in.ts';
export { purgeSessions, touchKeys } from './store.ts';
export { purgeSignIns } from './store-sign-in.ts';
