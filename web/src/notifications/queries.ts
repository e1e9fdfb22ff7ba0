/** Queries of the user's notifications. */
import { infiniteQueryOptions, queryOptions, useQueryClient } from '@tanstack/react-query';
import { useEffect } from 'react';
import { type AnswerOf, call } from '../api/client.ts';
import type { notifications } from '../api/types.ts';
import { invalidate } from '../ui/action.ts';

export type Count = AnswerOf<typeof notifications.countNotifications>;
export type Item = AnswerOf<typeof notifications.listNotifications>['rows'][number];
export type Choices = AnswerOf<typeof notifications.getChoices>;
export type QuietHours = AnswerOf<typeof notifications.getQuietHours>;

export const NOTIFICATIONS = ['notifications'] as const;
export const LISTS = [...NOTIFICATIONS, 'list'] as const;

export const countQuery = queryOptions({
  queryKey: [...NOTIFICATIONS, 'count'],
  queryFn: ({ signal }) => call<typeof notifications.countNotifications>('GET', '/notifications/count', { signal }),
});

export const listQuery = (unread: boolean) =>
  infiniteQueryOptions({
    queryKey: [...LISTS, unread],
    queryFn: ({ signal, pageParam }) =>
      call<typeof notifications.listNotifications>('GET', '/notifications', {
        query: { page: pageParam, pageSize: 50, ...(unread ? { unread } : {}) },
        signal,
      }),
    initialPageParam: 1,
    getNextPageParam: ({ page, hasMore }) => (hasMore ? page + 1 : undefined),
  });

export const choicesQuery = queryOptions({
  queryKey: ['notification-choices'],
  queryFn: ({ signal }) => call<typeof notifications.getChoices>('GET', '/notifications/choices', { signal }),
});

export const quietHoursQuery = queryOptions({
  queryKey: ['notification-quiet-hours'],
  queryFn: ({ signal }) => call<typeof notifications.getQuietHours>('GET', '/notifications/quiet-hours', { signal }),
});

export const watchQuery = (objectId: string) =>
  queryOptions({
    queryKey: ['watch', objectId],
    queryFn: ({ signal }) => call<typeof notifications.getWatch>('GET', `/objects/${objectId}/watch`, { signal }),
  });

/** Marks the user's notifications of the record as read when it is shown, and again for each new comment that is shown. */
export function useReadOnSight(objectId: string, newestComment: string | null | undefined): void {
  const client = useQueryClient();
  useEffect(() => {
    if (newestComment === undefined) return;
    call<typeof notifications.readNotifications>('POST', '/notifications/read', { body: { objectId }, probe: true })
      .then(() => invalidate(client, NOTIFICATIONS))
      // What stays unread is marked at the next visit.
      .catch(() => undefined);
  }, [client, objectId, newestComment]);
}
