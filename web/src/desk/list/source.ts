/** Data of lists: from the record list without a condition, from the search with one. */
import { type InfiniteData, infiniteQueryOptions } from '@tanstack/react-query';
import { call } from '../../api/client.ts';
import type { DocketRecord, objects, search, Session } from '../../api/types.ts';
import type { DeskType, QueueDefinition } from '../queries.ts';
import { toInput } from '../../i18n/clock.ts';
import { currentZone } from '../../i18n/zone.ts';

/** The common fields of both sources; what the search omits is missing. */
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
  Partial<Pick<DocketRecord, 'createdAt' | 'createdBy' | 'updatedBy'>>;

export interface RowPage {
  rows: Row[];
  page: number;
  hasMore: boolean;
  /** Only set by the search. */
  total?: number;
  totalExact?: boolean;
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

/** The condition of a definition including its type and state, for the search; undefined if there is none. */
export function searchCondition(definition: QueueDefinition, type: DeskType | undefined, session: Session): unknown {
  const today = toInput(new Date().toISOString(), currentZone()).slice(0, 10);
  const parts: unknown[] = [];
  if (definition.filter !== undefined) parts.push(withVariables(definition.filter, session, today));
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
  const { state, filter } = definition;
  const words = wordsOf(definition);
  return infiniteQueryOptions({
    queryKey: ['records', { type: definition.type, state, q: words, filter }],
    queryFn: ({ pageParam, signal }) => readPage(definition, type, session, pageParam, signal),
    initialPageParam: 1,
    getNextPageParam: (last: RowPage) => (last.hasMore ? last.page + 1 : undefined),
  });
}

/** Loads one page of a list. */
export async function readPage(
  definition: QueueDefinition,
  type: DeskType | undefined,
  session: Session,
  number: number,
  signal: AbortSignal,
): Promise<RowPage> {
  const { state, filter } = definition;
  const words = wordsOf(definition);
  const window = { page: number, pageSize: PAGE };
  if (filter === undefined) {
    const query = { ...window, typeId: type?.id ?? definition.type, state, q: words };
    return await call<typeof objects.listObjects>('GET', '/objects', { query, signal });
  }
  const query = { ...window, q: words, filter: JSON.stringify(searchCondition(definition, type, session)) };
  const found = await call<typeof search.search>('GET', '/search', { query, signal });
  const { results, page, hasMore, total, totalExact } = found;
  return { rows: results as Row[], page, hasMore, total, totalExact };
}
