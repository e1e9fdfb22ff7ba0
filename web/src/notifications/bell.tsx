/** The number of unread notifications: sent by the service over one stream per browser, read at intervals without it. */
import { VisuallyHidden } from '@mantine/core';
import { IconBell } from '@tabler/icons-react';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import { follow } from '../api/live.ts';
import { useText } from '../i18n/text.ts';
import { invalidate } from '../ui/action.ts';
import { type Count, countQuery, LISTS } from './queries.ts';
import classes from './bell.module.css';
import { texts } from './texts.ts';

const POLL_MS = 30_000;
/** Larger numbers are shown with a plus. */
const MAX_SHOWN = 99;

function useUnread(): number {
  const client = useQueryClient();
  const [isLive, setIsLive] = useState(false);
  useEffect(
    () =>
      follow('/notifications/stream', 'unread', {
        onData: (data) => {
          client.setQueryData(countQuery.queryKey, data as Count);
          void invalidate(client, LISTS);
        },
        onLive: setIsLive,
      }),
    [client],
  );
  const { data } = useQuery({ ...countQuery, refetchInterval: isLive ? false : POLL_MS });
  return data?.unread ?? 0;
}

/** A link to the notifications. @param className of the link in its place */
export function Bell({ className, iconOnly = false }: { className?: string | undefined; iconOnly?: boolean }) {
  const t = useText(texts);
  const unread = useUnread();
  const shown = unread > MAX_SHOWN ? `${MAX_SHOWN}+` : String(unread);
  const Title = iconOnly ? VisuallyHidden : 'span';
  return (
    <Link to="/notifications" className={iconOnly ? classes.icon : className} title={t.title}>
      <IconBell size={iconOnly ? 18 : 16} stroke={1.6} aria-hidden="true" />
      <Title>{t.title}</Title>
      {unread > 0 && (
        <span className={`${classes.badge} tabular`}>
          {shown}
          <VisuallyHidden> {t.unreadCount}</VisuallyHidden>
        </span>
      )}
    </Link>
  );
}
