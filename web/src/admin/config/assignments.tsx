/** Editor of automatic values: a field and its value per line (`set` of transitions and catalog items). */
import { ActionIcon, Button, Input, NativeSelect, Stack, TextInput } from '@mantine/core';
import { IconPlus, IconX } from '@tabler/icons-react';
import { variableOf } from '../../../../src/lib/data-types/index.ts';
import type { FieldSchema } from '../../api/types.ts';
import { texts as filterTexts } from '../../filters/texts.ts';
import { useText } from '../../i18n/text.ts';
import { ChooseOne } from './choices.tsx';
import { CodedInput } from './form-parts.tsx';
import classes from './form-parts.module.css';
import { texts } from './texts.ts';

interface AssignmentsProps {
  label: string;
  value: Readonly<Record<string, unknown>>;
  onChange: (value: Record<string, unknown> | undefined) => void;
  fields: readonly FieldSchema[];
}

export function Assignments({ label, value, onChange, fields }: AssignmentsProps) {
  const t = useText(texts);
  const entries = Object.entries(value);
  const free = fields.filter(({ code }) => !Object.hasOwn(value, code));
  const put = (list: [string, unknown][]): void => onChange(list.length === 0 ? undefined : Object.fromEntries(list));
  return (
    <Input.Wrapper label={label} labelElement="div" size="xs">
      <Stack gap={4}>
        {entries.map(([code, own], index) => {
          const field = fields.find((one) => one.code === code);
          return (
            <div key={code} className={classes.assignment}>
              {/* A select adds two elements to the grid, one of them hidden. */}
              <div>
                <ChooseOne
                  aria-label={`${label}: ${t.field} ${index + 1}`}
                  choices={[...(field === undefined ? [] : [field]), ...free]}
                  value={code}
                  clearable={false}
                  onChange={(next) => next !== null && put(entries.with(index, [next, null]))}
                />
              </div>
              <div>
                <OneValue
                  field={field}
                  value={own}
                  label={`${label}: ${field?.name ?? code}`}
                  onChange={(next) => put(entries.with(index, [code, next]))}
                />
              </div>
              <ActionIcon
                aria-label={`${t.takeOut}: ${field?.name ?? code}`}
                onClick={() => put(entries.toSpliced(index, 1))}
              >
                <IconX size={14} />
              </ActionIcon>
            </div>
          );
        })}
        <div>
          <Button
            size="compact-xs"
            variant="light"
            leftSection={<IconPlus size={12} />}
            aria-label={`${t.addField}: ${label}`}
            disabled={free.length === 0}
            onClick={() => put([...entries, [free[0]?.code ?? '', null]])}
          >
            {t.addField}
          </Button>
        </div>
      </Stack>
    </Input.Wrapper>
  );
}

interface OneValueProps {
  field: FieldSchema | undefined;
  value: unknown;
  label: string;
  onChange: (value: unknown) => void;
}

function OneValue({ field, value, label, onChange }: OneValueProps) {
  const t = useText(texts);
  const words = useText(filterTexts);
  if (field === undefined || (typeof value === 'string' && /^\$[\w]+[-+]/.test(value))) {
    const text = typeof value === 'string' ? value : JSON.stringify(value);
    return <TextInput aria-label={label} value={text} onChange={(event) => onChange(event.currentTarget.value)} />;
  }
  // A variable for the current user, their unit or the current time can stand instead of a value.
  const name = field.multiple ? undefined : variableOf(field.dataType, false);
  if (name === undefined) {
    return (
      <CodedInput field={{ ...field, name: label, required: false }} value={value} onChange={onChange} unlabelled />
    );
  }
  const variable = `$${name}`;
  return (
    <div className={classes.variable}>
      <NativeSelect
        aria-label={`${label}: ${t.what}`}
        value={value === variable ? 'variable' : 'value'}
        onChange={(event) => onChange(event.currentTarget.value === 'variable' ? variable : null)}
        data={[
          { value: 'variable', label: words[name] },
          { value: 'value', label: t.certain },
        ]}
      />
      {value !== variable && (
        <CodedInput field={{ ...field, name: label, required: false }} value={value} onChange={onChange} unlabelled />
      )}
    </div>
  );
}
