/** Queries of the knowledge base screens. */
import { queryOptions } from '@tanstack/react-query';
import { type AnswerOf, call } from '../../api/client.ts';
import type { knowledge, knowledgeAdmin } from '../../api/types.ts';
import type { Language } from '../../i18n/language.ts';

export type Article = AnswerOf<typeof knowledge.listArticles>[number];
export type Version = AnswerOf<typeof knowledgeAdmin.getVersion>;
export type VersionRow = AnswerOf<typeof knowledgeAdmin.listVersions>['rows'][number];
export type Base = AnswerOf<typeof knowledgeAdmin.listBases>[number];
export type Audiences = AnswerOf<typeof knowledgeAdmin.getAudiences>;

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
    queryFn: ({ signal }) => call<typeof knowledgeAdmin.listBases>('GET', '/kb/bases', { query: { locale }, signal }),
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
