/** Queries of the knowledge base screens. */
import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query';
import { type AnswerOf, call } from '../../api/client.ts';
import type { knowledge, knowledgeAdmin, search } from '../../api/types.ts';
import type { Language } from '../../i18n/language.ts';

export type Article = AnswerOf<typeof knowledge.browseArticles>['rows'][number];
export type Version = AnswerOf<typeof knowledgeAdmin.getVersion>;
export type VersionRow = AnswerOf<typeof knowledgeAdmin.listVersions>['rows'][number];
export type Base = AnswerOf<typeof knowledgeAdmin.listBases>[number];
export type Audiences = AnswerOf<typeof knowledgeAdmin.getAudiences>;

/** Common key prefix: a change of one version affects lists and other versions. */
export const knowledgeKey = ['knowledge'] as const;

export type Contents = AnswerOf<typeof knowledge.getContents>;
export type Sort = 'popular' | 'newest' | 'title';

interface Browse {
  sectionId?: string | undefined;
  relatedTo?: string;
  sort: Sort;
  locale: Language;
  pageSize?: number;
}

export const contentsQuery = (locale: Language) =>
  queryOptions({
    queryKey: [...knowledgeKey, 'contents', locale],
    queryFn: ({ signal }) => call<typeof knowledge.getContents>('GET', '/kb/contents', { query: { locale }, signal }),
    staleTime: 60_000,
  });

/** Articles by section, popularity or likeness to another one. */
export const browseQuery = (browse: Browse) =>
  infiniteQueryOptions({
    queryKey: [...knowledgeKey, 'browse', browse],
    queryFn: ({ pageParam, signal }) =>
      call<typeof knowledge.browseArticles>('GET', '/kb/browse', {
        query: { pageSize: 25, ...browse, page: pageParam },
        signal,
      }),
    initialPageParam: 1,
    getNextPageParam: (last) => (last.hasMore ? last.page + 1 : undefined),
    staleTime: 60_000,
  });

/** Articles that contain the words, also in their text. */
export const foundArticlesQuery = (words: string) =>
  infiniteQueryOptions({
    queryKey: [...knowledgeKey, 'found', words],
    queryFn: ({ pageParam, signal }) =>
      call<typeof search.search>('GET', '/search', {
        query: { q: words, kinds: 'article', page: pageParam, pageSize: 25 },
        signal,
      }),
    initialPageParam: 1,
    getNextPageParam: (last) => (last.hasMore ? last.page + 1 : undefined),
    enabled: (words.match(/[\p{L}\p{N}]/gu)?.length ?? 0) >= 2,
    placeholderData: (before) => before,
  });

/** Counts a view of the article, once for each visit of its page, and reads the user's vote. */
export const viewQuery = (id: string) =>
  queryOptions({
    queryKey: ['article-view', id],
    queryFn: ({ signal }) => call<typeof knowledge.viewArticle>('POST', `/kb/articles/${id}/views`, { signal }),
    staleTime: Infinity,
    retry: false,
  });

export const articleQuery = (id: string, locale: string) =>
  queryOptions({
    queryKey: [...knowledgeKey, 'article', id, locale],
    queryFn: ({ signal }) =>
      call<typeof knowledge.getArticle>('GET', `/kb/articles/${id}`, { query: { locale }, signal }),
  });

export const basesQuery = (locale: Language) =>
  queryOptions({
    queryKey: [...knowledgeKey, 'bases', locale],
    queryFn: ({ signal }) => call<typeof knowledgeAdmin.listBases>('GET', '/kb/bases', { query: { locale }, signal }),
  });

/** Whether the user has drafts. */
export const ownDraftsQuery = queryOptions({
  queryKey: [...knowledgeKey, 'versions', 'own-drafts'],
  queryFn: ({ signal }) =>
    call<typeof knowledgeAdmin.listVersions>('GET', '/kb/article-versions', {
      query: { state: 'DRAFT', own: 'true', pageSize: 1 },
      signal,
    }),
});

export const versionQuery = (id: string) =>
  queryOptions({
    queryKey: [...knowledgeKey, 'version', id],
    queryFn: ({ signal }) => call<typeof knowledgeAdmin.getVersion>('GET', `/kb/article-versions/${id}`, { signal }),
  });

export const versionsOfQuery = (articleId: string) =>
  queryOptions({
    queryKey: [...knowledgeKey, 'versions-of', articleId],
    queryFn: ({ signal }) =>
      call<typeof knowledgeAdmin.listVersions>('GET', '/kb/article-versions', {
        query: { articleId, pageSize: 100 },
        signal,
      }),
  });

export const audiencesQuery = (id: string) =>
  queryOptions({
    queryKey: [...knowledgeKey, 'audiences', id],
    queryFn: ({ signal }) =>
      call<typeof knowledgeAdmin.getAudiences>('GET', `/kb/article-versions/${id}/audiences`, { signal }),
  });
