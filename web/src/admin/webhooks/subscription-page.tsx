/** One subscription: what it says, the steps that it can take, and its last deliveries. */
import { Button, Loader, Text, Tooltip } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { call } from '../../api/client.ts';
import type { webhooks } from '../../api/types.ts';
import { deskTypesQuery } from '../../desk/queries.ts';
import { labelText, useLabels } from '../../fields/labels.ts';
import { useText } from '../../i18n/text.ts';
import { useAction } from '../../ui/action.ts';
import { Empty } from '../../ui/empty.tsx';
import { FaultAlert } from '../../ui/fault.tsx';
import { Page, Panel } from '../../ui/page.tsx';
import { ConnectionMark, ConnectionSteps, type Step } from '../connections/connection.tsx';
import { Facts, Raw } from '../connections/tone.tsx';
import { DeliveriesTable } from './deliveries.tsx';
import { eventName, eventTexts } from './event-texts.ts';
import { type Subscription, subscriptionsKey, subscriptionsQuery } from './queries.ts';
import { SubscriptionForm } from './subscription-form.tsx';
import { texts } from './texts.ts';

const BACK = '/admin/webhooks';

export function SubscriptionPage({ id }: { id: string }) {
  const t = useText(texts);
  const { data, error, refetch } = useQuery(subscriptionsQuery);
  const found = data?.find((one) => one.id === id);
  if (found !== undefined) return <Known subscription={found} />;
  return (
    <Page title={t.subscription} back={{ label: t.back, href: BACK }}>
      <FaultAlert error={error} retry={() => void refetch()} />
      {data === undefined ? error === null && <Loader size="sm" /> : <Empty>{t.gone}</Empty>}
    </Page>
  );
}

function Known({ subscription }: { subscription: Subscription }) {
  const t = useText(texts);
  const [changing, setChanging] = useState(false);
  const done: Record<Step, string> = {
    enable: t.enabledNow,
    disable: t.disabledNow,
    archive: t.archivedNow,
    restore: t.restoredNow,
  };
  const step = useAction({
    run: (which: Step) => call<typeof webhooks.enableSubscription>('POST', `/webhooks/${subscription.id}/${which}`),
    touches: [subscriptionsKey],
    done: (_answer, which) => done[which],
    quiet: true,
  });
  const change =
    subscription.state === 'ARCHIVED' ? null : (
      <Tooltip label={t.changeHint} disabled={!subscription.enabled}>
        <Button
          variant="default"
          data-disabled={subscription.enabled}
          aria-disabled={subscription.enabled}
          onClick={() => !subscription.enabled && setChanging(true)}
        >
          {t.change}
        </Button>
      </Tooltip>
    );
  return (
    <Page
      title={subscription.code}
      back={{ label: t.back, href: BACK }}
      actions={
        <>
          {change}
          <ConnectionSteps
            connection={subscription}
            meaning={t.enableMeaning(subscription.endpoint)}
            pending={step.isPending}
            onStep={(which) => step.mutate(which)}
          />
        </>
      }
    >
      <FaultAlert error={step.error} />
      <Panel>
        <Settings subscription={subscription} />
      </Panel>
      <Panel title={t.lastDeliveries}>
        <DeliveriesTable subscription={subscription} />
      </Panel>
      <SubscriptionForm
        opened={changing}
        onClose={() => setChanging(false)}
        onSaved={() => setChanging(false)}
        subscription={subscription}
      />
    </Page>
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
