/** Pagination of `GET /objects` and `GET /search` (docs/spec/conventions.md#limits, docs/spec/search.md#search). */
import Type, { type Static } from 'typebox';
import { faultAt } from '../lib/fault.ts';

const DEFAULT_PAGE_SIZE = 25;
const MOST_PAGE_SIZE = 100;
/** Maximum of `page` × `pageSize`. */
const MOST_REACH = 1_000_000;

/** Query parameters of a paged list; spread into the operation's query schema. */
export const pagingQuery = {
  page: Type.Integer({ minimum: 1, maximum: MOST_REACH, default: 1, description: 'The first page is 1.' }),
  pageSize: Type.Integer({ minimum: 1, maximum: MOST_PAGE_SIZE, default: DEFAULT_PAGE_SIZE }),
};

const PagingSchema = Type.Object(pagingQuery);
export type Paging = Static<typeof PagingSchema>;

export interface Window {
  page: number;
  pageSize: number;
  /** Rows to skip. */
  offset: number;
  /** Rows to query: one more than the page contains, so that `hasMore` needs no count. */
  limit: number;
}

/**
 * The rows of a page.
 *
 * @throws Fault INVALID_REQUEST if the page is beyond `MOST_REACH` rows
 */
export function windowOf(paging: Paging): Window {
  const { page, pageSize } = paging;
  if (page * pageSize > MOST_REACH) {
    throw faultAt('INVALID_REQUEST', 'query.page', 'PAGE_TOO_LARGE', { max: MOST_REACH });
  }
  return { page, pageSize, offset: (page - 1) * pageSize, limit: pageSize + 1 };
}

/** Removes the extra row and reports whether there was one. */
export function pageOf<Row>(
  rows: readonly Row[],
  window: Window,
): { rows: Row[]; page: number; pageSize: number; hasMore: boolean } {
  const { page, pageSize } = window;
  return { rows: rows.slice(0, pageSize), page, pageSize, hasMore: rows.length > pageSize };
}
