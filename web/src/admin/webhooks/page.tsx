/** Webhooks: subscriptions with their deliveries, and signing secrets. */
import { Button, Tabs } from '@mantine/core';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { useText } from '../../i18n/text.ts';
import { Page, type ScreenProps } from '../../ui/page.tsx';
import { DeliveriesTable } from './deliveries.tsx';
import { SecretsTable } from './secrets.tsx';
import { SubscriptionForm } from './subscription-form.tsx';
import { SubscriptionPage } from './subscription-page.tsx';
import { SubscriptionsTable } from './subscriptions.tsx';
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
    <Page title={t.title} hint={t.hint} actions={<Button onClick={() => setCreating(true)}>{t.create}</Button>}>
      <Tabs value={tab} onChange={(next) => go(`webhooks/${next ?? ''}`)}>
        <Tabs.List mb="md">
          <Tabs.Tab value="subscriptions">{t.subscriptions}</Tabs.Tab>
          <Tabs.Tab value="deliveries">{t.deliveries}</Tabs.Tab>
          <Tabs.Tab value="secrets">{t.secrets}</Tabs.Tab>
        </Tabs.List>
        <Tabs.Panel value="subscriptions">
          <SubscriptionsTable onOpen={(one) => go(`webhooks/subscriptions/${one.id}`)} />
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
