/** Queries of the portal. */
import { queryOptions, useQueries, useQuery } from '@tanstack/react-query';
import { useDebouncedValue } from '@mantine/hooks';
import { ARTICLE_READING_RIGHTS } from '../../../src/contract/rights.ts';
import { type AnswerOf, call } from '../api/client.ts';
import type { catalog, DocketRecord, objects, search } from '../api/types.ts';
import { useHas } from '../app/session.ts';
import { deskTypesQuery } from '../desk/queries.ts';
import { type Language, useLanguage } from '../i18n/language.ts';
import { requestTypes } from './access.ts';

export type Catalog = NonNullable<AnswerOf<typeof catalog.getCatalog>>;
export type CatalogItem = Catalog['items'][number];
export type Hit = AnswerOf<typeof search.search>['results'][number];

export const catalogueQuery = (locale: Language) =>
  queryOptions({
    queryKey: ['catalogue', locale],
    queryFn: ({ signal }) => call<typeof catalog.getCatalog>('GET', '/catalog', { query: { locale }, signal }),
    staleTime: 60_000,
  });

/** Requests of each type that are loaded. Older ones are reached by the search. */
const PAGE = 50;

/** The caller's requests of all types with a workflow, last changed first. Unfinished ones come before finished ones. */
export function useOwnRequests(): { rows: DocketRecord[]; pending: boolean; error: Error | null } {
  const { data: types = [], isPending } = useQuery(deskTypesQuery);
  const lists = useQueries({
    queries: requestTypes(types)
      // Records that the user cannot create, such as assets, are no requests of theirs.
      .filter((type) => type.canRead && type.canCreate)
      .map((type) => ({
        queryKey: ['records', 'own', type.id],
        queryFn: ({ signal }: { signal: AbortSignal }) =>
          call<typeof objects.listObjects>('GET', '/objects', { query: { typeId: type.id, pageSize: PAGE }, signal }),
      })),
  });
  const done = (row: DocketRecord): number => (row.workflowState?.category === 'done' ? 1 : 0);
  const rows = lists
    .flatMap(({ data }) => (data?.rows ?? []) as DocketRecord[])
    .toSorted((a, b) => done(a) - done(b) || b.updatedAt.localeCompare(a.updatedAt));
  return {
    rows,
    pending: isPending || lists.some((list) => list.isPending),
    error: lists.find((list) => list.error !== null)?.error ?? null,
  };
}

export interface Help {
  articles: Hit[];
  items: CatalogItem[];
  requests: Hit[];
  /** The words to which the results belong; empty if nothing was searched for. */
  words: string;
}

const enough = (words: string): boolean => (words.match(/[\p{L}\p{N}]/gu)?.length ?? 0) >= 2;

/**
 * Articles, catalogue items and own requests for what the user types. Articles and services are found by the service's search;
 * items also by their own name and description.
 */
export function useHelp(typed: string): Help {
  const has = useHas();
  const language = useLanguage();
  const [words] = useDebouncedValue(typed.trim(), 200);
  const { data: whole } = useQuery(catalogueQuery(language));
  const kinds = ['service', 'object', ...(ARTICLE_READING_RIGHTS.some(has) ? ['article'] : [])].join(',');
  const { data } = useQuery({
    queryKey: ['portal', 'help', kinds, words, language],
    queryFn: ({ signal }) =>
      call<typeof search.search>('GET', '/search', { query: { q: words, kinds, pageSize: 20 }, signal }),
    enabled: enough(words),
    placeholderData: (before) => before,
  });
  if (!enough(words) || !enough(typed)) return { articles: [], items: [], requests: [], words: '' };
  const hits = data?.results ?? [];
  const services = new Set(hits.filter((hit) => hit.kind === 'service').map((hit) => hit.id));
  const parts = words.toLowerCase().split(/\s+/);
  const items = (whole?.items ?? []).filter((item) => {
    const text = `${item.name} ${item.description ?? ''}`.toLowerCase();
    return (item.serviceId !== null && services.has(item.serviceId)) || parts.every((part) => text.includes(part));
  });
  // An article in two languages is found twice.
  const articles = [...new Map(hits.filter((hit) => hit.kind === 'article').map((hit) => [hit.id, hit])).values()];
  const requests = hits.filter((hit) => hit.kind === 'object' && (hit.workflowState ?? null) !== null);
  return { articles, items, requests, words: data === undefined ? '' : words };
}
