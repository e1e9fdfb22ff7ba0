/** Which notifications the user wants, and the quiet hours for mail. */
import { Button, Checkbox, Group, Loader, Select, Table, Text, TextInput } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { call } from '../api/client.ts';
import type { notifications } from '../api/types.ts';
import { useText } from '../i18n/text.ts';
import { useAction } from '../ui/action.ts';
import { FaultAlert } from '../ui/fault.tsx';
import { Page, Panel } from '../ui/page.tsx';
import { type Choices, choicesQuery, type QuietHours, quietHoursQuery } from './queries.ts';
import { texts } from './texts.ts';

export function NotificationSettingsPage() {
  const t = useText(texts);
  const choices = useQuery(choicesQuery);
  const quiet = useQuery(quietHoursQuery);
  return (
    <Page title={t.settings} back={{ label: t.back, href: '/notifications' }} narrow>
      <FaultAlert error={choices.error ?? quiet.error} retry={() => void choices.refetch()} />
      <Panel title={t.what}>
        {choices.data === undefined ? <Loader size="sm" /> : <ChoicesForm stored={choices.data} />}
      </Panel>
      <Panel title={t.quietHours}>
        {quiet.data === undefined ? <Loader size="sm" /> : <QuietForm stored={quiet.data} />}
      </Panel>
    </Page>
  );
}

type Kind = keyof Choices;

function ChoicesForm({ stored }: { stored: Choices }) {
  const t = useText(texts);
  const [choices, setChoices] = useState(stored);
  const save = useAction({
    run: () => call<typeof notifications.setChoices>('PUT', '/notifications/choices', { body: choices }),
    touches: [choicesQuery.queryKey],
    done: t.saved,
  });
  const nameOf = (kind: Kind): string => (kind === 'watch' ? t.watchKind : t[kind]);
  const set = (kind: Kind, part: Partial<Choices[Kind]>): void =>
    setChoices({ ...choices, [kind]: { ...choices[kind], ...part } });
  const mails = (['now', 'digest', 'never'] as const).map((value) => ({ value, label: t[value] }));
  return (
    <>
      <Text size="sm" c="dimmed" mb="xs">
        {t.mailHint}
      </Text>
      <Table.ScrollContainer minWidth={310}>
        <Table aria-label={t.settings} horizontalSpacing={4}>
          <Table.Thead>
            <Table.Tr>
              <Table.Th>{t.event}</Table.Th>
              <Table.Th>{t.inConsole}</Table.Th>
              <Table.Th>{t.mail}</Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {(Object.keys(choices) as Kind[]).map((kind) => (
              <Table.Tr key={kind}>
                <Table.Td>{nameOf(kind)}</Table.Td>
                <Table.Td>
                  <Checkbox
                    aria-label={`${nameOf(kind)}: ${t.inConsole}`}
                    checked={choices[kind].console}
                    onChange={({ currentTarget }) => set(kind, { console: currentTarget.checked })}
                  />
                </Table.Td>
                <Table.Td>
                  <Select
                    miw={118}
                    aria-label={`${nameOf(kind)}: ${t.mail}`}
                    data={mails}
                    value={choices[kind].mail}
                    allowDeselect={false}
                    onChange={(mail) => mail !== null && set(kind, { mail: mail as Choices[Kind]['mail'] })}
                  />
                </Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </Table.ScrollContainer>
      <Button mt="sm" loading={save.isPending} onClick={() => save.mutate()}>
        {t.save}
      </Button>
    </>
  );
}

function QuietForm({ stored }: { stored: QuietHours }) {
  const t = useText(texts);
  const [{ from, to }, setHours] = useState({ from: stored.from ?? '', to: stored.to ?? '' });
  const isEmpty = from === '' && to === '';
  const save = useAction({
    run: () =>
      call<typeof notifications.setQuietHours>('PUT', '/notifications/quiet-hours', {
        body: isEmpty ? { from: null, to: null } : { from, to },
      }),
    touches: [quietHoursQuery.queryKey],
    done: t.saved,
  });
  return (
    <>
      <Text size="sm" c="dimmed" mb="xs">
        {t.quietHint}
      </Text>
      <Group align="flex-end" gap="sm">
        <TextInput
          type="time"
          label={t.from}
          value={from}
          onChange={({ currentTarget }) => setHours({ from: currentTarget.value, to })}
        />
        <TextInput
          type="time"
          label={t.to}
          value={to}
          onChange={({ currentTarget }) => setHours({ from, to: currentTarget.value })}
        />
        <Button variant="default" disabled={isEmpty} onClick={() => setHours({ from: '', to: '' })}>
          {t.clear}
        </Button>
        <Button
          disabled={!isEmpty && (from === '' || to === '')}
          loading={save.isPending}
          onClick={() => save.mutate()}
        >
          {t.save}
        </Button>
      </Group>
    </>
  );
}
