import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { type CsvRecord, guardCell, readCsv, separatorOf, unguardCell, writeCsv } from './csv.ts';
import { isFault } from './fault.ts';

async function* inChunks(text: string, size: number): AsyncGenerator<string> {
  const characters = [...text];
  for (let at = 0; at < characters.length; at += size) yield characters.slice(at, at + size).join('');
}

async function read(text: string, size = 7): Promise<CsvRecord[]> {
  return await Array.fromAsync(readCsv(inChunks(text, size)));
}

const cellsOf = async (text: string): Promise<(readonly string[])[]> => (await read(text)).map(({ cells }) => cells);

async function refusal(text: string): Promise<string> {
  try {
    await read(text);
  } catch (error) {
    assert.ok(isFault(error, 'INVALID_REQUEST') && Array.isArray(error.details), String(error));
    assert.deepEqual(
      [error.details.length, error.details[0]?.path, error.details[0]?.code],
      [1, '/content', 'MALFORMED'],
    );
    return error.message;
  }
  return assert.fail(`${JSON.stringify(text)} was read`);
}

describe('CSV parser', () => {
  it('accepts RFC 4180 with any line ends, with and without a byte order mark', async () => {
    for (const end of ['\r\n', '\n', '\r']) {
      for (const mark of ['', '\uFEFF']) {
        const text = `${mark}a,b${end}1,"x ""y"", z"${end}${end}"li${end}ne",""`;
        assert.deepEqual(
          await cellsOf(text),
          [
            ['1', 'x "y", z'],
            [`li${end}ne`, ''],
          ],
          JSON.stringify(text),
        );
      }
    }
  });

  it('detects the separator from the header', async () => {
    for (const [text, separator] of [
      ['a,b\n1,2', ','],
      ['a;b\n1;2', ';'],
      ['a\tb\n1\t2', '\t'],
      ['"a;b;c",b\n1,2', ','],
      ['name, full;x;y\n1;2;3', ';'],
      ['alone\n1', ','],
    ] as const) {
      assert.equal(separatorOf(text.split('\n')[0] ?? ''), separator, text);
      const [record] = await read(text);
      assert.equal(record?.cells.length, record?.columns.size, text);
    }
  });

  it('matches column names without surrounding blanks and rejects empty names', async () => {
    const [record] = await read(' a ;;b\n1;2;3\n');
    assert.deepEqual(
      [...(record?.columns ?? [])],
      [
        ['a', 0],
        ['b', 2],
      ],
    );
    const [strange] = await read('__proto__,constructor,toString\n1,2,3');
    assert.deepEqual([...(strange?.columns.keys() ?? [])], ['__proto__', 'constructor', 'toString']);
    assert.equal(({} as Record<string, unknown>)['1'], undefined);
  });

  it('reports the position of malformed content', async () => {
    for (const [text, place] of [
      ['', 'line 1, column 1: the header is missing'],
      ['\n\n', 'line 1, column 1: the header is missing'],
      [',,\n', 'line 1, column 1: the first line has no column names'],
      ['a,b,a\n', 'line 1, column 3: the column "a" occurs twice'],
      ['a,b\n1,2\n1\n', 'line 3, column 1: the record has 1 cells'],
      ['a,b\n1,2,3\n', 'line 2, column 3: the record has 3 cells'],
      ['a,b\n1,2\n3,"4', 'line 3, column 2: a quoted cell is not closed'],
      ['a,b\n"1"x,2\n', 'line 2, column 1: there is text after a closing quote'],
      ['a,b\n1,2"\n', 'line 2, column 2: there is a quote inside'],
    ] as const) {
      assert.ok((await refusal(text)).includes(place), `${JSON.stringify(text)}: ${await refusal(text)}`);
    }
  });

  it('yields the rows before an error and reads only on demand', async () => {
    let taken = 0;
    const endless = async function* (): AsyncGenerator<string> {
      yield 'a,b\n';
      for (; ; taken++) yield `${'1,2\n'.repeat(1000)}`;
    };
    let seen = 0;
    for await (const { cells } of readCsv(endless())) {
      assert.deepEqual(cells, ['1', '2']);
      if (++seen === 5000) break;
    }
    assert.ok(taken < 200, `${taken} chunks were taken for 5 of them`);
  });
});

describe('cells that a spreadsheet would evaluate', () => {
  it('are written with an apostrophe that the parser removes', () => {
    for (const cell of ['=1+1', '+7 495', '-5', '@sum', '\tx', '\rx', "'=1", "''-"]) {
      assert.equal(guardCell(cell), `'${cell}`);
      assert.equal(unguardCell(`'${cell}`), cell);
    }
    for (const cell of ['', '5', 'a=b', "'", "'tis", "''", ' =1', '1-2']) {
      assert.equal(guardCell(cell), cell);
      assert.equal(unguardCell(cell), cell);
    }
  });

  it('round-trip unchanged', () => {
    const cell = fc.string({ unit: fc.constantFrom("'", '=', '-', '+', '@', '\t', '\r', 'a', ' '), maxLength: 6 });
    fc.assert(
      fc.property(fc.oneof(cell, fc.string({ unit: 'grapheme' })), (text) => {
        assert.equal(unguardCell(guardCell(text)), text);
        assert.doesNotMatch(guardCell(text), /^[=+\-@\t\r]/);
      }),
    );
  });
});

it('round-trip cell by cell in chunks of any size', async () => {
  const text = fc.string({
    unit: fc.constantFrom('a', ',', ';', '"', "'", '\n', '\r', '\t', ' ', '=', '-', 'я', '😀', '\u2028'),
    maxLength: 12,
  });
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.array(text, { minLength: 3, maxLength: 3 }), { maxLength: 8 }),
      fc.integer({ min: 1, max: 9 }),
      async (records, size) => {
        const written = writeCsv([['x', 'y', 'z'], ...records.map((record) => record.map(guardCell))]);
        // A record of empty cells has separators, so it is not a blank line.
        assert.deepEqual(
          (await read(written, size)).map(({ cells }) => cells),
          records,
        );
      },
    ),
    { numRuns: 300 },
  );
});
