/** Pickers of configuration items: by name, stored by code. Unknown codes are kept; the plan reports them. */
import { Input, MultiSelect, NativeSelect, Select, Stack } from '@mantine/core';
import type { ReactNode } from 'react';
import { useText } from '../../i18n/text.ts';
import { useCreateFirstOf } from './missing.tsx';
import type { PagedSection } from './pages.ts';
import { texts } from './texts.ts';
import { type Named, useCodes } from './type-shape.ts';

function optionsOf(choices: readonly Named[], chosen: readonly string[]): { value: string; label: string }[] {
  const known = new Set(choices.map(({ code }) => code));
  return [
    ...choices.map(({ code, name }) => ({ value: code, label: name })),
    ...chosen.filter((code) => !known.has(code)).map((code) => ({ value: code, label: code })),
  ];
}

interface Labelled {
  label?: string | undefined;
  'aria-label'?: string | undefined;
  description?: ReactNode;
  placeholder?: string | undefined;
  required?: boolean;
  error?: string | undefined;
}

interface OneProps extends Labelled {
  choices: readonly Named[];
  value: string | null;
  onChange: (code: string | null) => void;
  clearable?: boolean;
}

export function ChooseOne({ choices, value, clearable = true, ...rest }: OneProps) {
  const t = useText(texts);
  return (
    <Select
      {...rest}
      data={optionsOf(choices, value === null ? [] : [value])}
      value={value}
      searchable
      clearable={clearable}
      clearButtonProps={{ 'aria-label': t.clear }}
      allowDeselect={clearable}
    />
  );
}

interface ManyProps extends Labelled {
  choices: readonly Named[];
  value: readonly string[];
  onChange: (codes: string[]) => void;
}

export function ChooseMany({ choices, value, ...rest }: ManyProps) {
  const t = useText(texts);
  return (
    <MultiSelect
      {...rest}
      data={optionsOf(choices, value)}
      value={[...value]}
      searchable
      clearable
      clearButtonProps={{ 'aria-label': t.clear }}
    />
  );
}

/** Picker of one item of a section. */
export function ChooseItem({ section, ...rest }: Omit<OneProps, 'choices'> & { section: PagedSection }) {
  const choices = useCodes(section);
  return <ChooseOne choices={choices} {...rest} {...useCreateFirstOf(section, choices)} />;
}

/** Picker of several items of a section. */
export function ChooseItems({ section, ...rest }: Omit<ManyProps, 'choices'> & { section: PagedSection }) {
  const choices = useCodes(section);
  return <ChooseMany choices={choices} {...rest} {...useCreateFirstOf(section, choices)} />;
}

interface AllOrSomeProps {
  label: string;
  choices: readonly Named[];
  /** `*`, or codes. */
  value: '*' | readonly string[];
  onChange: (value: '*' | string[]) => void;
}

/** All items, including future ones, or selected ones. */
export function AllOrSome({ label, choices, value, onChange }: AllOrSomeProps) {
  const t = useText(texts);
  const all = value === '*';
  return (
    <Input.Wrapper label={label} labelElement="div" size="xs">
      <Stack gap={4}>
        <NativeSelect
          aria-label={label}
          value={all ? 'all' : 'some'}
          onChange={(event) => onChange(event.currentTarget.value === 'all' ? '*' : [])}
          data={[
            { value: 'all', label: t.everything },
            { value: 'some', label: t.chosenOnly },
          ]}
        />
        {!all && (
          <ChooseMany
            aria-label={`${label}: ${t.chosenOnly}`}
            placeholder={value.length === 0 ? t.nothingChosen : undefined}
            choices={choices}
            value={value}
            onChange={onChange}
          />
        )}
      </Stack>
    </Input.Wrapper>
  );
}
