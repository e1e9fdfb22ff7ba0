/** Filters above the list that are switched by one press: time limits, and what else is filtered, to remove. */
import { Chip, Pill } from '@mantine/core';
import { useText } from '../../i18n/text.ts';
import type { DeskType, QueueDefinition } from '../queries.ts';
import classes from './list.module.css';
import { texts } from './texts.ts';

const SLA = ['overdue', 'today', '4h'] as const;

interface FilterChipsProps {
  definition: QueueDefinition;
  onDefinition: (definition: QueueDefinition) => void;
  type: DeskType | undefined;
}

export function FilterChips({ definition, onDefinition, type }: FilterChipsProps) {
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
    ...(filter === undefined ? [] : [{ key: 'filter' as const, text: t.filterOn }]),
  ];
  const words = { overdue: t.slaOverdue, today: t.slaToday, '4h': t.slaSoon };
  if (type !== undefined && type.states.length === 0 && active.length === 0) return null;
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
    </section>
  );
}
