import { type BoundOperation, bind, type Runner } from '../../platform/unit-of-work/binding.ts';
import type { ContentParts } from '../../platform/blobs/serve.ts';
import { archiveArticle, createArticle, editDraft, publishVersion, restoreVersion } from './commands.ts';
import { changeAudiences } from './commands-audiences.ts';
import * as contract from './contract.ts';
import * as admin from './contract-admin.ts';
import { getArticle, listArticles, readArticleImage } from './queries.ts';
import { getAudiences, getMaterial, getVersion, listAllVersions, listBases } from './queries-admin.ts';

export function knowledgeRoutes(content: ContentParts<Runner['caller']>): BoundOperation[] {
  return [
    bind(contract.listArticles, (ctx, { query }) => listArticles(ctx, query.locale)),
    bind(contract.getArticle, (ctx, { params, query }) => getArticle(ctx, params.articleId, query.locale)),
    bind(contract.readImage, (runner, { params }, request) => readArticleImage(runner, content, params, request)),
    bind(contract.createArticle, (ctx, { body }) => createArticle(ctx, body)),
    bind(contract.editDraft, (ctx, { params, body }) => editDraft(ctx, { ...params, ...body })),
    bind(contract.publishVersion, (ctx, { body }) => publishVersion(ctx, body.versionId)),
    bind(contract.archiveArticle, (ctx, { body }) => archiveArticle(ctx, body)),
    bind(admin.listBases, (ctx, { query }) => listBases(ctx, query.locale)),
    bind(admin.listVersions, (ctx, { query }) => listAllVersions(ctx, query)),
    bind(admin.getVersion, (ctx, { params }) => getVersion(ctx, params.versionId)),
    bind(admin.getAudiences, (ctx, { params }) => getAudiences(ctx, params.versionId)),
    bind(admin.setAudiences, (ctx, { params, body }) => changeAudiences(ctx, params.versionId, body.audiences)),
    bind(admin.restoreVersion, (ctx, { params }) => restoreVersion(ctx, params.versionId)),
    bind(admin.getMaterial, (ctx, { params, query }) => getMaterial(ctx, params.articleId, query.locale)),
  ];
}
