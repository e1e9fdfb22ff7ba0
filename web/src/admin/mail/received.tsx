/** Received mail: what each became, or why it was not used. A mail that was not used can be tried again. */
import { Alert, Button, Group, SegmentedControl, Stack, Text } from '@mantine/core';
import { IconAlertTriangle } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { useCallback, useMemo, useState } from 'react';
import { useFormats } from '../../i18n/format.ts';
import { useText } from '../../i18n/text.ts';
import { useAction } from '../../ui/action.ts';
import { type Column, DataTable } from '../../ui/data-table.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { FaultAlert } from '../../ui/fault.tsx';
import { Time } from '../../ui/time.tsx';
import { Facts, ToneMark } from '../connections/tone.tsx';
import {
  type Message,
  messagesKey,
  messagesQuery,
  retryMessage,
  type Sent,
  type UnreadableMailbox,
} from './queries.ts';
import { Pages, RecordLink } from './parts.tsx';
import { reasonTexts, sentTexts, texts } from './texts.ts';

type Shown = 'LISTED' | 'ALL';

export function ReceivedMail() {
  const t = useText(texts);
  const [shown, setShown] = useState<Shown>('LISTED');
  const [page, setPage] = useState(1);
  const [open, setOpen] = useState<Message>();
  const { data, error, refetch } = useQuery(messagesQuery(shown, page));
  const columns = useMessageColumns();
  const show = (next: string): void => {
    setShown(next as Shown);
    setPage(1);
  };
  const states = [
    { value: 'LISTED', label: t.listed },
    { value: 'ALL', label: t.all },
  ];
  return (
    <>
      <Text size="sm" c="dimmed" mb="md">
        {t.hint}
      </Text>
      <FaultAlert error={error} retry={() => void refetch()} />
      {data !== undefined && <Unreadable mailboxes={data.unreadable} />}
      <SegmentedControl mb="md" aria-label={t.outcome} data={states} value={shown} onChange={show} />
      <DataTable
        label={t.received}
        columns={columns}
        rows={data?.items}
        rowKey={(row) => row.id}
        onOpen={setOpen}
        empty={t.none}
      />
      <Pages page={page} hasMore={data?.hasMore === true} go={setPage} />
      <Dialog opened={open !== undefined} onClose={() => setOpen(undefined)} title={t.message} size="lg">
        {open !== undefined && <MessageDetails message={open} onChanged={setOpen} />}
      </Dialog>
    </>
  );
}

function Unreadable({ mailboxes }: { mailboxes: UnreadableMailbox[] }) {
  const t = useText(texts);
  const format = useFormats();
  if (mailboxes.length === 0) return null;
  return (
    <Alert color="yellow" variant="light" mb="md" icon={<IconAlertTriangle size={18} />}>
      <Text size="sm" fw={600}>
        {t.unreadable}
      </Text>
      {mailboxes.map(({ mailbox, since, error }) => (
        <Text key={mailbox} size="sm" style={{ overflowWrap: 'anywhere' }}>
          {t.unreadableSince(mailbox, format.instant(since))} {error}
        </Text>
      ))}
    </Alert>
  );
}

function useOutcome(): (message: Message) => string {
  const t = useText(texts);
  const reasons = useText(reasonTexts);
  return useCallback(({ reason }) => (reason === null ? t.used : reasons[reason]), [t, reasons]);
}

function useMessageColumns(): Column<Message>[] {
  const t = useText(texts);
  const outcome = useOutcome();
  return useMemo(
    () => [
      {
        key: 'at',
        title: t.at,
        value: (row) => row.at,
        render: (row) => <Time at={row.at} absolute />,
        width: '11rem',
      },
      {
        key: 'sender',
        title: t.sender,
        value: (row) => row.sender ?? '',
        render: (row) => <span style={{ overflowWrap: 'anywhere' }}>{row.sender}</span>,
        width: '14rem',
      },
      { key: 'subject', title: t.subject, value: (row) => row.subject },
      {
        key: 'outcome',
        title: t.outcome,
        value: outcome,
        render: (row) => <ToneMark tone={row.reason === null ? 'good' : 'bad'}>{outcome(row)}</ToneMark>,
        width: '16rem',
      },
    ],
    [t, outcome],
  );
}

function MessageDetails({ message, onChanged }: { message: Message; onChanged: (next: Message) => void }) {
  const t = useText(texts);
  const format = useFormats();
  const outcome = useOutcome();
  const retry = useAction({
    run: () => retryMessage(message.id),
    touches: [messagesKey],
    done: (next) => (next.state === 'USED' ? t.retried : t.stillListed),
    after: onChanged,
    quiet: true,
  });
  return (
    <Stack gap="sm">
      <FaultAlert error={retry.error} />
      <Facts
        facts={[
          [t.at, format.exact(message.at)],
          [t.sender, message.sender ?? ''],
          [t.subject, message.subject],
          [t.mailbox, message.mailbox ?? ''],
          [t.outcome, outcome(message)],
          ...(message.error === null ? [] : [[t.error, message.error.message] as const]),
          ...(message.sentMail === null
            ? []
            : [[t.sentMail, <AboutSent key="sentMail" mail={message.sentMail} />] as const]),
          ...(message.objectId === null
            ? []
            : [[t.record, <RecordLink key="record" id={message.objectId} />] as const]),
        ]}
      />
      {message.state === 'LISTED' && (
        <Group justify="flex-end">
          <Button loading={retry.isPending} onClick={() => retry.mutate()}>
            {t.retry}
          </Button>
        </Group>
      )}
    </Stack>
  );
}

/** The mail that a bounce is about: its recipient, when it was queued, its state and its record. */
function AboutSent({ mail }: { mail: Sent }) {
  const t = useText(sentTexts);
  const format = useFormats();
  return (
    <Stack gap={0}>
      <Text size="sm">
        {[mail.recipient?.displayName ?? t.hidden, format.exact(mail.dueAt), t[mail.state]].join(' · ')}
      </Text>
      {mail.objectId !== null && <RecordLink id={mail.objectId} />}
    </Stack>
  );
}
