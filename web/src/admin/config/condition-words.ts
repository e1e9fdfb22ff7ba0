/** Describes a condition in one line, with names of fields and options where known. */
import { type Condition, type ConditionField, isGroup, valueForm } from '../../filters/model.ts';
import { texts as filterTexts } from '../../filters/texts.ts';
import { useText } from '../../i18n/text.ts';
import { texts } from './texts.ts';

const VARIABLES = {
  $me: 'me',
  $myGroups: 'myGroups',
  $myOrgUnit: 'myOrgUnit',
  $myOrgUnits: 'myOrgUnits',
  $today: 'today',
  $now: 'now',
} as const;

export function useConditionWords(fields: readonly ConditionField[]): (condition: unknown) => string {
  const words = useText(filterTexts);
  const t = useText(texts);
  const byCode = new Map(fields.map((field) => [field.code, field]));
  const one = (value: unknown, field: ConditionField | undefined): string => {
    if (typeof value === 'string' && Object.hasOwn(VARIABLES, value)) {
      return words[VARIABLES[value as keyof typeof VARIABLES]].toLowerCase();
    }
    return field?.constraints.options?.find(({ code }) => code === value)?.name ?? String(value ?? '…');
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
