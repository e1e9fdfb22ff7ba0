/** Opens the editor of a list's condition; a dot shows that a condition is set. */
import { ActionIcon, Indicator } from '@mantine/core';
import { IconFilter } from '@tabler/icons-react';
import { lazy, Suspense, useState } from 'react';
import { useText } from '../../i18n/text.ts';
import type { FilterPanelProps } from './filter-panel.tsx';
import { texts } from './texts.ts';

const FilterDialog = lazy(async () => ({ default: (await import('./filter-panel.tsx')).FilterDialog }));

export function FilterButton({ size, ...panel }: FilterPanelProps & { size: number }) {
  const t = useText(texts);
  const [open, setOpen] = useState(false);
  const name = panel.value === undefined ? t.filter : t.filterOn;
  return (
    <>
      <Indicator disabled={panel.value === undefined} size={8}>
        <ActionIcon variant="default" size={size} aria-label={name} title={name} onClick={() => setOpen(true)}>
          <IconFilter size={16} />
        </ActionIcon>
      </Indicator>
      <Suspense>{open && <FilterDialog {...panel} onClose={() => setOpen(false)} />}</Suspense>
    </>
  );
}
