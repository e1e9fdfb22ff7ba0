/** Forms of a record: the layout (long fields in the main column, short ones in the sidebar), and the values of a new record. */
import { useState } from 'react';
import type { FieldSchema } from '../../api/types.ts';
import { checkField, isEmpty } from '../../fields/check.ts';
import { layoutOf } from '../../fields/view.ts';
import type { DeviceDraft } from '../../ui/device-draft.ts';
import { useProblemText } from '../../fields/use-problem-text.ts';
import type { DeskType } from '../queries.ts';

export interface FieldGroup {
  name: string | null;
  columns: number;
  fields: FieldSchema[];
}

export interface Layout {
  title: FieldSchema | undefined;
  long: FieldSchema[];
  short: FieldSchema[];
  /** The short fields in the sections of the type's layout. */
  groups: FieldGroup[];
}

export function isLong(field: FieldSchema): boolean {
  return layoutOf(field.dataType).long === true;
}

/** The fields in the sections of the type's layout. Fields in no section form the last group. Empty groups are left out. */
export function groupsOf(fields: readonly FieldSchema[], sections: DeskType['layout'] = []): FieldGroup[] {
  const byCode = new Map(fields.map((field) => [field.code, field]));
  const placed = new Set(sections.flatMap((section) => section.fields));
  const groups = sections.map((section) => ({
    ...section,
    fields: section.fields.flatMap((code) => byCode.get(code) ?? []),
  }));
  const others = { name: null, columns: 1, fields: fields.filter(({ code }) => !placed.has(code)) };
  return [...groups, others].filter((group) => group.fields.length > 0);
}

/** What a form needs to know of the type. */
export type FormType = Pick<DeskType, 'layout' | 'titleField'>;

export function recordLayout(fields: readonly FieldSchema[], type: FormType | undefined): Layout {
  const title = fields.find((field) => field.code === type?.titleField);
  const rest = fields.filter((field) => field !== title);
  const short = rest.filter((field) => !isLong(field));
  return {
    title,
    long: groupsOf(rest.filter(isLong), type?.layout).flatMap((group) => group.fields),
    short,
    groups: groupsOf(short, type?.layout),
  };
}

export type NewValues = ReturnType<typeof useNewValues>;

/**
 * The values of a record that is about to be created. They start with the defaults and the draft on this device. A problem is shown once the field was
 * changed or `check` was called.
 */
export function useNewValues(fields: readonly FieldSchema[], draft?: DeviceDraft<Record<string, unknown>>) {
  const problemText = useProblemText();
  const defaults = (): Record<string, unknown> =>
    Object.fromEntries(fields.flatMap((field) => (field.default === undefined ? [] : [[field.code, field.default]])));
  const [kept] = useState(() => draft?.read());
  const [values, setValues] = useState(() => ({ ...defaults(), ...kept }));
  const [restored, setRestored] = useState(kept !== undefined);
  const [touched, setTouched] = useState<ReadonlySet<string>>(new Set());
  const [checked, setChecked] = useState(false);
  const problems = new Map(fields.map((field) => [field.code, checkField(field, values[field.code])]));
  return {
    value: (code: string): unknown => values[code] ?? null,
    /** True while a draft of an earlier visit is shown. */
    restored,
    set: (code: string, value: unknown): void => {
      draft?.keep({ ...values, [code]: value });
      setValues((before) => ({ ...before, [code]: value }));
      setTouched((before) => new Set([...before, code]));
    },
    /** The values to send: those that are not empty. */
    given: Object.fromEntries(Object.entries(values).filter(([, value]) => !isEmpty(value))),
    /** True if no value has a problem. */
    isComplete: [...problems.values()].every((problem) => problem === undefined),
    /** Shows all problems. Returns true if there are none. */
    check: (): boolean => {
      setChecked(true);
      return [...problems.values()].every((problem) => problem === undefined);
    },
    /** The problem to show at a field; `rejected` holds those that the service found. */
    error: (code: string, rejected: ReadonlyMap<string, string>): string | undefined =>
      (checked || touched.has(code) ? problemText(problems.get(code)) : undefined) ?? rejected.get(code),
    /** Starts again with the defaults and removes the draft. */
    reset: (): void => {
      draft?.keep(undefined);
      setRestored(false);
      setValues(defaults());
      setTouched(new Set());
      setChecked(false);
    },
  };
}
