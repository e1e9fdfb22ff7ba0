/** People: the list with its archive, a new person, and a person with unit and groups. */
import { Button, Switch } from '@mantine/core';
import { IconPlus } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useMemo, useState } from 'react';
import { useText } from '../../i18n/text.ts';
import type { ScreenProps } from '../../screens.ts';
import { type Column, DataTable } from '../../ui/data-table.tsx';
import { FaultAlert } from '../../ui/fault.tsx';
import { Page } from '../../ui/page.tsx';
import { PersonName } from '../../ui/person.tsx';
import { StateBadge } from './parts.tsx';
import { PersonPage } from './person-page.tsx';
import { archivedQuery, unitsQuery, type User, usersQuery } from './queries.ts';
import { texts } from './texts.ts';

export default function PeoplePage({ path }: ScreenProps) {
  const [own] = path;
  return own === undefined ? <PeopleList /> : <PersonPage key={own} id={own === 'new' ? undefined : own} />;
}

function PeopleList() {
  const t = useText(texts);
  const navigate = useNavigate();
  const [archive, setArchive] = useState(false);
  const users = useQuery(usersQuery);
  const units = useQuery(unitsQuery);
  const archived = useQuery(archivedQuery);
  const unitNames = useMemo(() => new Map(units.data?.map(({ id, name }) => [id, name])), [units.data]);
  const columns = useMemo(
    (): Column<User>[] => [
      {
        key: 'name',
        title: t.displayName,
        value: (row) => row.displayName,
        render: (row) => <PersonName name={row.displayName} />,
      },
      { key: 'login', title: t.login, value: (row) => row.login },
      { key: 'email', title: t.email, value: (row) => row.email, minor: true },
      { key: 'unit', title: t.unit, value: (row) => unitNames.get(row.organizationUnitId ?? '') ?? '', minor: true },
      ...(archive
        ? [
            {
              key: 'state',
              title: t.state,
              value: (row: User) => (row.state === 'ARCHIVED' ? t.archived : t.active),
              render: (row: User) => <StateBadge state={row.state} />,
            },
          ]
        : []),
    ],
    [t, unitNames, archive],
  );
  const go = (rest: string): void => void navigate({ to: '/admin/$', params: { _splat: `people/${rest}` } });
  const rows = users.data === undefined ? undefined : [...users.data, ...(archive ? (archived.data?.users ?? []) : [])];
  return (
    <Page
      title={t.people}
      hint={t.peopleHint}
      actions={
        <Button leftSection={<IconPlus size={14} />} onClick={() => go('new')}>
          {t.newPerson}
        </Button>
      }
    >
      <FaultAlert error={users.error} retry={() => void users.refetch()} />
      <DataTable
        label={t.people}
        columns={columns}
        rows={rows}
        rowKey={(row) => row.id}
        onOpen={(row) => go(row.id)}
        empty={t.noPeople}
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
