/** Workbooks: every kind of cell, what must be escaped, the limits of a sheet, and bounded memory. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { readXlsx } from '../../test/support/xlsx.ts';
import { CELL_CHARACTERS, type TableCell, writeXlsx } from './xlsx.ts';

async function* each<T>(items: Iterable<T>): AsyncGenerator<T> {
  yield* items;
}

async function written(rows: readonly TableCell[][], title = 'List', names = ['a', 'b']): Promise<Buffer> {
  const chunks: Buffer[] = [];
  const columns = names.map((name) => ({ name, width: 10 }));
  for await (const chunk of writeXlsx(title, columns, each(rows))) chunks.push(chunk);
  return Buffer.concat(chunks);
}

describe('workbooks', () => {
  it('hold numbers, days and times as such, and texts as texts', async () => {
    const rows = [
      ['=1+1', 1.5],
      [{ day: '2026-11-23' }, { moment: '2026-11-23T18:00:00' }],
      [{ day: '1899-01-01' }, null],
      [{ moment: '1900-03-01T00:00:00' }, -7],
    ];
    const { name, header, rows: read, range } = readXlsx(await written(rows, 'Мои: [заявки]/*?\\'));
    assert.deepEqual([name, header, range], ['Мои   заявки', ['a', 'b'], 'A1:B5']);
    assert.deepEqual(read, [
      ['=1+1', { number: 1.5, style: 0 }],
      [
        { number: 46_349, style: 2 },
        { number: 46_349.75, style: 3 },
      ],
      ['1899-01-01', null],
      [
        { number: 61, style: 3 },
        { number: -7, style: 0 },
      ],
    ]);
  });

  it('hold any text, within the limit of a cell', async () => {
    const texts = ['<a> & "b"', ' x ', 'a\r\nb\tc', '_x000D_', '😀', 'nul:\u0000\u001f', "'=1", '\ufffe'];
    const long = '😀'.repeat(CELL_CHARACTERS);
    const { rows } = readXlsx(await written([...texts, long].map((text) => [text])));
    const expected = ['<a> & "b"', ' x ', 'a\nb\tc', '_x000D_', '😀', 'nul:\ufffd\ufffd', "'=1", '\ufffd'];
    assert.deepEqual(rows.slice(0, -1).flat(), expected);
    const cut = rows.at(-1)?.[0] as string;
    assert.ok(cut.length <= CELL_CHARACTERS && cut.isWellFormed() && cut.endsWith(`😀… [${long.length}]`));
  });

  it('name columns beyond Z', async () => {
    const names = Array.from({ length: 703 }, (_, index) => `c${index}`);
    assert.equal(readXlsx(await written([], 'x', names)).range, 'A1:AAA1');
  });

  it('are made piece by piece', async () => {
    let given = 0;
    const rows = async function* (): AsyncGenerator<TableCell[]> {
      for (; given < 20_000; given += 1) yield [`row ${given} ${Math.sin(given)}`, given];
    };
    const columns = ['a', 'b'].map((name) => ({ name, width: 10 }));
    let largest = 0;
    let first: number | undefined;
    for await (const chunk of writeXlsx('x', columns, rows())) {
      largest = Math.max(largest, chunk.length);
      first ??= given;
    }
    assert.ok((first ?? 0) < 5000, `the first bytes come after ${first} rows`);
    assert.ok(largest < 262_144, `${largest} bytes at once`);
  });
});
