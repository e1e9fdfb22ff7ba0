/** Audience of a version: everyone, or groups, units and users. */
import { Button, Group, List, Loader, Stack, Switch, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { call } from '../../api/client.ts';
import type { knowledgeAdmin } from '../../api/types.ts';
import { GroupsPicker, PeoplePicker, UnitsPicker } from '../../fields/pickers.tsx';
import { useText } from '../../i18n/text.ts';
import { useAction } from '../../ui/action.ts';
import { FaultAlert } from '../../ui/fault.tsx';
import { Panel } from '../../ui/page.tsx';
import { type Audiences, audiencesQuery, knowledgeKey } from './queries.ts';
import { texts } from './texts.ts';

type Audience = Audiences['audiences'][number];
type Kind = Audience['kind'];

export function AudiencePanel({ versionId, editable }: { versionId: string; editable: boolean }) {
  const t = useText(texts);
  const { data, error, refetch } = useQuery(audiencesQuery(versionId));
  return (
    <Panel title={t.audiences}>
      <FaultAlert error={error} retry={() => void refetch()} />
      {data === undefined && error === null && <Loader size="xs" />}
      {data !== undefined &&
        (editable ? (
          <Editor key={JSON.stringify(data.audiences)} versionId={versionId} audiences={data.audiences} />
        ) : (
          <Shown audiences={data.audiences} />
        ))}
    </Panel>
  );
}

function Shown({ audiences }: { audiences: readonly Audience[] }) {
  const t = useText(texts);
  if (audiences.length === 0) return <Text size="sm">{t.audiencesNone}</Text>;
  return (
    <List size="sm">
      {audiences.map((one) => (
        <List.Item key={`${one.kind} ${one.id ?? ''}`}>{one.kind === 'everyone' ? t.everyone : one.name}</List.Item>
      ))}
    </List>
  );
}

function Editor({ versionId, audiences }: { versionId: string; audiences: readonly Audience[] }) {
  const t = useText(texts);
  const given = (kind: Kind): string[] => audiences.flatMap((one) => (one.kind === kind ? [one.id ?? ''] : []));
  const [everyone, setEveryone] = useState(audiences.some((one) => one.kind === 'everyone'));
  const [groups, setGroups] = useState(() => given('group'));
  const [units, setUnits] = useState(() => given('orgUnit'));
  const [people, setPeople] = useState(() => given('user'));
  const chosen = [
    ...(everyone ? [{ kind: 'everyone' as const }] : []),
    ...groups.map((id) => ({ kind: 'group' as const, id })),
    ...units.map((id) => ({ kind: 'orgUnit' as const, id })),
    ...people.map((id) => ({ kind: 'user' as const, id })),
  ];
  const named = (list: readonly { kind: Kind; id?: string }[]): string =>
    list
      .map(({ kind, id = '' }) => `${kind} ${id}`)
      .sort()
      .join();
  const dirty = named(chosen) !== named(audiences);
  const save = useAction({
    run: () =>
      call<typeof knowledgeAdmin.setAudiences>('PUT', `/kb/article-versions/${versionId}/audiences`, {
        body: { audiences: chosen },
      }),
    touches: [knowledgeKey],
    done: t.audiencesSaved,
    quiet: true,
  });
  return (
    <Stack gap="sm">
      <FaultAlert error={save.error} />
      <Switch label={t.everyone} checked={everyone} onChange={(event) => setEveryone(event.currentTarget.checked)} />
      <GroupsPicker label={t.groups} value={groups} onChange={setGroups} />
      <UnitsPicker label={t.units} value={units} onChange={setUnits} />
      <PeoplePicker label={t.people} value={people} onChange={setPeople} />
      {chosen.length === 0 && (
        <Text size="xs" c="dimmed">
          {t.audiencesNone}
        </Text>
      )}
      <Group justify="flex-end">
        <Button variant="default" loading={save.isPending} disabled={!dirty} onClick={() => save.mutate()}>
          {t.save}
        </Button>
      </Group>
    </Stack>
  );
}
