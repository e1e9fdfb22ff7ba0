/** Inputs of single typed values. */
import { NativeSelect, Textarea, TextInput } from '@mantine/core';
import { type ComponentType, type ReactNode, useState } from 'react';
import type { View } from '../../../src/lib/data-types/index.ts';
import type { FieldSchema } from '../api/types.ts';
import { useText } from '../i18n/text.ts';
import { fromInput, toInput } from '../i18n/clock.ts';
import { useZone } from '../i18n/zone.ts';
import { formTexts } from './data-type-texts.ts';
import { parseDuration, showDuration } from './duration.ts';
import { texts } from './texts.ts';
import { typeOf } from './view.ts';

/** A record, or a new record of a type. */
export type FieldOwner = { objectId: string } | { typeId: string };

export interface FieldInputProps {
  field: FieldSchema;
  value: unknown;
  onChange: (value: unknown) => void;
  error?: string | undefined;
  /** Where the value will stand. An assignee is chosen among those who can work there; null offers everybody. */
  place: FieldOwner | null;
  autoFocus?: boolean | undefined;
  /** True if the choices are shown at once. */
  opened?: boolean | undefined;
  /** True if the field's name is already shown beside the input. */
  unlabelled?: boolean | undefined;
}

export interface Common {
  label?: string;
  'aria-label'?: string;
  /** The help text of the field. */
  description?: string;
  inputWrapperOrder?: ('label' | 'input' | 'description' | 'error')[];
  required: boolean;
  error: string | undefined;
  autoFocus: boolean;
}

/** An input that shows its label and errors itself. */
export type LabelledInputProps = FieldInputProps & { common: Common };

const textOf = (value: unknown): string => (value === null || value === undefined ? '' : String(value));
const orNull = (text: string): string | null => (text === '' ? null : text);

/** An input with the given native type of HTML. */
function lineInput(type: string): ComponentType<LabelledInputProps> {
  return ({ value, onChange, common }) => (
    <TextInput
      {...common}
      type={type}
      value={textOf(value)}
      onChange={(event) => onChange(orNull(event.currentTarget.value))}
    />
  );
}

function LinesInput({ value, onChange, common }: LabelledInputProps) {
  return (
    <Textarea
      {...common}
      value={textOf(value)}
      onChange={(event) => onChange(orNull(event.currentTarget.value))}
      autosize
      minRows={3}
      maxRows={20}
    />
  );
}

function BooleanInput({ value, onChange, common }: LabelledInputProps) {
  const t = useText(texts);
  return (
    <NativeSelect
      {...withoutFocus(common)}
      value={textOf(value)}
      onChange={(event) => onChange(event.currentTarget.value === '' ? null : event.currentTarget.value === 'true')}
      data={[
        { value: '', label: t.notSet },
        { value: 'true', label: t.yes },
        { value: 'false', label: t.no },
      ]}
    />
  );
}

function withoutFocus({ autoFocus: _autoFocus, ...rest }: Common): Omit<Common, 'autoFocus'> {
  return rest;
}

/** Removes blanks and accepts a decimal comma. */
function numberText(typed: string): string {
  return typed
    .trim()
    .replaceAll(/[\s\u00a0\u202f]/g, '')
    .replace(',', '.');
}

/** Parses an integer. Other input stays text, so that validation can report it. */
function integerOf(typed: string): unknown {
  const text = numberText(typed);
  return /^-?\d+$/.test(text) && Number.isSafeInteger(Number(text)) ? Number(text) : orNull(text);
}

function numberInput(inputMode: 'numeric' | 'decimal', read: (typed: string) => unknown) {
  return ({ value, onChange, common }: LabelledInputProps) => (
    <TextInput
      {...common}
      inputMode={inputMode}
      value={textOf(value)}
      onChange={(event) => onChange(read(event.currentTarget.value))}
    />
  );
}

function DateTimeInput({ value, onChange, common }: LabelledInputProps) {
  const zone = useZone();
  return (
    <TextInput
      {...common}
      type="datetime-local"
      value={toInput(textOf(value), zone)}
      onChange={(event) => onChange(orNull(fromInput(event.currentTarget.value, zone)))}
    />
  );
}

function DurationInput({ value, onChange, common }: LabelledInputProps) {
  const t = useText(texts);
  const [typed, setTyped] = useState<string>();
  return (
    <TextInput
      {...common}
      description={[common.description, t.duration].filter(Boolean).join(' ')}
      value={typed ?? showDuration(textOf(value), t.durationUnits)}
      onChange={(event) => {
        setTyped(event.currentTarget.value);
        onChange(parseDuration(event.currentTarget.value) ?? orNull(event.currentTarget.value));
      }}
      onBlur={() => setTyped(undefined)}
    />
  );
}

function JsonInput({ value, onChange, common }: LabelledInputProps) {
  const forms = useText(formTexts);
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
      error={broken ? forms.json : common.error}
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

/** Views that `input.tsx` does not show itself. */
type SingleView = Exclude<View, 'choice' | 'reference' | 'rich-text'>;

const INPUTS: Readonly<Record<SingleView, ComponentType<LabelledInputProps>>> = {
  line: lineInput('text'),
  lines: LinesInput,
  url: lineInput('url'),
  email: lineInput('email'),
  phone: lineInput('tel'),
  integer: numberInput('numeric', integerOf),
  decimal: numberInput('decimal', (typed) => orNull(numberText(typed))),
  boolean: BooleanInput,
  date: lineInput('date'),
  datetime: DateTimeInput,
  time: lineInput('time'),
  duration: DurationInput,
  json: JsonInput,
};

/** Input of a single typed value, except choices, references and rich text. */
export function OneInput(props: LabelledInputProps): ReactNode {
  const { view } = typeOf(props.field.dataType);
  const Single = view === 'choice' || view === 'reference' || view === 'rich-text' ? INPUTS.line : INPUTS[view];
  return <Single {...props} />;
}
