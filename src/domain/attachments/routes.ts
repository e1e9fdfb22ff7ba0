import { type BoundOperation, bind, type Runner } from '../../platform/unit-of-work/binding.ts';
import type { ContentParts } from '../../platform/blobs/serve.ts';
import { addAttachment, archiveAttachment } from './commands.ts';
import * as contract from './contract.ts';
import { listAttachments, readContent, replayAttachment } from './queries.ts';

export function attachmentRoutes(content: ContentParts<Runner['caller']>): BoundOperation[] {
  return [
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
    bind(contract.readContent, (runner, { params }, request) =>
      readContent(runner, content, params.attachmentId, request),
    ),
    bind(contract.archiveAttachment, (ctx, { params, body }) => archiveAttachment(ctx, { ...params, ...body })),
  ];
}
