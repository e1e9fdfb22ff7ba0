import { listPageOf } from '../../contract/paging.ts';
import { type BoundOperation, bind } from '../../platform/unit-of-work/binding.ts';
import type { UnitPart, WriteContext } from '../../platform/unit-of-work/context.ts';
import { archiveComment, editComment, type NewComment } from './commands.ts';
import * as contract from './contract.ts';
import { type CommentAnswer, listComments, replayComment } from './queries.ts';

/** Adds a comment that takes files. Files are another module's, which depends on this one. */
type AddWithFiles = (
  ctx: WriteContext,
  input: NewComment & { attachmentIds?: readonly string[] },
  unit: UnitPart,
) => Promise<CommentAnswer>;

export function commentRoutes(add: AddWithFiles): BoundOperation[] {
  return [
    bind(contract.listComments, (ctx, { params, query }) => listComments(ctx, params.objectId, listPageOf(query))),
    bind(
      contract.addComment,
      (ctx, { params, body }) => add(ctx, { ...params, ...body }, { isWhole: true }),
      replayComment,
    ),
    bind(contract.editComment, (ctx, { params, body }) => editComment(ctx, { ...params, ...body })),
    bind(contract.archiveComment, (ctx, { params, body }) => archiveComment(ctx, { ...params, ...body })),
  ];
}
