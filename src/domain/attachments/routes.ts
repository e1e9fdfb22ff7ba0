import { type BoundOperation, bind, type Runner } from '../../mechanisms/binding.ts';
import type { BlobStore } from '../../mechanisms/blobs/store.ts';
import { addAttachment, archiveAttachment } from './commands.ts';
import * as contract from './contract.ts';
import { listAttachments, readContent, replayAttachment } from './queries.ts';

/** `freshCaller`: the same caller with the rights that hold now, for the check after storage was read. */
export function attachmentRoutes(
  blobs: BlobStore,
  freshCaller: (caller: Runner['caller']) => Promise<Runner['caller']>,
): BoundOperation[] {
  return [
    bind(contract.listAttachments, (ctx, { params }) => listAttachments(ctx, params.objectId)),
    bind(
      contract.addAttachment,
      (ctx, { params, body }) => {
        const { objectId: bodyObjectId, ...file } = body;
        return addAttachment(ctx, {
          ...file,
          ...params,
          ...(bodyObjectId === undefined ? {} : { bodyObjectId }),
        });
      },
      replayAttachment,
    ),
    bind(contract.readContent, (runner, { params }, request) =>
      readContent(runner, blobs, params.attachmentId, request, freshCaller),
    ),
    bind(contract.archiveAttachment, (ctx, { params, body }) => archiveAttachment(ctx, { ...params, ...body })),
  ];
}
