/**
 * Pickers of users, groups, units, services and records by name. The value is the id; choices are loaded while the user types.
 */
import { Loader, MultiSelect, Select, Text } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { queryOptions, useQuery } from '@tanstack/react-query';
import { type KeyboardEvent, useState } from 'react';
import { call, send } from '../api/client.ts';
import type { desk, objects } from '../api/types.ts';
import { currentLanguage } from '../i18n/language.ts';
import { useText } from '../i18n/text.ts';
import { labelText, useLabels } from './labels.ts';
import { texts } from './texts.ts';

export interface Choice {
  id: string;
  name: string;
  login?: string;
  email?: string | null;
  unit?: string;
}

interface Common {
  /** A choice that is always offered first, such as "Me" in filters. Its id is no id of an item. */
  first?: Choice | undefined;
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
    staleTime: 30_000,
  });
}

/**
 * The choices for what the user has typed. While the service has not answered to exactly this text, nothing can be chosen: an
 * older answer could put another item under the cursor.
 */
function useChoices(source: Source, chosen: readonly string[], first: Choice | undefined) {
  const t = useText(texts);
  const [typed, setTyped] = useState('');
  const [opened, setOpened] = useState(false);
  const [wanted] = useDebouncedValue(typed, 200);
  const labels = useLabels(chosen.filter((id) => id !== first?.id));
  const { data, isFetching, isError } = useQuery({ ...choicesQuery(source, wanted.trim()), enabled: opened });
  const answered = typed.trim() === wanted.trim() && data !== undefined;
  // Names of offered items, so that a chosen one has its name before its label is loaded.
  const [offered] = useState(() => new Map<string, string>());
  for (const { id, name } of data ?? []) offered.set(id, name);
  if (first !== undefined) offered.set(first.id, first.name);
  const nameOf = (id: string): string =>
    labelText(labels.get(id)) ?? offered.get(id) ?? (labels.has(id) ? t.unknown : '…');
  const known = chosen.map((id) => ({ value: id, label: nameOf(id) }));
  const before = first?.name.toLowerCase().includes(typed.trim().toLowerCase()) === true ? [first] : [];
  const found = [...before, ...(answered ? data : [])].filter(({ id }) => !chosen.includes(id));
  const details = new Map(found.map((choice) => [choice.id, detailOf(choice)]));
  const keys = (event: KeyboardEvent): void => {
    // Enter must not send the form while the typed text is not chosen yet.
    if (event.key === 'Enter' && typed !== '') event.preventDefault();
  };
  const props = {
    data: [...known, ...found.map(({ id, name }) => ({ value: id, label: name }))],
    searchable: true,
    nothingFoundMessage: answered || isError ? t.nothing : t.searching,
    // The service has already filtered.
    filter: ({ options }: { options: unknown[] }) =>
      (options as { value: string }[]).filter(({ value }) => answered && (typed === '' || details.has(value))) as never,
    renderOption: ({ option }: { option: { value: string; label: string } }) => (
      <ChoiceText name={option.label} detail={details.get(option.value)} />
    ),
    onDropdownOpen: () => setOpened(true),
    onKeyDown: keys,
    rightSection: opened && (isFetching || !(answered || isError)) ? <Loader size={12} /> : undefined,
    placeholder: t.search,
    comboboxProps: { shadow: 'md' },
    // The list box itself scrolls: assistive technology knows it as part of the input.
    withScrollArea: false,
    styles: { options: { maxHeight: 260, overflowY: 'auto' as const } },
    clearButtonProps: { 'aria-label': t.clear },
  };
  return { props, typed, setTyped };
}

/** Details that distinguish items with the same name. */
function detailOf({ login, unit, email }: Choice): string {
  return [login, unit, email].filter((part) => part !== undefined && part !== null && part !== '').join(' · ');
}

function ChoiceText({ name, detail }: { name: string; detail: string | undefined }) {
  return (
    <div>
      {name}
      {detail !== undefined && detail !== '' && (
        <Text size="xs" c="dimmed">
          {detail}
        </Text>
      )}
    </div>
  );
}

/** Picker of one item. */
export function Picker({ source, value, onChange, first, ...rest }: PickerProps & { source: Source }) {
  const { props, typed, setTyped } = useChoices(source, value === null ? [] : [value], first);
  // Typing replaces the name of the present value.
  const select = ({ currentTarget }: { currentTarget: HTMLInputElement }): void => {
    if (typed === '') currentTarget.select();
  };
  return (
    <Select
      {...props}
      {...rest}
      onFocus={select}
      value={value}
      onChange={onChange}
      // Not onSearchChange: the component also calls it when it writes the selected name into the input.
      onInput={(event) => setTyped(event.currentTarget.value)}
      onDropdownClose={() => setTyped('')}
      allowDeselect={false}
      clearable={rest.required !== true}
    />
  );
}

/** Picker of several items. */
export function ManyPicker({ source, value, onChange, first, ...rest }: ManyPickerProps & { source: Source }) {
  const { props, setTyped } = useChoices(source, value, first);
  const { placeholder, ...choices } = props;
  const hint = value.length === 0 ? { placeholder } : {};
  return (
    <MultiSelect
      {...choices}
      {...hint}
      {...rest}
      value={[...value]}
      onChange={onChange}
      onSearchChange={setTyped}
      hidePickedOptions
    />
  );
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
