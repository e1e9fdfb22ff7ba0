/** Which columns a list shows, in which order and how wide, in a popover. */
import { ActionIcon, Button, Checkbox, Group, Popover, Stack, Text } from '@mantine/core';
import { IconArrowDown, IconArrowUp, IconMinus, IconPlus } from '@tabler/icons-react';
import { cloneElement, type ReactElement } from 'react';
import { defineText, useText } from '../../i18n/text.ts';
import type { DropdownProps } from '../../ui/on-first-use.tsx';
import type { ColumnControl } from './column-layout.ts';
import { type ListColumn, movedColumn } from './columns.ts';
import { texts } from './texts.ts';

/** Loaded with the popover, so that lists open sooner. */
const choiceTexts = defineText(
  {
    columnsHint: 'Сохраняется на этом устройстве',
    resetColumns: 'Сбросить',
    wider: (name: string) => `Шире: ${name}`,
    narrower: (name: string) => `Уже: ${name}`,
    later: (name: string) => `Правее: ${name}`,
  },
  {
    columnsHint: 'Kept on this device',
    resetColumns: 'Reset',
    wider: (name: string) => `Wider: ${name}`,
    narrower: (name: string) => `Narrower: ${name}`,
    later: (name: string) => `Move right: ${name}`,
  },
);

export function ColumnChoice({ opened, onOpened, children, ...control }: ColumnControl & DropdownProps) {
  const t = useText(texts);
  const own = useText(choiceTexts);
  const { columns, shown, choose, reset } = control;
  const codes = shown.map(({ code }) => code);
  const others = columns.filter(({ code }) => !codes.includes(code));
  return (
    <Popover opened={opened} onChange={onOpened} position="bottom-end" shadow="md" width={340} trapFocus returnFocus>
      <Popover.Target>
        {cloneElement(children as ReactElement<{ onClick: () => void }>, { onClick: () => onOpened(!opened) })}
      </Popover.Target>
      <Popover.Dropdown mah={480} style={{ overflowY: 'auto' }}>
        <Checkbox.Group value={codes} onChange={(next) => choose(keepOrder(codes, next))} label={t.columns}>
          <Stack gap={10} mt="xs">
            {shown.map((column, index) => (
              <ShownColumn key={column.code} column={column} index={index} last={shown.length - 1} control={control} />
            ))}
            {others.map(({ code, name }) => (
              <Checkbox key={code} value={code} label={name} />
            ))}
          </Stack>
        </Checkbox.Group>
        <Group justify="space-between" mt="sm">
          <Text size="xs" c="dimmed">
            {own.columnsHint}
          </Text>
          <Button variant="subtle" size="compact-xs" onClick={reset}>
            {own.resetColumns}
          </Button>
        </Group>
      </Popover.Dropdown>
    </Popover>
  );
}

/** Columns that stay keep their order; new ones come last. */
function keepOrder(before: readonly string[], next: readonly string[]): string[] {
  return [...before.filter((code) => next.includes(code)), ...next.filter((code) => !before.includes(code))];
}

interface ShownColumnProps {
  column: ListColumn;
  index: number;
  last: number;
  control: ColumnControl;
}

/** A shown column with buttons that move it and change its width. */
function ShownColumn({ column, index, last, control }: ShownColumnProps) {
  const t = useText(texts);
  const own = useText(choiceTexts);
  const { code, name } = column;
  const move = (to: number): void =>
    control.choose(
      movedColumn(
        control.shown.map((one) => one.code),
        code,
        to,
      ),
    );
  const width = column.width === 0 ? 24 : column.width;
  return (
    <Group gap={4} wrap="nowrap">
      <Checkbox value={code} label={name} disabled={code === 'title'} style={{ flex: 1 }} />
      <ActionIcon size={24} aria-label={own.narrower(name)} onClick={() => control.resize(code, width - 1)}>
        <IconMinus size={12} />
      </ActionIcon>
      <ActionIcon size={24} aria-label={own.wider(name)} onClick={() => control.resize(code, width + 1)}>
        <IconPlus size={12} />
      </ActionIcon>
      <ActionIcon size={24} aria-label={t.earlier(name)} disabled={index === 0} onClick={() => move(index - 1)}>
        <IconArrowUp size={12} />
      </ActionIcon>
      <ActionIcon size={24} aria-label={own.later(name)} disabled={index === last} onClick={() => move(index + 1)}>
        <IconArrowDown size={12} />
      </ActionIcon>
    </Group>
  );
}
