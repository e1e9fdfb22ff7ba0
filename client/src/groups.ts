/** The generated groups of operations with what is easier by hand: all pages, files, bulk changes of any number. */
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
 * The rows of page after page. Pages are live: a row that moved to the next page while this one was read comes once, one that
 * moved to an earlier page may be missed.
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
  /** Every record that `list` would give on all its pages. */
  each(query: ListQuery = {}, options?: CallOptions): AsyncGenerator<DocketObject, void, undefined> {
    return everyRow((page) => this.list({ pageSize: PAGE_SIZE, ...query, page }, options));
  }
}

export class Search extends SearchOperations {
  /** Every result on all pages, best first. `filter` may be a condition, `kinds` a list. */
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
  /** Attaches a file. A `File` of a browser brings its media type. */
  async upload(objectId: string, content: Content, { filename, mediaType, ...options }: Upload): Promise<Attachment> {
    const contentBase64 = toBase64(await bytesOf(content));
    const type = mediaType ?? (content instanceof Blob && content.type !== '' ? content.type : undefined);
    return await this.add(
      objectId,
      { filename, contentBase64, ...(type === undefined ? {} : { mediaType: type }) },
      options,
    );
  }

  /** The file's content, with its name and media type. */
  async download(attachmentId: string, options?: CallOptions): Promise<Download> {
    return await this.content(attachmentId, options);
  }
}

type BulkBody = NonNullable<BulkRunData['body']>;
type ItemOf<Operation extends BulkBody['operation']> = Extract<BulkBody, { operation: Operation }>['items'][number];

export class Bulk extends BulkOperations {
  /**
   * Any number of items, so many in a call; each is judged on its own. The results come in the order of the items, as soon as
   * their call has ended.
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
