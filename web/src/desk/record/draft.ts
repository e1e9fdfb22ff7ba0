/**
 * Unsaved changes of a record. The draft keeps the revision of the first change. So the service detects conflicts, and changes
 * of others are never overwritten unseen.
 */
import { useQueryClient } from '@tanstack/react-query';
import { useMemo, useState } from 'react';
import { ApiFault, call } from '../../api/client.ts';
import type { DocketRecord, FieldSchema, HistoryEvent, objects } from '../../api/types.ts';
import { checkField, type Problem } from '../../fields/check.ts';
import { useText } from '../../i18n/text.ts';
import { invalidate, useAction } from '../../ui/action.ts';
import { newestHistoryQuery, recordKey, recordQuery } from '../queries.ts';
import { texts } from '../texts.ts';

/** The last change of a field since the draft's base. */
interface FieldChange {
  /** Absent if the user may not read the history. */
  at?: string;
  /** Null if unknown or the service itself. */
  actor: { id: string | null; displayName: string } | null;
}

export interface Conflict {
  /** The changed fields by code. */
  changed: ReadonlyMap<string, FieldChange>;
  /** The current record. */
  latest: DocketRecord;
}

type Values = Readonly<Record<string, unknown>>;

interface Draft {
  /** The record at the time of the first change. */
  base: DocketRecord | undefined;
  values: Values;
}

const NOTHING: Draft = { base: undefined, values: {} };

function same(a: unknown, b: unknown): boolean {
  return JSON.stringify(a ?? null) === JSON.stringify(b ?? null);
}

export interface RecordDraft {
  base: DocketRecord;
  values: Values;
  count: number;
  /** The value that would be saved. */
  value: (code: string) => unknown;
  has: (code: string) => boolean;
  set: (code: string, value: unknown) => void;
  /** Sets a chosen value and saves it at once, unless other changes wait to be saved. */
  pick: (code: string, value: unknown) => void;
  /** True while a chosen value is being saved. */
  picking: boolean;
  drop: () => void;
  problems: ReadonlyMap<string, Problem>;
  /** Error messages of the service per field, from the last save. */
  refusals: ReadonlyMap<string, string>;
  error: unknown;
  saving: boolean;
  save: () => void;
  conflict: Conflict | undefined;
  /** True if a newer revision than the edited one was loaded. */
  overtaken: boolean;
  /** Opens the conflict dialog with what changed since the draft's base. */
  showChanges: () => void;
  /** Saves the chosen values on the latest revision. */
  settle: (values: Values, latest: DocketRecord) => void;
  dismiss: () => void;
}

/**
 * The draft of `record`. Its changes are lost when the component unmounts.
 *
 * @param mayReadHistory if true, `showChanges` also says who changed the fields
 */
export function useRecordDraft(
  record: DocketRecord,
  fields: readonly FieldSchema[],
  mayReadHistory: boolean,
): RecordDraft {
  const [draft, setDraft] = useState<Draft>(NOTHING);
  const conflicts = useConflict(mayReadHistory);
  const base = draft.base ?? record;
  const problems = useMemo(() => problemsOf(fields, draft.values), [fields, draft.values]);
  const clear = (): void => {
    setDraft(NOTHING);
    conflicts.dismiss();
  };
  const { sending, forget, ...save } = useSave(record.id, (sent, now) => {
    setDraft((before) => withoutSaved(before, sent, now));
    conflicts.dismiss();
  });
  const attempt = (values: Values, revision: number): void =>
    save.mutate({ values, revision }, { onError: (error) => void conflicts.showRejected(record.id, error) });
  const count = Object.keys(draft.values).length;
  return {
    base,
    values: draft.values,
    count,
    value: (code) => (Object.hasOwn(draft.values, code) ? draft.values[code] : record.values[code]),
    has: (code) => Object.hasOwn(draft.values, code),
    set: (code, value) => {
      forget();
      setDraft((before) => withValue(before, record, code, value, sending));
    },
    pick: (code, value) => {
      const { base: on, values } = withValue(draft, record, code, value, sending);
      forget();
      setDraft((before) => withValue(before, record, code, value, sending));
      const alone = on !== undefined && Object.keys(values).length === 1 && problemsOf(fields, values).size === 0;
      if (alone && !save.isPending) attempt(values, on.revision);
    },
    picking: save.isPending && count === 1,
    drop: () => {
      forget();
      clear();
    },
    problems,
    refusals: refusalsOf(save.error),
    error: isConflict(save.error) ? undefined : save.error,
    saving: save.isPending,
    save: () => {
      if (problems.size === 0 && count > 0 && !save.isPending) attempt(draft.values, base.revision);
    },
    conflict: conflicts.conflict,
    overtaken: draft.base !== undefined && record.revision > draft.base.revision,
    showChanges: () => conflicts.showSince(base),
    settle: (values, now) => {
      if (Object.keys(values).length === 0) return clear();
      setDraft({ base: now, values });
      attempt(values, now.revision);
    },
    dismiss: conflicts.dismiss,
  };
}

