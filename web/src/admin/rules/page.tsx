/** Rules: the list, the editor with preview and try-out, the runs of a rule, and which rule can fire which. */
import { Button, Group, Loader, Text } from '@mantine/core';
import { IconArrowsSplit2 } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { lazy, Suspense, useMemo } from 'react';
import { eventName, eventTexts } from '../../i18n/event-texts.ts';
import { useText } from '../../i18n/text.ts';
import type { Column } from '../../ui/data-table.tsx';
import type { ScreenProps } from '../../ui/page.tsx';
import { Time } from '../../ui/time.tsx';
import { ConfigScreen } from '../config/config-screen.tsx';
import { Mark } from '../config/mark.tsx';
import type { ConfigItem } from '../config/queries.ts';
import { useCodes } from '../config/type-shape.ts';
import { RuleAside } from './preview.tsx';
import { graphQuery, type RuleInGraph, runsQuery } from './queries.ts';
import { RuleForm } from './rule-form.tsx';
import { texts } from './texts.ts';

const RunsPage = lazy(() => import('./runs.tsx'));
const MapPage = lazy(() => import('./map.tsx'));

const TEMPLATE = `code: my-rule
name:
  ru-RU: Новое правило
  en-US: New rule
enabled: false
on: [ObjectCreated]
types: [incident]
runAs: admin
do:
  - comment: { visibility: internal, body: 'Привет: {{ title }}' }
`;

export default function RulesPage({ path }: ScreenProps) {
  const t = useText(texts);
  const columns = useRuleColumns();
  const [code, part] = path;
  if (code === '_map' || part === 'runs') {
    return (
      <Suspense fallback={<Loader size="sm" m="md" />}>
        {code === '_map' ? <MapPage /> : <RunsPage code={code ?? ''} />}
      </Suspense>
    );
  }
  return (
    <ConfigScreen
      section="rules"
      screen="rules"
      path={path}
      title={t.title}
      hint={t.hint}
      newTitle={t.create}
      template={TEMPLATE}
      form={RuleForm}
      aside={RuleAside}
      above={LastRun}
      columns={columns}
      actions={
        <Button
          variant="default"
          leftSection={<IconArrowsSplit2 size={14} />}
          renderRoot={(props) => <Link to="/admin/$" params={{ _splat: 'rules/_map' }} {...props} />}
        >
          {t.map}
        </Button>
      }
    />
  );
}

/** Record types, events and state of each rule. */
function useRuleColumns(): readonly Column<ConfigItem>[] {
  const t = useText(texts);
  const events = useText(eventTexts);
  const types = useCodes('types');
  const { data } = useQuery(graphQuery);
  return useMemo(() => {
    const rules = new Map((data ?? []).map((rule) => [rule.code, rule]));
    const typeName = (code: string): string => types.find((type) => type.code === code)?.name ?? code;
    const whenOf = (rule: RuleInGraph | undefined): string =>
      rule === undefined
        ? ''
        : `${rule.types.map(typeName).join(', ')}: ${rule.on.length === 0 ? t.timer : rule.on.map((event) => eventName(events, event)).join(', ')}`;
    return [
      { key: 'when', title: t.trigger, value: ({ code }) => whenOf(rules.get(code)), width: '26%', minor: true },
      {
        key: 'status',
        title: t.status,
        value: ({ code }) => statusOf(rules.get(code), t).text,
        render: ({ code }) => <RuleMark rule={rules.get(code)} />,
      },
    ];
  }, [data, types, events, t]);
}

type Texts = ReturnType<typeof useText<(typeof texts)['ru-RU']>>;

function statusOf(rule: RuleInGraph | undefined, t: Texts): { tone: 'good' | 'warn' | 'off'; text: string } {
  if (rule === undefined || !rule.enabled) return { tone: 'off', text: rule === undefined ? '' : t.disabled };
  if (rule.unmeetable !== null) return { tone: 'warn', text: t.neverFires };
  return rule.loop === null ? { tone: 'good', text: t.enabled } : { tone: 'warn', text: t.looping };
}

function RuleMark({ rule }: { rule: RuleInGraph | undefined }) {
  const t = useText(texts);
  if (rule === undefined) return null;
  const { tone, text } = statusOf(rule, t);
  return <Mark tone={tone}>{text}</Mark>;
}

/** When the rule fired last, with a link to all its runs. */
function LastRun({ code }: { code: string }) {
  const t = useText(texts);
  const { data } = useQuery(runsQuery(code, 1));
  const last = data?.[0];
  if (data === undefined) return null;
  return (
    <Group gap="xs" mb="sm">
      <Text size="sm" {...(last === undefined ? { c: 'dimmed' } : {})}>
        {last === undefined ? t.never : t.lastRun} {last !== undefined && <Time at={last.at} />}
      </Text>
      {last !== undefined && <Mark tone={last.outcome === 'DONE' ? 'good' : 'warn'}>{t[last.outcome]}</Mark>}
      {last !== undefined && (
        <Button
          size="compact-xs"
          variant="light"
          renderRoot={(props) => (
            <Link to="/admin/$" params={{ _splat: `rules/${encodeURIComponent(code)}/runs` }} {...props} />
          )}
        >
          {t.allRuns}
        </Button>
      )}
    </Group>
  );
}
