/** Pages of lists in the console. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { firstOfPages } from '../web/src/api/pages.ts';

describe('the first row that matches', () => {
  it('is looked for on further pages only while none was found', async () => {
    const asked: number[] = [];
    const load = async (
      page: number,
    ): Promise<{ data: number[]; meta: { page: number; pageSize: number; hasMore: boolean } }> => {
      asked.push(page);
      return { data: [page * 10, page * 10 + 1], meta: { page, pageSize: 2, hasMore: page < 4 } };
    };
    assert.equal(await firstOfPages(load, (row) => row >= 21), 21);
    assert.deepEqual(asked, [1, 2]);
    assert.equal(await firstOfPages(load, (row) => row > 100), null);
    assert.deepEqual(asked, [1, 2, 1, 2, 3, 4]);
  });
});
