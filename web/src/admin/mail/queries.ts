/** Queries of the screen of received mail. */
import { queryOptions } from '@tanstack/react-query';
import { type AnswerOf, call } from '../../api/client.ts';
import type { mail } from '../../api/types.ts';

type Page = AnswerOf<typeof mail.listMessages>;
export type Message = Page['items'][number];

export const messagesKey = ['mail', 'received'] as const;

const PAGE_SIZE = 50;

export const messagesQuery = (state: Message['state'] | 'ALL', page: number) =>
  queryOptions({
    queryKey: [...messagesKey, state, page],
    queryFn: ({ signal }) =>
      call<typeof mail.listMessages>(
        'GET',
        `/mail/received?page=${page}&pageSize=${PAGE_SIZE}${state === 'ALL' ? '' : `&state=${state}`}`,
        { signal },
      ),
    refetchInterval: 10_000,
  });

export const retryMessage = (id: string) => call<typeof mail.retryMessage>('POST', `/mail/received/${id}/retry`);
