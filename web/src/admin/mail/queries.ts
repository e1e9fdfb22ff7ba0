/** Queries of the screens of received and sent mail. */
import { queryOptions } from '@tanstack/react-query';
import { type AnswerOf, call } from '../../api/client.ts';
import type { mail } from '../../api/types.ts';

type Page = AnswerOf<typeof mail.listMessages>;
export type Message = Page['items'][number];
export type UnreadableMailbox = Page['unreadable'][number];

type SentPage = AnswerOf<typeof mail.listSent>;
export type Sent = SentPage['items'][number];

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

export const sentKey = ['mail', 'sent'] as const;

export const sentQuery = (state: Sent['state'] | 'ALL', page: number) =>
  queryOptions({
    queryKey: [...sentKey, state, page],
    queryFn: ({ signal }) =>
      call<typeof mail.listSent>(
        'GET',
        `/mail/sent?page=${page}&pageSize=${PAGE_SIZE}${state === 'ALL' ? '' : `&state=${state}`}`,
        { signal },
      ),
    refetchInterval: 10_000,
  });

export const sendAgain = (id: string) => call<typeof mail.sendAgain>('POST', `/mail/sent/${id}/retry`);
