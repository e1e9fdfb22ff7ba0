/** Queries of the desk, with their cache keys. */
import { queryOptions } from '@tanstack/react-query';
import { type AnswerOf, call } from '../api/client.ts';
import type {
  attachments,
  comments,
  desk,
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

export const commentsQuery = (id: string) =>
  queryOptions({
    queryKey: [...recordKey(id), 'comments'],
    queryFn: ({ signal }) => call<typeof comments.listComments>('GET', `/objects/${id}/comments`, { signal }),
  });

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
  });

export const relationsQuery = (id: string) =>
  queryOptions({
    queryKey: [...recordKey(id), 'relations'],
    queryFn: async ({ signal }) => {
      const both = (['outgoing', 'incoming'] as const).map((direction) =>
        call<typeof relations.listRelations>('GET', `/objects/${id}/relations`, { query: { direction }, signal }),
      );
      return (await Promise.all(both)).flat();
    },
  });

export const historyQuery = (id: string) =>
  queryOptions({
    queryKey: [...recordKey(id), 'history'],
    queryFn: ({ signal }) => call<typeof objects.getHistory>('GET', `/objects/${id}/history`, { signal }),
  });
