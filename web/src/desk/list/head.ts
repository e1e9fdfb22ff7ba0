/** Live refresh of a list with many loaded pages: only the first page is reloaded. */
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect } from 'react';
import { useSession } from '../../app/session.ts';
import type { DeskType, QueueDefinition } from '../queries.ts';
import { readPage, type RowPages, rowsQuery, withHead } from './source.ts';

const REFRESH = 8000;

/** Refreshes the first page of a list while `enabled`. */
export function useHead(definition: QueueDefinition, type: DeskType | undefined, enabled: boolean): void {
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
