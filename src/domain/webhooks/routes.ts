import { bind, type Binding } from '../../platform/module.ts';
import * as commands from './commands.ts';
import * as contract from './contract.ts';
import { getDelivery, listDeliveries, listSubscriptions } from './queries.ts';
import { sampleMessage, testSubscription } from './sample.ts';
import { createSecret, listSecrets, rotateSecret } from './signing-secrets.ts';

export const webhookRoutes: readonly Binding[] = [
  bind(contract.listSubscriptions, (ctx) => listSubscriptions(ctx)),
  bind(contract.createSubscription, (ctx, { body }, _request, { outbound }) =>
    commands.createSubscription(ctx, body, outbound),
  ),
  bind(contract.changeSubscription, (ctx, { params, body }, _request, { outbound }) =>
    commands.changeSubscription(ctx, params.id, body, outbound),
  ),
  bind(contract.enableSubscription, (ctx, { params }) => commands.switchSubscription(ctx, params.id, 'enable')),
  bind(contract.disableSubscription, (ctx, { params }) => commands.switchSubscription(ctx, params.id, 'disable')),
  bind(contract.archiveSubscription, (ctx, { params }) => commands.switchSubscription(ctx, params.id, 'archive')),
  bind(contract.restoreSubscription, (ctx, { params }) => commands.restoreSubscription(ctx, params.id)),
  bind(contract.listDeliveries, (ctx, { query }) => listDeliveries(ctx, query)),
  bind(contract.getDelivery, (ctx, { params }) => getDelivery(ctx, params.id)),
  bind(contract.retryDelivery, (ctx, { params }) => commands.retry(ctx, params.id)),
  bind(contract.testSubscription, (runner, { params, body }, _request, { secrets, outbound, get }) =>
    testSubscription(runner, { secrets, outbound, messageOf: get(sampleMessage) }, params.id, body),
  ),
  bind(contract.listSecrets, (ctx) => listSecrets(ctx)),
  bind(contract.createSecret, (ctx, { body }, _request, { secrets }) => createSecret(ctx, secrets, body.code)),
  bind(contract.rotateSecret, (ctx, { params, body }, _request, { secrets }) =>
    rotateSecret(ctx, secrets, params.code, body.overlap),
  ),
];
