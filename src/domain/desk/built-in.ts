/**
 * Queues that every user has without saving them. Their conditions derive from the configuration: a queue is offered if some
 * type that the caller may read has the fields that it needs, and queues of groups if the caller is in a group.
 */
import { isFault } from '../../lib/fault.ts';
import { WORK_FIELDS } from '../../platform/database/filter-sql.ts';
import type { Runner } from '../../platform/unit-of-work/binding.ts';
import type { ReadContext } from '../../platform/unit-of-work/context.ts';
import { registry, type TypeVersion } from '../metadata/index.ts';
import { type ListScope, readScope } from '../objects/index.ts';
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

const [GROUP, ASSIGNEE] = WORK_FIELDS;
const CLOSED_DAYS = 7;
const DAY_MS = 86_400_000;

const leaf = (field: string, operator: string, value: unknown): object => ({ field, operator, value });
const all = (...conditions: object[]): object => ({ logic: 'AND', conditions });

/** Conditions with the variables `$me` and `$myGroups`, as a saved queue has them. */
function definitions(now: string): Readonly<Record<BuiltInQueue['code'], QueueDefinition>> {
  const unfinished = leaf('workflowCategory', 'in', ['open', 'waiting']);
  const myGroups = leaf(GROUP, 'in', '$myGroups');
  // A whole day, so that the condition stays the same for a day.
  const since = new Date(Math.floor(Date.parse(now) / DAY_MS - CLOSED_DAYS) * DAY_MS).toISOString();
  return {
    mine: { filter: all(leaf(ASSIGNEE, 'equals', '$me'), unfinished), sort: 'sla.dueAt' },
    unassigned: { filter: all(leaf(ASSIGNEE, 'is-empty', true), myGroups, unfinished), sort: 'createdAt' },
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

/**
 * Types with a workflow in any version: only their records are unfinished, waiting or closed. Beyond this number, types are
 * counted together, because planning the statement would take longer than running it.
 */
const MAX_TYPES = 12;

/** The types whose records are counted, each alone or all together. */
function scopes(ctx: ReadContext): ListScope[] {
  const types = registry(ctx);
  const all = readScope(ctx, {});
  const versions = (id: string): TypeVersion[] => [...(types.byId.get(id)?.versions.values() ?? [])];
  const own = all.typeIds.filter((id) => versions(id).some(({ workflow }) => workflow !== null));
  return own.length > MAX_TYPES ? [all] : own.map((typeId) => readScope(ctx, { typeId }));
}

/** The queue's records; none if the queue is not offered to the caller. */
function selectionsOf(ctx: ReadContext, definition: QueueDefinition, among: readonly ListScope[]): Selection[] {
  // An instance of a policy names its record, which is read by its id: there is no index of a type to be used.
  if (definition.sla !== undefined) return selected(readScope(ctx, {}), [slaCondition('overdue', ctx.now)]);
  const filter = JSON.stringify(resolved(ctx, definition.filter));
  // The caller is in no group.
  if (filter.includes('"value":[]')) return [];
  return among.flatMap((scope) => {
    const condition = conditionOf(ctx, filter, scope.typeIds);
    return condition === null ? [] : selected(scope, [condition]);
  });
}

function selected(scope: ListScope, conditions: Selection['conditions']): Selection[] {
  const { visible } = scope;
  return visible === null ? [] : [{ scope: { ...scope, visible }, conditions }];
}

/** Null if the types lack a field of the filter, or if the caller may not read it. */
function conditionOf(ctx: ReadContext, filter: string, typeIds: readonly string[]): ReturnType<typeof filterOnRecords> {
  try {
    return filterOnRecords(ctx, filter, typeIds);
  } catch (error) {
    if (isFault(error, 'INVALID_FILTER')) return null;
    throw error;
  }
}

interface Counted {
  code: BuiltInQueue['code'];
  definition: QueueDefinition;
  selections: Selection[];
}

function offered(ctx: ReadContext): Counted[] {
  const known = definitions(ctx.now);
  const among = scopes(ctx);
  return BUILT_IN_QUEUES.flatMap((code) => {
    const definition = known[code];
    const selections = selectionsOf(ctx, definition, among);
    return selections.length === 0 ? [] : [{ code, definition, selections }];
  });
}

/** Counting stops here: a larger number is shown as "99+". */
const MAX_COUNTED = 99;

/** The built-in queues with their counts, counted in one statement. */
export async function listBuiltInQueues({ work, caller }: Pick<Runner, 'work' | 'caller'>): Promise<BuiltInQueue[]> {
  const count = (counted: boolean) =>
    work.read(
      caller,
      async (ctx) => {
        const queues = offered(ctx);
        const lists = queues.map(({ selections }) => selections);
        const counts = counted
          ? await withinBudget(ctx, 'path', () => countEach(ctx, lists, MAX_COUNTED + 1))
          : lists.map(() => null);
        return queues.map(({ code, definition }, index) => {
          const found = counts[index] ?? null;
          return {
            code,
            definition,
            count: found === null ? null : Math.min(found, MAX_COUNTED),
            exact: (found ?? 0) <= MAX_COUNTED,
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
