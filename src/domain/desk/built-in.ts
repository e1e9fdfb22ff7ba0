/**
 * Queues that every user has without saving them. Their conditions derive from the configuration: a queue is offered if some
 * type that the caller may read has the fields that it needs, and queues of groups if the caller is in a group.
 */
import { isFault } from '../../lib/fault.ts';
import type { Runner } from '../../platform/unit-of-work/binding.ts';
import type { ReadContext } from '../../platform/unit-of-work/context.ts';
import { registry } from '../metadata/index.ts';
import { readScope } from '../objects/index.ts';
import { filterOnRecords, withinBudget } from '../search/index.ts';
import { BUILT_IN_QUEUES } from './contract.ts';
import type { QueueDefinition } from './store.ts';
import { countEach, type Selection, slaCondition } from './store-list.ts';

export interface BuiltInQueue {
  code: (typeof BUILT_IN_QUEUES)[number];
  /** Null if the records could not be counted in time. */
  count: number | null;
  /** Whether `count` is exact. If not, there are more. */
  exact: boolean;
  definition: QueueDefinition;
}

const CLOSED_DAYS = 7;
const DAY_MS = 86_400_000;

const leaf = (field: string, operator: string, value: unknown): object => ({ field, operator, value });
const all = (...conditions: object[]): object => ({ logic: 'AND', conditions });

/** Conditions with the variables `$me` and `$myGroups`, as a saved queue has them. */
function definitions(now: string): Readonly<Record<BuiltInQueue['code'], QueueDefinition>> {
  const unfinished = leaf('workflowCategory', 'in', ['open', 'waiting']);
  const myGroups = leaf('assignmentGroup', 'in', '$myGroups');
  // A whole day, so that the condition stays the same for a day.
  const since = new Date(Math.floor(Date.parse(now) / DAY_MS - CLOSED_DAYS) * DAY_MS).toISOString();
  return {
    mine: { filter: all(leaf('assignee', 'equals', '$me'), unfinished), sort: 'sla.dueAt' },
    unassigned: { filter: all(leaf('assignee', 'is-empty', true), myGroups, unfinished), sort: 'createdAt' },
    'my-groups': { filter: all(myGroups, unfinished), sort: 'sla.dueAt' },
    overdue: { sla: 'overdue', sort: 'sla.dueAt' },
    waiting: { filter: all(leaf('workflowCategory', 'equals', 'waiting')), sort: 'updatedAt' },
    closed: {
      filter: all(leaf('workflowCategory', 'equals', 'done'), leaf('updatedAt', 'after', since)),
      sort: '-updatedAt',
    },
  };
}

/** Replaces the variables by the caller's values: requests take none. */
function resolved(ctx: ReadContext, value: unknown): unknown {
  if (value === '$me') return ctx.actor.variables.me;
  if (value === '$myGroups') return ctx.actor.variables.groups;
  if (Array.isArray(value)) return value.map((one) => resolved(ctx, one));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, resolved(ctx, one)]));
}

/** The queue's records; undefined if the queue is not offered to the caller. */
function selectionOf(ctx: ReadContext, definition: QueueDefinition): Selection | undefined {
  const scope = readScope(ctx, {});
  const { visible } = scope;
  if (visible === null) return undefined;
  const conditions = definition.sla === undefined ? [] : [slaCondition('overdue', ctx.now)];
  if (definition.filter !== undefined) {
    const filter = resolved(ctx, definition.filter);
    // The caller is in no group.
    if (JSON.stringify(filter).includes('"value":[]')) return undefined;
    try {
      const condition = filterOnRecords(ctx, JSON.stringify(filter), scope.typeIds);
      if (condition === null) return undefined;
      conditions.push(condition);
    } catch (error) {
      if (isFault(error, 'INVALID_FILTER')) return undefined;
      throw error;
    }
  }
  return { scope: { ...scope, visible }, conditions };
}

interface Counted {
  code: BuiltInQueue['code'];
  definition: QueueDefinition;
  selection: Selection;
}

function offered(ctx: ReadContext): Counted[] {
  const known = definitions(ctx.now);
  return BUILT_IN_QUEUES.flatMap((code) => {
    const definition = known[code];
    const selection = selectionOf(ctx, definition);
    return selection === undefined ? [] : [{ code, definition, selection }];
  });
}

/** The built-in queues with their counts, counted in one statement up to the bound of the settings. */
export async function listBuiltInQueues({ work, caller }: Pick<Runner, 'work' | 'caller'>): Promise<BuiltInQueue[]> {
  const count = (counted: boolean) =>
    work.read(
      caller,
      async (ctx) => {
        const queues = offered(ctx);
        const most = registry(ctx).settings.searchExactTotal;
        const selections = queues.map(({ selection }) => selection);
        const counts = counted
          ? await withinBudget(ctx, 'path', () => countEach(ctx, selections, most + 1))
          : selections.map(() => null);
        return queues.map(({ code, definition }, index) => {
          const found = counts[index] ?? null;
          return {
            code,
            definition,
            count: found === null ? null : Math.min(found, most),
            exact: (found ?? 0) <= most,
          };
        });
      },
      { snapshot: true },
    );
  try {
    return await count(true);
  } catch (error) {
    if (!isFault(error, 'FILTER_TOO_EXPENSIVE')) throw error;
    return await count(false);
  }
}
