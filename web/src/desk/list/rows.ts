/** The rows of a list, which are refreshed while it is visible. Of a list with many loaded pages, only the first is reloaded. */
import { useInfiniteQuery, useQuery, useQueryClient } from '@tanstack/react-query';
import { useCallback, useEffect, useMemo } from 'react';
import { useSession } from '../../app/session.ts';
import { type DeskType, listFieldsQuery, type QueueDefinition } from '../queries.ts';
import type { ListField } from './columns.ts';
import { isLong, readPage, type RowPages, rowsOf, rowsQuery, selectionOf, withHead } from './source.ts';

/** Refresh interval in milliseconds. */
const REFRESH = 8000;

/** The loaded rows of a list, and the query that loads more of them. */
export function useRows(definition: QueueDefinition, type: DeskType | undefined) {
  const session = useSession();
  const list = useInfiniteQuery({
    ...rowsQuery(definition, type, session),
    enabled: definition.type === undefined || type !== undefined,
    refetchInterval: (query) => !isLong(query.state.data) && REFRESH,
    refetchOnWindowFocus: (query) => !isLong(query.state.data),
    refetchOnMount: (query) => query.state.isInvalidated || !isLong(query.state.data),
  });
  useHead(definition, type, isLong(list.data));
  const rows = useMemo(() => rowsOf(list.data), [list.data]);
  const { fetchNextPage, isFetchingNextPage } = list;
  const more = useCallback(() => {
    if (!isFetchingNextPage) void fetchNextPage();
  }, [fetchNextPage, isFetchingNextPage]);
  return { list, rows, more };
}

const NO_FIELDS: readonly ListField[] = [];

/** The fields that the types of a list share; none for a list of one type. */
export function useSharedFields(definition: QueueDefinition): readonly ListField[] {
  const { filter, sla } = selectionOf(definition, undefined, useSession());
  const { data } = useQuery({ ...listFieldsQuery({ filter, sla }), enabled: definition.type === undefined });
  return (data as ListField[] | undefined) ?? NO_FIELDS;
}

/** Refreshes the first page of a list while `enabled`. */
function useHead(definition: QueueDefinition, type: DeskType | undefined, enabled: boolean): void {
  const client = useQueryClient();
  const session = useSession();
  const { queryKey } = rowsQuery(definition, type, session);
  const { data } = useQuery({
    queryKey: ['records-head', ...queryKey],
    queryFn: ({ signal }) => readPage(definition, type, session, 1, signal),
    enabled,
    refetchInterval: REFRESH,
    staleTime: REFRESH,
    gcTime: 0,
  });
  const key = JSON.stringify(queryKey);
  useEffect(() => {
    if (!enabled || data === undefined) return;
    client.setQueryData<RowPages>(JSON.parse(key) as unknown[], (list) =>
      list === undefined ? undefined : withHead(list, data),
    );
  }, [client, key, data, enabled]);
}
