/** Form of a calendar: time zone, working hours per weekday, and exceptions. */
import { ActionIcon, Button, Group, SimpleGrid, Stack, Text, TextInput, Title } from '@mantine/core';
import { IconPlus, IconTrash } from '@tabler/icons-react';
import { useState } from 'react';
import { useLanguage } from '../../i18n/language.ts';
import { useText } from '../../i18n/text.ts';
import form from '../config/form-parts.module.css';
import { at, CodeInput, LocalizedName, NameInputs, textAt } from '../config/form-parts.tsx';
import type { ItemFormProps } from '../config/item-editor.tsx';
import { texts } from './texts.ts';

const DAYS = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'] as const;
/** A Monday. */
const FIRST = Date.UTC(2024, 0, 1);

interface Exception {
  date?: string;
  name?: unknown;
  hours?: string[];
}

function hoursAt(value: unknown): string[] {
  return Array.isArray(value) ? value.map(String) : [];
}

export function CalendarForm(props: ItemFormProps) {
  const { item, set } = props;
  const t = useText(texts);
  const given = at(item, ['exceptions']);
  const exceptions: readonly Exception[] = Array.isArray(given) ? given : [];
  return (
    <Stack gap="sm">
      <SimpleGrid cols={{ base: 1, xs: 2 }} spacing="sm">
        <CodeInput {...props} />
        <TextInput
          label={t.timezone}
          value={textAt(item, ['timezone'])}
          placeholder="Europe/Moscow"
          required
          onChange={(event) => set(['timezone'], event.currentTarget.value)}
        />
      </SimpleGrid>
      <NameInputs item={item} set={set} />
      <Title order={2} size="h3">
        {t.week}
      </Title>
      <Text size="xs" c="dimmed">
        {t.hoursHint}
      </Text>
      <Week item={item} set={set} />
      <Group justify="space-between" mt="xs">
        <Title order={2} size="h3">
          {t.exceptions}
        </Title>
        <Button
          variant="default"
          leftSection={<IconPlus size={14} />}
          onClick={() =>
            set(['exceptions'], [...exceptions, { date: new Date().toISOString().slice(0, 10), hours: [] }])
          }
        >
          {t.addException}
        </Button>
      </Group>
      {exceptions.length === 0 && (
        <Text size="sm" c="dimmed">
          {t.noExceptions}
        </Text>
      )}
      <ul className={form.lines}>
        {exceptions.map((exception, index) => (
          <ExceptionLine
            // An exception's date can change; only the index identifies it.
            // oxlint-disable-next-line react/no-array-index-key
            key={index}
            index={index}
            exception={exception}
            set={set}
            exceptions={exceptions}
          />
        ))}
      </ul>
    </Stack>
  );
}

/** The opening hours of each day of the week. */
function Week({ item, set }: { item: ItemFormProps['item']; set: ItemFormProps['set'] }) {
  const language = useLanguage();
  const t = useText(texts);
  const weekday = new Intl.DateTimeFormat(language, { weekday: 'long', timeZone: 'UTC' });
  return (
    <SimpleGrid cols={{ base: 1, xs: 2, md: 4 }} spacing="sm">
      {DAYS.map((day, index) => (
        <HoursInput
          key={day}
          label={weekday.format(FIRST + index * 86_400_000)}
          placeholder={t.closed}
          value={hoursAt(at(item, ['week', day]))}
          onChange={(hours) => set(['week', day], hours.length === 0 ? undefined : hours)}
        />
      ))}
    </SimpleGrid>
  );
}

interface ExceptionLineProps {
  index: number;
  exception: Exception;
  set: ItemFormProps['set'];
  exceptions: readonly Exception[];
}

function ExceptionLine({ index, exception, set, exceptions }: ExceptionLineProps) {
  const t = useText(texts);
  return (
    <li className={form.exception}>
      <TextInput
        type="date"
        aria-label={t.dateOf(index + 1)}
        value={exception.date ?? ''}
        onChange={(event) => set(['exceptions', index, 'date'], event.currentTarget.value)}
      />
      <LocalizedName
        label={t.nameOf(exception.date ?? '')}
        code={t.what}
        name={exception.name}
        onChange={(name) => set(['exceptions', index, 'name'], name)}
      />
      <HoursInput
        aria-label={t.hoursOf(exception.date ?? '')}
        placeholder={t.closed}
        value={hoursAt(exception.hours)}
        onChange={(hours) => set(['exceptions', index, 'hours'], hours)}
      />
      <ActionIcon
        aria-label={t.removeException(exception.date ?? '')}
        onClick={() => set(['exceptions'], exceptions.toSpliced(index, 1))}
      >
        <IconTrash size={14} />
      </ActionIcon>
    </li>
  );
}

interface HoursInputProps {
  label?: string;
  'aria-label'?: string;
  placeholder: string;
  value: readonly string[];
  onChange: (hours: string[]) => void;
}

/** Comma-separated ranges. The typed text is parsed when the input loses focus. */
function HoursInput({ value, onChange, ...rest }: HoursInputProps) {
  const [typed, setTyped] = useState<string>();
  return (
    <TextInput
      {...rest}
      value={typed ?? value.join(', ')}
      onChange={(event) => {
        const text = event.currentTarget.value;
        setTyped(text);
        onChange(
          text
            .split(/[,;]/)
            .map((range) => range.replaceAll(/\s/g, '').replace('–', '-'))
            .filter((range) => range !== ''),
        );
      }}
      onBlur={() => setTyped(undefined)}
    />
  );
}
