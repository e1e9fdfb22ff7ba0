/** Queries of the knowledge base screens. */
import { queryOptions } from '@tanstack/react-query';
import { type AnswerOf, call } from '../../api/client.ts';
import type { knowledge } from '../../api/types.ts';
import type { Language } from '../../i18n/language.ts';

export type Article = AnswerOf<typeof knowledge.listArticles>[number];
export type Version = AnswerOf<typeof knowledge.getVersion>;
export type VersionRow = AnswerOf<typeof knowledge.listVersions>['rows'][number];
export type Base = AnswerOf<typeof knowledge.listBases>[number];
export type Audiences = AnswerOf<typeof knowledge.getAudiences>;

/** Common key prefix: a change of one version affects lists and other versions. */
export const knowledgeKey = ['knowledge'] as const;

export const articlesQuery = (locale: Language) =>
  queryOptions({
    queryKey: [...knowledgeKey, 'articles', locale],
    queryFn: ({ signal }) => call<typeof knowledge.listArticles>('GET', '/kb/articles', { query: { locale }, signal }),
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
    queryFn: ({ signal }) => call<typeof knowledge.listBases>('GET', '/kb/bases', { query: { locale }, signal }),
  });

export const versionQuery = (id: string) =>
  queryOptions({
    queryKey: [...knowledgeKey, 'version', id],
    queryFn: ({ signal }) => call<typeof knowledge.getVersion>('GET', `/kb/article-versions/${id}`, { signal }),
  });

export const versionsOfQuery = (articleId: string) =>
  queryOptions({
    queryKey: [...knowledgeKey, 'versions-of', articleId],
    queryFn: ({ signal }) =>
      call<typeof knowledge.listVersions>('GET', '/kb/article-versions', {
        query: { articleId, pageSize: 100 },
        signal,
      }),
  });

export const audiencesQuery = (id: string) =>
  queryOptions({
    queryKey: [...knowledgeKey, 'audiences', id],
    queryFn: ({ signal }) =>
      call<typeof knowledge.getAudiences>('GET', `/kb/article-versions/${id}/audiences`, { signal }),
  });
