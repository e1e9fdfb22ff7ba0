/** Queries of dashboards. Reports are asked for a few at a time, so that a page full of tiles does not crowd out other work. */
import { queryOptions } from '@tanstack/react-query';
import { type AnswerOf, call } from '../../api/client.ts';
import type { dashboards, reports } from '../../api/types.ts';
import type { Condition } from '../../filters/model.ts';
import type { Tile as ServerTile } from '../../../../src/domain/reports/contract-dashboards.ts';

export type Dashboard = AnswerOf<typeof dashboards.listDashboards>[number];
export type Tile = ServerTile;
export type Query = Tile['query'];
export type Report = AnswerOf<typeof reports.queryReport>;
export type Period = NonNullable<Query['period']>;

export const dashboardsQuery = queryOptions({
  queryKey: ['dashboards'],
  queryFn: ({ signal }) => call<typeof dashboards.listDashboards>('GET', '/dashboards', { signal }),
  staleTime: 60_000,
});

export const calendarsQuery = queryOptions({
  queryKey: ['report-calendars'],
  queryFn: ({ signal }) => call<typeof reports.listCalendars>('GET', '/reports/calendars', { signal }),
  staleTime: 60_000,
});

/** Number of reports that are asked for at the same time. */
const AT_ONCE = 3;
const waiting: (() => void)[] = [];
let running = 0;

async function limited<T>(run: () => Promise<T>): Promise<T> {
  if (running >= AT_ONCE) await new Promise<void>((resolve) => waiting.push(resolve));
  else running++;
  try {
    return await run();
  } finally {
    // The place goes to the next one that waits.
    const next = waiting.shift();
    if (next === undefined) running--;
    else next();
  }
}

export const reportQuery = (query: Query) =>
  queryOptions({
    queryKey: ['report', query],
    queryFn: ({ signal }) =>
      limited(async () => {
        signal.throwIfAborted();
        return await call<typeof reports.queryReport>('POST', '/reports/query', { body: query, signal });
      }),
    staleTime: 60_000,
    retry: false,
  });

/** What the page sets for all tiles. */
export interface Scope {
  /** Replaces the period of tiles that have one; undefined keeps their own. */
  period: Omit<Period, 'of'> | undefined;
  filter: Condition | undefined;
}

/** The tile's query within the scope of the page. */
export function scopedQuery(query: Query, { period, filter }: Scope): Query {
  const scoped = { ...query };
  if (period !== undefined && query.period !== undefined) {
    scoped.period = query.period.of === undefined ? period : { of: query.period.of, ...period };
  }
  if (filter !== undefined) {
    scoped.filter = query.filter === undefined ? filter : { logic: 'AND', conditions: [query.filter, filter] };
  }
  return scoped;
}
