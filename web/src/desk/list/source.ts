/** What a list shows and where it comes from: without a condition from the list of records, with one from the search. */
import { type InfiniteData, infiniteQueryOptions } from '@tanstack/react-query';
import { call } from '../../api/client.ts';
import type { DocketRecord, objects, search, Session } from '../../api/types.ts';
import type { DeskType, QueueDefinition } from '../queries.ts';
import { toInput } from '../../i18n/clock.ts';
import { currentZone } from '../../i18n/zone.ts';

/** A row has what both sources have; what the search leaves out is not there. */
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
  /** Known to the search alone. */
  total?: number;
  totalExact?: boolean;
}

export type RowPages = InfiniteData<RowPage, number>;

const PAGE = 100;

/** Up to so many pages a list is read anew as a whole; of a longer one only its head is. */
const WHOLE = 3;

export const isLong = (data: { pages: readonly unknown[] } | undefined): boolean => (data?.pages.length ?? 0) > WHOLE;

/** Variables of configuration mean nothing to a call: what they stand for is put in their place. */
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

/** The condition of a definition with its type and state, as the search takes it; undefined where there is none. */
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

/** Every record once: while one scrolls, new records push others from one page to the next. */
export function rowsOf(data: { pages: readonly RowPage[] } | undefined): Row[] {
  const rows = new Map<string, Row>();
  for (const row of data?.pages.flatMap((page) => page.rows) ?? []) if (!rows.has(row.id)) rows.set(row.id, row);
  return [...rows.values()];
}

/** What the head of a long list says now, put into what was read of it: new records come first, known ones as they are now. */
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

/** Reads one page of a list. */
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