/** Sends changes of a record; then calls `onSaved` with what was sent, and reloads all data of the record. */
function useSave(recordId: string, onSaved: (sent: Values, now: DocketRecord) => void) {
  const t = useText(texts);
  const client = useQueryClient();
  const save = useAction({
    run: ({ values, revision }: { values: Values; revision: number }) =>
      call<typeof objects.updateObject>('PATCH', `/objects/${recordId}`, {
        body: { expectedRevision: revision, changes: values },
      }),
    done: t.saved,
    quiet: true,
    after: async (saved, { values }) => {
      client.setQueryData(recordQuery(recordId).queryKey, saved);
      onSaved(values, saved);
      await invalidate(client, recordKey(recordId), ['records']);
    },
  });
  return {
    ...save,
    /** What is being saved now. */
    sending: save.isPending ? save.variables.values : {},
    /** Forgets the error of the last save. */
    forget: (): void => (save.isPending ? undefined : save.reset()),
  };
}

/** The content of the conflict dialog, after a rejected save or on request. */
function useConflict(mayReadHistory: boolean) {
  const client = useQueryClient();
  const [conflict, setConflict] = useState<Conflict>();
  const latestOf = (id: string) => client.fetchQuery({ ...recordQuery(id), staleTime: 0 });
  const since = useAction({
    run: async (base: DocketRecord) => {
      const [latest, events] = await Promise.all([
        latestOf(base.id),
        mayReadHistory ? client.fetchQuery({ ...newestHistoryQuery(base.id), staleTime: 0 }) : [],
      ]);
      return { changed: changesBetween(base, latest, events), latest };
    },
    after: setConflict,
  });
  return {
    conflict,
    dismiss: () => setConflict(undefined),
    /** If `error` is a conflict, loads the current record and opens the dialog with the changes that the error lists. */
    showRejected: async (id: string, error: unknown) => {
      if (isConflict(error)) setConflict({ changed: changedSince(error), latest: await latestOf(id) });
    },
    showSince: (base: DocketRecord) => since.mutate(base),
  };
}

/** `draft` with another value for one field; a value equal to the base is no change, unless the field is being saved. */
function withValue(draft: Draft, record: DocketRecord, code: string, value: unknown, sending: Values): Draft {
  const base = draft.base ?? record;
  const values = Object.fromEntries(Object.entries(draft.values).filter(([key]) => key !== code));
  if (Object.hasOwn(sending, code) || !same(base.values[code], value)) values[code] = value;
  return Object.keys(values).length === 0 ? NOTHING : { base, values };
}

/** What remains of `draft` after `sent` was saved: the values that were changed meanwhile. */
function withoutSaved(draft: Draft, sent: Values, now: DocketRecord): Draft {
  const open = Object.entries(draft.values).filter(
    ([code, value]) => !(Object.hasOwn(sent, code) && same(sent[code], value)) && !same(now.values[code], value),
  );
  return open.length === 0 ? NOTHING : { base: now, values: Object.fromEntries(open) };
}

function problemsOf(fields: readonly FieldSchema[], values: Values): ReadonlyMap<string, Problem> {
  const found = new Map<string, Problem>();
  for (const field of fields) {
    const problem = Object.hasOwn(values, field.code) ? checkField(field, values[field.code]) : undefined;
    if (problem !== undefined) found.set(field.code, problem);
  }
  return found;
}

function isConflict(error: unknown): error is ApiFault {
  return error instanceof ApiFault && error.code === 'REVISION_CONFLICT';
}

/** The fields whose values differ, with the last change of each from `events` (oldest first). */
function changesBetween(
  base: DocketRecord,
  latest: DocketRecord,
  events: readonly HistoryEvent[],
): Conflict['changed'] {
  const recent = events.filter(({ revision }) => revision !== null && revision > base.revision);
  const last = new Map(
    recent.flatMap(({ at, actor, changes }) => changes.map(({ field }) => [field, { at, actor }] as const)),
  );
  const codes = Object.keys({ ...base.values, ...latest.values });
  const changed = codes.filter((code) => !same(base.values[code], latest.values[code]));
  return new Map(changed.map((code) => [code, last.get(code) ?? { actor: null }]));
}

/** The changes that a rejected save lists. */
function changedSince({ details }: ApiFault): Conflict['changed'] {
  const listed = Array.isArray(details) ? undefined : details['changedSince'];
  return new Map(((listed ?? []) as (FieldChange & { field: string })[]).map((change) => [change.field, change]));
}

/** Error messages by field, from JSON Pointers such as `/changes/title` and `/values/tags/0`. */
export function refusalsOf(error: unknown): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  if (!(error instanceof ApiFault)) return found;
  for (const { path, message } of error.places) {
    const code = /^\/(?:changes|values)\/([^/]+)/.exec(path)?.[1];
    if (code !== undefined && !found.has(code)) found.set(code, message);
  }
  return found;
}
