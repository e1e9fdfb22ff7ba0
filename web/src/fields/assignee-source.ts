/** Choices for the assignee of a record: first the user, then those who solved similar records lately. */
import { type AnswerOf, call, send } from '../api/client.ts';
import type { objects, reports } from '../api/types.ts';
import { useSession } from '../app/session.ts';
import { useText } from '../i18n/text.ts';
import { namesOf } from './labels.ts';
import { type Choice, namedSource, type Source } from './pickers.tsx';
import { texts } from './texts.ts';

const MOST = 5;
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
  return new Map(counts.filter((one): one is [string, number] => typeof one[0] === 'string').slice(0, MOST));
}

export function useAssigneeSource(recordId: string | undefined): Source {
  const t = useText(texts);
  const { user } = useSession();
  if (recordId === undefined) return people;
  return {
    key: ['assignee', recordId],
    find: async (text, signal) => {
      if (text !== '') return await people.find(text, signal);
      // The suggestions are an addition: without them all users are offered.
      const [solvers, all] = await Promise.all([
        solversOf(recordId, signal).catch(() => new Map<string, number>()),
        people.find('', signal),
      ]);
      const suggested = [...solvers.keys()].filter((id) => id !== user.id);
      const names = await namesOf(suggested);
      const first: Choice[] = [
        ...(user.id === null ? [] : [{ id: user.id, name: user.displayName, unit: t.me }]),
        ...suggested.map((id) => ({ id, name: names.get(id) ?? id, unit: t.solvedSimilar(solvers.get(id) ?? 0) })),
      ];
      return [...first, ...all.filter(({ id }) => !first.some((one) => one.id === id))];
    },
  };
}
