import { type BoundOperation, bind, type Runner } from '../../platform/unit-of-work/binding.ts';
import type { ContentParts } from '../../platform/blobs/serve.ts';
import {
  archiveArticle,
  changeAudiences,
  createArticle,
  editDraft,
  publishVersion,
  restoreVersion,
} from './commands.ts';
import * as contract from './contract.ts';
import {
  getArticle,
  getAudiences,
  getArticleState,
  getVersion,
  listAllVersions,
  listArticles,
  listBases,
  readArticleImage,
} from './queries.ts';

export function knowledgeRoutes(content: ContentParts<Runner['caller']>): BoundOperation[] {
  return [
    bind(contract.listArticles, (ctx, { query }) => listArticles(ctx, query.locale)),
    bind(contract.getArticle, (ctx, { params, query }) => getArticle(ctx, params.articleId, query.locale)),
    bind(contract.readImage, (runner, { params }, request) => readArticleImage(runner, content, params, request)),
    bind(contract.createArticle, (ctx, { body }) => createArticle(ctx, body)),
    bind(contract.editDraft, (ctx, { params, body }) => editDraft(ctx, { ...params, ...body })),
    bind(contract.publishVersion, (ctx, { body }) => publishVersion(ctx, body.versionId)),
    bind(contract.archiveArticle, (ctx, { body }) => archiveArticle(ctx, body)),
    bind(contract.listBases, (ctx, { query }) => listBases(ctx, query.locale)),
    bind(contract.listVersions, (ctx, { query }) => listAllVersions(ctx, query)),
    bind(contract.getVersion, (ctx, { params }) => getVersion(ctx, params.versionId)),
    bind(contract.getAudiences, (ctx, { params }) => getAudiences(ctx, params.versionId)),
    bind(contract.setAudiences, (ctx, { params, body }) => changeAudiences(ctx, params.versionId, body.audiences)),
    bind(contract.restoreVersion, (ctx, { params }) => restoreVersion(ctx, params.versionId)),
    bind(contract.getArticleState, (ctx, { params, query }) => getArticleState(ctx, params.articleId, query.locale)),
  ];
}
