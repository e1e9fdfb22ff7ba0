/** The last 100 deliveries of one subscription or all; each opens to show its attempts and responses. */
import { Anchor, Button, Group, Stack, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useMemo, useState } from 'react';
import { call } from '../../api/client.ts';
import type { webhooks } from '../../api/types.ts';
import { eventName, eventTexts } from '../../i18n/event-texts.ts';
import { useFormats } from '../../i18n/format.ts';
import { useText } from '../../i18n/text.ts';
import { useAction } from '../../ui/action.ts';
import { type Column, DataTable } from '../../ui/data-table.tsx';
import { FaultAlert } from '../../ui/fault.tsx';
import { Panel } from '../../ui/page.tsx';
import { Time } from '../../ui/time.tsx';
import { Facts, Raw, type Tone, ToneMark } from '../connections/tone.tsx';
import { deliveriesKey, deliveriesQuery, type Delivery, type Subscription, subscriptionsQuery } from './queries.ts';
import { texts } from './texts.ts';
import { isActive } from '../../../../src/contract/state.ts';
import { Dialog } from '../../ui/dialog.tsx';

const TONES: Record<Delivery['status'], Tone> = {
  PENDING: 'wait',
  DELIVERED: 'good',
  FAILED: 'bad',
  SKIPPED: 'idle',
};

export function DeliveriesTable({ subscription }: { subscription?: Subscription }) {
  const t = useText(texts);
  const { data, error, refetch } = useQuery(deliveriesQuery(subscription?.id));
  const { data: subscriptions = [] } = useQuery(subscriptionsQuery);
  const [open, setOpen] = useState<string>();
  const opened = data?.find((one) => one.id === open);
  const of = (delivery: Delivery) => subscriptions.find((one) => one.id === delivery.subscriptionId);
  const columns = useDeliveryColumns(subscription, subscriptions);
  return (
    <>
      <FaultAlert error={error} retry={() => void refetch()} />
      <DataTable
        label={t.lastDeliveries}
        columns={columns}
        rows={data}
        rowKey={(row) => row.id}
        onOpen={(row) => setOpen(row.id)}
        empty={t.noDeliveries}
      />
      <Dialog opened={opened !== undefined} onClose={() => setOpen(undefined)} title={t.delivery} size="lg">
        {opened !== undefined && <DeliveryDetails delivery={opened} subscription={of(opened)} />}
      </Dialog>
    </>
  );
}

function useDeliveryColumns(subscription: Subscription | undefined, subscriptions: readonly Subscription[]) {
  const t = useText(texts);
  const events = useText(eventTexts);
  return useMemo(
    (): Column<Delivery>[] => [
      {
        key: 'at',
        title: t.at,
        value: (row) => row.createdAt,
        render: (row) => <Time at={row.createdAt} absolute />,
        width: '11rem',
      },
      ...(subscription === undefined
        ? [
            {
              key: 'subscription',
              title: t.subscription,
              value: (row: Delivery) => subscriptions.find((one) => one.id === row.subscriptionId)?.code,
              minor: true,
            },
          ]
        : []),
      { key: 'event', title: t.event, value: (row) => eventName(events, row.eventType) },
      {
        key: 'status',
        title: t.status,
        value: (row) => t[row.status],
        render: (row) => <ToneMark tone={TONES[row.status]}>{t[row.status]}</ToneMark>,
      },
      {
        key: 'attempts',
        title: t.attempts,
        value: (row) => `${row.attemptCount}/${row.maxAttempts}`,
        align: 'end',
        width: '6rem',
        minor: true,
      },
      {
        key: 'answer',
        title: t.answer,
        value: (row) => row.response?.status ?? row.error ?? '',
        minor: true,
      },
    ],
    [t, events, subscription, subscriptions],
  );
}

function DeliveryDetails({ delivery, subscription }: { delivery: Delivery; subscription: Subscription | undefined }) {
  const t = useText(texts);
  const format = useFormats();
  const events = useText(eventTexts);
  const retry = useAction({
    run: () => call<typeof webhooks.retryDelivery>('POST', `/webhook-deliveries/${delivery.id}/retry`),
    touches: [deliveriesKey],
    done: t.retried,
    quiet: true,
  });
  const canRetry = delivery.status === 'FAILED' && subscription?.enabled === true && isActive(subscription);
  return (
    <Stack gap="sm">
      <FaultAlert error={retry.error} />
      <Facts
        facts={[
          [t.event, `${eventName(events, delivery.eventType)} (${delivery.eventType})`],
          [t.subscription, subscription?.code ?? delivery.subscriptionId],
          [
            t.status,
            <ToneMark key="status" tone={TONES[delivery.status]}>
              {t[delivery.status]}
            </ToneMark>,
          ],
          ...(delivery.nextAttemptAt === undefined ? [] : [[t.nextAt, format.exact(delivery.nextAttemptAt)] as const]),
          ...(delivery.error === undefined ? [] : [[t.answer, delivery.error] as const]),
          ...(delivery.objectId === null
            ? []
            : [
                [
                  t.record,
                  <Anchor
                    key="record"
                    size="sm"
                    renderRoot={(props) => (
                      <Link to="/records/$recordId" params={{ recordId: delivery.objectId ?? '' }} {...props} />
                    )}
                  >
                    {t.openRecord}
                  </Anchor>,
                ] as const,
              ]),
        ]}
      />
      {delivery.attempts.map((attempt) => (
        <AttemptPanel key={attempt.number} attempt={attempt} />
      ))}
      {canRetry && <RetryButton retry={retry} />}
    </Stack>
  );
}

function AttemptPanel({ attempt }: { attempt: Delivery['attempts'][number] }) {
  const t = useText(texts);
  const format = useFormats();
  return (
    <Panel title={t.attempt(attempt.number)}>
      <Group gap="md" mb={4}>
        <Text size="sm">{format.exact(attempt.at)}</Text>
        <Text size="sm" fw={600}>
          {attempt.response?.status ?? t.noAnswer}
        </Text>
        {attempt.response !== undefined && (
          <Text size="sm" c="dimmed">
            {t.tookMs(attempt.response.durationMs)}
          </Text>
        )}
      </Group>
      {attempt.error !== undefined && <Text size="sm">{attempt.error}</Text>}
      {attempt.response !== undefined && attempt.response.bodyExcerpt !== '' && (
        <Raw label={t.bodyExcerpt}>{attempt.response.bodyExcerpt}</Raw>
      )}
    </Panel>
  );
}

function RetryButton({ retry }: { retry: { isPending: boolean; mutate: () => void } }) {
  const t = useText(texts);
  return (
    <Group justify="flex-end" gap="md">
      <Text size="xs" c="dimmed" flex={1}>
        {t.retryBody}
      </Text>
      <Button loading={retry.isPending} onClick={() => retry.mutate()}>
        {t.retry}
      </Button>
    </Group>
  );
}
