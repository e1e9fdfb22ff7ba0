/** The audit log, newest first, with paging. */
import { Button, Group, Select, TextInput } from '@mantine/core';
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
import { Details, useAuditWords, useSubjects } from './words.tsx';
import { kindTexts } from './kind-texts.ts';
import { texts } from './texts.ts';

type Entry = AnswerOf<typeof audit.readAudit>['rows'][number];

const NONE: readonly (string | null)[] = [];

export default function AuditPage() {
  const t = useText(texts);
  const [kind, setKind] = useState<string | null>(null);
  const [about, setAbout] = useState('');
  const [subject] = useDebouncedValue(about.trim(), 300);
  const log = useInfiniteQuery({
    queryKey: ['audit', kind, subject],
    queryFn: ({ pageParam, signal }) =>
      call<typeof audit.readAudit>('GET', '/audit', {
        query: {
          page: pageParam,
          pageSize: 100,
          type: kind ?? undefined,
          subject: subject === '' ? undefined : subject,
        },
        signal,
      }),
    initialPageParam: 1,
    getNextPageParam: (last) => (last.hasMore ? last.page + 1 : undefined),
  });
  const { kindOf, viaOf } = useAuditWords();
  const kindWords = useText(kindTexts);
  const kinds = useMemo(() => Object.entries(kindWords).map(([value, label]) => ({ value, label })), [kindWords]);
  const subjectOf = useSubjects(log.data?.pages.flatMap((page) => page.rows.map((row) => row.subject)) ?? NONE);
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
      { key: 'what', title: t.what, value: (row) => kindOf(row.type) },
      {
        key: 'subject',
        title: t.subject,
        value: (row) => subjectOf(row.subject, row.data),
        render: (row) => <span title={row.subject ?? ''}>{subjectOf(row.subject, row.data)}</span>,
      },
      { key: 'via', title: t.via, value: (row) => viaOf(row.actor.via), minor: true },
      {
        key: 'details',
        title: t.details,
        width: '30%',
        value: (row) => (Object.keys(row.data).length === 0 ? '' : JSON.stringify(row.data)),
        render: (row) => (Object.keys(row.data).length === 0 ? '' : <Details data={row.data} />),
        minor: true,
      },
    ],
    [t, kindOf, subjectOf, viaOf],
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
            <Select
              aria-label={t.kind}
              placeholder={t.kind}
              value={kind}
              onChange={setKind}
              data={kinds}
              searchable
              clearable
              clearButtonProps={{ 'aria-label': t.anyKind }}
            />
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
