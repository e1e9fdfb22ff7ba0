/** The value of one condition: in the form of its field's data type, as many as the operator takes. */
import { Group, NativeSelect } from '@mantine/core';
import type { FieldSchema } from '../api/types.ts';
import { FieldInput } from '../fields/input.tsx';
import { useText } from '../i18n/text.ts';
import { type ConditionField, type Leaf, valueForm } from './model.ts';
import { texts } from './texts.ts';

export interface ValueInputProps {
  leaf: Leaf;
  field: ConditionField | undefined;
  variables: boolean;
  onChange: (value: unknown) => void;
}

/** Texts of a condition are short, whatever the field holds. */
function schemaOf(field: ConditionField | undefined, name: string, multiple: boolean): FieldSchema {
  const dataType = field?.dataType ?? 'string';
  return {
    code: field?.code ?? '',
    name,
    dataType: dataType === 'text' || dataType === 'rich-text' || isTextLike(dataType) ? 'string' : dataType,
    required: false,
    readOnly: false,
    multiple,
    constraints: field?.constraints ?? {},
  };
}

function isTextLike(dataType: string): boolean {
  return dataType === 'url' || dataType === 'email' || dataType === 'phone';
}

export function ValueInput({ leaf, field, variables, onChange }: ValueInputProps) {
  const t = useText(texts);
  const form = valueForm(leaf.operator);
  if (form === 'flag') {
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
  if (form === 'pair') {
    const pair = Array.isArray(leaf.value) ? (leaf.value as unknown[]) : [null, null];
    const end = (index: number, name: string) => (
      <FieldInput
        field={schemaOf(field, name, false)}
        value={pair[index] ?? null}
        onChange={(value) => onChange(([pair[0], pair[1]] as unknown[]).with(index, value))}
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
  const variable = variables ? variableFor(field, form) : undefined;
  if (variable !== undefined && (leaf.value === variable.value || field?.dataType === 'group')) {
    return <VariableInput leaf={leaf} field={field} variable={variable} onChange={onChange} many={form === 'many'} />;
  }
  return (
    <Group gap={4} wrap="nowrap" align="flex-start">
      <div style={{ flex: 1, minWidth: 0 }}>
        <FieldInput
          field={schemaOf(field, t.value, form === 'many')}
          value={leaf.value ?? null}
          onChange={(value) => onChange(value ?? (form === 'many' ? [] : null))}
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

interface Variable {
  value: string;
  name: 'me' | 'myGroups';
}

function variableFor(field: ConditionField | undefined, form: 'one' | 'many'): Variable | undefined {
  if (field?.dataType === 'user' && form === 'one') return { value: '$me', name: 'me' };
  if (field?.dataType === 'group' && form === 'many') return { value: '$myGroups', name: 'myGroups' };
  return undefined;
}

interface VariableInputProps extends Omit<ValueInputProps, 'variables'> {
  variable: Variable;
  many: boolean;
}

/** A variable in the place of a value, until another is chosen. */
function VariableInput({ leaf, field, variable, onChange, many }: VariableInputProps) {
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
          <FieldInput
            field={schemaOf(field, t.value, many)}
            value={leaf.value ?? null}
            onChange={(value) => onChange(value ?? (many ? [] : null))}
            unlabelled
          />
        </div>
      )}
    </Group>
  );
}
