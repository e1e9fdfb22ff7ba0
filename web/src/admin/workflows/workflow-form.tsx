/** Form of a workflow: tables of states and transitions; a transition opens for details. */
import { ActionIcon, MultiSelect, Select, SimpleGrid, Stack } from '@mantine/core';
import { IconChevronRight, IconTrash } from '@tabler/icons-react';
import { useContext, useState } from 'react';
import { useLanguage } from '../../i18n/language.ts';
import { useText } from '../../i18n/text.ts';
import { freeCode } from '../config/block.tsx';
import { CodeInput, LocalizedName, NameInputs, textAt } from '../config/form-parts.tsx';
import type { ItemFormProps } from '../config/item-editor.tsx';
import { EditedItem, PartCode } from '../config/part-code.tsx';
import { LinesHead, LinesTable } from '../config/lines-table.tsx';
import { type TypeShape, useTypeShape, useTypesOfWorkflow } from '../config/type-shape.ts';
import { nameIn } from '../config/yaml-text.ts';
import { sourcesOf, type StateItem, statesOf, type TransitionItem, transitionsOf } from './model.ts';
import { texts } from './texts.ts';
import { TransitionDetails, useTransitionDetails } from './transition-details.tsx';
import classes from './workflow-form.module.css';

export function WorkflowForm(props: ItemFormProps) {
  const { item, set } = props;
  const t = useText(texts);
  const language = useLanguage();
  const states = statesOf(item);
  const transitions = transitionsOf(item);
  // The stored types name the workflow by its saved code.
  const { saved } = useContext(EditedItem);
  const shape = useTypeShape(useTypesOfWorkflow(textAt(saved, ['code'])));
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
      <StateList set={set} states={states} />
      <LinesHead
        title={t.transitions}
        add={t.addTransition}
        onAdd={() => {
          const from = states[0]?.code ?? '';
          const code = freeCode('transition', transitions);
          set(['transitions'], [...transitions, { code, from: [from], to: states.at(-1)?.code ?? from }]);
        }}
      />
      <LinesTable label={t.transitions} columns={[t.name, t.code, t.from, t.to, t.details]}>
        {transitions.map((transition, index) => (
          <TransitionRow
            // oxlint-disable-next-line react/no-array-index-key
            key={index}
            transition={transition}
            choices={choices}
            shape={shape}
            set={(key, value) => set(['transitions', index, key], value)}
            remove={() => set(['transitions'], transitions.toSpliced(index, 1))}
          />
        ))}
      </LinesTable>
    </Stack>
  );
}

function StateList({ set, states }: { set: ItemFormProps['set']; states: readonly StateItem[] }) {
  const t = useText(texts);
  return (
    <>
      <LinesHead
        title={t.states}
        add={t.addState}
        onAdd={() => set(['states'], [...states, { code: freeCode('state', states), category: 'open' }])}
      />
      <LinesTable label={t.states} columns={[t.name, t.code, t.category]}>
        {states.map((state, index) => (
          <StateRow
            // oxlint-disable-next-line react/no-array-index-key
            key={index}
            state={state}
            set={(key, value) => set(['states', index, key], value)}
            remove={() => set(['states'], states.toSpliced(index, 1))}
          />
        ))}
      </LinesTable>
    </>
  );
}

interface StateRowProps {
  state: StateItem;
  set: (key: string, value: unknown) => void;
  remove: () => void;
}

function StateRow({ state, set, remove }: StateRowProps) {
  const t = useText(texts);
  return (
    <tr>
      <td>
        <LocalizedName
          label={t.of(t.name, state.code)}
          code={state.code}
          name={state.name}
          onChange={(name) => set('name', name)}
        />
      </td>
      <td>
        <PartCode
          aria-label={t.of(t.code, state.code)}
          list={['states']}
          part={state}
          onChange={(code) => set('code', code)}
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
  /** The combined data of the types that use this workflow. */
  shape: TypeShape;
  set: (key: string, value: unknown) => void;
  remove: () => void;
}

function TransitionRow({ transition, choices, shape, set, remove }: TransitionRowProps) {
  const t = useText(texts);
  const { code } = transition;
  const any = { value: '*', label: t.fromAny };
  const [open, setOpen] = useState(false);
  return (
    <>
      <tr className={open ? classes.opened : undefined}>
        <td>
          <LocalizedName
            label={t.of(t.name, code)}
            code={code}
            name={transition.name}
            onChange={(name) => set('name', name)}
          />
        </td>
        <td>
          <PartCode
            aria-label={t.of(t.code, code)}
            list={['transitions']}
            part={transition}
            onChange={(next) => set('code', next)}
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
        <td className={classes.parts}>
          <DetailsToggle transition={transition} shape={shape} open={open} code={code} setOpen={setOpen} />
        </td>
        <td>
          <ActionIcon aria-label={t.removeTransition(code)} onClick={remove}>
            <IconTrash size={16} />
          </ActionIcon>
        </td>
      </tr>
      {open && (
        <tr>
          <td colSpan={6} className={classes.details}>
            <TransitionDetails transition={transition} shape={shape} set={set} />
          </td>
        </tr>
      )}
    </>
  );
}

interface DetailsToggleProps {
  transition: TransitionItem;
  shape: TypeShape;
  open: boolean;
  code: string;
  setOpen: (next: boolean) => void;
}

function DetailsToggle({ transition, shape, open, code, setOpen }: DetailsToggleProps) {
  const t = useText(texts);
  const details = useTransitionDetails(transition, shape);
  const said = details.length === 0 ? t.nothingMore : details.join(' · ');
  return (
    <button
      type="button"
      className={classes.more}
      aria-expanded={open}
      aria-label={`${t.of(t.details, code)}: ${said}`}
      onClick={() => setOpen(!open)}
    >
      <IconChevronRight size={13} />
      <span>{said}</span>
    </button>
  );
}
