/** Inbound integrations. */
import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useMemo, useState } from 'react';
import { useText } from '../../i18n/text.ts';
import type { Column } from '../../ui/data-table.tsx';
import { Page, type ScreenProps } from '../../ui/page.tsx';
import { CreateButton } from '../config/missing.tsx';
import { QueryTable } from '../config/query-table.tsx';
import { ConnectionMark, useStateName } from '../connections/connection.tsx';
import { IntegrationForm } from './integration-form.tsx';
import { IntegrationPage } from './integration-page.tsx';
import { type Command, type Integration, integrationsQuery } from './queries.ts';
import { texts } from './texts.ts';

export default function IntegrationsPage({ path: [id] }: ScreenProps) {
  return id === undefined ? <Overview /> : <IntegrationPage id={id} />;
}

function Overview() {
  const t = useText(texts);
  const stateName = useStateName();
  const navigate = useNavigate();
  const [creating, setCreating] = useState(false);
  const integrations = useQuery(integrationsQuery);
  const open = (id: string): void => void navigate({ to: '/admin/$', params: { _splat: `integrations/${id}` } });
  const create = { label: t.create, onClick: () => setCreating(true) };
  const columns = useMemo(
    (): Column<Integration>[] => [
      { key: 'code', title: t.code, value: (row) => row.code },
      { key: 'command', title: t.command, value: (row) => t[row.config.command as Command] },
      {
        key: 'state',
        title: t.state,
        value: (row) => stateName(row as never),
        render: (row) => <ConnectionMark connection={row as never} />,
      },
    ],
    [t, stateName],
  );
  return (
    <Page title={t.title} hint={t.hint} actions={<CreateButton {...create} />}>
      <QueryTable
        section="integrations"
        label={t.title}
        query={integrations}
        columns={columns}
        create={create}
        onOpen={(row) => open(row.id)}
      />
      <IntegrationForm opened={creating} onClose={() => setCreating(false)} onSaved={(one) => open(one.id)} />
    </Page>
  );
}
