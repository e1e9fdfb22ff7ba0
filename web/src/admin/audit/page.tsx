/** The audit log, newest first, read page by page. */
import { Button, Code, Group, TextInput } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { useInfiniteQuery } from '@tanstack/react-query';
import { useMemo, useState } from 'react';
import { type AnswerOf, call } from '../../api/client.ts';
import type { audit } from '../../api/types.ts';
import { useText } from '../../i18n/text.ts';
import { type Column, DataTable } from '../../ui/data-table.tsx';
import { FaultAlert } from '../../ui/fault.tsx';
import { Page } from '../../ui/page.tsx';
import { PersonName } from '../../ui/person.tsx';
import { Time } from '../../ui/time.tsx';
import { texts } from './texts.ts';

type Entry = AnswerOf<typeof audit.readAudit>['rows'][number];

/** Kinds of events that are asked for most. */
const KINDS = [
  'ConfigChanged',
  'KeyCreated',
  'KeyRotated',
  'KeyRevoked',
  'SignedIn',
  'SignedOut',
  'PasswordSet',
] as const;

export default function AuditPage() {
  const t = useText(texts);
  const [kind, setKind] = useState('');
  const [about, setAbout] = useState('');
  const [type] = useDebouncedValue(kind.trim(), 300);
  const [subject] = useDebouncedValue(about.trim(), 300);
  const log = useInfiniteQuery({
    queryKey: ['audit', type, subject],
    queryFn: ({ pageParam, signal }) =>
      call<typeof audit.readAudit>('GET', '/audit', {
        query: {
          page: pageParam,
          pageSize: 100,
          type: type === '' ? undefined : type,
          subject: subject === '' ? undefined : subject,
        },
        signal,
      }),
    initialPageParam: 1,
    getNextPageParam: (last) => (last.hasMore ? last.page + 1 : undefined),
  });
  const columns = useMemo(
    (): Column<Entry>[] => [
      {
        key: 'at',
        title: t.at,
        value: (row) => row.at,
        render: (row) => <Time at={row.at} absolute />,
        width: '11rem',
      },
      {
        key: 'who',
        title: t.who,
        value: (row) => (row.actor.id === null ? t.system : row.actor.displayName),
        render: (row) => (row.actor.id === null ? t.system : <PersonName name={row.actor.displayName} />),
      },
      { key: 'what', title: t.what, value: (row) => row.type },
      { key: 'subject', title: t.subject, value: (row) => row.subject },
      { key: 'via', title: t.via, value: (row) => row.actor.via, minor: true },
      {
        key: 'details',
        title: t.details,
        value: (row) => (Object.keys(row.data).length === 0 ? '' : JSON.stringify(row.data)),
        render: (row) => (Object.keys(row.data).length === 0 ? '' : <Code>{JSON.stringify(row.data)}</Code>),
        minor: true,
      },
    ],
    [t],
  );
  return (
    <Page title={t.title} hint={t.hint}>
      <FaultAlert error={log.error} retry={() => void log.refetch()} />
      <DataTable
        label={t.title}
        columns={columns}
        rows={log.data?.pages.flatMap((page) => page.rows)}
        rowKey={(row) => row.id}
        tools={
          <>
            <TextInput
              aria-label={t.kind}
              placeholder={t.kind}
              value={kind}
              list="audit-kinds"
              onChange={(event) => setKind(event.currentTarget.value)}
            />
            <datalist id="audit-kinds">
              {KINDS.map((one) => (
                <option key={one} value={one} />
              ))}
            </datalist>
            <TextInput
              aria-label={t.about}
              placeholder={t.about}
              value={about}
              onChange={(event) => setAbout(event.currentTarget.value)}
            />
          </>
        }
      />
      {log.hasNextPage && (
        <Group justify="center" mt="sm">
          <Button variant="default" loading={log.isFetchingNextPage} onClick={() => void log.fetchNextPage()}>
            {t.more}
          </Button>
        </Group>
      )}
    </Page>
  );
}
