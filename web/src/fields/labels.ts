/** Labels for ids in values. They are requested in batches of about two hundred and cached one by one. */
import { queryOptions, useQueries } from '@tanstack/react-query';
import { call } from '../api/client.ts';
import type { desk } from '../api/types.ts';
import type { Label } from '../desk/queries.ts';

const MAX = 200;

interface Waiting {
  ids: Map<string, ((label: Label | null) => void)[]>;
  failed: ((error: unknown) => void)[];
}

const state: { waiting: Waiting | undefined } = { waiting: undefined };

async function fetchAll({ ids, failed }: Waiting): Promise<void> {
  const all = [...ids.keys()];
  try {
    for (let start = 0; start < all.length; start += MAX) {
      const part = all.slice(start, start + MAX);
      const labels = await call<typeof desk.getLabels>('GET', '/desk/labels', { query: { ids: part.join(',') } });
      const byId = new Map(labels.map((label) => [label.id, label]));
      for (const id of part) for (const done of ids.get(id) ?? []) done(byId.get(id) ?? null);
    }
  } catch (error) {
    for (const fail of failed) fail(error);
  }
}

/** Combines all requests within a few milliseconds into one call. */
function load(id: string): Promise<Label | null> {
  return new Promise((resolve, reject) => {
    if (state.waiting === undefined) {
      const waiting: Waiting = { ids: new Map(), failed: [] };
      state.waiting = waiting;
      setTimeout(() => {
        state.waiting = undefined;
        void fetchAll(waiting);
      }, 4);
    }
    const { ids, failed } = state.waiting;
    ids.set(id, [...(ids.get(id) ?? []), resolve]);
    failed.push(reject);
  });
}

/** The label of an id; null if it does not exist or is not visible to the user. */
export const labelQuery = (id: string) =>
  queryOptions({ queryKey: ['label', id], queryFn: () => load(id), staleTime: 5 * 60_000 });

/** Names by id, in the language of the console. Ids that the user may not see are omitted. */
export async function namesOf(ids: readonly string[]): Promise<ReadonlyMap<string, string>> {
  const labels = await Promise.all(ids.map(load));
  return new Map(labels.flatMap((label) => (label === null ? [] : [[label.id, label.name ?? '']])));
}

/** Labels by id, as far as they are loaded. */
export function useLabels(ids: readonly string[]): ReadonlyMap<string, Label | null> {
  const unique = [...new Set(ids)];
  return useQueries({
    queries: unique.map((id) => labelQuery(id)),
    combine: (results) =>
      new Map(results.flatMap(({ data }, index) => (data === undefined ? [] : [[unique[index] as string, data]]))),
  });
}

/** The text of a label; for a record, its number and title. */
export function labelText(label: Label | null | undefined): string | undefined {
  if (label === null || label === undefined) return undefined;
  const parts = [label.number, label.name].filter((part) => part !== null && part !== undefined && part !== '');
  return parts.length === 0 ? undefined : parts.join(' · ');
}
