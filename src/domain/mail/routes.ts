import { bind, type Binding } from '../../platform/module.ts';
import { handIn, retryMessage, sendAgain } from './commands.ts';
import * as contract from './contract.ts';
import { listMessages, listSent } from './queries.ts';
import { mailParts } from './receive.ts';

export const mailRoutes: readonly Binding[] = [
  bind(contract.receiveMessage, (runner, { params, body }, _request, service) =>
    handIn(runner, service.get(mailParts), params.code, body.raw),
  ),
  bind(contract.listMessages, (ctx, { query }) => listMessages(ctx, query)),
  bind(contract.retryMessage, (runner, { params }, _request, service) =>
    retryMessage(runner, service.get(mailParts), params.messageId),
  ),
  bind(contract.listSent, (ctx, { query }, _request, { settings }) =>
    listSent(ctx, query, settings.smtp !== undefined),
  ),
  bind(contract.sendAgain, (ctx, { params }) => sendAgain(ctx, params.mailId)),
];
