/** Comments of a record. Public comments and internal notes differ visibly, also while typing. */
import { ActionIcon, Button, Group, Loader, Menu, SegmentedControl, Stack, Text, Textarea } from '@mantine/core';
import { IconDots, IconPencil, IconTrash } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { type KeyboardEvent, useState } from 'react';
import {
  type CommentVisibility,
  DEFAULT_VISIBILITY,
  seenVisibilities,
} from '../../../../src/contract/comment-visibility.ts';
import type { RecordAction } from '../../../../src/contract/rights.ts';
import { call } from '../../api/client.ts';
import type { comments, RecordComment } from '../../api/types.ts';
import { useLanguage } from '../../i18n/language.ts';
import { useText } from '../../i18n/text.ts';
import { useAction } from '../../ui/action.ts';
import { confirm } from '../../ui/confirm.tsx';
import { Empty } from '../../ui/empty.tsx';
import { FaultAlert } from '../../ui/fault.tsx';
import { Markdown } from '../../ui/markdown.tsx';
import { PersonMark } from '../../ui/person.tsx';
import { Time } from '../../ui/time.tsx';
import { VISIBILITY_VIEWS } from '../comment-visibility.tsx';
import { commentsQuery, recordKey } from '../queries.ts';
import { texts } from '../texts.ts';
import classes from './comments.module.css';

type Can = (action: RecordAction) => boolean;

export function Comments({ recordId, can }: { recordId: string; can: Can }) {
  const t = useText(texts);
  const { data, error, refetch } = useQuery({ ...commentsQuery(recordId), refetchInterval: 10_000 });
  if (error !== null && data === undefined) return <FaultAlert error={error} retry={() => void refetch()} />;
  return (
    <Stack gap="sm">
      {data === undefined && <Loader size="sm" />}
      {data?.length === 0 && <Empty>{t.noComments}</Empty>}
      {data?.map((comment) => (
        <Comment key={comment.id} comment={comment} can={can} />
      ))}
      {can('comment.create') && <NewComment recordId={recordId} can={can} />}
    </Stack>
  );
}

function Comment({ comment, can }: { comment: RecordComment; can: Can }) {
  const t = useText(texts);
  const [editing, setEditing] = useState(false);
  const language = useLanguage();
  const { visibility } = comment;
  const view = VISIBILITY_VIEWS[visibility];
  const mayEdit = can('comment.edit') && seenVisibilities(can).includes(visibility);
  return (
    <article className={classes.comment} data-visibility={visibility}>
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
          <span className={classes.visibility}>
            <view.icon size={12} />
            {view.short[language]}
          </span>
          {mayEdit && <CommentMenu comment={comment} setEditing={setEditing} />}
        </span>
      </header>
      {editing ? (
        <EditComment comment={comment} can={can} onDone={() => setEditing(false)} />
      ) : (
        <Markdown source={comment.body} />
      )}
    </article>
  );
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
  const edit = useAction({
    run: ({ body, visibility }: { body: string; visibility: CommentVisibility }) =>
      call<typeof comments.editComment>('PATCH', `/comments/${comment.id}`, {
        body: { expectedRevision: comment.revision, body, visibility },
      }),
    touches: [recordKey(comment.objectId)],
    after: onDone,
    quiet: true,
  });
  return (
    <Composer
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

function NewComment({ recordId, can }: { recordId: string; can: Can }) {
  const t = useText(texts);
  // The idempotency key makes a repeated submit create one comment.
  const [key, setKey] = useState(() => crypto.randomUUID());
  const choices = seenVisibilities(can);
  const add = useAction({
    run: ({ body, visibility }: { body: string; visibility: CommentVisibility }) =>
      call<typeof comments.addComment>('POST', `/objects/${recordId}/comments`, {
        body: { body, visibility },
        idempotencyKey: key,
      }),
    touches: [recordKey(recordId)],
    after: () => setKey(crypto.randomUUID()),
    quiet: true,
  });
  return (
    <Composer
      key={key}
      can={can}
      initial=""
      // Users who may not write comments of the default visibility start with the first one that they may write.
      visibility={choices.find((one) => one === DEFAULT_VISIBILITY) ?? choices[0] ?? DEFAULT_VISIBILITY}
      label={t.comment}
      pending={add.isPending}
      error={add.error}
      onSend={(body, visibility) => add.mutate({ body, visibility })}
    />
  );
}

interface ComposerProps {
  can: Can;
  initial: string;
  visibility: CommentVisibility;
  label: string;
  pending: boolean;
  error: unknown;
  onSend: (body: string, visibility: CommentVisibility) => void;
  onCancel?: () => void;
}

function Composer(props: ComposerProps) {
  const t = useText(texts);
  const [body, setBody] = useState(props.initial);
  const [visibility, setVisibility] = useState<CommentVisibility>(props.visibility);
  const language = useLanguage();
  const view = VISIBILITY_VIEWS[visibility];
  const choices = seenVisibilities(props.can);
  const ready = body.trim() !== '' && body.length <= 100_000;
  const send = (): void => {
    if (ready && !props.pending) props.onSend(body, visibility);
  };
  const keys = (event: KeyboardEvent): void => {
    if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) send();
  };
  return (
    <div className={classes.composer} data-visibility={visibility}>
      {choices.length > 1 && (
        <SegmentedControl
          aria-label={t.visibility}
          value={visibility}
          onChange={(value) => setVisibility(value as CommentVisibility)}
          data={choices.map((value) => ({ value, label: VISIBILITY_VIEWS[value].label[language] }))}
        />
      )}
      <Textarea
        aria-label={props.label}
        placeholder={choices.length > 1 ? view.placeholder[language] : t.writeOwn}
        value={body}
        onChange={(event) => setBody(event.currentTarget.value)}
        onKeyDown={keys}
        autosize
        minRows={2}
        maxRows={16}
        variant="unstyled"
        size="sm"
      />
      {props.error !== null && props.error !== undefined && <FaultAlert error={props.error} />}
      <Group justify="space-between" gap="xs">
        <Text size="xs" c="dimmed">
          {t.markdown}
        </Text>
        <Group gap="xs">
          {props.onCancel !== undefined && (
            <Button variant="default" onClick={props.onCancel}>
              {t.cancel}
            </Button>
          )}
          <Button onClick={send} loading={props.pending} disabled={!ready} color={view.color} title="Ctrl+Enter">
            {props.onCancel !== undefined ? t.save : view.send[language]}
          </Button>
        </Group>
      </Group>
    </div>
  );
}
