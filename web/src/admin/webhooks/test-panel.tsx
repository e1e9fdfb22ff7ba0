/** Sends a sample to the endpoint of a subscription and shows the request and the answer. */
import { Button, Group, Select, Stack, Text } from '@mantine/core';
import { IconSend } from '@tabler/icons-react';
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { type AnswerOf, type BodyOf, call } from '../../api/client.ts';
import type { webhooks } from '../../api/types.ts';
import { eventName, eventTexts } from '../../i18n/event-texts.ts';
import { useText } from '../../i18n/text.ts';
import { FaultAlert } from '../../ui/fault.tsx';
import { Panel } from '../../ui/page.tsx';
import { Facts, Raw, type Tone, ToneMark } from '../connections/tone.tsx';
import type { Subscription } from './queries.ts';
import { texts } from './texts.ts';

type EventType = NonNullable<BodyOf<typeof webhooks.testSubscription>['eventType']>;
type Tested = AnswerOf<typeof webhooks.testSubscription>;

export function TestPanel({ subscription }: { subscription: Subscription }) {
  const t = useText(texts);
  const events = useText(eventTexts);
  // A subscription without events sends messages of rules alone.
  const kinds = subscription.eventTypes.length === 0 ? ['ObjectCreated'] : subscription.eventTypes;
  const [event, setEvent] = useState(kinds[0] ?? null);
  const sent = useMutation({
    mutationFn: (eventType: EventType) =>
      call<typeof webhooks.testSubscription>('POST', `/webhooks/${subscription.id}/test`, { body: { eventType } }),
  });
  return (
    <Panel title={t.test}>
      <Stack gap="sm">
        <Text size="sm" c="dimmed">
          {t.testHint}
        </Text>
        <Group gap="xs">
          <Select
            aria-label={t.event}
            data={kinds.map((value) => ({ value, label: eventName(events, value) }))}
            value={event}
            allowDeselect={false}
            onChange={(value) => value !== null && setEvent(value)}
          />
          <Button
            variant="default"
            leftSection={<IconSend size={14} />}
            loading={sent.isPending}
            onClick={() => sent.mutate(event as EventType)}
          >
            {t.sendTest}
          </Button>
        </Group>
        <FaultAlert error={sent.error} />
        <div aria-live="polite">{sent.data !== undefined && <Answer tested={sent.data} />}</div>
      </Stack>
    </Panel>
  );
}

const TONES: Record<Tested['status'], Tone> = { DELIVERED: 'good', PENDING: 'wait', FAILED: 'bad' };

function Answer({ tested: { request, status, response, error } }: { tested: Tested }) {
  const t = useText(texts);
  const headers = Object.entries(request.headers).map(([name, value]) => `${name}: ${String(value)}`);
  return (
    <Stack gap="sm">
      <Facts
        facts={[
          [
            t.status,
            <ToneMark key="status" tone={TONES[status]}>
              {t[`test${status}`]}
            </ToneMark>,
          ],
          [t.answer, response === undefined ? error : `${response.status} · ${t.tookMs(response.durationMs)}`],
        ]}
      />
      {response !== undefined && response.bodyExcerpt !== '' && <Raw label={t.bodyExcerpt}>{response.bodyExcerpt}</Raw>}
      <Text size="sm">{t.request}</Text>
      <Raw label={t.request}>{[`POST ${request.url}`, ...headers, '', indented(request.body)].join('\n')}</Raw>
    </Stack>
  );
}

/** The body is one line of JSON. */
function indented(body: string): string {
  return JSON.stringify(JSON.parse(body), null, 2);
}
