import { bind, type Binding } from '../../platform/module.ts';
import { changeAudiences } from './audiences.ts';
import {
  archiveArticle,
  createArticle,
  draftArticle,
  editDraft,
  publishVersion,
  restoreVersion,
  setReview,
} from './commands.ts';
import * as contract from './contract.ts';
import * as administration from './contract-administration.ts';
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
import { browseArticles, getContents, viewArticle, voteOnArticle } from './reading.ts';

export const knowledgeRoutes: readonly Binding[] = [
  bind(contract.listArticles, (ctx, { query }) => listArticles(ctx, query.locale)),
  bind(contract.getArticle, (ctx, { params, query }) => getArticle(ctx, params.articleId, query.locale)),
  bind(contract.readImage, (runner, { params }, request, service) =>
    readArticleImage(runner, service, params, request),
  ),
  bind(contract.createArticle, (ctx, { body }) => createArticle(ctx, body)),
  bind(contract.editDraft, (ctx, { params, body }) => editDraft(ctx, { ...params, ...body })),
  bind(contract.publishVersion, (ctx, { body }) => publishVersion(ctx, body.versionId)),
  bind(contract.archiveArticle, (ctx, { body }) => archiveArticle(ctx, body)),
  bind(contract.getContents, (ctx, { query }) => getContents(ctx, query.locale)),
  bind(contract.browseArticles, (ctx, { query }) => browseArticles(ctx, query)),
  bind(contract.viewArticle, (ctx, { params }) => viewArticle(ctx, params.articleId)),
  bind(contract.voteOnArticle, (ctx, { params, body }) => voteOnArticle(ctx, params.articleId, body.helpful)),
  bind(administration.draftArticle, (ctx, { body }) => draftArticle(ctx, body)),
  bind(administration.setReview, (ctx, { params, body }) => setReview(ctx, params.articleId, body.reviewOn)),
  bind(administration.listBases, (ctx, { query }) => listBases(ctx, query.locale)),
  bind(administration.listVersions, (ctx, { query }) => listAllVersions(ctx, query)),
  bind(administration.getVersion, (ctx, { params }) => getVersion(ctx, params.versionId)),
  bind(administration.getAudiences, (ctx, { params }) => getAudiences(ctx, params.versionId)),
  bind(administration.setAudiences, (ctx, { params, body }) => changeAudiences(ctx, params.versionId, body.audiences)),
  bind(administration.restoreVersion, (ctx, { params }) => restoreVersion(ctx, params.versionId)),
  bind(administration.getArticleState, (ctx, { params, query }) =>
    getArticleState(ctx, params.articleId, query.locale),
  ),
];
