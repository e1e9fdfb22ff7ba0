/**
 * Pagination of `GET /objects` and `GET /search` (docs/spec/conventions.md#limits, docs/spec/search.md#search), and of lists
 * around a record in the administration API (docs/spec/configuration.md#administration-api).
 */
import Type, { type Static, type TSchema } from 'typebox';
import { faultAt } from '../lib/fault.ts';
import { type ChosenPage, ListInWindows, Reply } from './operation.ts';
import { MetaSchema } from './envelope.ts';
import { Id } from './schemas.ts';

const DEFAULT_PAGE_SIZE = 25;
const MAX_PAGE_SIZE = 100;
/** Maximum of `page` × `pageSize`. */
const MAX_REACH = 1_000_000;

/** Query parameters of a paged list; spread into the operation's query schema. */
export const pagingQuery = {
  page: Type.Integer({ minimum: 1, maximum: MAX_REACH, default: 1, description: 'The first page is 1.' }),
  pageSize: Type.Integer({ minimum: 1, maximum: MAX_PAGE_SIZE, default: DEFAULT_PAGE_SIZE }),
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
 * @throws Fault INVALID_REQUEST if the page is beyond `MAX_REACH` rows
 */
export function windowOf(paging: Paging): Window {
  const { page, pageSize } = paging;
  if (page * pageSize > MAX_REACH) {
    throw faultAt('INVALID_REQUEST', 'query.page', 'PAGE_TOO_LARGE', { max: MAX_REACH });
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
      maximum: MAX_REACH,
      description: 'The first page is 1. Without `page`, `pageSize` and `order`, the answer is the whole list.',
    }),
  ),
  pageSize: Type.Optional(Type.Integer({ minimum: 1, maximum: MAX_PAGE_SIZE, description: 'Default: 25.' })),
  order: Type.Optional(
    Type.Union([Type.Literal('oldest'), Type.Literal('newest')], {
      description: 'What comes first. Default: `oldest`.',
    }),
  ),
};

const next = Type.Optional({
  ...Id,
  description: 'Only if `limit` was sent and more items follow: the value of `after` for the next page.',
});

/** Members of `meta` in an answer that is a page. */
export const pageMeta = {
  next,
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

/** The query parameters of an operation on a surface. */
export function queryOn(
  surface: 'public' | 'console',
  { query, paged }: { query?: TSchema; paged?: true },
): TSchema | undefined {
  if (paged !== true || surface === 'public') return query;
  const { properties = {} } = (query ?? {}) as { properties?: Record<string, TSchema> };
  return Type.Object({ ...properties, ...chosenPage }, { additionalProperties: false });
}

const MAX_ITEMS = 1000;

/** Query parameters of a list that is answered whole without them; spread into the operation's query schema. */
export const afterQuery = {
  limit: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: MAX_ITEMS,
      description: 'Maximum number of items. Without `limit` and `after`, the answer is the whole list.',
    }),
  ),
  after: Type.Optional({
    ...Id,
    description:
      'The id of an item of the list: the answer begins behind it. `meta.next` of an answer is the value for the next one.',
  }),
};

/** `meta` of an answer with `limit`. */
export const ListMetaSchema = Type.Object({ ...MetaSchema.properties, next }, { $id: 'ListMeta' });

/** A page of a list: by its number, or behind an item. */
export interface ListPage {
  newestFirst: boolean;
  /** Items to leave out, after `after`. */
  skip: number;
  take: number;
  after: string | undefined;
  meta(more: boolean, last: { id: string } | undefined): Readonly<Record<string, unknown>>;
}

/** The page that is asked for; undefined for the whole list. @throws Fault INVALID_REQUEST */
export function listPageOf(query: ChosenPage & { limit?: number; after?: string }): ListPage | undefined {
  const { limit, after } = query;
  const window = chosenWindow(query);
  if (limit === undefined && after === undefined) {
    if (window === undefined) return undefined;
    const { page, pageSize, offset: skip, newestFirst } = window;
    return { newestFirst, skip, take: pageSize, after, meta: (hasMore) => ({ page, pageSize, hasMore }) };
  }
  if (window !== undefined)
    throw faultAt('INVALID_REQUEST', limit === undefined ? 'query.after' : 'query.limit', 'PAGE_OR_AFTER');
  const take = limit ?? Number.POSITIVE_INFINITY;
  const meta: ListPage['meta'] = (more, last) => (more && last !== undefined ? { next: last.id } : {});
  return { newestFirst: false, skip: 0, take, after, meta };
}

/** The item that `after` names is not in the list. */
export function unknownAfter(): Error {
  return faultAt('INVALID_REQUEST', 'query.after', 'AFTER_NOT_IN_LIST');
}

/**
 * The answer of a list that is read in windows: as a whole if it is short, otherwise in windows.
 *
 * @param windows the items, behind `page.after` if it is given
 */
export async function answerInWindows<Item extends { id: string }>(
  windows: AsyncGenerator<{ rows: readonly Item[]; isLast: boolean }>,
  page: ListPage | undefined,
): Promise<readonly Item[] | Reply<readonly Item[]> | ListInWindows<Item>> {
  const end: { more: boolean; last: Item | undefined } = { more: false, last: undefined };
  const parts = page === undefined ? windows : partsOfPage(windows, page, end);
  const meta = (): Readonly<Record<string, unknown>> | undefined => {
    const members = page?.meta(end.more, end.last) ?? {};
    return Object.keys(members).length === 0 ? undefined : members;
  };
  const first = await parts.next();
  const { rows, isLast } = first.done === true ? { rows: [], isLast: true } : first.value;
  if (!isLast) return new ListInWindows(rows, rowsOf(parts), meta);
  // What is not the last window of the list keeps nothing open.
  await parts.return(undefined);
  const more = meta();
  return more === undefined ? rows : Reply.withMeta(rows, more);
}

async function* rowsOf<Item>(parts: AsyncGenerator<{ rows: readonly Item[] }>): AsyncGenerator<readonly Item[]> {
  for await (const { rows } of parts) yield rows;
}

async function* partsOfPage<Item>(
  windows: AsyncGenerator<{ rows: readonly Item[]; isLast: boolean }>,
  { skip, take }: ListPage,
  end: { more: boolean; last: Item | undefined },
): AsyncGenerator<{ rows: readonly Item[]; isLast: boolean }> {
  let skipped = 0;
  let taken = 0;
  for await (const { rows, isLast } of windows) {
    const behind = rows.slice(Math.max(0, skip - skipped));
    skipped += rows.length - behind.length;
    const fitting = behind.slice(0, take - taken);
    taken += fitting.length;
    end.last = fitting.at(-1) ?? end.last;
    end.more = fitting.length < behind.length;
    yield { rows: fitting, isLast: isLast || end.more };
    if (end.more) return;
  }
}
