/** Data of lists: pages of `GET /desk/objects`, which filters and sorts. */
import { type InfiniteData, infiniteQueryOptions } from '@tanstack/react-query';
import { type AnswerOf, call } from '../../api/client.ts';
import type { desk, DocketRecord, Session } from '../../api/types.ts';
import type { DeskType, QueueDefinition } from '../queries.ts';
import { toInput } from '../../i18n/clock.ts';
import { currentZone } from '../../i18n/zone.ts';

type DeskRow = AnswerOf<typeof desk.listDeskObjects>['rows'][number];

/** A row of a list, or a result of the search, which has less. */
export type Row = Pick<
  DocketRecord,
  | 'id'
  | 'typeDefinitionId'
  | 'typeCode'
  | 'number'
  | 'title'
  | 'revision'
  | 'state'
  | 'workflowState'
  | 'values'
  | 'updatedAt'
> &
  Partial<Pick<DeskRow, 'createdAt' | 'createdBy' | 'updatedBy' | 'sla' | 'unread'>>;

/** Number of selected records that are named. */
const NAMED = 5;

/** The names of the first records of a selection. */
export function namesOf(rows: readonly Row[]): string[] {
  return rows.slice(0, NAMED).map((row) => row.number ?? row.title ?? row.id);
}

export interface RowPage {
  rows: Row[];
  page: number;
  hasMore: boolean;
  total: number;
  totalExact: boolean;
}

export type RowPages = InfiniteData<RowPage, number>;

const PAGE = 100;

/** Lists of up to this many pages are reloaded completely; of longer ones, only the first page. */
const WHOLE = 3;

export const isLong = (data: { pages: readonly unknown[] } | undefined): boolean => (data?.pages.length ?? 0) > WHOLE;

/** Replaces variables of queues by their values: API calls do not accept variables. */
export function withVariables(condition: unknown, session: Session, today: string): unknown {
  if (Array.isArray(condition)) return condition.map((one) => withVariables(one, session, today));
  if (typeof condition === 'object' && condition !== null) {
    return Object.fromEntries(
      Object.entries(condition).map(([key, value]) => [key, withVariables(value, session, today)]),
    );
  }
  if (typeof condition !== 'string') return condition;
  if (condition.startsWith('$$')) return condition.slice(1);
  if (condition === '$me') return session.user.id;
  if (condition === '$myGroups') return session.groups;
  if (condition === '$myOrgUnit') return session.orgUnit;
  if (condition === '$today') return today;
  return condition;
}

/** The condition with the values of its variables. */
function conditionOf(filter: unknown, session: Session): unknown {
  return withVariables(filter, session, toInput(new Date().toISOString(), currentZone()).slice(0, 10));
}

/** The condition of a definition including its type and state, for exports; undefined if there is none. */
export function searchCondition(definition: QueueDefinition, type: DeskType | undefined, session: Session): unknown {
  const parts: unknown[] = [];
  if (definition.filter !== undefined) parts.push(conditionOf(definition.filter, session));
  if (type !== undefined) parts.push({ field: 'typeCode', operator: 'equals', value: type.code });
  if (definition.state !== undefined && definition.state !== 'ACTIVE') {
    parts.push({ field: 'workflowState', operator: 'equals', value: definition.state });
  }
  if (parts.length === 0) return undefined;
  return parts.length === 1 ? parts[0] : { logic: 'AND', conditions: parts };
}

function wordsOf({ q }: QueueDefinition): string | undefined {
  return q === undefined || q.trim() === '' ? undefined : q.trim();
}

/** Removes duplicates: new records shift others to the next page while the user scrolls. */
export function rowsOf(data: { pages: readonly RowPage[] } | undefined): Row[] {
  const rows = new Map<string, Row>();
  for (const row of data?.pages.flatMap((page) => page.rows) ?? []) if (!rows.has(row.id)) rows.set(row.id, row);
  return [...rows.values()];
}

/** Merges a reloaded first page into the loaded pages: new records first, known ones updated. */
export function withHead(data: RowPages, head: RowPage): RowPages {
  const fresh = new Map(head.rows.map((row) => [row.id, row]));
  const known = new Set(data.pages.flatMap((page) => page.rows.map((row) => row.id)));
  const pages = data.pages.map((page, index) => ({
    ...page,
    rows: [
      ...(index === 0 ? head.rows.filter((row) => !known.has(row.id)) : []),
      ...page.rows.map((row) => fresh.get(row.id) ?? row),
    ],
  }));
  return { ...data, pages };
}

export function rowsQuery(definition: QueueDefinition, type: DeskType | undefined, session: Session) {
  const { state, filter, sort, sla, done, slaPolicy } = definition;
  const words = wordsOf(definition);
  return infiniteQueryOptions({
    queryKey: ['records', 'list', { type: definition.type, state, q: words, filter, sort, sla, done, slaPolicy }],
    queryFn: ({ pageParam, signal }) => readPage(definition, type, session, pageParam, signal),
    initialPageParam: 1,
    getNextPageParam: (last: RowPage) => (last.hasMore ? last.page + 1 : undefined),
  });
}

/** The parameters that select and sort the records of a list, for pages and files. */
export function selectionOf(definition: QueueDefinition, type: DeskType | undefined, session: Session) {
  const { state, sort, sla, done, slaPolicy } = definition;
  const filter = definition.filter === undefined ? undefined : conditionOf(definition.filter, session);
  return {
    typeId: type?.id ?? definition.type,
    state,
    q: wordsOf(definition),
    filter: filter === undefined ? undefined : JSON.stringify(filter),
    sort,
    sla,
    done,
    slaPolicy,
  };
}

export type Selection = ReturnType<typeof selectionOf>;

/** Loads one page of a list. */
export async function readPage(
  definition: QueueDefinition,
  type: DeskType | undefined,
  session: Session,
  number: number,
  signal: AbortSignal,
): Promise<RowPage> {
  const query = { page: number, pageSize: PAGE, ...selectionOf(definition, type, session) };
  return await call<typeof desk.listDeskObjects>('GET', '/desk/objects', { query, signal });
}
