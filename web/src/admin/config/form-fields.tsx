/** Editor of a form: its fields, their order, and which are required. */
import { ActionIcon, Button, Checkbox, Input, Stack } from '@mantine/core';
import { IconArrowUp, IconPlus, IconX } from '@tabler/icons-react';
import { useText } from '../../i18n/text.ts';
import { codedOf } from './block.tsx';
import { ChooseOne } from './choices.tsx';
import classes from './form-parts.module.css';
import { texts } from './texts.ts';
import type { Named } from './type-shape.ts';

interface FormField {
  code: string;
  required?: boolean;
}

interface FormFieldsProps {
  label: string;
  value: unknown;
  fields: readonly Named[];
  onChange: (list: FormField[] | undefined) => void;
}

export function FormFields({ label, value, fields, onChange }: FormFieldsProps) {
  const t = useText(texts);
  const lines = codedOf<FormField>(value);
  const free = fields.filter(({ code }) => !lines.some((line) => line.code === code));
  const put = (list: FormField[]): void => onChange(list.length === 0 ? undefined : list);
  const nameOf = (code: string): string => fields.find((one) => one.code === code)?.name ?? code;
  return (
    <Input.Wrapper label={label} labelElement="div" size="xs">
      <Stack gap={4}>
        {lines.map((line, index) => (
          <div key={line.code} className={classes.formField}>
            <ChooseOne
              aria-label={`${label}: ${t.field} ${index + 1}`}
              choices={[{ code: line.code, name: nameOf(line.code) }, ...free]}
              value={line.code}
              clearable={false}
              onChange={(code) => code !== null && put(lines.with(index, { ...line, code }))}
            />
            <Checkbox
              label={t.required}
              aria-label={`${t.required}: ${nameOf(line.code)}`}
              checked={line.required === true}
              onChange={(event) => {
                const { required: _before, ...rest } = line;
                put(lines.with(index, event.currentTarget.checked ? { ...rest, required: true } : rest));
              }}
            />
            <ActionIcon
              aria-label={`${t.up}: ${nameOf(line.code)}`}
              disabled={index === 0}
              onClick={() => put(lines.toSpliced(index, 1).toSpliced(index - 1, 0, line))}
            >
              <IconArrowUp size={14} />
            </ActionIcon>
            <ActionIcon
              aria-label={`${t.takeOut}: ${nameOf(line.code)}`}
              onClick={() => put(lines.toSpliced(index, 1))}
            >
              <IconX size={14} />
            </ActionIcon>
          </div>
        ))}
        <div>
          <Button
            size="compact-xs"
            variant="light"
            leftSection={<IconPlus size={12} />}
            aria-label={`${t.addField}: ${label}`}
            disabled={free.length === 0}
            onClick={() => put([...lines, { code: free[0]?.code ?? '' }])}
          >
            {t.addField}
          </Button>
        </div>
      </Stack>
    </Input.Wrapper>
  );
}
