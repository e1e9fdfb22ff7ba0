/**
 * Reads of articles. Readers get active versions whose audience includes them. Authors get versions in any state, regardless of their
 * audience (docs/spec/configuration.md#administration-api).
 */
import type { Reply } from '../../contract/operation.ts';
import { pageOf, windowOf } from '../../contract/paging.ts';
import { Fault, faultAt } from '../../lib/fault.ts';
import { findByIdOrCode } from '../../contract/schemas.ts';
import { type ContentParts, serveImage } from '../../platform/blobs/serve.ts';
import type { RequestFacts, Runner } from '../../platform/unit-of-work/binding.ts';
import type { ReadContext } from '../../platform/unit-of-work/context.ts';
import { imageHandles, localized, registry } from '../metadata/index.ts';
import { bases } from './registry.ts';
import { articleStateToken } from './rules.ts';
import {
  type Audience,
  findPrincipals,
  type ImageRow,
  listCurrent,
  listImages,
  listVersions,
  type Principal,
  type VersionRow,
  type VersionState,
} from './store.ts';
import {
  countFeedback,
  type Feedback,
  findReadable,
  listLocales,
  listReadable,
  listTextsWithImage,
} from './store-reading.ts';
import { noArticle, preferenceOf, readerFilter, requireVersion } from './versions.ts';

// ---------------------------------------------------------------- readers

/** A version in lists. */
export function versionAnswer(row: VersionRow) {
  const { articleId, id, code, baseId, sectionId, locale, title, summary, tags, visibility, state } = row;
  const { responsibleId, publishedAt, updatedAt } = row;
  const said = { code, baseId, sectionId, locale, title, summary, tags, visibility, state };
  return { id: articleId, versionId: id, ...said, responsibleId, publishedAt, updatedAt };
}

/** @throws Fault RIGHT_MISSING */
export async function listArticles(ctx: ReadContext, locale: string | undefined): Promise<unknown[]> {
  return (await listReadable(ctx, readerFilter(ctx), preferenceOf(ctx, locale))).map(versionAnswer);
}

/** @throws Fault RIGHT_MISSING, NOT_FOUND */
export async function getArticle(ctx: ReadContext, articleId: string, locale: string | undefined): Promise<unknown> {
  const filter = readerFilter(ctx);
  const version = await findReadable(ctx, filter, preferenceOf(ctx, locale), articleId);
  if (version === undefined) throw noArticle();
  return {
    ...versionAnswer(version),
    body: version.body,
    bodyDocument: version.document,
    responsible:
      version.responsibleId === null ? null : { id: version.responsibleId, displayName: version.responsibleName ?? '' },
    locales: await listLocales(ctx, filter, articleId),
  };
}

