/** The form of a transition: its fields, and the values with which it starts. */
import type { FieldSchema, Transition } from '../../api/types.ts';
import { isEmpty } from '../../fields/check.ts';
import { typeOf } from '../../fields/view.ts';

/** Converts a transition field to a form field. */
export function transitionField(
  field: Transition['fields'][number],
  remarks: { reason: string; decisionReport: string },
): FieldSchema {
  const own =
    field.code === '$reason' ? remarks.reason : field.code === '$decisionReport' ? remarks.decisionReport : field.name;
  return {
    code: field.code,
    name: own,
    dataType: field.dataType as FieldSchema['dataType'],
    required: field.required,
    readOnly: field.readOnly ?? false,
    multiple: field.multiple ?? false,
    constraints: (field.constraints ?? {}) as FieldSchema['constraints'],
  };
}

/** The values with which the form starts: a required assignee is the user, a required choice its first option. */
export function startingValues(
  { fields }: Transition,
  values: Readonly<Record<string, unknown>>,
  userId: string | null,
): Record<string, unknown> {
  const entries = fields.map((field): [string, unknown] => {
    const { code, dataType, required, multiple, constraints } = field;
    if (!required || !isEmpty(values[code])) return [code, null];
    if (code === 'assignee' && dataType === 'user' && multiple !== true) return [code, userId];
    const options = (constraints as FieldSchema['constraints'] | undefined)?.options ?? [];
    return [code, dataType === 'enum' && multiple !== true ? (options[0]?.code ?? null) : null];
  });
  return Object.fromEntries(entries.filter(([, value]) => value !== null));
}

/** True if the form only asks who works on the record, and that is known: the transition needs no dialog. */
export function isObvious(
  { fields }: Transition,
  values: Readonly<Record<string, unknown>>,
  start: Readonly<Record<string, unknown>>,
): boolean {
  return fields.every(
    ({ code, dataType, required }) =>
      ['users', 'groups'].includes(typeOf(dataType).refersTo ?? '') &&
      (!required || !isEmpty(values[code]) || !isEmpty(start[code])),
  );
}
