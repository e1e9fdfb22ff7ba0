/** Reads of published articles: only active versions whose audience includes the caller. */
import type { Reply } from '../../contract/operation.ts';
import { Fault } from '../../lib/fault.ts';
import type { RequestFacts, Runner } from '../../platform/unit-of-work/binding.ts';
import { type ContentParts, serveImage } from '../../platform/blobs/serve.ts';
import type { ReadContext } from '../../platform/unit-of-work/context.ts';
import { imageHandles } from '../metadata/index.ts';
import { noArticle } from './load.ts';
import { preferenceOf, reachOf } from './audience.ts';
import { findReached, listLocales, listReached, listTextsNaming, type VersionRow } from './store.ts';
import { type ImageRow, listImages } from './store-named.ts';

/** A version in lists. */
export function versionAnswer(row: VersionRow) {
  const { articleId, id, code, baseId, sectionId, locale, title, summary, tags, visibility, state } = row;
  const { responsibleId, publishedAt, updatedAt } = row;
  const said = { code, baseId, sectionId, locale, title, summary, tags, visibility, state };
  return { id: articleId, versionId: id, ...said, responsibleId, publishedAt, updatedAt };
}

/** @throws Fault RIGHT_MISSING */
export async function listArticles(ctx: ReadContext, locale: string | undefined): Promise<unknown[]> {
  ctx.actor.require('kb.read');
  return (await listReached(ctx, reachOf(ctx), preferenceOf(ctx, locale))).map(versionAnswer);
}

/** @throws Fault RIGHT_MISSING, NOT_FOUND */
export async function getArticle(ctx: ReadContext, articleId: string, locale: string | undefined): Promise<unknown> {
  ctx.actor.require('kb.read');
  const reach = reachOf(ctx);
  const version = await findReached(ctx, reach, preferenceOf(ctx, locale), articleId);
  if (version === undefined) throw noArticle();
  return {
    ...versionAnswer(version),
    body: version.body,
    bodyDocument: version.document,
    responsible:
      version.responsibleId === null ? null : { id: version.responsibleId, displayName: version.responsibleName ?? '' },
    locales: await listLocales(ctx, reach, articleId),
  };
}

/** An image is readable by callers who may read a version that shows it. Authors may read all images. */
async function requireShown(ctx: ReadContext, articleId: string, sha256: string): Promise<ImageRow> {
  ctx.actor.require('kb.read');
  const image = (await listImages(ctx, articleId)).find((one) => one.sha256 === sha256);
  const all = ctx.actor.has('kb.write');
  const texts = image === undefined ? [] : await listTextsNaming(ctx, { ...reachOf(ctx), all }, articleId, sha256);
  if (image !== undefined && texts.some((text) => imageHandles(text).includes(sha256))) return image;
  throw new Fault('NOT_FOUND', 'There is no such image, or you may not see it.');
}

/**
 * Reads an image of an article. As with attachments, rights are checked before storage is read and again afterwards.
 *
 * @throws Fault RIGHT_MISSING, NOT_FOUND
 */
export async function readArticleImage(
  runner: Runner,
  parts: ContentParts<Runner['caller']>,
  { articleId, sha256 }: { articleId: string; sha256: string },
  request: RequestFacts,
): Promise<Reply> {
  return await serveImage(runner, parts, (ctx) => requireShown(ctx, articleId, sha256), request);
}
