/** Forms of a record: the layout (long fields in the main column, short ones in the sidebar), and the values of a new record. */
import { useState } from 'react';
import type { FieldSchema } from '../../api/types.ts';
import { checkField, isEmpty } from '../../fields/check.ts';
import { layoutOf } from '../../fields/view.ts';
import { useProblemText } from '../../fields/use-problem-text.ts';

export interface Layout {
  title: FieldSchema | undefined;
  long: FieldSchema[];
  short: FieldSchema[];
}

export function recordLayout(fields: readonly FieldSchema[], titleField: string | null | undefined): Layout {
  const title = fields.find((field) => field.code === titleField);
  const rest = fields.filter((field) => field !== title);
  return {
    title,
    long: rest.filter((field) => layoutOf(field.dataType).long === true),
    short: rest.filter((field) => layoutOf(field.dataType).long !== true),
  };
}

export type NewValues = ReturnType<typeof useNewValues>;

/**
 * The values of a record that is about to be created. They start with the defaults. A problem is shown once the field was
 * changed or `check` was called.
 */
export function useNewValues(fields: readonly FieldSchema[]) {
  const problemText = useProblemText();
  const defaults = (): Record<string, unknown> =>
    Object.fromEntries(fields.flatMap((field) => (field.default === undefined ? [] : [[field.code, field.default]])));
  const [values, setValues] = useState(defaults);
  const [touched, setTouched] = useState<ReadonlySet<string>>(new Set());
  const [checked, setChecked] = useState(false);
  const problems = new Map(fields.map((field) => [field.code, checkField(field, values[field.code])]));
  return {
    value: (code: string): unknown => values[code] ?? null,
    set: (code: string, value: unknown): void => {
      setValues((before) => ({ ...before, [code]: value }));
      setTouched((before) => new Set([...before, code]));
    },
    /** The values to send: those that are not empty. */
    given: Object.fromEntries(Object.entries(values).filter(([, value]) => !isEmpty(value))),
    /** Shows all problems. Returns true if there are none. */
    check: (): boolean => {
      setChecked(true);
      return [...problems.values()].every((problem) => problem === undefined);
    },
    /** The problem to show at a field; `rejected` holds those that the service found. */
    error: (code: string, rejected: ReadonlyMap<string, string>): string | undefined =>
      (checked || touched.has(code) ? problemText(problems.get(code)) : undefined) ?? rejected.get(code),
    reset: (): void => {
      setValues(defaults());
      setTouched(new Set());
      setChecked(false);
    },
  };
}
