import { useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import { useText } from '../../i18n/text.ts';
import { type Column, DataTable } from '../../ui/data-table.tsx';
import { FaultAlert } from '../../ui/fault.tsx';
import { ConnectionMark, useStateName } from '../connections/connection.tsx';
import { EVENT_KINDS } from '../../i18n/event-texts.ts';
import { type Subscription, subscriptionsQuery } from './queries.ts';
import { texts } from './texts.ts';

export function SubscriptionsTable({ onOpen }: { onOpen: (one: Subscription) => void }) {
  const t = useText(texts);
  const stateName = useStateName();
  const { data, error, refetch } = useQuery(subscriptionsQuery);
  const columns = useMemo(
    (): Column<Subscription>[] => [
      { key: 'code', title: t.code, value: (row) => row.code },
      { key: 'endpoint', title: t.endpoint, value: (row) => row.endpoint, minor: true },
      {
        key: 'events',
        title: t.events,
        value: (row) => row.eventTypes.join(', '),
        render: (row) =>
          row.eventTypes.length === EVENT_KINDS.length ? t.eventsAll : t.eventCount(row.eventTypes.length),
      },
      { key: 'secret', title: t.secret, value: (row) => row.secretRef, minor: true },
      {
        key: 'state',
        title: t.state,
        value: (row) => stateName(row),
        render: (row) => <ConnectionMark connection={row} />,
      },
    ],
    [t, stateName],
  );
  return (
    <>
      <FaultAlert error={error} retry={() => void refetch()} />
      <DataTable
        label={t.subscriptions}
        columns={columns}
        rows={data}
        rowKey={(row) => row.id}
        onOpen={onOpen}
        empty={t.none}
      />
    </>
  );
}
