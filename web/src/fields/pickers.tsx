/**
 * Pickers of users, groups, units, services and records by name. The value is the id; choices are loaded while the user types.
 */
import { Loader, MultiSelect, Select } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { keepPreviousData, queryOptions, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { call, send } from '../api/client.ts';
import type { desk, objects } from '../api/types.ts';
import { currentLanguage } from '../i18n/language.ts';
import { useText } from '../i18n/text.ts';
import { labelText, useLabels } from './labels.ts';
import { texts } from './texts.ts';

export interface Choice {
  id: string;
  name: string;
}

interface Common {
  label?: string;
  'aria-label'?: string;
  description?: string;
  required?: boolean;
  disabled?: boolean;
  error?: string | undefined;
  placeholder?: string;
  autoFocus?: boolean;
}

export interface PickerProps extends Common {
  value: string | null;
  onChange: (id: string | null) => void;
}

export interface ManyPickerProps extends Common {
  value: readonly string[];
  onChange: (ids: string[]) => void;
}

/** A source of choices: its query key and its search. */
export interface Source {
  key: readonly unknown[];
  find: (text: string, signal: AbortSignal) => Promise<Choice[]>;
}

function choicesQuery(source: Source, text: string) {
  return queryOptions({
    queryKey: ['choices', ...source.key, text],
    queryFn: ({ signal }) => source.find(text, signal),
    placeholderData: keepPreviousData,
    staleTime: 30_000,
  });
}

function useChoices(source: Source, chosen: readonly string[]) {
  const [text, setText] = useState('');
  const [opened, setOpened] = useState(false);
  const [wanted] = useDebouncedValue(text, 200);
  const labels = useLabels(chosen);
  const shown = chosen.map((id) => ({ id, name: labelText(labels.get(id)) }));
  // For a single choice, the input contains the selected name, which is not a search text.
  const question = shown.some(({ name }) => name === wanted) ? '' : wanted.trim();
  const { data = [], isFetching } = useQuery({ ...choicesQuery(source, question), enabled: opened });
  const t = useText(texts);
  const known = shown.map(({ id, name }) => ({ value: id, label: name ?? t.unknown }));
  const found = data.filter(({ id }) => !chosen.includes(id)).map(({ id, name }) => ({ value: id, label: name }));
  return {
    data: [...known, ...found],
    searchable: true,
    nothingFoundMessage: isFetching ? t.searching : t.nothing,
    // The service has already filtered.
    filter: ({ options }: { options: unknown[] }) => options as never,
    onSearchChange: setText,
    onDropdownOpen: () => setOpened(true),
    rightSection: opened && isFetching ? <Loader size={12} /> : undefined,
    placeholder: t.search,
    comboboxProps: { shadow: 'md' },
    clearButtonProps: { 'aria-label': t.clear },
  };
}

/** Picker of one item. */
export function Picker({ source, value, onChange, ...rest }: PickerProps & { source: Source }) {
  const choices = useChoices(source, value === null ? [] : [value]);
  return <Select {...choices} {...rest} value={value} onChange={onChange} clearable={rest.required !== true} />;
}

/** Picker of several items. */
export function ManyPicker({ source, value, onChange, ...rest }: ManyPickerProps & { source: Source }) {
  const { placeholder, ...choices } = useChoices(source, value);
  const hint = value.length === 0 ? { placeholder } : {};
  return <MultiSelect {...choices} {...hint} {...rest} value={[...value]} onChange={onChange} hidePickedOptions />;
}

type NamedKind = 'user' | 'group' | 'org-unit';

export function namedSource(kind: NamedKind): Source {
  return {
    key: [kind],
    find: (q, signal) => call<typeof desk.lookUp>('GET', '/desk/lookup', { query: { kind, q }, signal }),
  };
}

export const serviceSource: Source = {
  key: ['service'],
  find: async (text, signal) => {
    const query = { locale: currentLanguage() };
    const all = (await send('GET', '/services', { query, signal })) as Choice[];
    return all.filter(({ name }) => name.toLowerCase().includes(text.toLowerCase()));
  },
};

/** Records of the given types (undefined: all that the user may read), searched by number and title. */
export function recordSource(types: readonly string[] | undefined): Source {
  return {
    key: ['record', ...(types ?? [])],
    find: async (text, signal) => {
      const ask = (typeId: string | undefined) =>
        call<typeof objects.listObjects>('GET', '/objects', {
          query: { typeId, pageSize: 20, q: text === '' ? undefined : text },
          signal,
        });
      const pages = await Promise.all((types === undefined || types.length === 0 ? [undefined] : types).map(ask));
      return pages
        .flatMap((page) => page.rows)
        .map(({ id, number, title }) => ({
          id,
          name: [number, title].filter((part) => part !== null && part !== '').join(' · ') || id,
        }));
    },
  };
}

const people = namedSource('user');
const groups = namedSource('group');
const units = namedSource('org-unit');

export const PersonPicker = (props: PickerProps) => <Picker source={people} {...props} />;
export const PeoplePicker = (props: ManyPickerProps) => <ManyPicker source={people} {...props} />;
export const GroupPicker = (props: PickerProps) => <Picker source={groups} {...props} />;
export const GroupsPicker = (props: ManyPickerProps) => <ManyPicker source={groups} {...props} />;
export const UnitPicker = (props: PickerProps) => <Picker source={units} {...props} />;
export const UnitsPicker = (props: ManyPickerProps) => <ManyPicker source={units} {...props} />;

export function RecordPicker({ types, ...props }: PickerProps & { types?: readonly string[] }) {
  return <Picker source={recordSource(types)} {...props} />;
}

export function RecordsPicker({ types, ...props }: ManyPickerProps & { types?: readonly string[] }) {
  return <ManyPicker source={recordSource(types)} {...props} />;
}
