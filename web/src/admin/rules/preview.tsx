/** Beside the form of a rule: on which records it would have fired, and what it would do with one record. */
import { Alert, Anchor, Button, Group, NativeSelect, Stack, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { call } from '../../api/client.ts';
import type { rulePreview, rules } from '../../api/types.ts';
import { deskTypesQuery } from '../../desk/queries.ts';
import { WhatIf } from '../../desk/what-if.tsx';
import { RecordPicker } from '../../fields/pickers.tsx';
import { eventName, eventTexts } from '../../i18n/event-texts.ts';
import { useFormats } from '../../i18n/format.ts';
import { useText } from '../../i18n/text.ts';
import { useAction } from '../../ui/action.ts';
import { FaultAlert } from '../../ui/fault.tsx';
import { Panel } from '../../ui/page.tsx';
import { Time } from '../../ui/time.tsx';
import { codesAt, textAt } from '../config/form-parts.tsx';
import type { AsideProps } from '../config/item-editor.tsx';
import { sectionQuery } from '../config/queries.ts';
import type { ItemValue } from '../config/yaml-text.ts';
import type { Preview } from './queries.ts';
import classes from './rules.module.css';
import { texts } from './texts.ts';

const PERIODS = [7, 30, 90, 365];
const DEFAULT_DAYS = 30;

export function RuleAside({ item }: AsideProps) {
  const { data } = useQuery(sectionQuery('rules'));
  const code = textAt(item, ['code']);
  const isStored = data?.some((one) => one.code === code) === true;
  return (
    <Stack gap="sm">
      <PreviewPanel key={JSON.stringify(item)} item={item} />
      {isStored && <TryPanel key={code} item={item} />}
    </Stack>
  );
}

/** It is mounted again when the rule changes: an answer is then out of date. */
function PreviewPanel({ item }: { item: ItemValue }) {
  const t = useText(texts);
  const [days, setDays] = useState(DEFAULT_DAYS);
  const { was: _was, ...rule } = item;
  const ask = useAction({
    run: async (asked: number) => {
      const body = { rule, days: asked };
      return { days: asked, answer: await call<typeof rulePreview.previewRule>('POST', '/rules/preview', { body }) };
    },
    quiet: true,
  });
  return (
    <Panel title={t.preview}>
      <Stack gap="xs">
        <Text size="xs" c="dimmed">
          {t.previewHint}
        </Text>
        <Group gap="xs" align="flex-end">
          <NativeSelect
            label={t.period}
            value={String(days)}
            data={PERIODS.map((period) => ({ value: String(period), label: t.days(period) }))}
            onChange={(event) => setDays(Number(event.currentTarget.value))}
          />
          <Button variant="default" loading={ask.isPending} onClick={() => ask.mutate(days)}>
            {t.ask}
          </Button>
        </Group>
        <div aria-live="polite">
          <FaultAlert error={ask.error} />
          {ask.data !== undefined && <PreviewAnswer answer={ask.data.answer} days={ask.data.days} />}
        </div>
      </Stack>
    </Panel>
  );
}

function PreviewAnswer({ answer, days }: { answer: Preview; days: number }) {
  const t = useText(texts);
  const format = useFormats();
  const events = useText(eventTexts);
  const { records, complete, limited, examples, from } = answer;
  return (
    <Stack gap="xs">
      <Text size="sm" fw={600}>
        {complete ? t.wouldFire(records, days) : t.wouldFireSince(records)}
      </Text>
      {!complete && <Alert variant="light">{t.incomplete(format.instant(from))}</Alert>}
      {limited && <Alert variant="light">{t.limited}</Alert>}
      {examples.length > 0 && (
        <ul className={classes.examples} tabIndex={0} aria-label={t.preview}>
          {examples.map(({ id, number, title, at, eventType, firings }) => (
            <li key={id}>
              <Anchor
                size="sm"
                lineClamp={2}
                renderRoot={(props) => <Link to="/records/$recordId" params={{ recordId: id }} {...props} />}
              >
                {[number, title ?? t.hiddenTitle].filter((part) => part !== null).join(' · ')}
              </Anchor>
              <Text size="xs" c="dimmed">
                <Time at={at} /> · {eventType === 'Timer' ? t.timer : eventName(events, eventType)}
                {firings > 1 && ` · ${t.times(firings)}`}
              </Text>
            </li>
          ))}
        </ul>
      )}
      <Text size="xs" c="dimmed">
        {records > examples.length && `${t.firstOnly(examples.length)} `}
        {t.importsLeftOut}
      </Text>
    </Stack>
  );
}

function TryPanel({ item }: { item: ItemValue }) {
  const t = useText(texts);
  const events = useText(eventTexts);
  const types = codesAt(item, ['types']);
  const on = codesAt(item, ['on']);
  const [objectId, setObjectId] = useState<string | null>(null);
  const [chosen, setChosen] = useState<string>();
  const event = chosen !== undefined && on.includes(chosen) ? chosen : on[0];
  const typeId = useQuery(deskTypesQuery).data?.find(({ code }) => code === types[0])?.id;
  const code = textAt(item, ['code']);
  const ask = async () => ({
    effects: await call<typeof rules.tryRule>('POST', `/rules/${encodeURIComponent(code)}/try`, {
      body: { objectId: objectId ?? '', ...(event === undefined ? {} : { event: event as never }) },
    }),
  });
  return (
    <Panel title={t.tryOut}>
      <Stack gap="xs">
        <Text size="xs" c="dimmed">
          {t.tryHint}
        </Text>
        <RecordPicker label={t.record} types={types} value={objectId} onChange={setObjectId} />
        {on.length > 1 && (
          <NativeSelect
            label={t.event}
            value={event}
            data={on.map((one) => ({ value: one, label: eventName(events, one) }))}
            onChange={(changed) => setChosen(changed.currentTarget.value)}
          />
        )}
        <WhatIf key={`${objectId} ${event}`} ask={objectId === null ? undefined : ask} typeId={typeId} />
      </Stack>
    </Panel>
  );
}
