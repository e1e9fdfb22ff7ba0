/** What readers do in the administration API: browse articles, and say whether one helped. */
import { pageOf, type Paging, windowOf } from '../../contract/paging.ts';
import type { ReadContext, WriteContext } from '../../platform/unit-of-work/context.ts';
import { localized } from '../metadata/index.ts';
import { versionAnswer } from './queries.ts';
import { bases, type Section } from './registry.ts';
import {
  type Browse,
  browseReadable,
  countBySection,
  findOwnVote,
  findReadable,
  insertView,
  type Preference,
  removeVote,
  setVote,
} from './store-reading.ts';
import { noArticle, preferenceOf, readerFilter } from './versions.ts';

/**
 * The bases and sections in which, or below which, the caller may read an article.
 *
 * @throws Fault RIGHT_MISSING
 */
export async function getContents(ctx: ReadContext, locale: string | undefined): Promise<unknown[]> {
  const filter = readerFilter(ctx);
  const preference = preferenceOf(ctx, locale);
  const counts = await countBySection(ctx, filter, preference);
  return filter.bases.flatMap((base) => {
    const articles = new Map(counts.flatMap((one) => (one.baseId === base.id ? [[one.sectionId, one.articles]] : [])));
    const sections = base.sections.filter((section) =>
      withBelow(base.sections, section.id).some((id) => articles.has(id)),
    );
    if (sections.length === 0) return [];
    return [
      {
        ...named(base, preference),
        visibility: base.visibility,
        sections: sections.map((section) => ({
          ...named(section, preference),
          parentId: section.parentId,
          articles: articles.get(section.id) ?? 0,
        })),
      },
    ];
  });
}

function named({ id, code, name }: Pick<Section, 'id' | 'code' | 'name'>, { asked, fallback }: Preference) {
  return { id, code, name: localized(name, asked, fallback) };
}

/** The section and the sections below it. */
function withBelow(sections: readonly Section[], id: string): string[] {
  return [id, ...sections.filter(({ parentId }) => parentId === id).flatMap((one) => withBelow(sections, one.id))];
}

interface BrowseQuery extends Paging {
  sectionId?: string;
  relatedTo?: string;
  sort?: Browse['sort'];
  locale?: string;
}

/** @throws Fault RIGHT_MISSING, NOT_FOUND (`relatedTo` names no article that the caller may read), INVALID_REQUEST */
export async function browseArticles(ctx: ReadContext, query: BrowseQuery): Promise<unknown> {
  const filter = readerFilter(ctx);
  const preference = preferenceOf(ctx, query.locale);
  const window = windowOf(query);
  const { sectionId, relatedTo, sort = 'title' } = query;
  const browse: Browse = { sort, limit: window.limit, offset: window.offset };
  if (sectionId !== undefined) {
    browse.sectionIds = bases(ctx).flatMap(({ sections }) =>
      sections.some(({ id }) => id === sectionId) ? withBelow(sections, sectionId) : [],
    );
  }
  if (relatedTo !== undefined) {
    const article = await findReadable(ctx, filter, preference, relatedTo);
    if (article === undefined) throw noArticle();
    const { articleId, tags, title } = article;
    browse.like = { articleId, sectionId: article.sectionId, tags, words: stemsOf(title) };
  }
  return pageOf((await browseReadable(ctx, filter, preference, browse)).map(versionAnswer), window);
}

const MAX_STEMS = 12;

/** The long words of a title without their last letters, which often are an ending. */
function stemsOf(title: string): string[] {
  const words = title.toLowerCase().match(/[\p{L}\p{N}]{5,}/gu) ?? [];
  return [...new Set(words.map((word) => word.slice(0, Math.max(4, word.length - 2))))].slice(0, MAX_STEMS);
}

/** @throws Fault RIGHT_MISSING, NOT_FOUND */
async function requireReader(ctx: ReadContext, articleId: string) {
  const filter = readerFilter(ctx);
  const { userId } = ctx.actor;
  const vote = userId === null ? undefined : await findOwnVote(ctx, filter, articleId, userId);
  if (userId === null || vote === undefined) throw noArticle();
  return { userId, vote };
}

/**
 * Counts a view, once for each user and day, and returns the user's vote.
 *
 * @throws Fault RIGHT_MISSING, NOT_FOUND
 */
export async function viewArticle(ctx: WriteContext, articleId: string): Promise<{ helpful: boolean | null }> {
  const { userId, vote } = await requireReader(ctx, articleId);
  ctx.plan(insertView, { articleId, day: ctx.now.slice(0, 10), userId });
  return vote;
}

/** @throws Fault RIGHT_MISSING, NOT_FOUND */
export async function voteOnArticle(
  ctx: WriteContext,
  articleId: string,
  helpful: boolean | null,
): Promise<{ helpful: boolean | null }> {
  const { userId } = await requireReader(ctx, articleId);
  const vote = { articleId, userId };
  if (helpful === null) ctx.plan(removeVote, vote);
  else ctx.plan(setVote, { ...vote, helpful, votedAt: ctx.now });
  return { helpful };
}
