/** Imports: definitions and runs. */
import { Button, Tabs } from '@mantine/core';
import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useMemo } from 'react';
import { call } from '../../api/client.ts';
import type { imports } from '../../api/types.ts';
import { useLanguage } from '../../i18n/language.ts';
import { useText } from '../../i18n/text.ts';
import { type Column, DataTable } from '../../ui/data-table.tsx';
import { FaultAlert } from '../../ui/fault.tsx';
import { Page, type ScreenProps } from '../../ui/page.tsx';
import { Time } from '../../ui/time.tsx';
import { CreateButton } from '../config/missing.tsx';
import { QueryTable } from '../config/query-table.tsx';
import { DefinitionForm } from './definition-form.tsx';
import { DefinitionPage } from './definition-page.tsx';
import { type Definition, definitionsQuery, nameOf, runsKey, type RunSummary } from './queries.ts';
import { RunPage } from './run-page.tsx';
import { texts } from './texts.ts';
import { isActive } from '../../../../src/contract/state.ts';

export default function ImportsPage({ path }: ScreenProps) {
  const [first = 'definitions', id, part] = path;
  if (first === 'new') return <DefinitionForm />;
  if (first === 'definitions' && id !== undefined) return <DefinitionPage id={id} edit={part === 'edit'} />;
  if (first === 'runs' && id !== undefined) return <RunPage id={id} />;
  return <Overview tab={first === 'runs' ? 'runs' : 'definitions'} />;
}

function Overview({ tab }: { tab: string }) {
  const t = useText(texts);
  const navigate = useNavigate();
  const go = (splat: string): void => void navigate({ to: '/admin/$', params: { _splat: splat } });
  return (
    <Page title={t.title} hint={t.hint} actions={<CreateButton label={t.create} onClick={() => go('imports/new')} />}>
      <Tabs value={tab} onChange={(next) => go(`imports/${next ?? ''}`)}>
        <Tabs.List mb="md">
          <Tabs.Tab value="definitions">{t.definitions}</Tabs.Tab>
          <Tabs.Tab value="runs">{t.runs}</Tabs.Tab>
        </Tabs.List>
        <Tabs.Panel value="definitions">
          <Definitions onOpen={(one) => go(`imports/definitions/${one.id}`)} onCreate={() => go('imports/new')} />
        </Tabs.Panel>
        <Tabs.Panel value="runs">
          <Runs onOpen={(one) => go(`imports/runs/${one.id}`)} />
        </Tabs.Panel>
      </Tabs>
    </Page>
  );
}

function Definitions({ onOpen, onCreate }: { onOpen: (one: Definition) => void; onCreate: () => void }) {
  const t = useText(texts);
  const language = useLanguage();
  const definitions = useQuery(definitionsQuery);
  const columns = useMemo(
    (): Column<Definition>[] => [
      { key: 'name', title: t.name, value: (row) => nameOf(row, language) },
      { key: 'code', title: t.code, value: (row) => row.code, minor: true },
      { key: 'target', title: t.target, value: (row) => t[row.targetKind as 'object'] },
      { key: 'format', title: t.format, value: (row) => row.format },
      { key: 'mode', title: t.mode, value: (row) => t[row.mode as 'UPSERT'], minor: true },
      { key: 'source', title: t.source, value: (row) => row.sourceCode, minor: true },
    ],
    [t, language],
  );
  return (
    <QueryTable
      section="importDefinitions"
      label={t.definitions}
      query={definitions}
      rows={definitions.data?.filter(isActive)}
      columns={columns}
      create={{ label: t.create, onClick: onCreate }}
      onOpen={onOpen}
    />
  );
}

function Runs({ onOpen }: { onOpen: (one: RunSummary) => void }) {
  const t = useText(texts);
  const language = useLanguage();
  const { data: definitions } = useQuery(definitionsQuery);
  const runs = useInfiniteQuery({
    queryKey: [...runsKey, 'list'],
    queryFn: ({ pageParam, signal }) =>
      call<typeof imports.listRuns>('GET', '/import-runs', { query: { page: pageParam, pageSize: 100 }, signal }),
    initialPageParam: 1,
    getNextPageParam: (last) => (last.hasMore ? last.page + 1 : undefined),
  });
  const columns = useMemo((): Column<RunSummary>[] => {
    const names = new Map(definitions?.map((one) => [one.id, nameOf(one, language)]));
    return [
      {
        key: 'at',
        title: t.at,
        value: (row) => row.startedAt,
        render: (row) => <Time at={row.startedAt} absolute />,
        width: '11rem',
      },
      { key: 'definition', title: t.name, value: (row) => names.get(row.definitionId) ?? '' },
      { key: 'kind', title: t.kind, value: (row) => (row.dryRun ? t.wasDry : t.wasReal) },
      { key: 'who', title: t.who, value: (row) => row.startedBy?.displayName ?? '', minor: true },
      { key: 'ok', title: t.succeeded, value: (row) => row.succeeded, align: 'end', minor: true },
      { key: 'failed', title: t.failed, value: (row) => row.failed, align: 'end' },
      { key: 'skipped', title: t.skipped, value: (row) => row.skipped, align: 'end', minor: true },
      {
        key: 'state',
        title: t.state,
        value: (row) => (row.undoneAt === undefined ? t[row.state] : t.UNDONE),
        minor: true,
      },
    ];
  }, [t, definitions, language]);
  return (
    <>
      <FaultAlert error={runs.error} retry={() => void runs.refetch()} />
      <DataTable
        label={t.runs}
        columns={columns}
        rows={runs.data?.pages.flatMap((page) => page.rows)}
        rowKey={(row) => row.id}
        onOpen={onOpen}
        empty={t.noRuns}
      />
      {runs.hasNextPage && (
        <Button variant="default" mt="sm" loading={runs.isFetchingNextPage} onClick={() => void runs.fetchNextPage()}>
          {t.all}
        </Button>
      )}
    </>
  );
}
