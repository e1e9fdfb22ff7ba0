/** Constraints of a field: options, limits, allowed reference types, and the default. */
import { ActionIcon, Group, SimpleGrid, Stack, TextInput } from '@mantine/core';
import { IconArrowDown, IconArrowUp, IconTrash } from '@tabler/icons-react';
import type { ConstraintKey } from '../../../../src/lib/data-types/index.ts';
import { FieldInput } from '../../fields/input.tsx';
import { typeOf } from '../../fields/view.ts';
import { useLanguage } from '../../i18n/language.ts';
import { useText } from '../../i18n/text.ts';
import { freeCode } from '../config/block.tsx';
import type { Coded } from '../config/codes.ts';
import { ChooseItems } from '../config/choices.tsx';
import { CodedInput, LocalizedName } from '../config/form-parts.tsx';
import { PartCode } from '../config/part-code.tsx';
import { LinesHead, LinesTable } from '../config/lines-table.tsx';
import type { Path } from '../config/yaml-text.ts';
import { type FieldItem, schemaOf } from './model.ts';
import { texts } from './texts.ts';

interface LimitsProps {
  field: FieldItem;
  set: (path: Path, value: unknown) => void;
}

/** Constraints with an input of one line. */
type LimitKey = Exclude<ConstraintKey, 'options' | 'types'>;

function isLimit(key: ConstraintKey): key is LimitKey {
  return key !== 'options' && key !== 'types';
}

export function FieldLimits({ field, set }: LimitsProps) {
  const t = useText(texts);
  const language = useLanguage();
  const constraints = field.constraints ?? {};
  const type = typeOf(field.dataType);
  const limits = [...type.constraints.filter(isLimit), ...(field.multiple === true ? (['maxItems'] as const) : [])];
  // The default of a document or a record is only edited as text.
  const withDefault = type.document !== true && type.refersTo !== 'records';
  const change = (key: string, value: unknown): void => {
    const { [key]: _before, ...rest } = constraints;
    const next = value === undefined || value === null ? rest : { ...rest, [key]: value };
    set(['constraints'], Object.keys(next).length === 0 ? undefined : next);
  };
  const types = constraints['types'];
  return (
    <Stack gap="sm">
      {type.constraints.includes('options') && <Options field={field} set={set} />}
      {type.constraints.includes('types') && (
        <ChooseItems
          section="types"
          label={t.typesInput}
          value={Array.isArray(types) ? types.map(String) : []}
          onChange={(codes) => change('types', codes.length === 0 ? undefined : codes)}
        />
      )}
      <SimpleGrid cols={{ base: 1, xs: 2 }} spacing="sm">
        {limits.map((key) => (
          <LimitInput key={key} name={key} field={field} value={constraints[key]} onChange={change} />
        ))}
        {withDefault && (
          <CodedInput
            // A change of data type or multiplicity needs a new input.
            key={`${field.dataType} ${field.multiple === true}`}
            field={{ ...schemaOf(field, language), name: t.defaultInput, required: false }}
            value={field.default ?? null}
            onChange={(value) => set(['default'], value ?? undefined)}
          />
        )}
      </SimpleGrid>
    </Stack>
  );
}

interface LimitInputProps {
  name: LimitKey;
  field: FieldItem;
  value: unknown;
  onChange: (name: LimitKey, value: unknown) => void;
}

function LimitInput({ name, field, value, onChange }: LimitInputProps) {
  const t = useText(texts);
  const label = t[`${name}Input`];
  const text = typeof value === 'string' || typeof value === 'number' ? String(value) : '';
  if (name === 'min' || name === 'max') {
    const { code, dataType } = field;
    return (
      <FieldInput
        field={{ code, name: label, dataType, required: false, readOnly: false, multiple: false, constraints: {} }}
        value={value ?? null}
        onChange={(next) => onChange(name, next)}
        place={null}
      />
    );
  }
  return (
    <TextInput
      label={label}
      value={text}
      spellCheck={false}
      {...(name === 'pattern' ? {} : { inputMode: 'numeric' as const })}
      onChange={({ currentTarget }) => {
        const typed = currentTarget.value;
        const number = name !== 'pattern' && /^\d+$/.test(typed);
        // Invalid numbers stay text; the plan reports the error.
        onChange(name, typed === '' ? undefined : number ? Number(typed) : typed);
      }}
    />
  );
}

function Options({ field, set }: LimitsProps) {
  const t = useText(texts);
  const options = Array.isArray(field.constraints?.options) ? field.constraints.options : [];
  const put = (next: readonly unknown[]): void => set(['constraints'], { ...field.constraints, options: next });
  return (
    <Stack gap="xs">
      <LinesHead
        title={t.optionsInput}
        add={t.addOption}
        onAdd={() => put([...options, { code: freeCode('option', options) }])}
      />
      <LinesTable label={t.optionsInput} columns={[t.optionName, t.optionCode]} narrow>
        {options.map((option, index) => (
          <OptionRow
            // An option's code can change while it is typed; only the index identifies it.
            // oxlint-disable-next-line react/no-array-index-key
            key={index}
            options={options}
            set={set}
            put={put}
            option={option}
            index={index}
          />
        ))}
      </LinesTable>
    </Stack>
  );
}

const OPTIONS = ['fields', 'constraints', 'options'];

interface OptionRowProps {
  set: LimitsProps['set'];
  options: Coded[];
  put: (next: readonly unknown[]) => void;
  option: Coded;
  index: number;
}

function OptionRow({ options, set, put, option, index }: OptionRowProps) {
  const t = useText(texts);
  const move = (from: number, to: number): void => {
    const moved = options[from];
    if (moved !== undefined) put(options.toSpliced(from, 1).toSpliced(to, 0, moved));
  };
  return (
    <tr>
      <td>
        <LocalizedName
          label={`${t.optionName}: ${option.code}`}
          code={option.code}
          name={option.name}
          onChange={(name) => set(['constraints', 'options', index, 'name'], name)}
        />
      </td>
      <td>
        <PartCode
          aria-label={`${t.optionCode}: ${option.code}`}
          list={OPTIONS}
          part={option}
          siblings={options.map(({ code }) => code)}
          onChange={(code) => set(['constraints', 'options', index, 'code'], code)}
        />
      </td>
      <td>
        <Group gap={2} wrap="nowrap">
          <ActionIcon
            aria-label={`${t.up}: ${option.code}`}
            disabled={index === 0}
            onClick={() => move(index, index - 1)}
          >
            <IconArrowUp size={14} />
          </ActionIcon>
          <ActionIcon
            aria-label={`${t.down}: ${option.code}`}
            disabled={index === options.length - 1}
            onClick={() => move(index, index + 1)}
          >
            <IconArrowDown size={14} />
          </ActionIcon>
          <ActionIcon aria-label={`${t.removeOption}: ${option.code}`} onClick={() => put(options.toSpliced(index, 1))}>
            <IconTrash size={14} />
          </ActionIcon>
        </Group>
      </td>
    </tr>
  );
}
