/** Input for the value of a condition, by the field's data type and the operator. */
import { Group, NativeSelect, TextInput } from '@mantine/core';
import type { ComponentType } from 'react';
import { type VariableName, variableOf } from '../../../src/lib/data-types/index.ts';
import type { FieldSchema } from '../api/types.ts';
import { FieldInput } from '../fields/input.tsx';
import type { FieldInputProps } from '../fields/one-input.tsx';
import { ManyPicker, namedSource, Picker, type Source } from '../fields/pickers.tsx';
import { typeOf } from '../fields/view.ts';
import { useText } from '../i18n/text.ts';
import { type ConditionField, type Leaf, valueForm } from './model.ts';
import { texts } from './texts.ts';

/**
 * Which variables may be used as values: those of queues, those of the configuration (docs/spec/search.md#condition-language),
 * or none.
 */
export type Variables = boolean | 'configuration';

export interface ValueInputProps {
  leaf: Leaf;
  field: ConditionField | undefined;
  variables: Variables;
  input: ComponentType<FieldInputProps>;
  onChange: (value: unknown) => void;
}

/** Texts in conditions use a single-line input, regardless of the data type. */
function schemaOf(field: ConditionField | undefined, name: string, multiple: boolean): FieldSchema {
  const dataType = field?.dataType ?? 'string';
  return {
    code: field?.code ?? '',
    name,
    dataType: typeOf(dataType).comparison === 'folded' ? 'string' : dataType,
    required: false,
    readOnly: false,
    multiple,
    constraints: field?.constraints ?? {},
  };
}

export function ValueInput({ leaf, field, variables, input: Input, onChange }: ValueInputProps) {
  const t = useText(texts);
  const form = valueForm(leaf.operator);
  if (form === 'flag') return <FlagInput leaf={leaf} onChange={onChange} />;
  if (form === 'pair') return <PairInput leaf={leaf} field={field} input={Input} onChange={onChange} />;
  const variable = variables === false ? undefined : variableFor(field, form, variables);
  // A variable with an offset, such as $now-P7D, is shown as text.
  if (variables !== false && typeof leaf.value === 'string' && isOtherVariable(leaf.value, variable)) {
    return (
      <TextInput
        aria-label={t.value}
        value={leaf.value}
        onChange={(event) => onChange(event.currentTarget.value || null)}
      />
    );
  }
  const source = field === undefined || Input !== FieldInput ? undefined : SOURCES[field.dataType];
  if (variable !== undefined && source !== undefined) {
    return (
      <VariablePicker leaf={leaf} source={source} variable={variable} onChange={onChange} many={form === 'many'} />
    );
  }
  if (variable !== undefined && (leaf.value === variable.value || field?.dataType === 'group')) {
    return <VariableInput {...{ leaf, field, variable, onChange, input: Input }} many={form === 'many'} />;
  }
  return (
    <Group gap={4} wrap="nowrap" align="flex-start">
      <div style={{ flex: 1, minWidth: 0 }}>
        <Input
          field={schemaOf(field, t.value, form === 'many')}
          value={leaf.value ?? null}
          onChange={(value) => onChange(value ?? (form === 'many' ? [] : null))}
          place={null}
          unlabelled
        />
      </div>
      {variable !== undefined && (
        <NativeSelect
          aria-label={t[variable.name]}
          value=""
          onChange={() => onChange(variable.value)}
          data={[
            { value: '', label: '$' },
            { value: 'set', label: t[variable.name] },
          ]}
        />
      )}
    </Group>
  );
}

/** Empty or not empty. */
function FlagInput({ leaf, onChange }: Pick<ValueInputProps, 'leaf' | 'onChange'>) {
  const t = useText(texts);
  return (
    <NativeSelect
      aria-label={t.value}
      value={leaf.value === false ? 'false' : 'true'}
      onChange={(event) => onChange(event.currentTarget.value === 'true')}
      data={[
        { value: 'true', label: t.empty },
        { value: 'false', label: t.filled },
      ]}
    />
  );
}

/** The two ends of a range. */
function PairInput({ leaf, field, input: Input, onChange }: Omit<ValueInputProps, 'variables'>) {
  const t = useText(texts);
  const pair = Array.isArray(leaf.value) ? (leaf.value as unknown[]) : [null, null];
  const end = (index: number, name: string) => (
    <Input
      field={schemaOf(field, name, false)}
      value={pair[index] ?? null}
      onChange={(value) => onChange(([pair[0], pair[1]] as unknown[]).with(index, value))}
      place={null}
      unlabelled
    />
  );
  return (
    <Group gap={4} wrap="nowrap" grow>
      {end(0, t.from)}
      {end(1, t.to)}
    </Group>
  );
}

interface Variable {
  value: string;
  name: VariableName;
}

function isOtherVariable(value: string, variable: Variable | undefined): boolean {
  return /^\$(?!\$)/.test(value) && value !== variable?.value;
}

/** Variables that only the configuration may use. */
const CONFIGURATION: ReadonlySet<string> = new Set<VariableName>(['myOrgUnits', 'now']);

function variableFor(
  field: ConditionField | undefined,
  form: 'one' | 'many',
  variables: Variables,
): Variable | undefined {
  const name = field === undefined ? undefined : variableOf(field.dataType, form === 'many');
  if (name === undefined || (variables !== 'configuration' && CONFIGURATION.has(name))) return undefined;
  return { value: `$${name}`, name };
}

/** Data types whose values are chosen by name. */
const SOURCES: Readonly<Record<string, Source | undefined>> = {
  user: namedSource('user'),
  group: namedSource('group'),
  'org-unit': namedSource('org-unit'),
};

interface VariablePickerProps extends Pick<ValueInputProps, 'leaf' | 'onChange'> {
  source: Source;
  variable: Variable;
  many: boolean;
}

/** Chooses users, groups or units; the variable ("Me", "My groups") is the first choice. A variable is never part of a list. */
function VariablePicker({ leaf, source, variable, onChange, many }: VariablePickerProps) {
  const t = useText(texts);
  const first = { id: variable.value, name: t[variable.name] };
  const common = { source, first, 'aria-label': t.value };
  const { value } = leaf;
  if (!many) return <Picker {...common} value={typeof value === 'string' ? value : null} onChange={onChange} />;
  const chosen = value === variable.value ? [variable.value] : Array.isArray(value) ? (value as string[]) : [];
  const choose = (ids: string[]): void =>
    onChange(ids.at(-1) === variable.value ? variable.value : ids.filter((id) => id !== variable.value));
  return <ManyPicker {...common} value={chosen} onChange={choose} />;
}

interface VariableInputProps extends Omit<ValueInputProps, 'variables'> {
  variable: Variable;
  many: boolean;
}

/** Chooses between a variable and a value. */
function VariableInput({ leaf, field, variable, input: Input, onChange, many }: VariableInputProps) {
  const t = useText(texts);
  const isVariable = leaf.value === variable.value;
  return (
    <Group gap={4} wrap="nowrap" align="flex-start">
      <NativeSelect
        aria-label={t.value}
        value={isVariable ? 'set' : ''}
        onChange={(event) => onChange(event.currentTarget.value === 'set' ? variable.value : many ? [] : null)}
        data={[
          { value: 'set', label: t[variable.name] },
          { value: '', label: '…' },
        ]}
      />
      {!isVariable && (
        <div style={{ flex: 1, minWidth: 0 }}>
          <Input
            field={schemaOf(field, t.value, many)}
            value={leaf.value ?? null}
            onChange={(value) => onChange(value ?? (many ? [] : null))}
            place={null}
            unlabelled
          />
        </div>
      )}
    </Group>
  );
}
