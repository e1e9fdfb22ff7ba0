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

/** The condition of a definition with its type and state, as the search takes it. */
export function searchCondition(definition: QueueDefinition, type: DeskType | undefined, session: Session): unknown {
  const today = toInput(new Date().toISOString(), currentZone()).slice(0, 10);
  const parts: unknown[] = [withVariables(definition.filter, session, today)];
  if (type !== undefined) parts.push({ field: 'typeCode', operator: 'equals', value: type.code });
  if (definition.state !== undefined && definition.state !== 'ACTIVE') {
    parts.push({ field: 'workflowState', operator: 'equals', value: definition.state });
  }
  return parts.length === 1 ? parts[0] : { logic: 'AND', conditions: parts };
}

export function rowsQuery(definition: QueueDefinition, type: DeskType | undefined, session: Session) {
  const { q, state, filter } = definition;
  const words = q === undefined || q.trim() === '' ? undefined : q.trim();
  return infiniteQueryOptions({
    queryKey: ['records', { type: definition.type, state, q: words, filter }],
    queryFn: async ({ pageParam, signal }): Promise<RowPage> => {
      const window = { page: pageParam, pageSize: PAGE };
      if (filter === undefined) {
        const query = { ...window, typeId: type?.id ?? definition.type, state, q: words };
        return await call<typeof objects.listObjects>('GET', '/objects', { query, signal });
      }
      const query = { ...window, q: words, filter: JSON.stringify(searchCondition(definition, type, session)) };
      const found = await call<typeof search.search>('GET', '/search', { query, signal });
      const { results, page, hasMore, total, totalExact } = found;
      return { rows: results as Row[], page, hasMore, total, totalExact };
    },
    initialPageParam: 1,
    getNextPageParam: (last) => (last.hasMore ? last.page + 1 : undefined),
  });
}
