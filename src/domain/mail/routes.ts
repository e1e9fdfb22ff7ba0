import { bindWith, type UnboundOperation } from '../../platform/module.ts';
import { type BoundOperation, bind } from '../../platform/unit-of-work/binding.ts';
import { handIn, retryMessage, sendAgain } from './commands.ts';
import * as contract from './contract.ts';
import { listMessages, listSent } from './queries.ts';
import { mailParts } from './receive.ts';

export const mailRoutes: readonly (BoundOperation | UnboundOperation)[] = [
  bindWith(contract.receiveMessage, (service) => {
    const parts = mailParts(service);
    return (runner, { params, body }) => handIn(runner, parts, params.code, body.raw);
  }),
  bind(contract.listMessages, (ctx, { query }) => listMessages(ctx, query)),
  bindWith(contract.retryMessage, (service) => {
    const parts = mailParts(service);
    return (runner, { params }) => retryMessage(runner, parts, params.messageId);
  }),
  bindWith(
    contract.listSent,
    ({ settings }) =>
      (ctx, { query }) =>
        listSent(ctx, query, settings.smtp !== undefined),
  ),
  bind(contract.sendAgain, (ctx, { params }) => sendAgain(ctx, params.mailId)),
];
