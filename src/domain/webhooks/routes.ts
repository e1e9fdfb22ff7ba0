import { bindWith, type UnboundOperation } from '../../platform/module.ts';
import { type BoundOperation, bind } from '../../platform/unit-of-work/binding.ts';
import * as commands from './commands.ts';
import * as contract from './contract.ts';
import { getDelivery, listDeliveries, listSubscriptions } from './queries.ts';
import { sampleMessage, testSubscription } from './sample.ts';
import { createSecret, listSecrets, rotateSecret } from './signing-secrets.ts';

export const webhookRoutes: readonly (BoundOperation | UnboundOperation)[] = [
  bind(contract.listSubscriptions, (ctx) => listSubscriptions(ctx)),
  bindWith(
    contract.createSubscription,
    ({ outbound }) =>
      (ctx, { body }) =>
        commands.createSubscription(ctx, body, outbound),
  ),
  bindWith(
    contract.changeSubscription,
    ({ outbound }) =>
      (ctx, { params, body }) =>
        commands.changeSubscription(ctx, params.id, body, outbound),
  ),
  bind(contract.enableSubscription, (ctx, { params }) => commands.switchSubscription(ctx, params.id, 'enable')),
  bind(contract.disableSubscription, (ctx, { params }) => commands.switchSubscription(ctx, params.id, 'disable')),
  bind(contract.archiveSubscription, (ctx, { params }) => commands.switchSubscription(ctx, params.id, 'archive')),
  bind(contract.restoreSubscription, (ctx, { params }) => commands.restoreSubscription(ctx, params.id)),
  bind(contract.listDeliveries, (ctx, { query }) => listDeliveries(ctx, query)),
  bind(contract.getDelivery, (ctx, { params }) => getDelivery(ctx, params.id)),
  bind(contract.retryDelivery, (ctx, { params }) => commands.retry(ctx, params.id)),
  bindWith(contract.testSubscription, (service) => {
    const { secrets, outbound } = service;
    return (runner, { params, body }) =>
      testSubscription(runner, { secrets, outbound, messageOf: service.get(sampleMessage) }, params.id, body);
  }),
  bind(contract.listSecrets, (ctx) => listSecrets(ctx)),
  bindWith(
    contract.createSecret,
    ({ secrets }) =>
      (ctx, { body }) =>
        createSecret(ctx, secrets, body.code),
  ),
  bindWith(
    contract.rotateSecret,
    ({ secrets }) =>
      (ctx, { params, body }) =>
        rotateSecret(ctx, secrets, params.code, body.overlap),
  ),
];
