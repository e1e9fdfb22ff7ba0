/** Queries of the desk, with their cache keys. */
import { infiniteQueryOptions, keepPreviousData, queryOptions } from '@tanstack/react-query';
import { seenVisibilities } from '../../../src/contract/comment-visibility.ts';
import { type AnswerOf, call, callPage } from '../api/client.ts';
import { firstOfPages, type Page } from '../api/pages.ts';
import type {
  attachments,
  comments,
  desk,
  deskFields,
  deskRecord,
  metadata,
  objects,
  Relation,
  relations,
  workflow,
} from '../api/types.ts';

export type DeskType = AnswerOf<typeof desk.listDeskTypes>[number];
export type Queue = AnswerOf<typeof desk.listQueues>[number];
export type QueueDefinition = Queue['definition'];
export type BuiltInQueues = AnswerOf<typeof desk.listBuiltInQueues>;
export type Label = AnswerOf<typeof desk.getLabels>[number];

/** The name under which a related record is listed; `untitled` if the user may not read its number and title. */
export function relatedName(related: Relation['related'], untitled: string): string {
  return [related.number, related.title].filter((part) => part !== null && part !== '').join(' · ') || untitled;
}

/** Common key prefix of all data of a record, so that a change invalidates all of it. */
export const recordKey = (id: string) => ['record', id] as const;

export const deskTypesQuery = queryOptions({
  queryKey: ['desk', 'types'],
  queryFn: ({ signal }) => call<typeof desk.listDeskTypes>('GET', '/desk/types', { signal }),
  staleTime: 60_000,
});

export const queuesQuery = queryOptions({
  queryKey: ['desk', 'queues'],
  queryFn: ({ signal }) => call<typeof desk.listQueues>('GET', '/desk/queues', { signal }),
  staleTime: 30_000,
});

/** Built-in queues with their counts, which are read again after changes of records. `useBuiltInQueues` keeps them current. */
export const builtInQueuesQuery = queryOptions({
  queryKey: ['records', 'counts'],
  queryFn: ({ signal }) => call<typeof desk.listBuiltInQueues>('GET', '/desk/queues/built-in', { signal }),
});

/** The fields that the types of a list share. */
export const listFieldsQuery = (query: { filter?: string | undefined; sla?: string | undefined }) =>
  queryOptions({
    queryKey: ['desk', 'fields', query],
    queryFn: ({ signal }) => call<typeof deskFields.listFields>('GET', '/desk/fields', { query, signal }),
    staleTime: 60_000,
    // The columns stay while a condition changes.
    placeholderData: keepPreviousData,
  });

export const typeFieldsQuery = (typeId: string) =>
  queryOptions({
    queryKey: ['type-fields', typeId],
    queryFn: ({ signal }) => call<typeof metadata.getTypeFields>('GET', `/metadata/types/${typeId}/fields`, { signal }),
    staleTime: 60_000,
  });

export const recordQuery = (id: string) =>
  queryOptions({
    queryKey: [...recordKey(id), 'values'],
    queryFn: ({ signal }) => call<typeof objects.getObject>('GET', `/objects/${id}`, { signal }),
  });

/** The record as it was at a revision. */
export const recordAsOfQuery = (id: string, revision: number) =>
  queryOptions({
    queryKey: [...recordKey(id), 'as-of', revision],
    queryFn: ({ signal }) => call<typeof objects.getObject>('GET', `/objects/${id}`, { query: { revision }, signal }),
  });

export const recordSchemaQuery = (id: string) =>
  queryOptions({
    queryKey: [...recordKey(id), 'schema'],
    queryFn: ({ signal }) => call<typeof objects.getObjectSchema>('GET', `/objects/${id}/schema`, { signal }),
  });

export const permissionsQuery = (id: string) =>
  queryOptions({
    queryKey: [...recordKey(id), 'permissions'],
    queryFn: ({ signal }) => call<typeof desk.getPermissions>('GET', `/objects/${id}/permissions`, { signal }),
  });

export const workflowQuery = (id: string) =>
  queryOptions({
    queryKey: [...recordKey(id), 'workflow'],
    queryFn: ({ signal }) => call<typeof workflow.getWorkflow>('GET', `/objects/${id}/workflow`, { signal }),
  });

/** The visibilities of comments that need no right. */
const PUBLIC = seenVisibilities(() => false);

/** Rows of a page of comments, history or relations; the most that the service allows. */
const PAGE_SIZE = 100;

