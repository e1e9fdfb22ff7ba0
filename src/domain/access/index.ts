/**
 * Access: API keys and scopes, sessions, roles and grants, and the only evaluator of rights.
 *
 * A scope limits a key and is
 * checked by the HTTP layer. A right belongs to the owner of the key and is checked with `ctx.actor`. Invariants: only hashes
 * of secrets are stored. A change of keys, roles, memberships or states changes the rights version in the same transaction.
 * Rights come from grants alone, and no user is exempt from the rules.
 */
export { anonymousActor, systemActor, systemCaller } from './actor.ts';
export { type Authenticated, Authenticator, type Credentials } from './authenticate.ts';
export { whoHolds } from './store-holders.ts';
export { createKey, listKeys, revokeKey, rotateKey } from './keys.ts';
export { type RestrictedFields, restrictedFieldView, type OwnFields, ownFieldView } from './roles.ts';
export { authenticator, signIns } from './parts.ts';
export { explainParts, type Explanation, explainRequest, transitionFacts } from './explain-request.ts';
export { setPassword } from './sessions.ts';
export { DEVICE_COOKIE } from './sign-in.ts';
