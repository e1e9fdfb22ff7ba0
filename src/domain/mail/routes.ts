import type { BlobStore } from '../../platform/blobs/store.ts';
import { type BoundOperation, bind } from '../../platform/unit-of-work/binding.ts';
import { handIn, retryMessage, sendAgain } from './commands.ts';
import * as contract from './contract.ts';
import { listMessages, listSent } from './queries.ts';
import type { ReceiveParts } from './receive.ts';

/** @param parts `sendsMail`: whether the service has a mail server */
export function mailRoutes(parts: ReceiveParts & { blobs: BlobStore; sendsMail: boolean }): BoundOperation[] {
  return [
    bind(contract.receiveMessage, (runner, { params, body }) => handIn(runner, parts, params.code, body.raw)),
    bind(contract.listMessages, (ctx, { query }) => listMessages(ctx, query)),
    bind(contract.retryMessage, (runner, { params }) => retryMessage(runner, parts, params.messageId)),
    bind(contract.listSent, (ctx, { query }) => listSent(ctx, query, parts.sendsMail)),
    bind(contract.sendAgain, (ctx, { params }) => sendAgain(ctx, params.mailId)),
  ];
}
