/** Links to the previous and the next record of the list from which the record was opened, and back to the list. Keys: j, k. */
import { ActionIcon, Group, Text } from '@mantine/core';
import { useHotkeys } from '@mantine/hooks';
import { IconArrowLeft, IconChevronDown, IconChevronUp } from '@tabler/icons-react';
import { useNavigate, useRouter } from '@tanstack/react-router';
import { useText } from '../../i18n/text.ts';
import { moveInList, openedList } from './place.ts';
import { texts } from './texts.ts';

/** Shows nothing if the record was not opened from a list. */
export function RecordNeighbours({ recordId }: { recordId: string }) {
  const t = useText(texts);
  const navigate = useNavigate();
  const { history } = useRouter();
  const list = openedList();
  const index = list?.ids.indexOf(recordId) ?? -1;
  const [previous, next] = [list?.ids[index - 1], list?.ids[index + 1]];
  const open = (id: string | undefined): void => {
    if (index === -1 || id === undefined) return;
    moveInList(id);
    void navigate({ to: '/records/$recordId', params: { recordId: id }, replace: true });
  };
  useHotkeys([
    ['J', () => open(next), { usePhysicalKeys: true }],
    ['K', () => open(previous), { usePhysicalKeys: true }],
  ]);
  if (list === undefined || index === -1) return null;
  return (
    <Group gap={2} wrap="nowrap" data-neighbours>
      <ActionIcon aria-label={t.backToList} title={t.backToList} onClick={() => history.push(list.href)}>
        <IconArrowLeft size={16} />
      </ActionIcon>
      <ActionIcon
        aria-label={t.previousRecord}
        title={`${t.previousRecord} (k)`}
        disabled={index === 0}
        onClick={() => open(previous)}
      >
        <IconChevronUp size={16} />
      </ActionIcon>
      <ActionIcon
        aria-label={t.nextRecord}
        title={`${t.nextRecord} (j)`}
        disabled={next === undefined}
        onClick={() => open(next)}
      >
        <IconChevronDown size={16} />
      </ActionIcon>
      <Text size="xs" c="dimmed" className="tabular">
        {t.place(index + 1, Math.max(list.total, list.ids.length), list.more)}
      </Text>
    </Group>
  );
}
