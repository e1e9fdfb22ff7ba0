/**
 * Extends the generated operation groups with helpers: iteration over all pages, following the changes feed, file upload and
 * download, bulk changes of any size.
 */
import { bytesOf, type Content, type Download, toBase64 } from './content.ts';
import { CursorRewound } from './errors.ts';
import {
  AttachmentsOperations,
  BulkOperations,
  FeedOperations,
  ObjectsOperations,
  SearchOperations,
} from './generated/api.ts';
import type {
  Attachment,
  BulkItemResult,
  BulkRunData,
  DocketObject,
  FeedEvent,
  FeedReadData,
  FeedReadResponses,
  ObjectsListData,
  SearchResult,
  SearchSearchData,
} from './generated/api-types.ts';
import type { Condition } from './condition.ts';
import type { CallOptions } from './transport.ts';

const PAGE_SIZE = 100;

/**
 * Yields the rows of all pages. Pages are live: a row that moves to the next page during the iteration is yielded once; one
 * that moves to an earlier page may be missed.
 */
async function* everyRow<Row extends { id: string }>(
  read: (page: number) => Promise<{ rows: Row[]; hasMore: boolean }>,
): AsyncGenerator<Row, void, undefined> {
  let before = new Set<string>();
  for (let page = 1; ; page++) {
    const { rows, hasMore } = await read(page);
    for (const row of rows) if (!before.has(row.id)) yield row;
    if (!hasMore) return;
    before = new Set([...rows.map(({ id }) => id), ...[...before].slice(-PAGE_SIZE)]);
  }
}

type ListQuery = Omit<NonNullable<ObjectsListData['query']>, 'page'>;
type SearchQuery = Omit<NonNullable<SearchSearchData['query']>, 'page' | 'filter' | 'kinds'> & {
  filter?: Condition | string;
  kinds?: readonly SearchResult['kind'][] | string;
};

export class Objects extends ObjectsOperations {
  /** Yields every record that `list` returns on all its pages. */
  each(query: ListQuery = {}, options?: CallOptions): AsyncGenerator<DocketObject, void, undefined> {
    return everyRow((page) => this.list({ pageSize: PAGE_SIZE, ...query, page }, options));
  }
}

export class Search extends SearchOperations {
  /** Yields the results of all pages, best first. `filter` may be a condition, `kinds` a list. */
  each(query: SearchQuery, options?: CallOptions): AsyncGenerator<SearchResult, void, undefined> {
    const { filter, kinds, ...rest } = query;
    const asked = {
      pageSize: PAGE_SIZE,
      ...rest,
      ...(filter === undefined ? {} : { filter: typeof filter === 'string' ? filter : JSON.stringify(filter) }),
      ...(kinds === undefined ? {} : { kinds: typeof kinds === 'string' ? kinds : kinds.join(',') }),
    };
    return everyRow(async (page) => {
      const { results, hasMore } = await this.search({ ...asked, page }, options);
      return { rows: results, hasMore };
    });
  }
}

export interface Upload extends CallOptions {
  filename: string;
  mediaType?: string;
  /** Only the caller sees the file until a comment takes it by `attachmentIds`. */
  draft?: boolean;
}

export class Attachments extends AttachmentsOperations {
  /** Attaches a file. The media type defaults to that of a `File` or `Blob`. */
  async upload(
    objectId: string,
    content: Content,
    { filename, mediaType, draft, ...options }: Upload,
  ): Promise<Attachment> {
    const contentBase64 = toBase64(await bytesOf(content));
    const type = mediaType ?? (content instanceof Blob && content.type !== '' ? content.type : undefined);
    return await this.add(
      objectId,
      { filename, contentBase64, ...(type === undefined ? {} : { mediaType: type }) },
      draft === undefined ? {} : { draft },
      options,
    );
  }

  /** Downloads the file with its name and media type. */
  async download(attachmentId: string, options?: CallOptions): Promise<Download> {
    return await this.content(attachmentId, options);
  }
}

type BulkBody = NonNullable<BulkRunData['body']>;
type ItemOf<Operation extends BulkBody['operation']> = Extract<BulkBody, { operation: Operation }>['items'][number];

export class Bulk extends BulkOperations {
  /**
   * Runs any number of items, `chunk` per call. Each item succeeds or fails on its own. Results are yielded in the order of the
   * items, after each call.
   */
  async *each<Operation extends BulkBody['operation']>(
    operation: Operation,
    items: Iterable<ItemOf<Operation>> | AsyncIterable<ItemOf<Operation>>,
    { chunk = 500, ...options }: CallOptions & { chunk?: number } = {},
  ): AsyncGenerator<BulkItemResult, void, undefined> {
    let waiting: ItemOf<Operation>[] = [];
    for await (const item of items) {
      waiting.push(item);
      if (waiting.length < chunk) continue;
      yield* await this.run({ operation, items: waiting } as BulkBody, options);
      waiting = [];
    }
    if (waiting.length > 0) yield* await this.run({ operation, items: waiting } as BulkBody, options);
  }
}

type FeedQuery = NonNullable<FeedReadData['query']>;
export type FeedPage = FeedReadResponses[200]['data'];

export interface FollowOptions extends CallOptions {
  /**
   * Called when a restore or a failover lost events that were read. It drops what was read after `lastEventId` and returns the
   * cursor to continue from: `resume`, or undefined for the beginning. Without it the error is thrown.
   */
  onRewound?: (lost: CursorRewound) => string | undefined | Promise<string | undefined>;
}

const WAIT_S = 25;

export class Feed extends FeedOperations {
  /**
   * Yields page after page, and waits for new events at the end. Store `next` together with the events of the page, and pass it
   * as `after` to continue in another run. With `wait: 0` the iteration ends when there is nothing more; otherwise it ends only
   * by `options.signal`, whose reason is thrown.
   */
  async *pages(
    query: FeedQuery = {},
    { onRewound, ...options }: FollowOptions = {},
  ): AsyncGenerator<FeedPage, void, undefined> {
    const { after: start, ...rest } = query;
    const wait = query.wait ?? WAIT_S;
    for (let after = start; ; ) {
      options.signal?.throwIfAborted();
      let page: FeedPage;
      try {
        page = await this.read({ limit: 1000, ...rest, wait, ...(after === undefined ? {} : { after }) }, options);
      } catch (error) {
        if (!(error instanceof CursorRewound) || onRewound === undefined) throw error;
        after = await onRewound(error);
        continue;
      }
      yield page;
      if (page.caughtUp && wait === 0) return;
      after = page.next;
    }
  }

  /** Yields event after event, like `pages`. The `cursor` of an event continues after it. */
  async *each(query: FeedQuery = {}, options: FollowOptions = {}): AsyncGenerator<FeedEvent, void, undefined> {
    for await (const page of this.pages(query, options)) yield* page.events;
  }
}
