/** Input of a single typed value. */
import { NativeSelect, Textarea, TextInput } from '@mantine/core';
import { type ReactNode, useState } from 'react';
import type { FieldSchema } from '../api/types.ts';
import { useText } from '../i18n/text.ts';
import { fromInput, toInput } from '../i18n/clock.ts';
import { useZone } from '../i18n/zone.ts';
import { parseDuration, showDuration } from './duration.ts';
import { texts } from './texts.ts';

export interface FieldInputProps {
  field: FieldSchema;
  value: unknown;
  onChange: (value: unknown) => void;
  error?: string | undefined;
  /** Id of the record that holds the value, for image URLs. */
  recordId?: string | undefined;
  autoFocus?: boolean | undefined;
  /** True if the field's name is already shown beside the input. */
  unlabelled?: boolean | undefined;
}

export interface Common {
  label?: string;
  'aria-label'?: string;
  required: boolean;
  error: string | undefined;
  autoFocus: boolean;
}

/** Data types with a native HTML input type. */
const NATIVE: Readonly<Record<string, string>> = {
  date: 'date',
  time: 'time',
  url: 'url',
  email: 'email',
  phone: 'tel',
};

/** Input of a single typed value. */
export function OneInput({ field, value, onChange, common }: FieldInputProps & { common: Common }): ReactNode {
  const t = useText(texts);
  const zone = useZone();
  const text = value === null || value === undefined ? '' : String(value);
  const set = (next: string): void => onChange(next === '' ? null : next);
  switch (field.dataType) {
    case 'boolean':
      return (
        <NativeSelect
          {...withoutFocus(common)}
          value={text}
          onChange={(event) => onChange(event.currentTarget.value === '' ? null : event.currentTarget.value === 'true')}
          data={[
            { value: '', label: t.notSet },
            { value: 'true', label: t.yes },
            { value: 'false', label: t.no },
          ]}
        />
      );
    case 'text':
      return (
        <Textarea
          {...common}
          value={text}
          onChange={(event) => set(event.currentTarget.value)}
          autosize
          minRows={3}
          maxRows={20}
        />
      );
    case 'json':
      return <JsonInput value={value} onChange={onChange} common={common} />;
    case 'integer':
    case 'decimal':
      return (
        <TextInput
          {...common}
          inputMode={field.dataType === 'integer' ? 'numeric' : 'decimal'}
          value={text}
          onChange={(event) => onChange(numberOf(field, event.currentTarget.value))}
        />
      );
    case 'duration':
      return <DurationInput value={text} onChange={set} common={common} />;
    case 'datetime':
      return (
        <TextInput
          {...common}
          type="datetime-local"
          value={toInput(text, zone)}
          onChange={(event) => set(fromInput(event.currentTarget.value, zone))}
        />
      );
    default:
      return (
        <TextInput
          {...common}
          type={NATIVE[field.dataType] ?? 'text'}
          value={text}
          onChange={(event) => set(event.currentTarget.value)}
        />
      );
  }
}

function withoutFocus({ autoFocus: _autoFocus, ...rest }: Common): Omit<Common, 'autoFocus'> {
  return rest;
}

/** Parses an integer. Other input stays text, so that validation can report it. */
function numberOf(field: FieldSchema, typed: string): unknown {
  const text = typed
    .trim()
    .replaceAll(/[\s\u00a0\u202f]/g, '')
    .replace(',', '.');
  if (text === '') return null;
  if (field.dataType === 'decimal' || !/^-?\d+$/.test(text)) return text;
  return Number.isSafeInteger(Number(text)) ? Number(text) : text;
}

function DurationInput({
  value,
  onChange,
  common,
}: {
  value: string;
  onChange: (text: string) => void;
  common: Common;
}) {
  const t = useText(texts);
  const [typed, setTyped] = useState<string>();
  return (
    <TextInput
      {...common}
      description={t.duration}
      value={typed ?? showDuration(value, t.durationUnits)}
      onChange={(event) => {
        setTyped(event.currentTarget.value);
        onChange(parseDuration(event.currentTarget.value) ?? event.currentTarget.value);
      }}
      onBlur={() => setTyped(undefined)}
    />
  );
}

function JsonInput({
  value,
  onChange,
  common,
}: {
  value: unknown;
  onChange: (value: unknown) => void;
  common: Common;
}) {
  const t = useText(texts);
  const [typed, setTyped] = useState(() =>
    value === null || value === undefined ? '' : JSON.stringify(value, null, 2),
  );
  const [broken, setBroken] = useState(false);
  const change = (text: string): void => {
    setTyped(text);
    try {
      onChange(text.trim() === '' ? null : (JSON.parse(text) as unknown));
      setBroken(false);
    } catch {
      setBroken(true);
    }
  };
  return (
    <Textarea
      {...common}
      error={broken ? t.NOT_JSON : common.error}
      value={typed}
      onChange={(event) => change(event.currentTarget.value)}
      autosize
      minRows={3}
      maxRows={20}
      spellCheck={false}
      styles={{ input: { fontFamily: 'var(--mantine-font-family-monospace)' } }}
    />
  );
}
