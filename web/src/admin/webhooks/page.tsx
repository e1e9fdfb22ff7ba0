/** Webhooks: subscriptions with their deliveries, and signing secrets. */
import { Tabs } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useMemo, useState } from 'react';
import { EVENT_KINDS } from '../../i18n/event-texts.ts';
import { useText } from '../../i18n/text.ts';
import type { Column } from '../../ui/data-table.tsx';
import { Page, type ScreenProps } from '../../ui/page.tsx';
import { CreateButton } from '../config/missing.tsx';
import { QueryTable } from '../config/query-table.tsx';
import { ConnectionMark, useStateName } from '../connections/connection.tsx';
import { DeliveriesTable } from './deliveries.tsx';
import { type Subscription, subscriptionsQuery } from './queries.ts';
import { SecretsTable } from './secrets.tsx';
import { SubscriptionForm } from './subscription-form.tsx';
import { SubscriptionPage } from './subscription-page.tsx';
import { texts } from './texts.ts';

const TABS = ['subscriptions', 'deliveries', 'secrets'] as const;

export default function WebhooksPage({ path }: ScreenProps) {
  const [first = 'subscriptions', id] = path;
  if (first === 'subscriptions' && id !== undefined) return <SubscriptionPage id={id} />;
  // Unknown paths show the first tab.
  return <Overview tab={TABS.find((one) => one === first) ?? 'subscriptions'} />;
}

function Overview({ tab }: { tab: string }) {
  const t = useText(texts);
  const navigate = useNavigate();
  const [creating, setCreating] = useState(false);
  const go = (splat: string): void => void navigate({ to: '/admin/$', params: { _splat: splat } });
  return (
    <Page title={t.title} hint={t.hint} actions={<CreateButton label={t.create} onClick={() => setCreating(true)} />}>
      <Tabs value={tab} onChange={(next) => go(`webhooks/${next ?? ''}`)}>
        <Tabs.List mb="md">
          <Tabs.Tab value="subscriptions">{t.subscriptions}</Tabs.Tab>
          <Tabs.Tab value="deliveries">{t.deliveries}</Tabs.Tab>
          <Tabs.Tab value="secrets">{t.secrets}</Tabs.Tab>
        </Tabs.List>
        <Tabs.Panel value="subscriptions">
          <SubscriptionsTable
            onOpen={(one) => go(`webhooks/subscriptions/${one.id}`)}
            onCreate={() => setCreating(true)}
          />
        </Tabs.Panel>
        <Tabs.Panel value="deliveries">
          <DeliveriesTable />
        </Tabs.Panel>
        <Tabs.Panel value="secrets">
          <SecretsTable />
        </Tabs.Panel>
      </Tabs>
      <SubscriptionForm
        opened={creating}
        onClose={() => setCreating(false)}
        onSaved={(one) => go(`webhooks/subscriptions/${one.id}`)}
      />
    </Page>
  );
}

export function SubscriptionsTable({
  onOpen,
  onCreate,
}: {
  onOpen: (one: Subscription) => void;
  onCreate: () => void;
}) {
  const t = useText(texts);
  const stateName = useStateName();
  const subscriptions = useQuery(subscriptionsQuery);
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
    <QueryTable
      section="webhooks"
      label={t.subscriptions}
      query={subscriptions}
      columns={columns}
      create={{ label: t.create, onClick: onCreate }}
      onOpen={onOpen}
    />
  );
}
