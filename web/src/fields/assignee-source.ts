/**
 * Choices of users for a field. The service offers for an assignee only those who can work on the record; here they are sorted:
 * first the user, then those who solved similar records lately.
 */
import { type AnswerOf, call, send } from '../api/client.ts';
import type { desk, FieldSchema, objects, reports } from '../api/types.ts';
import { useSession } from '../app/session.ts';
import { useText } from '../i18n/text.ts';
import type { FieldOwner } from './one-input.tsx';
import { type Choice, namedSource, type Source } from './pickers.tsx';
import { texts } from './texts.ts';

const MAX = 5;
/** Records done within these days count. */
const DAYS = 90;
/** Fields that make records similar, beside the type. */
const SIMILAR = ['assignmentGroup', 'category'];

const people = namedSource('user');

/** User id → number of similar records that they solved, most first. Empty if the record has neither group nor category. */
async function solversOf(recordId: string, signal: AbortSignal): Promise<Map<string, number>> {
  const record = await call<typeof objects.getObject>('GET', `/objects/${recordId}`, { signal });
  const same: { field: string; operator: string; value: unknown }[] = SIMILAR.filter(
    (field) => typeof record.values[field] === 'string',
  ).map((field) => ({
    field,
    operator: 'equals',
    value: record.values[field],
  }));
  if (same.length === 0) return new Map();
  const done = { field: 'workflowCategory', operator: 'equals', value: 'done' };
  const { rows } = (await send('POST', '/reports/query', {
    body: {
      types: [record.typeCode],
      measures: ['count'],
      groupBy: ['assignee'],
      filter: { logic: 'AND', conditions: [...same, done] },
      period: { of: 'doneAt', lastDays: DAYS },
    },
    signal,
  })) as AnswerOf<typeof reports.queryReport>;
  const counts = rows.map(({ group, values }) => [group[0], values[0] ?? 0] as const);
  return new Map(counts.filter((one): one is [string, number] => typeof one[0] === 'string').slice(0, MAX));
}

export function usePeopleSource(place: FieldOwner | null, { code, multiple }: FieldSchema): Source {
  const t = useText(texts);
  const { user } = useSession();
  if (place === null) return people;
  const find = (query: { q?: string; ids?: string }, signal: AbortSignal): Promise<Choice[]> =>
    call<typeof desk.lookUp>('GET', '/desk/lookup', {
      query: { kind: 'user', ...place, field: code, ...query },
      signal,
    });
  return {
    key: ['user', place, code],
    find: async (q, signal) => {
      if (q !== '' || code !== 'assignee' || multiple || !('objectId' in place)) return await find({ q }, signal);
      // The suggestions are an addition: without them all users are offered.
      const [solvers, all] = await Promise.all([
        solversOf(place.objectId, signal).catch(() => new Map<string, number>()),
        find({ q }, signal),
      ]);
      const suggested = [...new Set([...(user.id === null ? [] : [user.id]), ...solvers.keys()])];
      const able = suggested.length === 0 ? [] : await find({ ids: suggested.join() }, signal);
      const first = suggested.flatMap((id): Choice[] => {
        const name = able.find((one) => one.id === id)?.name;
        if (name === undefined) return [];
        return [{ id, name, unit: id === user.id ? t.me : t.solvedSimilar(solvers.get(id) ?? 0) }];
      });
      return [...first, ...all.filter(({ id }) => !first.some((one) => one.id === id))];
    },
  };
}
