/** Filters above the list that are switched by one press: time limits, and what else is filtered, to change or remove. */
import { Chip, Pill } from '@mantine/core';
import { lazy, Suspense } from 'react';
import type { FieldSchema } from '../../api/types.ts';
import { useText } from '../../i18n/text.ts';
import type { DeskType, QueueDefinition } from '../queries.ts';
import classes from './list.module.css';
import type { OnDefinition } from './list-tools.tsx';
import { texts } from './texts.ts';

const ConditionChips = lazy(async () => ({ default: (await import('./condition-chips.tsx')).ConditionChips }));

const SLA = ['overdue', 'today', '4h'] as const;

export interface FilterChipsProps {
  definition: QueueDefinition;
  onDefinition: OnDefinition;
  type: DeskType | undefined;
  types: readonly DeskType[];
  fields: readonly FieldSchema[];
}

export function FilterChips({ definition, onDefinition, type, types, fields }: FilterChipsProps) {
  const t = useText(texts);
  const { sla, state, q, filter } = definition;
  const remove = (key: 'state' | 'q' | 'filter' | 'sla'): void => {
    const { [key]: _gone, ...rest } = definition;
    onDefinition(rest);
  };
  const named =
    type?.states.find((one) => one.code === state)?.name ?? (state === 'ARCHIVED' ? t.archivedState : state);
  const active = [
    ...(named === undefined ? [] : [{ key: 'state' as const, text: `${t.state}: ${named}` }]),
    ...(q === undefined ? [] : [{ key: 'q' as const, text: `«${q}»` }]),
  ];
  const words = { overdue: t.slaOverdue, today: t.slaToday, '4h': t.slaSoon };
  if (type !== undefined && type.states.length === 0 && active.length === 0 && filter === undefined) return null;
  return (
    <section className={classes.chips} aria-label={t.filters}>
      {SLA.map((code) => (
        <Chip
          key={code}
          size="xs"
          checked={sla === code}
          onChange={(on) => (on ? onDefinition({ ...definition, sla: code }) : remove('sla'))}
        >
          {words[code]}
        </Chip>
      ))}
      {active.map(({ key, text }) => (
        <Pill
          key={key}
          withRemoveButton
          onRemove={() => remove(key)}
          removeButtonProps={{ 'aria-label': t.removeFilter(text), 'aria-hidden': false, tabIndex: 0 }}
        >
          {text}
        </Pill>
      ))}
      {filter !== undefined && (
        <Suspense>
          <ConditionChips
            value={filter}
            fields={fields}
            types={type === undefined ? types : [type]}
            onChange={(next) => (next === undefined ? remove('filter') : onDefinition({ ...definition, filter: next }))}
          />
        </Suspense>
      )}
    </section>
  );
}
