/** Comments of a record. Public comments and internal notes differ visibly, also while typing. */
import { ActionIcon, Button, Loader, Menu, Stack, Text } from '@mantine/core';
import { IconArrowDown, IconDots, IconPencil, IconTrash } from '@tabler/icons-react';
import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { useMemo, useRef, useState } from 'react';
import { type CommentVisibility, seenVisibilities } from '../../../../src/contract/comment-visibility.ts';
import type { RecordAction } from '../../../../src/contract/rights.ts';
import { call } from '../../api/client.ts';
import type { comments, DocketRecord, FieldSchema, RecordComment } from '../../api/types.ts';
import { useSession } from '../../app/session.ts';
import { useLanguage } from '../../i18n/language.ts';
import { useText } from '../../i18n/text.ts';
import { useAction } from '../../ui/action.ts';
import { confirm } from '../../ui/confirm.tsx';
import { Empty } from '../../ui/empty.tsx';
import { useDeviceDraft } from '../../ui/device-draft.ts';
import { FaultAlert } from '../../ui/fault.tsx';
import { Markdown } from '../../ui/markdown.tsx';
import { PersonMark } from '../../ui/person.tsx';
import { Time } from '../../ui/time.tsx';
import { VISIBILITY_VIEWS } from '../comment-visibility.tsx';
import { attachmentsQuery, commentPagesQuery, recordKey, rowsOf } from '../queries.ts';
import { texts } from '../texts.ts';
import { actionTexts } from './action-texts.ts';
import classes from './comments.module.css';
import { Composer, type Written } from './composer.tsx';
import { fileTexts } from './file-texts.ts';
import { FileTiles } from './file-tiles.tsx';
import { LongConversation } from './long-conversation.tsx';
import { NewComment } from './new-comment.tsx';
import { useUnread } from './unread.ts';
import { useReadOnSight } from '../../notifications/queries.ts';

type Can = (action: RecordAction) => boolean;

/** Longer conversations render only what is visible. */
const WHOLE = 40;

interface CommentsProps {
  record: DocketRecord;
  can: Can;
  /** The fields of the record, for macros; without them none are offered. */
  fields?: readonly FieldSchema[];
  /** Marks comments with their visibility. */
  marked?: boolean;
}

/** The conversation of a record: the composer, then the comments, newest first. */
export function Comments({ record, can, fields, marked = true }: CommentsProps) {
  const recordId = record.id;
  const t = useText(texts);
  const { data, error, refetch, ...pages } = useInfiniteQuery({
    ...commentPagesQuery(recordId),
    refetchInterval: 10_000,
  });
  const newest = useMemo(() => rowsOf(data?.pages) ?? [], [data]);
  const unread = useUnread(recordId, data === undefined ? undefined : newest);
  useReadOnSight(recordId, data === undefined ? undefined : (newest[0]?.id ?? null));
  const first = unread.at(-1);
  // A long conversation scrolls before it shows the comment.
  const scroll = useRef<(id: string) => void>(null);
  if (error !== null && data === undefined) return <FaultAlert error={error} retry={() => void refetch()} />;
  return (
    <Stack gap="sm">
      {can('comment.create') && <NewComment record={record} can={can} fields={fields} />}
      {data === undefined && <Loader size="sm" />}
      {data !== undefined && newest.length === 0 && <Empty>{t.noComments}</Empty>}
      {first !== undefined && unread.length > 1 && (
        <FirstUnread count={unread.length} onJump={() => (scroll.current ?? focusComment)(first.id)} />
      )}
      {newest.length > WHOLE ? (
        <LongConversation
          comments={newest}
          show={(comment) => <Comment comment={comment} can={can} marked={marked} />}
          handle={scroll}
          onReached={focusComment}
        />
      ) : (
        newest.map((comment) => <Comment key={comment.id} comment={comment} can={can} marked={marked} />)
      )}
      {pages.hasNextPage && (
        <Button variant="default" loading={pages.isFetchingNextPage} onClick={() => void pages.fetchNextPage()}>
          {t.showMore}
        </Button>
      )}
    </Stack>
  );
}

