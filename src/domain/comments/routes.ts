import { listPageOf } from '../../contract/paging.ts';
import { type BoundOperation, bind } from '../../platform/unit-of-work/binding.ts';
import { addComment, archiveComment, editComment } from './commands.ts';
import * as contract from './contract.ts';
import { listComments, replayComment } from './queries.ts';

export const commentRoutes: BoundOperation[] = [
  bind(contract.listComments, (ctx, { params, query }) => listComments(ctx, params.objectId, listPageOf(query))),
  bind(
    contract.addComment,
    (ctx, { params, body }) => addComment(ctx, { ...params, ...body }, { isWhole: true }),
    replayComment,
  ),
  bind(contract.editComment, (ctx, { params, body }) => editComment(ctx, { ...params, ...body })),
  bind(contract.archiveComment, (ctx, { params, body }) => archiveComment(ctx, { ...params, ...body })),
];
