/** Which columns a list shows, in a popover. */
import { Checkbox, Popover, Stack } from '@mantine/core';
import { cloneElement, type ReactElement } from 'react';
import { useText } from '../../i18n/text.ts';
import type { DropdownProps } from '../../ui/on-first-use.tsx';
import type { ListColumn } from './columns.ts';
import { texts } from './texts.ts';

export interface ColumnChoiceProps {
  columns: readonly ListColumn[];
  shown: readonly ListColumn[];
  choose: (codes: string[]) => void;
}

export function ColumnChoice({
  columns,
  shown,
  choose,
  opened,
  onOpened,
  children,
}: ColumnChoiceProps & DropdownProps) {
  const t = useText(texts);
  return (
    <Popover opened={opened} onChange={onOpened} position="bottom-end" shadow="md" trapFocus returnFocus>
      <Popover.Target>
        {cloneElement(children as ReactElement<{ onClick: () => void }>, { onClick: () => onOpened(!opened) })}
      </Popover.Target>
      <Popover.Dropdown mah={420} style={{ overflowY: 'auto' }}>
        <Checkbox.Group value={shown.map((column) => column.code)} onChange={choose} label={t.columns}>
          <Stack gap={6} mt="xs">
            {columns.map(({ code, name }) => (
              <Checkbox key={code} value={code} label={name} disabled={code === 'title'} />
            ))}
          </Stack>
        </Checkbox.Group>
      </Popover.Dropdown>
    </Popover>
  );
}
