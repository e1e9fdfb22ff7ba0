import { bind, type Binding } from '../../platform/module.ts';
import { listPageOf } from '../../contract/paging.ts';
import { addWithFiles, archiveComment, editComment } from './commands.ts';
import * as contract from './contract.ts';
import { listComments, replayComment } from './queries.ts';

export const commentRoutes: readonly Binding[] = [
  bind(contract.listComments, (ctx, { params, query }) => listComments(ctx, params.objectId, listPageOf(query))),
  bind(
    contract.addComment,
    (ctx, { params, body }, _request, service) =>
      service.get(addWithFiles)(ctx, { ...params, ...body }, { isWhole: true }),
    replayComment,
  ),
  bind(contract.editComment, (ctx, { params, body }) => editComment(ctx, { ...params, ...body })),
  bind(contract.archiveComment, (ctx, { params, body }) => archiveComment(ctx, { ...params, ...body })),
];