function focusComment(id: string): void {
  const element = document.querySelector<HTMLElement>(`[data-comment="${id}"]`);
  element?.scrollIntoView({ block: 'center' });
  element?.focus({ preventScroll: true });
}

function FirstUnread({ count, onJump }: { count: number; onJump: () => void }) {
  const t = useText(actionTexts);
  return (
    <Button variant="light" size="compact-sm" leftSection={<IconArrowDown size={14} />} onClick={onJump}>
      {t.firstUnread(count)}
    </Button>
  );
}

function Comment({ comment, can, marked }: { comment: RecordComment; can: Can; marked: boolean }) {
  const { user } = useSession();
  const t = useText(texts);
  const [editing, setEditing] = useState(false);
  const language = useLanguage();
  const { visibility } = comment;
  const view = VISIBILITY_VIEWS[visibility];
  const mayEdit = can('comment.edit') && seenVisibilities(can).includes(visibility);
  return (
    <article className={classes.comment} data-visibility={visibility} data-comment={comment.id} tabIndex={-1}>
      <header className={classes.head}>
        <PersonMark name={comment.author?.displayName ?? '?'} />
        <strong>{comment.author?.displayName}</strong>
        <Time at={comment.createdAt} />
        {comment.revision > 1 && (
          <Text size="xs" c="dimmed" span>
            {t.edited}
          </Text>
        )}
        <span className={classes.tail}>
          {marked && (
            <span className={classes.visibility}>
              <view.icon size={12} />
              {view.short[language]}
            </span>
          )}
          {mayEdit && <CommentMenu comment={comment} setEditing={setEditing} />}
        </span>
      </header>
      {editing ? (
        <EditComment comment={comment} can={can} onDone={() => setEditing(false)} />
      ) : (
        <Markdown source={comment.body} mentions={{ me: user.login }} />
      )}
      <CommentFiles comment={comment} />
    </article>
  );
}

function CommentFiles({ comment }: { comment: RecordComment }) {
  const t = useText(fileTexts);
  const { data } = useQuery(attachmentsQuery(comment.objectId));
  const files = data?.filter(({ commentId }) => commentId === comment.id) ?? [];
  return <FileTiles files={files} label={t.filesOf(comment.author?.displayName ?? '')} />;
}

interface CommentMenuProps {
  comment: RecordComment;
  setEditing: (next: boolean) => void;
}

function CommentMenu({ comment, setEditing }: CommentMenuProps) {
  const t = useText(texts);
  const touches = [recordKey(comment.objectId)];
  const remove = useAction({
    run: () =>
      call<typeof comments.archiveComment>('DELETE', `/comments/${comment.id}`, {
        body: { expectedRevision: comment.revision },
      }),
    touches,
  });
  const ask = async (): Promise<void> => {
    if (await confirm({ title: t.deleteComment, body: t.deleteCommentBody, yes: t.delete, danger: true }))
      remove.mutate();
  };
  return (
    <Menu>
      <Menu.Target>
        <ActionIcon size="sm" aria-label={t.more}>
          <IconDots size={14} />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Item leftSection={<IconPencil size={14} />} onClick={() => setEditing(true)}>
          {t.edit}
        </Menu.Item>
        <Menu.Item leftSection={<IconTrash size={14} />} color="red" onClick={() => void ask()}>
          {t.delete}
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}

function EditComment({ comment, can, onDone }: { comment: RecordComment; can: Can; onDone: () => void }) {
  const t = useText(texts);
  const draft = useDeviceDraft<Written>(`comment-edit.${comment.id}`);
  const edit = useAction({
    run: ({ body, visibility }: { body: string; visibility: CommentVisibility }) =>
      call<typeof comments.editComment>('PATCH', `/comments/${comment.id}`, {
        body: { expectedRevision: comment.revision, body, visibility },
      }),
    touches: [recordKey(comment.objectId)],
    after: () => {
      draft.keep(undefined);
      onDone();
    },
    quiet: true,
  });
  return (
    <Composer
      draft={draft}
      can={can}
      initial={comment.body}
      visibility={comment.visibility}
      label={t.comment}
      pending={edit.isPending}
      error={edit.error}
      onSend={(body, visibility) => edit.mutate({ body, visibility })}
      onCancel={onDone}
    />
  );
}
