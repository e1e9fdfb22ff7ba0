/** List of users or groups: active ones, with a switch to include archived ones. */
import { Button, Switch } from '@mantine/core';
import { IconPlus } from '@tabler/icons-react';
import type { UseQueryResult } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { type ReactNode, useMemo, useState } from 'react';
import { useText } from '../../i18n/text.ts';
import { type Column, DataTable } from '../../ui/data-table.tsx';
import { FaultAlert } from '../../ui/fault.tsx';
import { Page } from '../../ui/page.tsx';
import { StateBadge } from './parts.tsx';
import { texts } from './texts.ts';

interface RosterProps<Row> {
  title: string;
  hint: string;
  /** Label of the button for a new item. */
  create: string;
  /** The screen's path below `/admin/`. */
  screen: string;
  query: UseQueryResult<Row[]>;
  archived: readonly Row[] | undefined;
  columns: readonly Column<Row>[];
  empty?: ReactNode;
}

export function Roster<Row extends { id: string; state: string }>(props: RosterProps<Row>) {
  const { title, screen, query, columns } = props;
  const t = useText(texts);
  const navigate = useNavigate();
  const [archive, setArchive] = useState(false);
  const all = useMemo(
    (): readonly Column<Row>[] =>
      archive
        ? [
            ...columns,
            {
              key: 'state',
              title: t.state,
              value: (row) => (row.state === 'ARCHIVED' ? t.archived : t.active),
              render: (row) => <StateBadge state={row.state} />,
            },
          ]
        : columns,
    [t, columns, archive],
  );
  const rows = useMemo(
    () => (query.data === undefined ? undefined : [...query.data, ...(archive ? (props.archived ?? []) : [])]),
    [query.data, props.archived, archive],
  );
  const go = (rest: string): void => void navigate({ to: '/admin/$', params: { _splat: `${screen}/${rest}` } });
  return (
    <Page
      title={title}
      hint={props.hint}
      actions={
        <Button leftSection={<IconPlus size={14} />} onClick={() => go('new')}>
          {props.create}
        </Button>
      }
    >
      <FaultAlert error={query.error} retry={() => void query.refetch()} />
      <DataTable
        label={title}
        columns={all}
        rows={rows}
        rowKey={(row) => row.id}
        onOpen={(row) => go(row.id)}
        empty={props.empty}
        tools={
          <Switch
            label={t.showArchived}
            checked={archive}
            onChange={(event) => setArchive(event.currentTarget.checked)}
          />
        }
      />
    </Page>
  );
}
