/** Period and filter of all tiles of a dashboard. */
import { Button, Group, Indicator, Select, Stack, TextInput } from '@mantine/core';
import { IconFilter } from '@tabler/icons-react';
import { lazy, Suspense, useState } from 'react';
import { type Condition, type ConditionField, isComplete } from '../../filters/model.ts';
import { toInput } from '../../i18n/clock.ts';
import { useText } from '../../i18n/text.ts';
import { useZone } from '../../i18n/zone.ts';
import type { Scope } from './queries.ts';
import { texts } from './texts.ts';
import { Dialog } from '../../ui/dialog.tsx';
import { useDialogWarning } from '../../ui/form.tsx';

const ConditionEditor = lazy(async () => ({
  default: (await import('../../filters/condition-editor.tsx')).ConditionEditor,
}));

const LAST_DAYS = [7, 30, 90, 180, 365];
const OWN = 'own';

/** The period of a choice, from the day that it is today. */
function periodOf(choice: string, today: string): Scope['period'] {
  const [year = '', month = ''] = today.split('-');
  const days = Number(choice);
  if (days > 0) return { lastDays: days };
  if (choice === 'today') return { from: today, to: today };
  if (choice === 'thisMonth') return { from: `${year}-${month}-01`, to: today };
  if (choice === 'thisYear') return { from: `${year}-01-01`, to: today };
  if (choice !== 'thisWeek') return undefined;
  const monday = new Date(`${today}T00:00:00Z`);
  monday.setUTCDate(monday.getUTCDate() - ((monday.getUTCDay() + 6) % 7));
  return { from: monday.toISOString().slice(0, 10), to: today };
}

interface ScopeBarProps {
  scope: Scope;
  onScope: (scope: Scope) => void;
  fields: readonly ConditionField[];
}

export function ScopeBar({ scope, onScope, fields }: ScopeBarProps) {
  const t = useText(texts);
  const zone = useZone();
  const [choice, setChoice] = useState('');
  const today = (): string => toInput(new Date().toISOString(), zone).slice(0, 10);
  const { from = '', to = '' } = scope.period ?? {};
  const set = (day: { from?: string; to?: string }): void => {
    const ends = { from, to, ...day };
    const period = { ...(ends.from === '' ? {} : { from: ends.from }), ...(ends.to === '' ? {} : { to: ends.to }) };
    onScope({ ...scope, period });
  };
  return (
    <>
      <Select
        label={t.period}
        value={choice}
        allowDeselect={false}
        w={190}
        data={[
          { value: '', label: t.tilesPeriod },
          { value: 'today', label: t.today },
          { value: 'thisWeek', label: t.thisWeek },
          { value: 'thisMonth', label: t.thisMonth },
          { value: 'thisYear', label: t.thisYear },
          ...LAST_DAYS.map((days) => ({ value: String(days), label: t.lastDays(days) })),
          { value: OWN, label: t.ownPeriod },
        ]}
        onChange={(value) => {
          setChoice(value ?? '');
          if (value === OWN) onScope({ ...scope, period: { from: today(), to: today() } });
          else onScope({ ...scope, period: periodOf(value ?? '', today()) });
        }}
      />
      {choice === OWN && (
        <>
          <TextInput
            type="date"
            label={t.from}
            value={from}
            onChange={(event) => set({ from: event.currentTarget.value })}
          />
          <TextInput type="date" label={t.to} value={to} onChange={(event) => set({ to: event.currentTarget.value })} />
        </>
      )}
      <FilterButton value={scope.filter} onApply={(filter) => onScope({ ...scope, filter })} fields={fields} />
    </>
  );
}

interface FilterButtonProps {
  value: Condition | undefined;
  onApply: (condition: Condition | undefined) => void;
  fields: readonly ConditionField[];
}

function FilterButton({ value, onApply, fields }: FilterButtonProps) {
  const t = useText(texts);
  const [open, setOpen] = useState(false);
  const name = value === undefined ? t.filter : t.filterOn;
  return (
    <>
      <Indicator disabled={value === undefined} size={8}>
        <Button variant="default" leftSection={<IconFilter size={14} />} onClick={() => setOpen(true)}>
          {name}
        </Button>
      </Indicator>
      <Dialog opened={open} onClose={() => setOpen(false)} title={t.filter} size="xl">
        {open && (
          <FilterForm
            value={value}
            fields={fields}
            onApply={(condition) => {
              setOpen(false);
              onApply(condition);
            }}
          />
        )}
      </Dialog>
    </>
  );
}

function FilterForm({ value, onApply, fields }: FilterButtonProps) {
  const t = useText(texts);
  const [draft, setDraft] = useState(value);
  useDialogWarning(JSON.stringify(draft) !== JSON.stringify(value));
  return (
    <Stack gap="sm">
      <Suspense fallback={null}>
        <ConditionEditor value={draft} onChange={setDraft} fields={fields} variables />
      </Suspense>
      <Group justify="flex-end" gap="xs">
        <Button variant="default" disabled={value === undefined} onClick={() => onApply(undefined)}>
          {t.clear}
        </Button>
        <Button disabled={draft !== undefined && !isComplete(draft)} onClick={() => onApply(draft)}>
          {t.apply}
        </Button>
      </Group>
    </Stack>
  );
}
