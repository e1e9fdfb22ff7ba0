/** A workflow as a form: its states and its transitions in two tables. What a table cannot say stands in the text. */
import {
  ActionIcon,
  Button,
  Group,
  MultiSelect,
  Select,
  SimpleGrid,
  Stack,
  Text,
  TextInput,
  Title,
} from '@mantine/core';
import { IconPlus, IconTrash } from '@tabler/icons-react';
import type { ReactNode } from 'react';
import { useLanguage } from '../../i18n/language.ts';
import { useText } from '../../i18n/text.ts';
import { CodeInput, NameInputs, textAt } from '../config/form-parts.tsx';
import type { ItemFormProps } from '../config/item-editor.tsx';
import { nameIn } from '../config/yaml-text.ts';
import { sourcesOf, type StateItem, statesOf, type TransitionItem, transitionsOf } from './model.ts';
import { texts } from './texts.ts';
import classes from './workflow-form.module.css';

function freeCode(stem: string, taken: readonly { code: string }[]): string {
  for (let number = 1; ; number++) {
    const code = `${stem}-${number}`;
    if (!taken.some((one) => one.code === code)) return code;
  }
}

/** A name with one language changed; one that was the same in all becomes one for each. */
function renamed(name: unknown, language: string, text: string): unknown {
  const names = typeof name === 'object' && name !== null ? { ...name } : {};
  return { ...names, [language]: text };
}

export function WorkflowForm(props: ItemFormProps) {
  const { item, set } = props;
  const t = useText(texts);
  const language = useLanguage();
  const states = statesOf(item);
  const transitions = transitionsOf(item);
  const choices = states.map(({ code, name }) => ({ value: code, label: nameIn(name, language) || code }));
  return (
    <Stack gap="sm">
      <SimpleGrid cols={{ base: 1, xs: 2 }} spacing="sm">
        <CodeInput {...props} />
        <Select
          label={t.initial}
          data={choices}
          value={textAt(item, ['initial']) || null}
          allowDeselect={false}
          onChange={(value) => set(['initial'], value)}
        />
      </SimpleGrid>
      <NameInputs item={item} set={set} />
      <Head
        title={t.states}
        add={t.addState}
        onAdd={() => set(['states'], [...states, { code: freeCode('state', states), category: 'open' }])}
      />
      <Table label={t.states} columns={[t.name, t.code, t.category]}>
        {states.map((state, index) => (
          <StateRow
            // oxlint-disable-next-line react/no-array-index-key
            key={index}
            state={state}
            set={(key, value) => set(['states', index, key], value)}
            remove={() => set(['states'], states.toSpliced(index, 1))}
          />
        ))}
      </Table>
      <Head
        title={t.transitions}
        add={t.addTransition}
        onAdd={() => {
          const from = states[0]?.code ?? '';
          const code = freeCode('transition', transitions);
          set(['transitions'], [...transitions, { code, from: [from], to: states.at(-1)?.code ?? from }]);
        }}
      />
      <Table label={t.transitions} columns={[t.name, t.code, t.from, t.to, t.fields]}>
        {transitions.map((transition, index) => (
          <TransitionRow
            // oxlint-disable-next-line react/no-array-index-key
            key={index}
            transition={transition}
            choices={choices}
            set={(key, value) => set(['transitions', index, key], value)}
            remove={() => set(['transitions'], transitions.toSpliced(index, 1))}
          />
        ))}
      </Table>
      <Text size="xs" c="dimmed">
        {t.inText}
      </Text>
    </Stack>
  );
}

function Head({ title, add, onAdd }: { title: string; add: string; onAdd: () => void }) {
  return (
    <Group justify="space-between" mt="xs">
      <Title order={3}>{title}</Title>
      <Button variant="default" leftSection={<IconPlus size={14} />} onClick={onAdd}>
        {add}
      </Button>
    </Group>
  );
}

function Table({ label, columns, children }: { label: string; columns: readonly string[]; children: ReactNode }) {
  return (
    <div className={classes.scroll} tabIndex={0} role="group" aria-label={label}>
      <table className={classes.table} aria-label={label}>
        <thead>
          <tr>
            {columns.map((column) => (
              <th key={column} scope="col">
                {column}
              </th>
            ))}
            <td />
          </tr>
        </thead>
        <tbody>{children}</tbody>
      </table>
    </div>
  );
}

interface StateRowProps {
  state: StateItem;
  set: (key: string, value: unknown) => void;
  remove: () => void;
}

function StateRow({ state, set, remove }: StateRowProps) {
  const t = useText(texts);
  const language = useLanguage();
  return (
    <tr>
      <td>
        <TextInput
          aria-label={t.of(t.name, state.code)}
          value={nameIn(state.name, language)}
          placeholder={state.code}
          onChange={(event) => set('name', renamed(state.name, language, event.currentTarget.value))}
        />
      </td>
      <td>
        <TextInput
          aria-label={t.of(t.code, state.code)}
          value={state.code}
          onChange={(event) => set('code', event.currentTarget.value)}
        />
      </td>
      <td>
        <Select
          aria-label={t.of(t.category, state.code)}
          data={(['open', 'waiting', 'done'] as const).map((value) => ({ value, label: t[value] }))}
          value={state.category}
          allowDeselect={false}
          onChange={(value) => set('category', value)}
        />
      </td>
      <td>
        <ActionIcon aria-label={t.removeState(state.code)} onClick={remove}>
          <IconTrash size={16} />
        </ActionIcon>
      </td>
    </tr>
  );
}

interface TransitionRowProps {
  transition: TransitionItem;
  choices: { value: string; label: string }[];
  set: (key: string, value: unknown) => void;
  remove: () => void;
}

function TransitionRow({ transition, choices, set, remove }: TransitionRowProps) {
  const t = useText(texts);
  const language = useLanguage();
  const { code } = transition;
  const any = { value: '*', label: t.fromAny };
  const parts = [
    ...(transition.fields ?? []).map((field) => (field.required === true ? `${field.code} *` : field.code)),
    ...(transition.condition === undefined ? [] : [t.condition.toLowerCase()]),
    ...(transition.set === undefined ? [] : [`${t.sets.toLowerCase()}: ${Object.keys(transition.set).join(', ')}`]),
  ];
  return (
    <tr>
      <td>
        <TextInput
          aria-label={t.of(t.name, code)}
          value={nameIn(transition.name, language)}
          placeholder={code}
          onChange={(event) => set('name', renamed(transition.name, language, event.currentTarget.value))}
        />
      </td>
      <td>
        <TextInput
          aria-label={t.of(t.code, code)}
          value={code}
          onChange={(event) => set('code', event.currentTarget.value)}
        />
      </td>
      <td className={classes.wide}>
        <MultiSelect
          aria-label={t.of(t.from, code)}
          data={[any, ...choices]}
          value={transition.from === '*' ? ['*'] : [...sourcesOf(transition)]}
          onChange={(values) => set('from', values.at(-1) === '*' ? '*' : values.filter((value) => value !== '*'))}
        />
      </td>
      <td>
        <Select
          aria-label={t.of(t.to, code)}
          data={choices}
          value={transition.to}
          allowDeselect={false}
          onChange={(value) => set('to', value)}
        />
      </td>
      <td className={classes.parts}>{parts.join(' · ')}</td>
      <td>
        <ActionIcon aria-label={t.removeTransition(code)} onClick={remove}>
          <IconTrash size={16} />
        </ActionIcon>
      </td>
    </tr>
  );
}
