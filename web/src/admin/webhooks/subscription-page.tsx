/** One subscription: its properties, available actions and last deliveries. */
import { Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { call } from '../../api/client.ts';
import type { webhooks } from '../../api/types.ts';
import { deskTypesQuery } from '../../desk/queries.ts';
import { labelText, useLabels } from '../../fields/labels.ts';
import { eventName, eventTexts } from '../../i18n/event-texts.ts';
import { useText } from '../../i18n/text.ts';
import { Panel } from '../../ui/page.tsx';
import { ConnectionMark, ConnectionPage, FoundConnection } from '../connections/connection.tsx';
import { Facts, Raw } from '../connections/tone.tsx';
import { DeliveriesTable } from './deliveries.tsx';
import { type Subscription, subscriptionsKey, subscriptionsQuery } from './queries.ts';
import { SubscriptionForm } from './subscription-form.tsx';
import { TestPanel } from './test-panel.tsx';
import { texts } from './texts.ts';
import { isActive } from '../../../../src/contract/state.ts';

const BACK = '/admin/webhooks';

export function SubscriptionPage({ id }: { id: string }) {
  const t = useText(texts);
  const query = useQuery(subscriptionsQuery);
  return (
    <FoundConnection id={id} query={query} title={t.subscription} back={{ label: t.back, href: BACK }} gone={t.gone}>
      {(subscription) => <Known subscription={subscription} />}
    </FoundConnection>
  );
}

function Known({ subscription }: { subscription: Subscription }) {
  const t = useText(texts);
  return (
    <ConnectionPage
      connection={subscription}
      back={{ label: t.back, href: BACK }}
      meaning={t.enableMeaning(subscription.endpoint)}
      run={(step) => call<typeof webhooks.enableSubscription>('POST', `/webhooks/${subscription.id}/${step}`)}
      done={{ enable: t.enabledNow, disable: t.disabledNow, archive: t.archivedNow, restore: t.restoredNow }}
      touches={subscriptionsKey}
      form={(opened, close) => (
        <SubscriptionForm opened={opened} onClose={close} onSaved={close} subscription={subscription} />
      )}
    >
      <Panel>
        <Settings subscription={subscription} />
      </Panel>
      {isActive(subscription) && <TestPanel subscription={subscription} />}
      <Panel title={t.lastDeliveries}>
        <DeliveriesTable subscription={subscription} />
      </Panel>
    </ConnectionPage>
  );
}

function Settings({ subscription }: { subscription: Subscription }) {
  const t = useText(texts);
  const events = useText(eventTexts);
  const labels = useLabels([subscription.executionPrincipalId]);
  const { data: types = [] } = useQuery(deskTypesQuery);
  const { condition, types: chosen } = subscription.filters;
  const typeName = (one: string): string => types.find(({ id, code }) => id === one || code === one)?.name ?? one;
  return (
    <Facts
      facts={[
        [t.state, <ConnectionMark key="state" connection={subscription} />],
        [t.endpoint, subscription.endpoint],
        [t.events, subscription.eventTypes.map((kind) => eventName(events, kind)).join(', ')],
        [t.secret, subscription.secretRef],
        [t.executor, labelText(labels.get(subscription.executionPrincipalId)) ?? subscription.executionPrincipalId],
        [t.types, chosen === undefined || chosen.length === 0 ? t.typesAll : chosen.map(typeName).join(', ')],
        [
          t.condition,
          condition === undefined ? (
            <Text key="none" size="sm" c="dimmed">
              {t.conditionNone}
            </Text>
          ) : (
            <Raw key="condition" label={t.condition}>
              {JSON.stringify(condition, null, 2)}
            </Raw>
          ),
        ],
        [t.maxAttempts, String(subscription.retryPolicy.maxAttempts)],
        [t.baseDelay, String(subscription.retryPolicy.baseDelayMs)],
      ]}
    />
  );
}
