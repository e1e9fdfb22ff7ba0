import { bind, type Binding } from '../../platform/module.ts';
import * as contract from './contract.ts';
import { explainRequest as explainOperation } from './contract-explain.ts';
import * as me from './contract-me.ts';
import { explainParts, explainRequest } from './explain-request.ts';
import { explainAccess, listAudit } from './queries.ts';
import { createKey, listKeys, revokeKey, rotateKey } from './keys.ts';
import { ownProfile, updateOwnProfile } from '../identity/index.ts';
import { endOtherSessions, endSession, getSession, listSessions, setPasswordOf, signOut } from './sessions.ts';
import { signIns } from './parts.ts';

export const accessRoutes: readonly Binding[] = [
  bind(contract.listKeys, (ctx) => listKeys(ctx)),
  bind(contract.createKey, (ctx, { body }) => createKey(ctx, body)),
  bind(contract.revokeKey, (ctx, { params }) => revokeKey(ctx, params.id)),
  bind(contract.rotateKey, (ctx, { params, body }) => rotateKey(ctx, params.id, body.overlap)),
  bind(contract.signIn, (runner, { body }, request, service) => service.get(signIns).signIn(runner, body, request)),
  bind(contract.signInWays, async (_ctx, _input, _request, { settings: { oidc } }) => ({
    oidc: oidc === undefined ? null : { name: new URL(oidc.issuer).host },
  })),
  bind(contract.getSession, (ctx, _input, request) => getSession(ctx, request.sessionToken)),
  bind(contract.explainAccess, (ctx, { query }) => explainAccess(ctx, query)),
  bind(explainOperation, (runner, { body }, request, service) =>
    explainRequest(runner, body, request, explainParts(service)),
  ),
  bind(contract.setPassword, (ctx, { params, body }) => setPasswordOf(ctx, params.id, body.password)),
  bind(me.getProfile, (ctx) => ownProfile(ctx)),
  bind(me.changeProfile, (ctx, { body }) => updateOwnProfile(ctx, body)),
  bind(me.changePassword, (runner, { body }, request, service) =>
    service.get(signIns).changePassword(runner, body, request),
  ),
  bind(me.listSessions, (ctx, _input, request) => listSessions(ctx, request.sessionToken)),
  bind(me.endSession, (ctx, { params }) => endSession(ctx, params.id)),
  bind(me.endOtherSessions, (ctx, _input, request) => endOtherSessions(ctx, request.sessionToken)),
  bind(contract.readAudit, (ctx, { query }) => listAudit(ctx, query)),
  bind(contract.signOut, (ctx, _input, request) => signOut(ctx, request.sessionToken, request.secure)),
];
