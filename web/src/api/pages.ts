/** Pages of lists. */

export interface Page<Row> {
  data: Row[];
  meta: { page: number; pageSize: number; hasMore: boolean };
}

/** The first row that matches; null without one. Loads further pages only while none does. */
export async function firstOfPages<Row>(
  load: (page: number) => Promise<Page<Row>>,
  matches: (row: Row) => boolean,
): Promise<Row | null> {
  for (let page = 1; ; page++) {
    const { data, meta } = await load(page);
    const row = data.find(matches);
    if (row !== undefined || !meta.hasMore) return row ?? null;
  }
}
