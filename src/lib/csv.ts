/**
 * Reads CSV for imports and writes it for exports (docs/spec/import-export-bulk.md): RFC 4180, UTF-8 with or without a byte
 * order mark, separated by comma, semicolon or tab. The separator is detected from the header.
 *
 * Spreadsheets interpret a cell that starts with `=`, `+`, `-`, `@`, tab or CR as a formula. Such cells are written with a
 * leading `'`, which reading removes. To make this reversible, a cell that has apostrophes before such a character gets one
 * more.
 */
import { pipeline, Readable } from 'node:stream';
import { type CsvError, type Options, parse } from 'csv-parse';
import { stringify } from 'csv-stringify/sync';
import { type Fault, faultAt } from './fault.ts';
import { type Phrase } from './problem.ts';

export type Separator = ',' | ';' | '\t';

const SEPARATORS: readonly Separator[] = [',', ';', '\t'];
/** Maximum length of a record, in bytes. A longer one is treated as an unclosed quote. */
const LONGEST_RECORD = 8 * 1024 * 1024;
/** Maximum number of characters searched for the end of the header. */
const LONGEST_HEADER = 1024 * 1024;

/** Maximum number of columns, the limit of common spreadsheets. */
const MAX_COLUMNS = 16_384;

/** Column name → index. */
export type Columns = ReadonlyMap<string, number>;

export interface CsvRecord {
  columns: Columns;
  /** As many as the header has. */
  cells: readonly string[];
}

/** Whether a spreadsheet could take the text for a formula, or for one that is escaped already. */
export function looksLikeFormula(text: string): boolean {
  return /^'*[=+\-@\t\r]/.test(text);
}

/** Escapes a cell so that no spreadsheet executes it. */
export function guardCell(text: string): string {
  return looksLikeFormula(text) ? `'${text}` : text;
}

/** The inverse of `guardCell`. */
export function unguardCell(text: string): string {
  return /^'+[=+\-@\t\r]/.test(text) ? text.slice(1) : text;
}

/** Writes CSV records with line ends. Cells are written as given; the caller escapes them. */
export function writeCsv(records: readonly (readonly string[])[]): string {
  return stringify(records as string[][], { record_delimiter: 'windows', quoted_match: /[\r\n;\t]|^\s|\s$/ });
}

function malformed(line: number, column: number, cause: Phrase): Fault {
  return faultAt('INVALID_REQUEST', '/content', 'MALFORMED_CSV', { line, column, cause });
}

/** The most frequent separator in the header outside quotes; the comma if there is none. */
export function separatorOf(header: string): Separator {
  const counts = new Map<string, number>(SEPARATORS.map((separator) => [separator, 0]));
  let quoted = false;
  for (const character of header) {
    if (character === '"') quoted = !quoted;
    else if (!quoted && counts.has(character)) counts.set(character, (counts.get(character) ?? 0) + 1);
  }
  const count = (separator: Separator): number => counts.get(separator) ?? 0;
  return SEPARATORS.reduce((best, next) => (count(next) > count(best) ? next : best));
}

/** Offset of the end of the first line outside quotes; -1 if the text ends before. */
function headerEnd(text: string): number {
  let quoted = false;
  for (let at = 0; at < text.length; at++) {
    const character = text[at];
    if (character === '"') quoted = !quoted;
    else if (!quoted && (character === '\n' || character === '\r')) return at;
  }
  return -1;
}

/** Detects the separator from the first line. Returns it with the chunks from the beginning. */
async function sniff(
  source: AsyncIterable<string>,
): Promise<{ separator: Separator; chunks: () => AsyncGenerator<string> }> {
  const iterator = source[Symbol.asyncIterator]();
  let head = '';
  let end = -1;
  let done = false;
  while (!done && end === -1 && head.length < LONGEST_HEADER) {
    const next = await iterator.next();
    if (next.done === true) done = true;
    else head += next.value;
    // Skip blank lines before the header.
    head = head.replace(/^\uFEFF?[\r\n]+/, '');
    end = headerEnd(head);
  }
  const separator = separatorOf(end === -1 ? head : head.slice(0, end));
  const chunks = async function* (): AsyncGenerator<string> {
    yield head;
    for (let next = await iterator.next(); next.done !== true; next = await iterator.next()) yield next.value;
  };
  return { separator, chunks };
}

function columnsOf(header: readonly string[], line: number): Columns {
  if (header.length > MAX_COLUMNS) throw malformed(line, 1, { phrase: 'CSV_TOO_MANY_COLUMNS', max: MAX_COLUMNS });
  const columns = new Map<string, number>();
  for (const [index, cell] of header.entries()) {
    const name = cell.trim();
    // Spreadsheets may leave unnamed columns; mappings cannot refer to them.
    if (name === '') continue;
    if (columns.has(name))
      throw malformed(line, index + 1, { phrase: 'CSV_COLUMN_TWICE', column: JSON.stringify(name) });
    columns.set(name, index);
  }
  if (columns.size === 0) throw malformed(1, 1, { phrase: 'CSV_NO_COLUMN_NAMES' });
  return columns;
}

const CAUSES: ReadonlyMap<string, Phrase> = new Map<string, Phrase>([
  ['CSV_INVALID_CLOSING_QUOTE', { phrase: 'CSV_TEXT_AFTER_QUOTE' }],
  ['INVALID_OPENING_QUOTE', { phrase: 'CSV_QUOTE_IN_CELL' }],
  ['CSV_QUOTE_NOT_CLOSED', { phrase: 'CSV_QUOTE_OPEN' }],
  ['CSV_MAX_RECORD_SIZE', { phrase: 'CSV_RECORD_TOO_LONG' }],
]);

function asFault(error: unknown): unknown {
  const { code, lines, column, record } = error as CsvError & { lines?: number; column?: number; record?: unknown[] };
  if (typeof code !== 'string' || typeof lines !== 'number') return error;
  if (code === 'CSV_RECORD_INCONSISTENT_FIELDS_LENGTH') {
    const count = record?.length ?? 0;
    return malformed(lines, Math.max(1, count), { phrase: 'CSV_CELL_COUNT', count });
  }
  return malformed(lines, (typeof column === 'number' ? column : 0) + 1, CAUSES.get(code) ?? { phrase: 'UNPARSABLE' });
}

/**
 * Streams the records of a CSV with formula escapes removed. Memory holds a few chunks, regardless of the size.
 *
 * @throws Fault INVALID_REQUEST with line and column (the number of the cell) of the malformed part
 */
export async function* readCsv(source: AsyncIterable<string>): AsyncGenerator<CsvRecord> {
  const { separator, chunks } = await sniff(source);
  const options: Options = {
    bom: true,
    delimiter: separator,
    record_delimiter: ['\r\n', '\n', '\r'],
    skip_empty_lines: true,
    max_record_size: LONGEST_RECORD,
    encoding: 'utf8',
  };
  const parser = parse(options);
  // Errors are thrown by the iteration below.
  pipeline(Readable.from(chunks()), parser, () => {});
  let columns: Columns | undefined;
  try {
    for await (const record of parser as AsyncIterable<string[]>) {
      if (columns === undefined) columns = columnsOf(record, 1);
      else yield { columns, cells: record.map(unguardCell) };
    }
  } catch (error) {
    throw asFault(error);
  }
  if (columns === undefined) throw malformed(1, 1, { phrase: 'CSV_NO_HEADER' });
}
