/** Editor of conditions: a form and a JSON text of the same condition. */
import { ActionIcon, Button, Group, SegmentedControl, Select, Stack, Text, Textarea } from '@mantine/core';
import { IconPlus, IconX } from '@tabler/icons-react';
import { type ComponentType, useState } from 'react';
import { FieldInput } from '../fields/input.tsx';
import type { FieldInputProps } from '../fields/one-input.tsx';
import { useText } from '../i18n/text.ts';
import classes from './filters.module.css';
import {
  type Condition,
  type ConditionField,
  type ConditionGroup,
  isGroup,
  type Leaf,
  FILTER_LIMITS,
  type Operator,
  operatorsFor,
  parseCondition,
  valueFor,
} from './model.ts';
import { texts } from './texts.ts';
import { ValueInput, type Variables } from './value-input.tsx';

export interface ConditionEditorProps {
  value: Condition | undefined;
  onChange: (condition: Condition | undefined) => void;
  /** The fields that the condition may use. */
  fields: readonly ConditionField[];
  /** Which variables ($me, $myGroups and others) may be used as values: in queues and configuration, not in API calls. */
  variables?: Variables;
  /** The value input. In configuration, users and groups are entered by code. */
  input?: ComponentType<FieldInputProps>;
}

export function ConditionEditor(props: ConditionEditorProps) {
  const { value, onChange, fields, variables = false, input = FieldInput } = props;
  const t = useText(texts);
  const [view, setView] = useState('form');
  const root: ConditionGroup =
    value === undefined
      ? { logic: 'AND', conditions: [] }
      : isGroup(value)
        ? value
        : { logic: 'AND', conditions: [value] };
  const set = (group: ConditionGroup): void => onChange(group.conditions.length === 0 ? undefined : group);
  return (
    <Stack gap="xs">
      <SegmentedControl
        aria-label={t.text}
        value={view}
        onChange={setView}
        style={{ alignSelf: 'flex-end' }}
        data={[
          { value: 'form', label: t.asForm },
          { value: 'text', label: t.asText },
        ]}
      />
      {view === 'form' ? (
        <GroupForm group={root} onChange={set} fields={fields} variables={variables} input={input} depth={1} />
      ) : (
        <TextForm value={value} onChange={onChange} />
      )}
    </Stack>
  );
}

function TextForm({ value, onChange }: Pick<ConditionEditorProps, 'value' | 'onChange'>) {
  const t = useText(texts);
  const [typed, setTyped] = useState(() => (value === undefined ? '' : JSON.stringify(value, null, 2)));
  const wrong = typed.trim() !== '' && parseCondition(typed) === undefined;
  return (
    <Textarea
      aria-label={t.text}
      value={typed}
      onChange={(event) => {
        const text = event.currentTarget.value;
        setTyped(text);
        const condition = parseCondition(text);
        if (condition !== undefined || text.trim() === '') onChange(condition);
      }}
      error={wrong ? t.notACondition : undefined}
      autosize
      minRows={5}
      maxRows={18}
      spellCheck={false}
      styles={{ input: { fontFamily: 'var(--mantine-font-family-monospace)' } }}
    />
  );
}

interface GroupFormProps {
  group: ConditionGroup;
  onChange: (group: ConditionGroup) => void;
  fields: readonly ConditionField[];
  variables: Variables;
  input: ComponentType<FieldInputProps>;
  depth: number;
}

function GroupForm({ group, onChange, fields, variables, input, depth }: GroupFormProps) {
  const t = useText(texts);
  const { conditions } = group;
  const set = (index: number, condition: Condition): void =>
    onChange({ ...group, conditions: conditions.with(index, condition) });
  const remove = (index: number): void => onChange({ ...group, conditions: conditions.toSpliced(index, 1) });
  return (
    <div className={classes.group} data-depth={depth}>
      {conditions.length > 1 && <LogicChoice group={group} onChange={onChange} />}
      {conditions.length === 0 && (
        <Text size="sm" c="dimmed">
          {t.none}
        </Text>
      )}
      {conditions.map((condition, index) => (
        // Conditions have no id; only the index identifies them.
        // oxlint-disable-next-line react/no-array-index-key
        <div key={index} className={classes.line}>
          <div className={classes.condition}>
            {isGroup(condition) ? (
              <GroupForm
                group={condition}
                onChange={(next) => (next.conditions.length === 0 ? remove(index) : set(index, next))}
                fields={fields}
                variables={variables}
                input={input}
                depth={depth + 1}
              />
            ) : (
              <LeafForm
                leaf={condition}
                onChange={(next) => set(index, next)}
                fields={fields}
                variables={variables}
                input={input}
              />
            )}
          </div>
          <ActionIcon aria-label={`${t.remove} ${index + 1}`} onClick={() => remove(index)} mt={4}>
            <IconX size={14} />
          </ActionIcon>
        </div>
      ))}
      <AddButtons onChange={onChange} group={group} conditions={conditions} fields={fields} depth={depth} />
    </div>
  );
}

