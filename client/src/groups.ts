/**
 * Extends the generated operation groups with helpers: iteration over all pages, file upload and download, bulk changes of any
 * size.
 */
import { bytesOf, type Content, type Download, toBase64 } from './content.ts';
import { AttachmentsOperations, BulkOperations, ObjectsOperations, SearchOperations } from './generated/api.ts';
import type {
  Attachment,
  BulkItemResult,
  BulkRunData,
  DocketObject,
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
}

export class Attachments extends AttachmentsOperations {
  /** Attaches a file. The media type defaults to that of a `File` or `Blob`. */
  async upload(objectId: string, content: Content, { filename, mediaType, ...options }: Upload): Promise<Attachment> {
    const contentBase64 = toBase64(await bytesOf(content));
    const type = mediaType ?? (content instanceof Blob && content.type !== '' ? content.type : undefined);
    return await this.add(
      objectId,
      { filename, contentBase64, ...(type === undefined ? {} : { mediaType: type }) },
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