const commentPage = (id: string, page: number, pageSize: number, signal: AbortSignal) =>
  callPage<typeof comments.listComments>(`/objects/${id}/comments`, {
    query: { page, pageSize, order: 'newest' },
    signal,
  });

const nextPage = ({ meta }: Page<unknown>): number | undefined => (meta.hasMore ? meta.page + 1 : undefined);

/** The comments, newest first, page by page. */
export const commentPagesQuery = (id: string) =>
  infiniteQueryOptions({
    queryKey: [...recordKey(id), 'comments', 'pages'],
    queryFn: ({ pageParam, signal }) => commentPage(id, pageParam, PAGE_SIZE, signal),
    initialPageParam: 1,
    getNextPageParam: nextPage,
  });

/** The newest comments, newest first. */
export const newestCommentsQuery = (id: string, count = PAGE_SIZE) =>
  queryOptions({
    queryKey: [...recordKey(id), 'comments', count],
    queryFn: async ({ signal }) => (await commentPage(id, 1, count, signal)).data,
  });

/** The last public comment of somebody other than the user; null without one. */
export const lastReplyQuery = (id: string, user: unknown) =>
  queryOptions({
    queryKey: [...recordKey(id), 'comments', 'last-reply', user],
    queryFn: ({ signal }) =>
      firstOfPages(
        (page) => commentPage(id, page, PAGE_SIZE, signal),
        ({ visibility, author }) => PUBLIC.includes(visibility) && author?.id !== user,
      ),
  });

/** The rows of all loaded pages. A new row moves others to the next page, so a row may be on two. */
export function rowsOf<Row extends { id: string }>(pages: readonly Page<Row>[] | undefined): Row[] | undefined {
  return pages === undefined
    ? undefined
    : [...new Map(pages.flatMap(({ data }) => data).map((row) => [row.id, row])).values()];
}

export type Macro = AnswerOf<typeof deskRecord.listMacros>[number];

export const macrosQuery = (id: string) =>
  queryOptions({
    queryKey: [...recordKey(id), 'macros'],
    queryFn: ({ signal }) => call<typeof deskRecord.listMacros>('GET', `/objects/${id}/macros`, { signal }),
    staleTime: 10_000,
  });

export type MergeOffer = AnswerOf<typeof deskRecord.offerMerge>;

export const mergeQuery = (id: string) =>
  queryOptions({
    queryKey: [...recordKey(id), 'merge'],
    queryFn: ({ signal }) => call<typeof deskRecord.offerMerge>('GET', `/objects/${id}/merge`, { signal }),
    staleTime: 10_000,
  });

export const attachmentsQuery = (id: string) =>
  queryOptions({
    queryKey: [...recordKey(id), 'attachments'],
    queryFn: ({ signal }) => call<typeof attachments.listAttachments>('GET', `/objects/${id}/attachments`, { signal }),
    refetchInterval: 10_000,
  });

async function allRelations(id: string, direction: 'outgoing' | 'incoming', signal: AbortSignal) {
  const found: AnswerOf<typeof relations.listRelations> = [];
  for (let page: number | undefined = 1; page !== undefined; ) {
    const query = { direction, page, pageSize: PAGE_SIZE };
    const answer: Page<(typeof found)[number]> = await callPage<typeof relations.listRelations>(
      `/objects/${id}/relations`,
      { query, signal },
    );
    found.push(...answer.data);
    page = nextPage(answer);
  }
  return found;
}

export const relationsQuery = (id: string) =>
  queryOptions({
    queryKey: [...recordKey(id), 'relations'],
    queryFn: async ({ signal }) => {
      const both = (['outgoing', 'incoming'] as const).map((direction) => allRelations(id, direction, signal));
      return (await Promise.all(both)).flat();
    },
  });

const historyPage = (id: string, page: number, signal: AbortSignal) =>
  callPage<typeof objects.getHistory>(`/objects/${id}/history`, {
    query: { page, pageSize: PAGE_SIZE, order: 'newest' },
    signal,
  });

/** The history, newest first, page by page. */
export const historyPagesQuery = (id: string) =>
  infiniteQueryOptions({
    queryKey: [...recordKey(id), 'history', 'pages'],
    queryFn: ({ pageParam, signal }) => historyPage(id, pageParam, signal),
    initialPageParam: 1,
    getNextPageParam: nextPage,
  });

/** The newest events, oldest first. */
export const newestHistoryQuery = (id: string) =>
  queryOptions({
    queryKey: [...recordKey(id), 'history', 'newest'],
    queryFn: async ({ signal }) => (await historyPage(id, 1, signal)).data.toReversed(),
  });
