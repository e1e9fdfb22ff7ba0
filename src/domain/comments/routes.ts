import { listPageOf } from '../../contract/paging.ts';
import { bindWith, type UnboundOperation } from '../../platform/module.ts';
import { type BoundOperation, bind } from '../../platform/unit-of-work/binding.ts';
import { addWithFiles, archiveComment, editComment } from './commands.ts';
import * as contract from './contract.ts';
import { listComments, replayComment } from './queries.ts';

export const commentRoutes: readonly (BoundOperation | UnboundOperation)[] = [
  bind(contract.listComments, (ctx, { params, query }) => listComments(ctx, params.objectId, listPageOf(query))),
  bindWith(
    contract.addComment,
    (service) =>
      (ctx, { params, body }) =>
        service.get(addWithFiles)(ctx, { ...params, ...body }, { isWhole: true }),
    () => replayComment,
  ),
  bind(contract.editComment, (ctx, { params, body }) => editComment(ctx, { ...params, ...body })),
  bind(contract.archiveComment, (ctx, { params, body }) => archiveComment(ctx, { ...params, ...body })),
];
