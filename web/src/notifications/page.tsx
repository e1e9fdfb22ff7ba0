/** The notifications of the user, newest first. Opening a record marks its notification as read. */
import { Anchor, Button, Checkbox, Loader, Text, VisuallyHidden } from '@mantine/core';
import { IconSettings } from '@tabler/icons-react';
import { useInfiniteQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { lazy, Suspense, useState } from 'react';
import { type BodyOf, call } from '../api/client.ts';
import type { notifications } from '../api/types.ts';
import { useText } from '../i18n/text.ts';
import { useAction } from '../ui/action.ts';
import { Empty } from '../ui/empty.tsx';
import { FaultAlert } from '../ui/fault.tsx';
import { Page } from '../ui/page.tsx';
import { Time } from '../ui/time.tsx';
import { type Item, listQuery, NOTIFICATIONS } from './queries.ts';
import classes from './page.module.css';
import { texts } from './texts.ts';

const MarkdownText = lazy(async () => ({ default: (await import('../ui/markdown.tsx')).MarkdownText }));

function useRead() {
  return useAction({
    run: (body: BodyOf<typeof notifications.readNotifications>) =>
      call<typeof notifications.readNotifications>('POST', '/notifications/read', { body }),
    touches: [NOTIFICATIONS],
  });
}

export function NotificationsPage() {
  const t = useText(texts);
  const [unread, setUnread] = useState(false);
  const list = useInfiniteQuery(listQuery(unread));
  const read = useRead();
  const rows = list.data?.pages.flatMap((page) => page.rows) ?? [];
  const actions = (
    <>
      <Checkbox
        label={t.onlyUnread}
        checked={unread}
        onChange={({ currentTarget }) => setUnread(currentTarget.checked)}
      />
      <Button variant="default" loading={read.isPending} onClick={() => read.mutate({ all: true })}>
        {t.readAll}
      </Button>
      <Button
        variant="default"
        leftSection={<IconSettings size={14} />}
        renderRoot={(props) => <Link to="/notifications/settings" {...props} />}
      >
        {t.settings}
      </Button>
    </>
  );
  return (
    <Page title={t.title} actions={actions} narrow>
      <FaultAlert error={list.error} retry={() => void list.refetch()} />
      {list.isPending && <Loader size="sm" />}
      {list.isSuccess && rows.length === 0 && <Empty>{unread ? t.noneUnread : t.none}</Empty>}
      <ul className={classes.list} aria-label={t.title}>
        {rows.map((item) => (
          <Row key={item.id} item={item} onOpen={() => item.readAt === null && read.mutate({ ids: [item.id] })} />
        ))}
      </ul>
      {list.hasNextPage && (
        <Button variant="default" loading={list.isFetchingNextPage} onClick={() => void list.fetchNextPage()}>
          {t.more}
        </Button>
      )}
    </Page>
  );
}

function Row({ item, onOpen }: { item: Item; onOpen: () => void }) {
  const t = useText(texts);
  const { object, actor, comment } = item;
  const isUnread = item.readAt === null;
  const name = [object.number, object.title].filter((part) => part !== null).join(' · ');
  const text = useSentence(item);
  return (
    <li className={classes.item}>
      <span className={classes.mark} data-unread={isUnread || undefined}>
        {isUnread && <VisuallyHidden>{t.unread}</VisuallyHidden>}
      </span>
      <span className={classes.text}>
        <Anchor
          size="sm"
          lineClamp={2}
          renderRoot={(props) => <Link to="/records/$recordId" params={{ recordId: object.id }} {...props} />}
          onClick={onOpen}
        >
          {name === '' ? t.hiddenTitle : name}
        </Anchor>
        <Text size="sm" fw={isUnread ? 600 : 400} component="div">
          {actor === null ? text : `${actor.displayName}: ${text}`}
        </Text>
      </span>
      <Text size="xs" c="dimmed" component="span">
        <Time at={item.at} />
      </Text>
      {comment !== null && (
        <div className={classes.excerpt}>
          <Suspense fallback={comment.excerpt}>
            <MarkdownText source={comment.excerpt} />
          </Suspense>
        </div>
      )}
    </li>
  );
}

/** What happened, after the name of the actor. */
function useSentence({ kind, eventType, object, fields }: Item): string {
  const t = useText(texts);
  if (kind === 'mention') return t.saysMention;
  if (kind === 'assigned') return t.saysAssigned;
  if (kind === 'rule') return t.saysRule;
  switch (eventType) {
    case 'CommentAdded':
    case 'CommentUpdated':
      return t.saysComment;
    case 'ObjectTransitioned':
      return t.saysState(object.workflowState?.name ?? '');
    case 'SlaWarning':
      return t.saysWarning;
    case 'SlaBreached':
      return t.saysBreach;
    case 'AttachmentAdded':
      return t.saysFile;
    case 'ObjectArchived':
      return t.saysArchived;
    case 'ObjectRestored':
      return t.saysRestored;
    default:
      return fields.length === 0 ? t.saysChanged : t.saysFields(fields.map((field) => field.name).join(', '));
  }
}
