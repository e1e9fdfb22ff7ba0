/** Reads the rows of an import lazily. Request bodies and files of any size share this code. */
import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import { readCsv } from '../../lib/csv.ts';
import { isNumber } from '../../lib/exact-number.ts';
import { faultAt } from '../../lib/fault.ts';
import { parseStrictJson } from '../../lib/json.ts';
import { readJsonRows } from '../../lib/json-rows.ts';
import { type Row, valueAt } from '../../lib/mapping.ts';
import { isWellFormedText, nfc } from '../../lib/text.ts';
import { readJson } from '../../platform/long-json.ts';
import type { ImportDefinition } from './registry.ts';

/** Each call streams the content from its beginning; no chunk ends within a character. */
export type Content = () => AsyncIterable<string>;

const CHUNK = 65_536;
const LONGEST_EXTERNAL_ID = 255;
const PROGRESS_ROWS = 1000;

/** A row of the source. */
export interface SourceRow {
  /** Counted from 1. */
  row: number;
  at: Row;
  /** Approximate length in characters. */
  size: number;
}

/** Content that is in memory already. Yields to the event loop between its chunks. */
export function contentOf(text: string): Content {
  return async function* () {
    for (let from = 0; from < text.length; ) {
      const last = text.charCodeAt(from + CHUNK - 1);
      const to = from + CHUNK + (last >= 0xd800 && last < 0xdc00 ? 1 : 0);
      yield text.slice(from, to);
      from = to;
      await yieldToEventLoop();
    }
  };
}

/** All imports share one slot of the parser's queue, since each reads one element at a time. */
async function parseElement(text: string): Promise<unknown> {
  // Shorter texts are parsed fast enough without a worker thread.
  if (text.length < 32_768) return parseStrictJson(text);
  return (await readJson({ bytes: Buffer.from(text) }, null)).value;
}

/** @throws Fault INVALID_REQUEST with line and column of the error */
export async function* readRows(content: Content, definition: ImportDefinition): AsyncGenerator<SourceRow> {
  let row = 0;
  if (definition.format === 'JSON') {
    for await (const { value, size } of readJsonRows(content(), parseElement)) {
      row++;
      yield { row, size, at: (source) => valueAt(value, source) };
    }
    return;
  }
  for await (const { columns, cells } of readCsv(content())) {
    row++;
    yield {
      row,
      size: cells.reduce((sum, cell) => sum + cell.length, 0),
      at: (source) => {
        const column = columns.get(source.trim());
        return column === undefined ? undefined : cells[column];
      },
    };
  }
}

/**
 * Reads all rows once, so that malformed content is refused before anything is written.
 *
 * @param onProgress called with the number of rows read, every 1000 rows
 * @param onRow called for each row
 * @returns the number of rows
 * @throws Fault INVALID_REQUEST, also if a CSV has no column for the external id
 */
export async function checkContent(
  content: Content,
  definition: ImportDefinition,
  onProgress: (rows: number) => void = () => {},
  onRow: (row: SourceRow) => void = () => {},
): Promise<number> {
  const { format, resolver } = definition;
  let total = 0;
  for await (const row of readRows(content, definition)) {
    const { at } = row;
    if (total === 0 && format === 'CSV' && at(resolver.externalIdField) === undefined) {
      throw faultAt('INVALID_REQUEST', '/content', 'MISSING_COLUMN', { column: resolver.externalIdField });
    }
    onRow(row);
    total++;
    if (total % PROGRESS_ROWS === 0) onProgress(total);
  }
  return total;
}

/** The external id of the row; undefined if the row has none, null if the value is not a valid id. */
export function externalIdOf({ at }: SourceRow, { resolver }: ImportDefinition): string | null | undefined {
  const given = at(resolver.externalIdField);
  if (given === undefined || given === null || given === '') return undefined;
  if (isNumber(given)) {
    const text = String(given);
    return text.length > LONGEST_EXTERNAL_ID ? null : text;
  }
  if (typeof given !== 'string' || !isWellFormedText(given) || given.length > LONGEST_EXTERNAL_ID) return null;
  return nfc(given);
}
