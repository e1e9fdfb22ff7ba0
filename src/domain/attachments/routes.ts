import { bind, type Binding } from '../../platform/module.ts';
import { addAttachment, archiveAttachment } from './commands.ts';
import * as contract from './contract.ts';
import { listAttachments, readContent, replayAttachment } from './queries.ts';

export const attachmentRoutes: readonly Binding[] = [
  bind(contract.listAttachments, (ctx, { params }) => listAttachments(ctx, params.objectId)),
  bind(
    contract.addAttachment,
    (ctx, { params, body, query }) => {
      const { objectId: bodyObjectId, ...file } = body;
      return addAttachment(ctx, {
        ...file,
        ...params,
        ...query,
        ...(bodyObjectId === undefined ? {} : { bodyObjectId }),
      });
    },
    replayAttachment,
  ),
  bind(contract.readContent, (runner, { params }, request, service) =>
    readContent(runner, service, params.attachmentId, request),
  ),
  bind(contract.archiveAttachment, (ctx, { params, body }) => archiveAttachment(ctx, { ...params, ...body })),
];
