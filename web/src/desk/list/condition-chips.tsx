/** The condition of a list, each part as a chip: pressing it changes the part, its cross removes it. */
import { Pill, UnstyledButton } from '@mantine/core';
import { useQueries } from '@tanstack/react-query';
import { lazy, Suspense, useMemo, useState } from 'react';
import type { FieldSchema } from '../../api/types.ts';
import { labelText, useLabels } from '../../fields/labels.ts';
import { type Condition, type ConditionField, isGroup, type Leaf, partsOf } from '../../filters/model.ts';
import { useSystemFields } from '../../filters/system-fields.ts';
import { texts as filterTexts } from '../../filters/texts.ts';
import { useFormats } from '../../i18n/format.ts';
import { useText } from '../../i18n/text.ts';
import { type DeskType, typeFieldsQuery } from '../queries.ts';
import classes from './list.module.css';
import { texts } from './texts.ts';

const FilterDialog = lazy(async () => ({ default: (await import('./filter-panel.tsx')).FilterDialog }));

interface ConditionChipsProps {
  value: unknown;
  fields: readonly FieldSchema[];
  types: readonly DeskType[];
  onChange: (condition: Condition | undefined) => void;
}

export function ConditionChips({ value, fields: own, types, onChange }: ConditionChipsProps) {
  const t = useText(texts);
  const [edited, setEdited] = useState<number>();
  const condition = value as Condition;
  const parts = partsOf(condition);
  const fields = useFieldsOf(own, types, parts);
  const textOf = usePartText(fields, types, parts);
  const set = (next: Condition[]): void => onChange(next.length === 0 ? undefined : { logic: 'AND', conditions: next });
  const part = edited === undefined ? undefined : parts[edited];
  const apply = (next: Condition | undefined): void => {
    if (edited === undefined) return;
    set(parts.toSpliced(edited, 1, ...(next === undefined ? [] : partsOf(next))));
    setEdited(undefined);
  };
  return (
    <>
      {parts.map((one, index) => {
        const text = textOf(one);
        return (
          <Pill
            // Conditions have no id.
            // oxlint-disable-next-line react/no-array-index-key
            key={`${index} ${text}`}
            withRemoveButton
            onRemove={() => set(parts.toSpliced(index, 1))}
            removeButtonProps={{ 'aria-label': t.removeFilter(text), 'aria-hidden': false, tabIndex: 0 }}
          >
            <UnstyledButton className={classes.part} title={t.editFilter(text)} onClick={() => setEdited(index)}>
              {text}
            </UnstyledButton>
          </Pill>
        );
      })}
      <Suspense>
        {part !== undefined && (
          <FilterDialog
            value={part}
            fields={fields}
            types={types}
            onApply={apply}
            onClose={() => setEdited(undefined)}
          />
        )}
      </Suspense>
    </>
  );
}

const ID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const INSTANT = /^\d{4}-\d\d-\d\dT/;

function leavesOf(condition: Condition): Leaf[] {
  return isGroup(condition) ? condition.conditions.flatMap(leavesOf) : [condition];
}

/** The fields of the list; for one without a type, those of the types that have the fields of the condition. */
function useFieldsOf(
  own: readonly FieldSchema[],
  types: readonly DeskType[],
  parts: readonly Condition[],
): readonly FieldSchema[] {
  const codes = new Set(parts.flatMap(leavesOf).map(({ field }) => field));
  const asked = own.length > 0 ? [] : types.filter(({ canRead, category }) => canRead && category === 'object');
  return useQueries({
    queries: asked.map(({ id }) => typeFieldsQuery(id)),
    combine: (results) => {
      const found = results.flatMap(({ data }) => (data?.fields as FieldSchema[] | undefined) ?? []);
      const named = found.filter(({ code }) => codes.has(code));
      return own.length > 0 ? own : [...new Map(named.map((field) => [field.code, field])).values()];
    },
  });
}

/** Returns a function that says a part in words: names of fields, options, users and groups instead of codes and ids. */
function usePartText(
  fields: readonly FieldSchema[],
  types: readonly DeskType[],
  parts: readonly Condition[],
): (part: Condition) => string {
  const t = useText(texts);
  const words = useText(filterTexts);
  const format = useFormats();
  const system = useSystemFields(useMemo(() => types.flatMap((type) => type.states), [types]));
  const values = parts.flatMap(leavesOf).flatMap(({ value }) => [value].flat());
  const labels = useLabels(values.filter((value): value is string => typeof value === 'string' && ID.test(value)));
  const valueText = (value: unknown, field: ConditionField | undefined): string => {
    const text = String(value);
    const option = field?.constraints.options?.find(({ code }) => code === text)?.name;
    if (option !== undefined) return option;
    const variable = text.startsWith('$') ? text.slice(1) : '';
    if (Object.hasOwn(words, variable)) return String(words[variable as keyof typeof words]);
    if (ID.test(text)) return labelText(labels.get(text)) ?? '…';
    return INSTANT.test(text) ? format.instant(text) : text;
  };
  const leafText = ({ field: code, operator, value }: Leaf): string => {
    const field = [...fields, ...system].find((one) => one.code === code);
    const name = field?.name ?? code;
    if (operator === 'is-empty') return `${name}: ${value === false ? words.filled : words.empty}`;
    const said = [value].flat().map((one) => valueText(one, field));
    if (operator === 'range') return `${name}: ${said.join(' – ')}`;
    return `${name}${operator === 'equals' || operator === 'in' ? ':' : ` ${words[operator]}`} ${said.join(', ')}`;
  };
  const textOf = (part: Condition): string => {
    if (!isGroup(part)) return leafText(part);
    const all = part.conditions.map((one) => (isGroup(one) ? `(${textOf(one)})` : leafText(one)));
    return all.join(part.logic === 'OR' ? ` ${t.anyOf} ` : ', ');
  };
  return textOf;
}
