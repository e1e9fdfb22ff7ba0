/** Mails to users: whether they were sent, and why not. A mail that does not wait can be sent again. */
import { Alert, Button, Group, Select, Stack, Text } from '@mantine/core';
import { IconAlertTriangle } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { useMemo, useState } from 'react';
import { useFormats } from '../../i18n/format.ts';
import { useText } from '../../i18n/text.ts';
import { useAction } from '../../ui/action.ts';
import { type Column, DataTable } from '../../ui/data-table.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { FaultAlert } from '../../ui/fault.tsx';
import { Time } from '../../ui/time.tsx';
import { Facts, type Tone, ToneMark } from '../connections/tone.tsx';
import { type Sent, sendAgain, sentKey, sentQuery } from './queries.ts';
import { Pages, RecordLink } from './parts.tsx';
import { sentTexts, texts } from './texts.ts';

type Shown = Sent['state'] | 'ALL';

const TONES: Record<Sent['state'], Tone> = {
  PENDING: 'wait',
  SENT: 'good',
  BOUNCED: 'bad',
  FAILED: 'bad',
  DROPPED: 'idle',
};

export function SentMail() {
  const t = useText(sentTexts);
  const { sent } = useText(texts);
  const [shown, setShown] = useState<Shown>('ALL');
  const [page, setPage] = useState(1);
  const [open, setOpen] = useState<Sent>();
  const { data, error, refetch } = useQuery(sentQuery(shown, page));
  const columns = useSentColumns();
  const show = (next: Shown | null): void => {
    setShown(next ?? 'ALL');
    setPage(1);
  };
  const states: { value: Shown; label: string }[] = [
    { value: 'ALL', label: t.anyState },
    ...(['PENDING', 'FAILED', 'BOUNCED', 'SENT', 'DROPPED'] as const).map((value) => ({ value, label: t[value] })),
  ];
  return (
    <>
      <Text size="sm" c="dimmed" mb="md">
        {t.hint}
      </Text>
      <FaultAlert error={error} retry={() => void refetch()} />
      {data?.hasMailServer === false && (
        <Alert color="yellow" variant="light" mb="md" icon={<IconAlertTriangle size={18} />}>
          <Text size="sm" fw={600}>
            {t.notSetUp}
          </Text>
          <Text size="sm">{t.setUp}</Text>
        </Alert>
      )}
      <Select
        mb="md"
        w="16rem"
        maw="100%"
        aria-label={t.state}
        data={states}
        value={shown}
        onChange={show}
        allowDeselect={false}
      />
      <DataTable
        label={sent}
        columns={columns}
        rows={data?.items}
        rowKey={(row) => row.id}
        onOpen={setOpen}
        empty={t.none}
      />
      <Pages page={page} hasMore={data?.hasMore === true} go={setPage} />
      <Dialog opened={open !== undefined} onClose={() => setOpen(undefined)} title={t.mail} size="lg">
        {open !== undefined && <SentDetails mail={open} onChanged={setOpen} />}
      </Dialog>
    </>
  );
}

function useSentColumns(): Column<Sent>[] {
  const t = useText(sentTexts);
  return useMemo(
    () => [
      {
        key: 'due',
        title: t.due,
        value: (row) => row.dueAt,
        render: (row) => <Time at={row.dueAt} absolute />,
        width: '11rem',
      },
      { key: 'recipient', title: t.recipient, value: (row) => row.recipient?.displayName ?? '' },
      {
        key: 'state',
        title: t.state,
        value: (row) => t[row.state],
        render: (row) => <ToneMark tone={TONES[row.state]}>{t[row.state]}</ToneMark>,
      },
      { key: 'attempts', title: t.attempts, value: (row) => row.attempts, align: 'end', width: '6rem', minor: true },
      { key: 'error', title: t.error, value: (row) => row.error ?? '', minor: true },
    ],
    [t],
  );
}

function SentDetails({ mail, onChanged }: { mail: Sent; onChanged: (next: Sent) => void }) {
  const t = useText(sentTexts);
  const { record } = useText(texts);
  const format = useFormats();
  const again = useAction({
    run: () => sendAgain(mail.id),
    touches: [sentKey],
    done: t.queued,
    after: onChanged,
    quiet: true,
  });
  return (
    <Stack gap="sm">
      <FaultAlert error={again.error} />
      <Facts
        facts={[
          [t.due, format.exact(mail.dueAt)],
          [t.recipient, mail.recipient?.displayName ?? t.hidden],
          [t.notifications, String(mail.notifications)],
          [t.state, t[mail.state]],
          [t.attempts, String(mail.attempts)],
          ...(mail.nextAttemptAt === null ? [] : [[t.nextAttempt, format.exact(mail.nextAttemptAt)] as const]),
          ...(mail.finishedAt === null ? [] : [[t.finished, format.exact(mail.finishedAt)] as const]),
          ...(mail.error === null ? [] : [[t.error, mail.error] as const]),
          ...(mail.objectId === null ? [] : [[record, <RecordLink key="record" id={mail.objectId} />] as const]),
        ]}
      />
      {mail.state !== 'PENDING' && (
        <Group justify="flex-end" gap="md">
          <Text size="xs" c="dimmed" flex={1}>
            {t.againHint}
          </Text>
          <Button loading={again.isPending} onClick={() => again.mutate()}>
            {t.again}
          </Button>
        </Group>
      )}
    </Stack>
  );
}
