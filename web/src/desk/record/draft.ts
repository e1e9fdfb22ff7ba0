/**
 * Unsaved changes of a record. The draft keeps the revision of the first change. So the service detects conflicts, and changes
 * of others are never overwritten unseen.
 */
import { useQueryClient } from '@tanstack/react-query';
import { useMemo, useState } from 'react';
import { ApiFault, call } from '../../api/client.ts';
import type { DocketRecord, FieldSchema, objects } from '../../api/types.ts';
import { checkField, type Problem } from '../../fields/check.ts';
import { useText } from '../../i18n/text.ts';
import { useAction } from '../../ui/action.ts';
import { recordKey, recordQuery } from '../queries.ts';
import { texts } from '../texts.ts';

export interface ChangedSince {
  field: string;
  at: string;
  actor: { id: string | null; displayName: string };
}

export interface Conflict {
  changed: ChangedSince[];
  /** The current record. */
  latest: DocketRecord;
}

interface Draft {
  /** The record at the time of the first change. */
  base: DocketRecord | undefined;
  values: Readonly<Record<string, unknown>>;
}

const NOTHING: Draft = { base: undefined, values: {} };

function same(a: unknown, b: unknown): boolean {
  return JSON.stringify(a ?? null) === JSON.stringify(b ?? null);
}

export interface RecordDraft {
  base: DocketRecord;
  values: Readonly<Record<string, unknown>>;
  count: number;
  /** The value that would be saved. */
  value: (code: string) => unknown;
  has: (code: string) => boolean;
  set: (code: string, value: unknown) => void;
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
  look: () => void;
  /** Saves the chosen values on the latest revision. */
  settle: (values: Readonly<Record<string, unknown>>, latest: DocketRecord) => void;
  dismiss: () => void;
}

export function useRecordDraft(record: DocketRecord, fields: readonly FieldSchema[]): RecordDraft {
  const t = useText(texts);
  const client = useQueryClient();
  const [draft, setDraft] = useState<Draft>(NOTHING);
  const [conflict, setConflict] = useState<Conflict>();
  const base = draft.base ?? record;
  const problems = useMemo(() => {
    const found = new Map<string, Problem>();
    for (const field of fields) {
      const problem = Object.hasOwn(draft.values, field.code) ? checkField(field, draft.values[field.code]) : undefined;
      if (problem !== undefined) found.set(field.code, problem);
    }
    return found;
  }, [fields, draft.values]);

  const show = async (fault: ApiFault): Promise<void> => {
    const latest = await client.fetchQuery({ ...recordQuery(record.id), staleTime: 0 });
    setConflict({ changed: changedSince(fault), latest });
  };
  const save = useAction({
    run: async ({ values, revision }: { values: Readonly<Record<string, unknown>>; revision: number }) =>
      await call<typeof objects.updateObject>('PATCH', `/objects/${record.id}`, {
        body: { expectedRevision: revision, changes: values },
      }),
    done: t.saved,
    quiet: true,
    after: async (saved) => {
      client.setQueryData(recordQuery(record.id).queryKey, saved);
      setDraft(NOTHING);
      setConflict(undefined);
      await Promise.all([
        client.invalidateQueries({ queryKey: recordKey(record.id) }),
        client.invalidateQueries({ queryKey: ['records'] }),
      ]);
    },
  });
  const attempt = (values: Readonly<Record<string, unknown>>, revision: number): void =>
    save.mutate(
      { values, revision },
      {
        onError: (error) => {
          if (error instanceof ApiFault && error.code === 'REVISION_CONFLICT') void show(error);
        },
      },
    );
  return {
    base,
    values: draft.values,
    count: Object.keys(draft.values).length,
    value: (code) => (Object.hasOwn(draft.values, code) ? draft.values[code] : record.values[code]),
    has: (code) => Object.hasOwn(draft.values, code),
    set: (code, value) => {
      save.reset();
      setDraft((before) => {
        const origin = before.base ?? record;
        const values = Object.fromEntries(Object.entries(before.values).filter(([key]) => key !== code));
        if (!same(origin.values[code], value)) values[code] = value;
        return Object.keys(values).length === 0 ? NOTHING : { base: origin, values };
      });
    },
    drop: () => {
      save.reset();
      setDraft(NOTHING);
      setConflict(undefined);
    },
    problems,
    refusals: refusalsOf(save.error),
    error: isConflict(save.error) ? undefined : save.error,
    saving: save.isPending,
    save: () => {
      if (problems.size === 0 && Object.keys(draft.values).length > 0) attempt(draft.values, base.revision);
    },
    conflict,
    overtaken: draft.base !== undefined && record.revision > draft.base.revision,
    look: () => {
      // A save with the old revision fails with the list of changes; it changes nothing.
      attempt(draft.values, base.revision);
    },
    settle: (values, now) => {
      if (Object.keys(values).length === 0) {
        setDraft(NOTHING);
        setConflict(undefined);
      } else {
        setDraft({ base: now, values });
        attempt(values, now.revision);
      }
    },
    dismiss: () => setConflict(undefined),
  };
}

function isConflict(error: unknown): boolean {
  return error instanceof ApiFault && error.code === 'REVISION_CONFLICT';
}

function changedSince(fault: ApiFault): ChangedSince[] {
  const { details } = fault;
  return Array.isArray(details) ? [] : ((details['changedSince'] as ChangedSince[] | undefined) ?? []);
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
