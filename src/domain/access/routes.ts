import { type BoundOperation, bind } from '../../platform/unit-of-work/binding.ts';
import * as contract from './contract.ts';
import { explainRequest as explainOperation } from './contract-explain.ts';
import * as me from './contract-me.ts';
import { explainRequest, type ExplainParts } from './explain-request.ts';
import { explainAccess, listAudit, type RecordFor } from './queries.ts';
import { createKey, listKeys, revokeKey, rotateKey } from './keys.ts';
import { ownProfile, updateOwnProfile } from '../identity/index.ts';
import { endOtherSessions, endSession, getSession, listSessions, setPasswordOf, signOut } from './sessions.ts';
import type { SignIns } from './sign-in.ts';

/**
 * @param oidc the name of the OpenID Connect provider; null if none is configured
 * @param explain finds operations and transitions, for explanations
 * @param recordFor returns the record as the caller may see it; throws NOT_FOUND otherwise
 */
export const accessRoutes = (
  signIns: SignIns,
  oidc: string | null,
  recordFor: RecordFor,
  explain: ExplainParts,
): BoundOperation[] => [
  bind(contract.listKeys, (ctx) => listKeys(ctx)),
  bind(contract.createKey, (ctx, { body }) => createKey(ctx, body)),
  bind(contract.revokeKey, (ctx, { params }) => revokeKey(ctx, params.id)),
  bind(contract.rotateKey, (ctx, { params, body }) => rotateKey(ctx, params.id, body.overlap)),
  bind(contract.signIn, (runner, { body }, request) => signIns.signIn(runner, body, request)),
  bind(contract.signInWays, async () => ({ oidc: oidc === null ? null : { name: oidc } })),
  bind(contract.getSession, (ctx, _input, request) => getSession(ctx, request.sessionToken)),
  bind(contract.explainAccess, (ctx, { query }) => explainAccess(ctx, query, recordFor)),
  bind(explainOperation, (runner, { body }, request) => explainRequest(runner, body, request, explain)),
  bind(contract.setPassword, (ctx, { params, body }) => setPasswordOf(ctx, params.id, body.password)),
  bind(me.getProfile, (ctx) => ownProfile(ctx)),
  bind(me.changeProfile, (ctx, { body }) => updateOwnProfile(ctx, body)),
  bind(me.changePassword, (runner, { body }, request) => signIns.changePassword(runner, body, request)),
  bind(me.listSessions, (ctx, _input, request) => listSessions(ctx, request.sessionToken)),
  bind(me.endSession, (ctx, { params }) => endSession(ctx, params.id)),
  bind(me.endOtherSessions, (ctx, _input, request) => endOtherSessions(ctx, request.sessionToken)),
  bind(contract.readAudit, (ctx, { query }) => listAudit(ctx, query)),
  bind(contract.signOut, (ctx, _input, request) => signOut(ctx, request.sessionToken, request.secure)),
];
