/** Editor for the condition of a list; changes apply on confirmation. */
import { Button, Group, Stack } from '@mantine/core';
import { useMemo, useState } from 'react';
import type { FieldSchema } from '../../api/types.ts';
import { ConditionEditor } from '../../filters/condition-editor.tsx';
import { type Condition, isComplete } from '../../filters/model.ts';
import { useSystemFields } from '../../filters/system-fields.ts';
import { useText } from '../../i18n/text.ts';
import type { DeskType } from '../queries.ts';
import { texts } from './texts.ts';
import { Dialog } from '../../ui/dialog.tsx';
import { useDialogWarning } from '../../ui/form.tsx';

export interface FilterPanelProps {
  value: unknown;
  onApply: (condition: Condition | undefined) => void;
  fields: readonly FieldSchema[];
  types: readonly DeskType[];
}

export function FilterDialog({ onClose, ...panel }: FilterPanelProps & { onClose: () => void }) {
  const t = useText(texts);
  return (
    <Dialog opened onClose={onClose} title={t.filter} size="xl">
      <FilterPanel
        {...panel}
        onApply={(condition) => {
          onClose();
          panel.onApply(condition);
        }}
      />
    </Dialog>
  );
}

function FilterPanel({ value, onApply, fields, types }: FilterPanelProps) {
  const t = useText(texts);
  const [draft, setDraft] = useState(value as Condition | undefined);
  useDialogWarning(JSON.stringify(draft) !== JSON.stringify(value));
  const states = useMemo(() => types.flatMap((type) => type.states), [types]);
  const system = useSystemFields(states);
  const all = useMemo(() => {
    const own = new Set(fields.map((field) => field.code));
    return [...fields, ...system.filter((field) => !own.has(field.code))];
  }, [fields, system]);
  return (
    <Stack gap="sm">
      <ConditionEditor value={draft} onChange={setDraft} fields={all} variables />
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