interface AddButtonsProps {
  onChange: (group: ConditionGroup) => void;
  group: ConditionGroup;
  conditions: Condition[];
  fields: readonly ConditionField[];
  depth: number;
}

/** Adds a condition or a nested group. */
function AddButtons({ onChange, group, conditions, fields, depth }: AddButtonsProps) {
  const t = useText(texts);
  const add = (condition: Condition): void => onChange({ ...group, conditions: [...conditions, condition] });
  const first = fields[0];
  const blank = (): Leaf => {
    const operator = operatorsFor(first?.dataType ?? 'string')[0] ?? 'equals';
    return { field: first?.code ?? '', operator, value: valueFor(operator, null) };
  };
  return (
    <Group gap="xs">
      <Button
        size="compact-xs"
        variant="light"
        leftSection={<IconPlus size={12} />}
        disabled={conditions.length >= FILTER_LIMITS.groupConditions || first === undefined}
        onClick={() => add(blank())}
      >
        {t.add}
      </Button>
      {depth < FILTER_LIMITS.depth && (
        <Button
          size="compact-xs"
          variant="subtle"
          leftSection={<IconPlus size={12} />}
          disabled={conditions.length >= FILTER_LIMITS.groupConditions || first === undefined}
          onClick={() => add({ logic: group.logic === 'AND' ? 'OR' : 'AND', conditions: [blank()] })}
        >
          {t.addGroup}
        </Button>
      )}
    </Group>
  );
}

function LogicChoice({ group, onChange }: { group: ConditionGroup; onChange: (group: ConditionGroup) => void }) {
  const t = useText(texts);
  return (
    <SegmentedControl
      aria-label={t.logic}
      value={group.logic}
      onChange={(logic) => onChange({ ...group, logic: logic as ConditionGroup['logic'] })}
      data={[
        { value: 'AND', label: t.all },
        { value: 'OR', label: t.any },
      ]}
    />
  );
}

interface LeafFormProps {
  leaf: Leaf;
  onChange: (leaf: Leaf) => void;
  fields: readonly ConditionField[];
  variables: Variables;
  input: ComponentType<FieldInputProps>;
}

function LeafForm({ leaf, onChange, fields, variables, input }: LeafFormProps) {
  const t = useText(texts);
  const field = fields.find((one) => one.code === leaf.field);
  const operators = operatorsFor(field?.dataType ?? 'string');
  const shown = operators.includes(leaf.operator) ? operators : [...operators, leaf.operator];
  const known = fields.map((one) => ({ value: one.code, label: one.name }));
  const chooseField = (code: string | null): void => {
    const next = fields.find((one) => one.code === code);
    if (next === undefined) return;
    const operator = operatorsFor(next.dataType)[0] ?? 'equals';
    onChange({ field: next.code, operator, value: valueFor(operator, null) });
  };
  return (
    <div className={classes.leaf}>
      <Select
        aria-label={t.field}
        data={field === undefined && leaf.field !== '' ? [...known, { value: leaf.field, label: leaf.field }] : known}
        value={leaf.field}
        onChange={chooseField}
        searchable
        allowDeselect={false}
      />
      <Select
        aria-label={t.operator}
        data={shown.map((operator) => ({ value: operator, label: t[operator] }))}
        value={leaf.operator}
        onChange={(operator) =>
          operator !== null &&
          onChange({ ...leaf, operator: operator as Operator, value: valueFor(operator as Operator, leaf.value) })
        }
        allowDeselect={false}
      />
      <ValueInput
        key={`${leaf.field} ${leaf.operator}`}
        leaf={leaf}
        field={field}
        variables={variables}
        input={input}
        onChange={(value) => onChange({ ...leaf, value })}
      />
    </div>
  );
}
