/** Versions of articles including drafts, with the views and votes of their articles. */
import { Button, Group, Select } from '@mantine/core';
import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { useMemo, useState } from 'react';
import { call } from '../../api/client.ts';
import type { knowledgeAdmin } from '../../api/types.ts';
import { ToneMark } from '../../admin/connections/tone.tsx';
import { type Formats, useFormats } from '../../i18n/format.ts';
import { useLanguage } from '../../i18n/language.ts';
import { useText } from '../../i18n/text.ts';
import { type Column, DataTable } from '../../ui/data-table.tsx';
import { FaultAlert } from '../../ui/fault.tsx';
import { Time } from '../../ui/time.tsx';
import classes from './knowledge.module.css';
import { type Base, basesQuery, knowledgeKey, type VersionRow } from './queries.ts';
import { texts } from './texts.ts';

export const TONES = { DRAFT: 'wait', ACTIVE: 'good', ARCHIVED: 'gone' } as const;

interface VersionsProps {
  label: string;
  /** Keeps some versions only. Without it, the user filters by state. */
  only?: { state: VersionRow['state']; own?: 'true'; reviewDue?: 'true' };
  empty?: string;
  onOpen: (one: VersionRow) => void;
}

export function Versions({ label, only, empty, onOpen }: VersionsProps) {
  const t = useText(texts);
  const language = useLanguage();
  const { data: bases = [] } = useQuery(basesQuery(language));
  const [state, setState] = useState<VersionRow['state'] | null>(null);
  const [baseId, setBaseId] = useState<string | null>(null);
  const versions = useVersions({ ...(only ?? { state }), baseId });
  const columns = useVersionColumns(bases);
  return (
    <>
      <FaultAlert error={versions.error} retry={() => void versions.refetch()} />
      <DataTable
        label={label}
        columns={columns}
        rows={versions.data?.pages.flatMap((page) => page.rows)}
        rowKey={(row) => row.versionId}
        onOpen={onOpen}
        empty={empty ?? t.none}
        tools={
          <Group gap="xs">
            {only === undefined && (
              <Select
                aria-label={t.state}
                placeholder={t.anyState}
                clearable
                clearButtonProps={{ 'aria-label': t.anyState }}
                data={(['DRAFT', 'ACTIVE', 'ARCHIVED'] as const).map((one) => ({ value: one, label: t[one] }))}
                value={state}
                onChange={(next) => setState(next as VersionRow['state'] | null)}
              />
            )}
            <Select
              aria-label={t.base}
              placeholder={t.anyBase}
              clearable
              clearButtonProps={{ 'aria-label': t.anyBase }}
              data={bases.map((one) => ({ value: one.id, label: one.name }))}
              value={baseId}
              onChange={setBaseId}
            />
          </Group>
        }
      />
      {versions.hasNextPage && (
        <Group justify="center" mt="sm">
          <Button variant="default" loading={versions.isFetchingNextPage} onClick={() => void versions.fetchNextPage()}>
            {t.more}
          </Button>
        </Group>
      )}
    </>
  );
}

function useVersionColumns(bases: readonly Base[]) {
  const t = useText(texts);
  const format = useFormats();
  return useMemo((): Column<VersionRow>[] => {
    const base = (id: string) => bases.find((one) => one.id === id);
    return [
      { key: 'title', title: t.name, value: (row) => row.title, width: '36%' },
      {
        key: 'locale',
        title: t.locale,
        value: (row) => row.locale,
        render: (row) => <span className={classes.whole}>{row.locale}</span>,
        width: '5.5rem',
      },
      {
        key: 'state',
        title: t.state,
        value: (row) => t[row.state],
        render: (row) => <ToneMark tone={TONES[row.state]}>{t[row.state]}</ToneMark>,
        width: '9rem',
      },
      {
        key: 'section',
        title: t.section,
        value: (row) => base(row.baseId)?.sections.find((one) => one.id === row.sectionId)?.name ?? '',
        minor: true,
      },
      ...feedbackColumns(t, format),
      {
        key: 'updatedAt',
        title: t.updatedAt,
        value: (row) => row.updatedAt,
        render: (row) => <Time at={row.updatedAt} />,
        minor: true,
      },
    ];
  }, [t, format, bases]);
}

type Texts = ReturnType<typeof useText<(typeof texts)['ru-RU']>>;

function feedbackColumns(t: Texts, format: Formats): Column<VersionRow>[] {
  return [
    {
      key: 'views',
      title: t.viewsShort,
      value: (row) => row.feedback.views,
      align: 'end',
      width: '6.5rem',
      minor: true,
    },
    {
      key: 'votes',
      title: t.votes,
      value: (row) => row.feedback.helpful - row.feedback.notHelpful,
      render: ({ feedback }) => <Votes {...feedback} />,
      width: '6.5rem',
      minor: true,
    },
    {
      key: 'reviewOn',
      title: t.reviewOn,
      value: (row) => row.reviewOn,
      render: (row) => row.reviewOn !== null && format.day(row.reviewOn),
      width: '9rem',
      minor: true,
    },
  ];
}

/** Users whom the article helped, and whom not. */
function Votes({ helpful, notHelpful }: VersionRow['feedback']) {
  const t = useText(texts);
  if (helpful + notHelpful === 0) return null;
  return (
    <span className="tabular" aria-label={`${t.helpful}: ${helpful}, ${t.notHelpful}: ${notHelpful}`} role="img">
      +{helpful} / −{notHelpful}
    </span>
  );
}

interface Filter {
  state: VersionRow['state'] | null;
  baseId: string | null;
  own?: 'true';
  reviewDue?: 'true';
}

function useVersions({ state, baseId, ...more }: Filter) {
  return useInfiniteQuery({
    queryKey: [...knowledgeKey, 'versions', state, baseId, more],
    queryFn: ({ pageParam, signal }) =>
      call<typeof knowledgeAdmin.listVersions>('GET', '/kb/article-versions', {
        query: { ...more, page: pageParam, pageSize: 100, state: state ?? undefined, baseId: baseId ?? undefined },
        signal,
      }),
    initialPageParam: 1,
    getNextPageParam: (last) => (last.hasMore ? last.page + 1 : undefined),
  });
}
