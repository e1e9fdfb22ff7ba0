/** Filters above the list that are switched by one press: time limits, and what else is filtered, to change or remove. */
import { Chip, Pill } from '@mantine/core';
import { lazy, Suspense } from 'react';
import type { FieldSchema } from '../../api/types.ts';
import { type Formats, useFormats } from '../../i18n/format.ts';
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
  const formats = useFormats();
  const { sla, state, q, filter, done, slaPolicy } = definition;
  const remove = (key: 'state' | 'q' | 'filter' | 'sla' | 'done' | 'slaPolicy'): void => {
    const { [key]: _gone, ...rest } = definition;
    onDefinition(rest);
  };
  const named =
    type?.states.find((one) => one.code === state)?.name ?? (state === 'ARCHIVED' ? t.archivedState : state);
  const active = [
    ...(named === undefined ? [] : [{ key: 'state' as const, text: `${t.state}: ${named}` }]),
    ...(q === undefined ? [] : [{ key: 'q' as const, text: `«${q}»` }]),
    ...(done === undefined ? [] : [{ key: 'done' as const, text: doneText(done, t, formats) }]),
    ...(slaPolicy === undefined ? [] : [{ key: 'slaPolicy' as const, text: policyText(slaPolicy, t, types) }]),
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

type Texts = (typeof texts)['ru-RU'];

function doneText(done: string, t: Texts, formats: Formats): string {
  if (done === '-') return t.notDone;
  const [from = '', until = ''] = done.split('..');
  return [
    t.done,
    ...(from === '' ? [] : [t.doneFrom(formats.instant(from))]),
    ...(until === '' ? [] : [t.doneUntil(formats.instant(until))]),
  ].join(' ');
}

function policyText(policy: string, t: Texts, types: readonly DeskType[]): string {
  if (policy === '-') return t.noSla;
  const known = types.flatMap(({ slaPolicies }) => slaPolicies).find(({ code }) => code === policy);
  return `SLA: ${known?.name ?? policy}`;
}
