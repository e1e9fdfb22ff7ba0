import { type BoundOperation, bind } from '../../platform/unit-of-work/binding.ts';
import type { Outbound } from '../../platform/outbound/outbound.ts';
import type { SecretBox } from '../../platform/secrets.ts';
import * as commands from './commands.ts';
import * as contract from './contract.ts';
import { getDelivery, listDeliveries, listSubscriptions } from './queries.ts';
import { type SampleMessage, testSubscription } from './sample.ts';
import { createSecret, listSecrets, rotateSecret } from './signing-secrets.ts';

/** @param messageOf the message that a rule posts through a subscription */
export function webhookRoutes(
  secrets: SecretBox,
  outbound: Pick<Outbound, 'refusals' | 'post'>,
  messageOf: SampleMessage,
): BoundOperation[] {
  return [
    bind(contract.listSubscriptions, (ctx) => listSubscriptions(ctx)),
    bind(contract.createSubscription, (ctx, { body }) => commands.createSubscription(ctx, body, outbound)),
    bind(contract.changeSubscription, (ctx, { params, body }) =>
      commands.changeSubscription(ctx, params.id, body, outbound),
    ),
    bind(contract.enableSubscription, (ctx, { params }) => commands.switchSubscription(ctx, params.id, 'enable')),
    bind(contract.disableSubscription, (ctx, { params }) => commands.switchSubscription(ctx, params.id, 'disable')),
    bind(contract.archiveSubscription, (ctx, { params }) => commands.switchSubscription(ctx, params.id, 'archive')),
    bind(contract.restoreSubscription, (ctx, { params }) => commands.restoreSubscription(ctx, params.id)),
    bind(contract.listDeliveries, (ctx, { query }) => listDeliveries(ctx, query)),
    bind(contract.getDelivery, (ctx, { params }) => getDelivery(ctx, params.id)),
    bind(contract.retryDelivery, (ctx, { params }) => commands.retry(ctx, params.id)),
    bind(contract.testSubscription, (runner, { params, body }) =>
      testSubscription(runner, { secrets, outbound, messageOf }, params.id, body),
    ),
    bind(contract.listSecrets, (ctx) => listSecrets(ctx)),
    bind(contract.createSecret, (ctx, { body }) => createSecret(ctx, secrets, body.code)),
    bind(contract.rotateSecret, (ctx, { params, body }) => rotateSecret(ctx, secrets, params.code, body.overlap)),
  ];
}
