/**
 * Pagination of `GET /objects` and `GET /search` (docs/spec/conventions.md#limits, docs/spec/search.md#search), and of lists
 * around a record in the administration API (docs/spec/configuration.md#administration-api).
 */
import Type, { type Static, type TSchema } from 'typebox';
import { faultAt } from '../lib/fault.ts';
import { type ChosenPage, Reply } from './operation.ts';

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

/** Query parameters of operations with `paged: true` under `/api/admin/v1`. Without all of them, the answer is the whole list. */
const chosenPage = {
  page: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: MOST_REACH,
      description: 'The first page is 1. Without `page`, `pageSize` and `order`, the answer is the whole list.',
    }),
  ),
  pageSize: Type.Optional(Type.Integer({ minimum: 1, maximum: MOST_PAGE_SIZE, description: 'Default: 25.' })),
  order: Type.Optional(
    Type.Union([Type.Literal('oldest'), Type.Literal('newest')], {
      description: 'What comes first. Default: `oldest`.',
    }),
  ),
};

/** Members of `meta` in an answer that is a page. */
export const pageMeta = {
  page: Type.Optional(Type.Integer({ minimum: 1, description: 'Only if a page was asked for.', examples: [1] })),
  pageSize: Type.Optional(Type.Integer({ minimum: 1, examples: [25] })),
  hasMore: Type.Optional(Type.Boolean({ examples: [false] })),
};

export interface OrderedWindow extends Window {
  newestFirst: boolean;
}

/** The chosen page; undefined for the whole list. @throws Fault INVALID_REQUEST */
export function chosenWindow({ page, pageSize, order }: ChosenPage): OrderedWindow | undefined {
  if (page === undefined && pageSize === undefined && order === undefined) return undefined;
  const window = windowOf({ page: page ?? 1, pageSize: pageSize ?? DEFAULT_PAGE_SIZE });
  return { ...window, newestFirst: order === 'newest' };
}

/** The answer for a window: the rows, and the page in `meta`. */
export function pageReply<Row>(rows: readonly Row[], window: Window): Reply<Row[]> {
  const { rows: shown, ...meta } = pageOf(rows, window);
  return Reply.withMeta(shown, meta);
}

/** The query parameters of an operation on a surface. */
export function queryOn(
  surface: 'public' | 'console',
  { query, paged }: { query?: TSchema; paged?: true },
): TSchema | undefined {
  if (paged !== true || surface === 'public') return query;
  const { properties = {} } = (query ?? {}) as { properties?: Record<string, TSchema> };
  return Type.Object({ ...properties, ...chosenPage }, { additionalProperties: false });
}
