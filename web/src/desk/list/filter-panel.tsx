/** Editor for the condition of a list; changes apply on confirmation. */
import { ActionIcon, Button, Group, Indicator, Loader, Modal, Stack } from '@mantine/core';
import { IconFilter } from '@tabler/icons-react';
import { lazy, Suspense, useMemo, useState } from 'react';
import type { FieldSchema } from '../../api/types.ts';
import { type Condition, isComplete } from '../../filters/model.ts';
import { useSystemFields } from '../../filters/system-fields.ts';
import { useText } from '../../i18n/text.ts';
import type { DeskType } from '../queries.ts';
import { texts } from './texts.ts';

const ConditionEditor = lazy(async () => ({
  default: (await import('../../filters/condition-editor.tsx')).ConditionEditor,
}));

interface FilterPanelProps {
  value: unknown;
  onApply: (condition: Condition | undefined) => void;
  fields: readonly FieldSchema[];
  types: readonly DeskType[];
}

/** Opens the condition editor; a dot shows that a condition is set. */
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
      <Modal opened={open} onClose={() => setOpen(false)} title={t.filter} size="xl">
        {open && (
          <FilterPanel
            {...panel}
            onApply={(condition) => {
              setOpen(false);
              panel.onApply(condition);
            }}
          />
        )}
      </Modal>
    </>
  );
}

function FilterPanel({ value, onApply, fields, types }: FilterPanelProps) {
  const t = useText(texts);
  const [draft, setDraft] = useState(value as Condition | undefined);
  const states = useMemo(() => types.flatMap((type) => type.states), [types]);
  const system = useSystemFields(states);
  const all = useMemo(() => {
    const own = new Set(fields.map((field) => field.code));
    return [...fields, ...system.filter((field) => !own.has(field.code))];
  }, [fields, system]);
  return (
    <Stack gap="sm">
      <Suspense fallback={<Loader size="sm" />}>
        <ConditionEditor value={draft} onChange={setDraft} fields={all} variables />
      </Suspense>
      <Group justify="flex-end" gap="xs">
        {value !== undefined && (
          <Button
            variant="default"
            onClick={() => {
              setDraft(undefined);
              onApply(undefined);
            }}
          >
            {t.clearFilter}
          </Button>
        )}
        <Button disabled={draft !== undefined && !isComplete(draft)} onClick={() => onApply(draft)}>
          {t.apply}
        </Button>
      </Group>
    </Stack>
  );
}
