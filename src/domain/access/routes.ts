import { bindWith, type UnboundOperation } from '../../platform/module.ts';
import { type BoundOperation, bind } from '../../platform/unit-of-work/binding.ts';
import * as contract from './contract.ts';
import { explainRequest as explainOperation } from './contract-explain.ts';
import * as me from './contract-me.ts';
import { explainParts, explainRequest } from './explain-request.ts';
import { explainAccess, listAudit } from './queries.ts';
import { createKey, listKeys, revokeKey, rotateKey } from './keys.ts';
import { ownProfile, updateOwnProfile } from '../identity/index.ts';
import { endOtherSessions, endSession, getSession, listSessions, setPasswordOf, signOut } from './sessions.ts';
import { signIns } from './parts.ts';

export const accessRoutes: readonly (BoundOperation | UnboundOperation)[] = [
  bind(contract.listKeys, (ctx) => listKeys(ctx)),
  bind(contract.createKey, (ctx, { body }) => createKey(ctx, body)),
  bind(contract.revokeKey, (ctx, { params }) => revokeKey(ctx, params.id)),
  bind(contract.rotateKey, (ctx, { params, body }) => rotateKey(ctx, params.id, body.overlap)),
  bindWith(
    contract.signIn,
    (service) =>
      (runner, { body }, request) =>
        service.get(signIns).signIn(runner, body, request),
  ),
  bindWith(contract.signInWays, ({ settings: { oidc } }) => {
    const ways = { oidc: oidc === undefined ? null : { name: new URL(oidc.issuer).host } };
    return async () => ways;
  }),
  bind(contract.getSession, (ctx, _input, request) => getSession(ctx, request.sessionToken)),
  bind(contract.explainAccess, (ctx, { query }) => explainAccess(ctx, query)),
  bindWith(
    explainOperation,
    (service) =>
      (runner, { body }, request) =>
        explainRequest(runner, body, request, explainParts(service)),
  ),
  bind(contract.setPassword, (ctx, { params, body }) => setPasswordOf(ctx, params.id, body.password)),
  bind(me.getProfile, (ctx) => ownProfile(ctx)),
  bind(me.changeProfile, (ctx, { body }) => updateOwnProfile(ctx, body)),
  bindWith(
    me.changePassword,
    (service) =>
      (runner, { body }, request) =>
        service.get(signIns).changePassword(runner, body, request),
  ),
  bind(me.listSessions, (ctx, _input, request) => listSessions(ctx, request.sessionToken)),
  bind(me.endSession, (ctx, { params }) => endSession(ctx, params.id)),
  bind(me.endOtherSessions, (ctx, _input, request) => endOtherSessions(ctx, request.sessionToken)),
  bind(contract.readAudit, (ctx, { query }) => listAudit(ctx, query)),
  bind(contract.signOut, (ctx, _input, request) => signOut(ctx, request.sessionToken, request.secure)),
];
