/** Input for several values: one line each, with a remove button. */
import { ActionIcon, Button, Group, Input, Stack } from '@mantine/core';
import { IconPlus, IconX } from '@tabler/icons-react';
import { useState } from 'react';
import { useText } from '../i18n/text.ts';
import { type Common, type LabelledInputProps, OneInput } from './one-input.tsx';
import { texts } from './texts.ts';

const ORDER: NonNullable<Common['inputWrapperOrder']> = ['label', 'input', 'description', 'error'];

export function ListInput({ field, value, onChange, common }: LabelledInputProps) {
  const t = useText(texts);
  // Empty lines are not values.
  const [list, setList] = useState<unknown[]>(() => (Array.isArray(value) && value.length > 0 ? value : [null]));
  const one = { ...field, multiple: false };
  const set = (next: unknown[]): void => {
    setList(next);
    const values = next.filter((element) => element !== null);
    onChange(values.length === 0 ? null : values);
  };
  const name = common.label ?? common['aria-label'] ?? field.name;
  return (
    <Input.Wrapper
      {...(common.label === undefined ? {} : { label: common.label })}
      {...(common.description === undefined ? {} : { description: common.description, inputWrapperOrder: ORDER })}
      labelElement="div"
      required={common.required}
      error={common.error}
      size="xs"
    >
      <Stack gap={4}>
        {list.map((element, index) => (
          // Values may repeat while they are typed; only the index identifies them.
          // oxlint-disable-next-line react/no-array-index-key
          <Group key={index} gap={4} wrap="nowrap" align="flex-start">
            <div style={{ flex: 1 }}>
              <OneInput
                field={one}
                value={element}
                onChange={(next) => set(list.with(index, next))}
                place={null}
                common={{
                  'aria-label': `${name} ${index + 1}`,
                  required: false,
                  error: undefined,
                  autoFocus: common.autoFocus && index === list.length - 1,
                }}
              />
            </div>
            {list.length > 1 && (
              <ActionIcon aria-label={t.remove(`${name} ${index + 1}`)} onClick={() => set(list.toSpliced(index, 1))}>
                <IconX size={14} />
              </ActionIcon>
            )}
          </Group>
        ))}
        {list.at(-1) !== null && (
          <Button
            variant="subtle"
            size="compact-xs"
            leftSection={<IconPlus size={12} />}
            onClick={() => setList([...list, null])}
            style={{ alignSelf: 'flex-start' }}
          >
            {t.add}
          </Button>
        )}
      </Stack>
    </Input.Wrapper>
  );
}
