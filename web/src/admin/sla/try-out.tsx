/** Dry run of SLA policies: due times of a hypothetical record under the stored policies. */
import { Box, Button, SimpleGrid, Stack, Text, TextInput, Title } from '@mantine/core';
import { IconArrowRight } from '@tabler/icons-react';
import { useMemo, useState } from 'react';
import { type AnswerOf, call } from '../../api/client.ts';
import type { FieldSchema, sla } from '../../api/types.ts';
import { Intervals } from '../../desk/record/intervals.tsx';
import { FieldInput } from '../../fields/input.tsx';
import { useFormats } from '../../i18n/format.ts';
import { useLanguage } from '../../i18n/language.ts';
import { useText } from '../../i18n/text.ts';
import { fromInput, toInput } from '../../i18n/clock.ts';
import { useZone } from '../../i18n/zone.ts';
import { useAction } from '../../ui/action.ts';
import { FaultAlert } from '../../ui/fault.tsx';
import { Page, Panel } from '../../ui/page.tsx';
import { ChooseOne } from '../config/choices.tsx';
import { textAt } from '../config/form-parts.tsx';
import { useCodes, useSection, useTypeShape } from '../config/type-shape.ts';
import { type ItemValue, nameIn } from '../config/yaml-text.ts';
import { Facts } from '../connections/tone.tsx';
import { texts } from './texts.ts';

type Answer = AnswerOf<typeof sla.tryPolicy>;

interface Outcome {
  policy: ItemValue;
  answer?: Answer;
  error?: unknown;
}

/** Dry run of one policy, on its page. */
export function TryOut({ code }: { code: string }) {
  const t = useText(texts);
  const policies = useSection('slaPolicies').filter((policy) => policy['code'] === code);
  const type = textAt(policies[0], ['type']);
  return type === '' ? null : (
    <Box mb="sm">
      <Panel title={t.tryOut}>
        <TryForm key={type} type={type} policies={policies} />
      </Panel>
    </Box>
  );
}

/** Dry run of all policies of a chosen type. */
export function TryPage() {
  const t = useText(texts);
  const [chosen, setChosen] = useState<string | null>(null);
  const policies = useSection('slaPolicies');
  const types = useCodes('types').filter(({ code }) => policies.some((policy) => policy['type'] === code));
  const type = chosen ?? (types.length === 1 ? (types[0]?.code ?? null) : null);
  return (
    <Page title={t.tryTitle} back={{ label: t.title, href: '/admin/sla' }}>
      <Panel>
        <Stack gap="sm">
          <ChooseOne label={t.type} choices={types} value={type} clearable={false} onChange={setChosen} />
          {type !== null && (
            <TryForm key={type} type={type} policies={policies.filter((policy) => policy['type'] === type)} />
          )}
        </Stack>
      </Panel>
    </Page>
  );
}

/** The fields that the policies' targets use; other fields have no effect. */
function decidingOf(policies: readonly ItemValue[], fields: readonly FieldSchema[]): FieldSchema[] {
  const named = new Set<string>();
  const look = (value: unknown): void => {
    if (typeof value !== 'object' || value === null) return;
    for (const [key, inner] of Object.entries(value)) {
      if (key === 'field' && typeof inner === 'string') named.add(inner);
      look(inner);
    }
  };
  for (const policy of policies) look(policy['targets']);
  // No field is required: missing values take their defaults, as in a record.
  return fields.filter(({ code }) => named.has(code)).map((field) => ({ ...field, required: false }));
}

function TryForm({ type, policies }: { type: string; policies: readonly ItemValue[] }) {
  const t = useText(texts);
  const zone = useZone();
  const { fields } = useTypeShape([type]);
  const deciding = useMemo(() => decidingOf(policies, fields), [policies, fields]);
  const [openedAt, setOpenedAt] = useState(() => toInput(new Date().toISOString(), zone));
  const [values, setValues] = useState<Readonly<Record<string, unknown>>>({});
  const one = async (policy: ItemValue): Promise<Outcome> => {
    const given = Object.fromEntries(Object.entries(values).filter(([, value]) => value !== null));
    const body = { policy: textAt(policy, ['code']), openedAt: fromInput(openedAt, zone), values: given };
    try {
      return { policy, answer: await call<typeof sla.tryPolicy>('POST', '/sla/try-out', { body }) };
    } catch (error) {
      return { policy, error };
    }
  };
  const run = useAction({ run: () => Promise.all(policies.map(one)), quiet: true });
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        run.mutate();
      }}
    >
      <Stack gap="sm">
        <Text size="xs" c="dimmed">
          {deciding.length === 0 ? t.tryHintNone : t.tryHint}
        </Text>
        <SimpleGrid cols={{ base: 1, xs: 2, md: 3 }} spacing="sm">
          <TextInput
            type="datetime-local"
            label={t.openedAt}
            required
            value={openedAt}
            onChange={(event) => setOpenedAt(event.currentTarget.value)}
          />
          {deciding.map((field) => (
            <FieldInput
              key={field.code}
              field={field}
              value={values[field.code] ?? null}
              onChange={(value) => setValues((before) => ({ ...before, [field.code]: value }))}
              place={null}
            />
          ))}
        </SimpleGrid>
        <div>
          <Button type="submit" variant="default" loading={run.isPending} disabled={openedAt === ''}>
            {t.run}
          </Button>
        </div>
        <FaultAlert error={run.error} />
        {run.data?.map((outcome) => (
          <OutcomeView key={textAt(outcome.policy, ['code'])} outcome={outcome} named={policies.length > 1} />
        ))}
      </Stack>
    </form>
  );
}

function OutcomeView({ outcome: { policy, answer, error }, named }: { outcome: Outcome; named: boolean }) {
  const t = useText(texts);
  const format = useFormats();
  const language = useLanguage();
  const name = nameIn(policy['name'], language) || textAt(policy, ['code']);
  return (
    <section aria-label={name}>
      <Stack gap="xs">
        {named && <Title order={3}>{name}</Title>}
        {error !== undefined && <FaultAlert error={error} />}
        {answer !== undefined && (
          <>
            <div role="status">
              <Text size="sm" mb="xs">
                {format.instant(answer.openedAt)} <IconArrowRight size={12} aria-label={t.leadsTo} />{' '}
                <strong>{answer.dueAt === null ? t.never : format.instant(answer.dueAt)}</strong>
              </Text>
              <Facts
                facts={[
                  [t.dueAt, answer.dueAt === null ? t.never : format.exact(answer.dueAt)],
                  [t.target, format.duration(answer.targetMs)],
                  [t.calendar, `${textAt(policy, ['calendar'])} (${answer.calendar.timezone})`],
                  ...answer.warnings.map(
                    ({ percent, at }) => [t.warning(percent), at === null ? t.never : format.exact(at)] as const,
                  ),
                ]}
              />
            </div>
            <Intervals intervals={answer.intervals} />
          </>
        )}
      </Stack>
    </section>
  );
}
