/** Users: the list with its archive, a new user, and a user with unit and groups. */
import { useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import { useText } from '../../i18n/text.ts';
import type { Column } from '../../ui/data-table.tsx';
import { PersonName } from '../../ui/person.tsx';
import type { ScreenProps } from '../../ui/page.tsx';
import { UserPage } from './user-page.tsx';
import { archivedQuery, unitsQuery, type User, usersQuery } from './queries.ts';
import { Roster } from './parts.tsx';
import { texts } from './texts.ts';

export default function PeoplePage({ path }: ScreenProps) {
  const [own] = path;
  return own === undefined ? <UserList /> : <UserPage key={own} id={own === 'new' ? undefined : own} />;
}

function UserList() {
  const t = useText(texts);
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
      {
        key: 'email',
        title: t.email,
        value: (row) => row.email,
        minor: true,
      },
      { key: 'unit', title: t.unit, value: (row) => unitNames.get(row.organizationUnitId ?? '') ?? '', minor: true },
    ],
    [t, unitNames],
  );
  return (
    <Roster
      section="users"
      title={t.people}
      hint={t.peopleHint}
      create={t.newPerson}
      screen="people"
      query={users}
      archived={archived.data?.users}
      columns={columns}
    />
  );
}
