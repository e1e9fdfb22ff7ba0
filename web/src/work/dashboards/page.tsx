/** Dashboards: choose one, look at its tiles, and make own ones. `/work/dashboards/{id}` shows one. */
import { ActionIcon, Button, Loader, Menu, Select } from '@mantine/core';
import { IconDots, IconPencil, IconPlus, IconRefresh } from '@tabler/icons-react';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useMemo, useState } from 'react';
import { call } from '../../api/client.ts';
import type { dashboards } from '../../api/types.ts';
import { useText } from '../../i18n/text.ts';
import { invalidate, useAction } from '../../ui/action.ts';
import { confirm } from '../../ui/confirm.tsx';
import { Empty } from '../../ui/empty.tsx';
import { FaultAlert } from '../../ui/fault.tsx';
import { Page, type ScreenProps } from '../../ui/page.tsx';
import classes from './dashboards.module.css';
import { DashboardEditor } from './dashboard-editor.tsx';
import { useTypeFields } from './fields.ts';
import { type Dashboard, dashboardsQuery, type Scope } from './queries.ts';
import { ScopeBar } from './scope-bar.tsx';
import { texts } from './texts.ts';
import { TileView } from './tile.tsx';

const LAST = 'docket.dashboard';

export default function DashboardsPage({ path }: ScreenProps) {
  const t = useText(texts);
  const { data, error, refetch } = useQuery(dashboardsQuery);
  const wanted = path[0] ?? localStorage.getItem(LAST) ?? '';
  if (error !== null && data === undefined) return <FaultAlert error={error} retry={() => void refetch()} />;
  if (data === undefined) return <Loader m="xl" size="sm" />;
  const found = data.find(({ id }) => id === wanted);
  const dashboard = found ?? (path[0] === undefined ? data[0] : undefined);
  if (dashboard === undefined) {
    return (
      <Page title={t.title} actions={<CreateButton />}>
        <Empty>{path[0] === undefined ? t.none : t.gone}</Empty>
      </Page>
    );
  }
  return <OneDashboard key={dashboard.id} dashboard={dashboard} all={data} />;
}

/** Creates a dashboard and opens it. */
function useCreate() {
  const navigate = useNavigate();
  return useAction<Pick<Dashboard, 'name' | 'tiles'>, Dashboard>({
    run: (body) => call<typeof dashboards.createDashboard>('POST', '/dashboards', { body }),
    touches: [dashboardsQuery.queryKey],
    after: ({ id }) => navigate({ to: '/work/$', params: { _splat: `dashboards/${id}` } }),
  });
}

function CreateButton() {
  const t = useText(texts);
  const create = useCreate();
  return (
    <Button
      leftSection={<IconPlus size={14} />}
      loading={create.isPending}
      onClick={() => create.mutate({ name: t.newName, tiles: [] })}
    >
      {t.create}
    </Button>
  );
}

const OPEN_SCOPE: Scope = { period: undefined, filter: undefined };

function OneDashboard({ dashboard, all }: { dashboard: Dashboard; all: readonly Dashboard[] }) {
  const t = useText(texts);
  const client = useQueryClient();
  const [scope, setScope] = useState(OPEN_SCOPE);
  const [editing, setEditing] = useState(dashboard.mayChange && dashboard.tiles.length === 0);
  const codes = useMemo(() => dashboard.tiles.flatMap(({ query }) => query.types), [dashboard]);
  const { conditionFields, nameOf } = useTypeFields(codes);
  if (editing) return <DashboardEditor dashboard={dashboard} scope={scope} onDone={() => setEditing(false)} />;
  return (
    <Page
      title={dashboard.name}
      actions={
        <>
          <ActionIcon
            variant="default"
            size={30}
            aria-label={t.refresh}
            title={t.refresh}
            onClick={() => void invalidate(client, ['report'])}
          >
            <IconRefresh size={16} />
          </ActionIcon>
          {dashboard.mayChange && (
            <Button variant="default" leftSection={<IconPencil size={14} />} onClick={() => setEditing(true)}>
              {t.edit}
            </Button>
          )}
          <CreateButton />
          <More dashboard={dashboard} />
        </>
      }
    >
      <div className={classes.tools}>
        <Chooser dashboard={dashboard} all={all} />
        <ScopeBar scope={scope} onScope={setScope} fields={conditionFields} />
      </div>
      <div className={classes.grid}>
        {dashboard.tiles.map((tile, index) => (
          // Tiles have no id; only the index identifies them.
          // oxlint-disable-next-line react/no-array-index-key
          <TileView key={index} tile={tile} scope={scope} nameOf={nameOf} />
        ))}
      </div>
    </Page>
  );
}

function Chooser({ dashboard, all }: { dashboard: Dashboard; all: readonly Dashboard[] }) {
  const t = useText(texts);
  const navigate = useNavigate();
  const items = (shared: boolean) =>
    all.filter((one) => one.shared === shared).map(({ id, name }) => ({ value: id, label: name }));
  return (
    <Select
      label={t.choose}
      allowDeselect={false}
      searchable
      w={260}
      value={dashboard.id}
      data={[
        { group: t.own, items: items(false) },
        { group: t.shared, items: items(true) },
      ].filter((group) => group.items.length > 0)}
      onChange={(id) => {
        if (id === null) return;
        localStorage.setItem(LAST, id);
        void navigate({ to: '/work/$', params: { _splat: `dashboards/${id}` } });
      }}
    />
  );
}

function More({ dashboard }: { dashboard: Dashboard }) {
  const t = useText(texts);
  const navigate = useNavigate();
  const create = useCreate();
  const remove = useAction({
    run: () =>
      call<typeof dashboards.deleteDashboard>('DELETE', `/dashboards/${dashboard.id}`, {
        body: { expectedRevision: dashboard.revision ?? 0 },
      }),
    touches: [dashboardsQuery.queryKey],
    after: () => navigate({ to: '/work/$', params: { _splat: 'dashboards' } }),
  });
  const ask = async (): Promise<void> => {
    const title = t.removeTitle(dashboard.name);
    if (await confirm({ title, body: t.removeBody, yes: t.remove, danger: true })) remove.mutate();
  };
  return (
    <Menu>
      <Menu.Target>
        <ActionIcon variant="default" size={30} aria-label={t.more}>
          <IconDots size={16} />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Item onClick={() => create.mutate({ name: t.copyName(dashboard.name), tiles: dashboard.tiles })}>
          {t.copy}
        </Menu.Item>
        {dashboard.mayChange && (
          <Menu.Item color="red" onClick={() => void ask()}>
            {t.remove}
          </Menu.Item>
        )}
      </Menu.Dropdown>
    </Menu>
  );
}