/** An image is readable by callers who may read a version that shows it. Authors may read all images. */
async function requireShown(ctx: ReadContext, articleId: string, sha256: string): Promise<ImageRow> {
  const filter = readerFilter(ctx);
  const image = (await listImages(ctx, articleId)).find((one) => one.sha256 === sha256);
  const all = ctx.actor.has('kb.write');
  const texts = image === undefined ? [] : await listTextsWithImage(ctx, { ...filter, all }, articleId, sha256);
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

// ---------------------------------------------------------------- authors

/** @throws Fault RIGHT_MISSING */
export async function listBases(ctx: ReadContext, locale: string | undefined): Promise<unknown[]> {
  ctx.actor.require('kb.write');
  const { asked, fallback } = preferenceOf(ctx, locale);
  return bases(ctx).map(({ id, code, name, visibility, locales, sections }) => ({
    id,
    code,
    name: localized(name, asked, fallback),
    visibility,
    locales,
    sections: sections.map((section) => ({
      id: section.id,
      code: section.code,
      name: localized(section.name, asked, fallback),
      parentId: section.parentId,
    })),
  }));
}

interface VersionsQuery {
  state?: VersionState;
  baseId?: string;
  articleId?: string;
  own?: 'true';
  reviewDue?: 'true';
  page: number;
  pageSize: number;
}

/** @throws Fault RIGHT_MISSING, INVALID_REQUEST */
export async function listAllVersions(ctx: ReadContext, query: VersionsQuery): Promise<unknown> {
  ctx.actor.require('kb.write');
  const window = windowOf(query);
  const base = query.baseId === undefined ? undefined : findByIdOrCode(bases(ctx), query.baseId);
  if (query.baseId !== undefined && base === undefined) {
    throw faultAt('INVALID_REQUEST', 'query.baseId', 'NO_BASE');
  }
  const rows = await listVersions(ctx, {
    baseIds: base === undefined ? bases(ctx).map(({ id }) => id) : [base.id],
    ...(query.state === undefined ? {} : { state: query.state }),
    ...(query.articleId === undefined ? {} : { articleId: query.articleId }),
    ...(query.own === undefined || ctx.actor.userId === null ? {} : { ofUser: ctx.actor.userId }),
    ...(query.reviewDue === undefined ? {} : { reviewBy: ctx.now.slice(0, 10) }),
    limit: window.limit,
    offset: window.offset,
  });
  return pageOf(await fullAnswers(ctx, rows), window);
}

/** Versions for authors, with the views and votes of their articles. */
async function fullAnswers(ctx: ReadContext, rows: readonly VersionRow[]) {
  const ids = [...new Set(rows.map(({ articleId }) => articleId))];
  const counts = new Map((await countFeedback(ctx, ids)).map((one) => [one.articleId, one]));
  return rows.map((row) => {
    const { createdAt, archivedAt, audiences, reviewOn } = row;
    const { views, helpful, notHelpful } = counts.get(row.articleId) as Feedback;
    return {
      ...versionAnswer(row),
      createdAt,
      archivedAt,
      audiences,
      reviewOn,
      feedback: { views, helpful, notHelpful },
    };
  });
}

export interface AudienceAnswer extends Audience {
  /** Null for everyone, and for an item that no longer exists. */
  name: string | null;
}

/** Audiences with the names of their users, groups and units. */
export function withNames(
  ctx: ReadContext,
  audiences: readonly Audience[],
  found: readonly Principal[],
): AudienceAnswer[] {
  const { defaultLocale } = registry(ctx).settings;
  return audiences.map((audience) => {
    const one = found.find(({ kind, id }) => kind === audience.kind && id === audience.id);
    return { ...audience, name: one === undefined ? null : localized(one.name, defaultLocale, defaultLocale) };
  });
}

/** @throws Fault RIGHT_MISSING, NOT_FOUND */
export async function getVersion(ctx: ReadContext, versionId: string): Promise<unknown> {
  ctx.actor.require('kb.write');
  const { version } = await requireVersion(ctx, versionId);
  const [answer] = await fullAnswers(ctx, [version]);
  return { ...answer, body: version.body, bodyDocument: version.document };
}

/** @throws Fault RIGHT_MISSING, NOT_FOUND */
export async function getAudiences(ctx: ReadContext, versionId: string): Promise<unknown> {
  ctx.actor.require('kb.write');
  const { version } = await requireVersion(ctx, versionId);
  const found = await findPrincipals(
    ctx,
    version.audiences.flatMap(({ id }) => id ?? []),
  );
  return { versionId, audiences: withNames(ctx, version.audiences, found) };
}

/**
 * The opaque token that archiving requires. It covers the article state in one locale: the given one, or the preferred one.
 *
 * @throws Fault RIGHT_MISSING, NOT_FOUND
 */
export async function getArticleState(
  ctx: ReadContext,
  articleId: string,
  locale: string | undefined,
): Promise<unknown> {
  ctx.actor.require('kb.write');
  const current = await listCurrent(ctx, articleId);
  const base = bases(ctx).find(({ id }) => id === current[0]?.baseId);
  if (base === undefined) throw noArticle();
  const { asked, fallback } = preferenceOf(ctx, locale);
  const there = new Set(current.map((row) => row.locale));
  const chosen = [asked, fallback, ...base.locales, ...there].find((one) => there.has(one)) as string;
  const rows = current.filter((row) => row.locale === chosen);
  const shown = (rows.find(({ state }) => state === 'ACTIVE') ?? rows[0]) as VersionRow;
  return { versionId: shown.id, version: articleStateToken(chosen, rows), locale: chosen, state: shown.state };
}
