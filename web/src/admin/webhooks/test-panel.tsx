/** Sends a sample to the endpoint of a subscription and shows the request and the answer. */
import { Button, Group, Select, Stack, Text } from '@mantine/core';
import { IconSend } from '@tabler/icons-react';
import { useMutation, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { type AnswerOf, type BodyOf, call } from '../../api/client.ts';
import type { webhooks } from '../../api/types.ts';
import { useHas } from '../../app/session.ts';
import { eventName, eventTexts } from '../../i18n/event-texts.ts';
import { useLanguage } from '../../i18n/language.ts';
import { useText } from '../../i18n/text.ts';
import { FaultAlert } from '../../ui/fault.tsx';
import { Panel } from '../../ui/page.tsx';
import { sectionListQuery } from '../config/queries.ts';
import { nameIn } from '../config/yaml-text.ts';
import { Facts, Raw, type Tone, ToneMark } from '../connections/tone.tsx';
import type { Subscription } from './queries.ts';
import { texts } from './texts.ts';

type TestRequest = BodyOf<typeof webhooks.testSubscription>;
type Tested = AnswerOf<typeof webhooks.testSubscription>;

export function TestPanel({ subscription }: { subscription: Subscription }) {
  const t = useText(texts);
  const { groups, isReady } = useSamples(subscription);
  const [chosen, setChosen] = useState<string | null>(null);
  const value = chosen ?? groups[0]?.items[0]?.value ?? null;
  const sent = useMutation({
    mutationFn: (asked: TestRequest) =>
      call<typeof webhooks.testSubscription>('POST', `/webhooks/${subscription.id}/test`, { body: asked }),
  });
  return (
    <Panel title={t.test}>
      <Stack gap="sm">
        <Text size="sm" c="dimmed">
          {t.testHint}
        </Text>
        <Group gap="xs">
          <Select
            aria-label={t.sample}
            data={groups}
            value={value}
            allowDeselect={false}
            disabled={!isReady}
            w="min(22rem, 100%)"
            onChange={setChosen}
          />
          <Button
            variant="default"
            leftSection={<IconSend size={14} />}
            loading={sent.isPending}
            disabled={!isReady}
            onClick={() => value !== null && sent.mutate(askedOf(value))}
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

/** What can be sent: the events of the subscription, and the messages of the rules that post to it, which need `config.manage`. */
function useSamples({ id, eventTypes }: Subscription): {
  groups: { group: string; items: { value: string; label: string }[] }[];
  isReady: boolean;
} {
  const t = useText(texts);
  const events = useText(eventTexts);
  const language = useLanguage();
  const { data, isLoading } = useQuery({ ...sectionListQuery('webhooks'), enabled: useHas()('config.manage') });
  const uses = data?.find((item) => item.id === id)?.usedBy?.items ?? [];
  const rules = uses.filter(({ section }) => section === 'rules');
  // A subscription without events sends messages of rules alone.
  const kinds = eventTypes.length === 0 && rules.length === 0 ? ['ObjectCreated'] : eventTypes;
  const groups = [
    { group: t.events, items: kinds.map((kind) => ({ value: `event ${kind}`, label: eventName(events, kind) })) },
    {
      group: t.ruleMessages,
      items: rules.map(({ code, name }) => ({ value: `rule ${code}`, label: nameIn(name, language) || code })),
    },
  ].filter(({ items }) => items.length > 0);
  return { groups, isReady: !isLoading };
}

function askedOf(value: string): TestRequest {
  const [kind, name = ''] = value.split(' ');
  return kind === 'rule' ? { rule: name } : { eventType: name as NonNullable<TestRequest['eventType']> };
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
