/** Names for the ids in values: asked for together, some two hundred at a time, and kept each on its own. */
import { queryOptions, useQueries } from '@tanstack/react-query';
import { call } from '../api/client.ts';
import type { desk } from '../api/types.ts';
import type { Label } from '../desk/queries.ts';

const MOST = 200;

interface Waiting {
  ids: Map<string, ((label: Label | null) => void)[]>;
  failed: ((error: unknown) => void)[];
}

const state: { waiting: Waiting | undefined } = { waiting: undefined };

async function fetchAll({ ids, failed }: Waiting): Promise<void> {
  const all = [...ids.keys()];
  try {
    for (let start = 0; start < all.length; start += MOST) {
      const part = all.slice(start, start + MOST);
      const labels = await call<typeof desk.getLabels>('GET', '/desk/labels', { query: { ids: part.join(',') } });
      const byId = new Map(labels.map((label) => [label.id, label]));
      for (const id of part) for (const done of ids.get(id) ?? []) done(byId.get(id) ?? null);
    }
  } catch (error) {
    for (const fail of failed) fail(error);
  }
}

/** Whatever is asked for within the same moment travels in one call. */
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

/** The label of one id; null where it names nothing that the person may see. */
export const labelQuery = (id: string) =>
  queryOptions({ queryKey: ['label', id], queryFn: () => load(id), staleTime: 5 * 60_000 });

/** What the ids name, in the language of the console; left out is what the person may not see. */
export async function namesOf(ids: readonly string[]): Promise<ReadonlyMap<string, string>> {
  const labels = await Promise.all(ids.map(load));
  return new Map(labels.flatMap((label) => (label === null ? [] : [[label.id, label.name ?? '']])));
}

/** Labels by id, as far as they are known. */
export function useLabels(ids: readonly string[]): ReadonlyMap<string, Label | null> {
  const unique = [...new Set(ids)];
  return useQueries({
    queries: unique.map((id) => labelQuery(id)),
    combine: (results) =>
      new Map(results.flatMap(({ data }, index) => (data === undefined ? [] : [[unique[index] as string, data]]))),
  });
}

/** What a label reads as: a record by number and title. */
export function labelText(label: Label | null | undefined): string | undefined {
  if (label === null || label === undefined) return undefined;
  const parts = [label.number, label.name].filter((part) => part !== null && part !== undefined && part !== '');
  return parts.length === 0 ? undefined : parts.join(' · ');
}
