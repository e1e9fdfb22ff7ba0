/** A condition in a configuration form: a summary line that opens for editing. */
import { Button, Input } from '@mantine/core';
import { IconFilterPlus, IconPencil, IconX } from '@tabler/icons-react';
import { useState } from 'react';
import { labelText, useLabels } from '../../fields/labels.ts';
import { ConditionEditor } from '../../filters/condition-editor.tsx';
import { type Condition, type ConditionField, isGroup, valueForm } from '../../filters/model.ts';
import { texts as filterTexts } from '../../filters/texts.ts';
import { useText } from '../../i18n/text.ts';
import classes from './form-parts.module.css';
import { CodedInput } from './form-parts.tsx';
import { texts } from './texts.ts';

interface ConditionPartProps {
  label: string;
  /** Text shown if there is no condition. */
  none: string;
  value: unknown;
  onChange: (condition: unknown) => void;
  fields: readonly ConditionField[];
  /** True if the condition may be omitted. */
  optional?: boolean;
}

/** Replaces a group of one condition by that condition, so that its text stays short. */
function plain(condition: Condition | undefined): Condition | undefined {
  if (condition === undefined || !isGroup(condition) || condition.conditions.length !== 1) return condition;
  return condition.conditions[0];
}

export function ConditionPart({ label, none, value, onChange, fields, optional = true }: ConditionPartProps) {
  const t = useText(texts);
  const words = useConditionWords(fields, value);
  const [open, setOpen] = useState(false);
  const present = typeof value === 'object' && value !== null;
  return (
    <Input.Wrapper label={label} labelElement="div" size="xs">
      <div className={classes.condition}>
        <span data-none={!present || undefined}>{present ? words(value) : none}</span>
        <Button
          size="compact-xs"
          variant="subtle"
          leftSection={present ? <IconPencil size={12} /> : <IconFilterPlus size={12} />}
          aria-expanded={open}
          aria-label={`${open ? t.fold : present ? t.edit : t.addCondition}: ${label}`}
          onClick={() => setOpen(!open)}
        >
          {open ? t.fold : present ? t.edit : t.addCondition}
        </Button>
        {present && optional && (
          <Button
            size="compact-xs"
            variant="subtle"
            color="gray"
            leftSection={<IconX size={12} />}
            aria-label={`${t.takeOut}: ${label}`}
            onClick={() => {
              setOpen(false);
              onChange(undefined);
            }}
          >
            {t.takeOut}
          </Button>
        )}
      </div>
      {open && (
        <div className={classes.conditionForm}>
          <ConditionEditor
            value={present ? (value as Condition) : undefined}
            onChange={(condition) => onChange(plain(condition))}
            fields={fields}
            variables="configuration"
            input={CodedInput}
          />
        </div>
      )}
    </Input.Wrapper>
  );
}

const VARIABLES = {
  $me: 'me',
  $myGroups: 'myGroups',
  $myOrgUnit: 'myOrgUnit',
  $myOrgUnits: 'myOrgUnits',
  $today: 'today',
  $now: 'now',
} as const;

const ID = /\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b/g;

/** @param used the conditions that will be said, for the names of records in them */
export function useConditionWords(fields: readonly ConditionField[], used: unknown): (condition: unknown) => string {
  const labels = useLabels(JSON.stringify(used)?.match(ID) ?? []);
  const words = useText(filterTexts);
  const t = useText(texts);
  const byCode = new Map(fields.map((field) => [field.code, field]));
  const one = (value: unknown, field: ConditionField | undefined): string => {
    if (typeof value === 'string' && Object.hasOwn(VARIABLES, value)) {
      return words[VARIABLES[value as keyof typeof VARIABLES]].toLowerCase();
    }
    const option = field?.constraints.options?.find(({ code }) => code === value)?.name;
    return option ?? labelText(labels.get(String(value))) ?? String(value ?? '…');
  };
  const say = (condition: Condition, inner: boolean): string => {
    if (isGroup(condition)) {
      const said = condition.conditions.map((part) => say(part, true)).join(condition.logic === 'OR' ? t.or : t.and);
      return inner && condition.conditions.length > 1 ? `(${said})` : said;
    }
    const field = byCode.get(condition.field);
    const name = field?.name ?? condition.field;
    if (valueForm(condition.operator) === 'flag') {
      return `${name}: ${condition.value === false ? words.filled : words.empty}`;
    }
    const value = Array.isArray(condition.value)
      ? condition.value.map((element) => one(element, field)).join(', ')
      : one(condition.value, field);
    return `${name} ${words[condition.operator] ?? condition.operator} ${value}`;
  };
  return (condition) => {
    try {
      return typeof condition === 'object' && condition !== null ? say(condition as Condition, false) : '';
    } catch {
      // An incomplete condition, as typed in the text.
      return JSON.stringify(condition);
    }
  };
}
