/**
 * CSV as imports read and exports write it (decisions, "Import, export, bulk"): RFC 4180, UTF-8 with or without a byte order
 * mark, separated by comma, semicolon or tab, which the header tells.
 *
 * A spreadsheet takes a cell that starts with `=`, `+`, `-`, `@`, tab or CR for a formula. Such cells are written with a
 * leading `'`, which reading takes off again; so that this is exact, a cell that has apostrophes before such a character
 * gets one more.
 */
import { pipeline, Readable } from 'node:stream';
import { type CsvError, type Options, parse } from 'csv-parse';
import { stringify } from 'csv-stringify/sync';
import { Fault } from './fault.ts';

export type Separator = ',' | ';' | '\t';

const SEPARATORS: readonly Separator[] = [',', ';', '\t'];
/** Longest record, in bytes; a longer one is taken for a quote that nobody closed. */
const LONGEST_RECORD = 8 * 1024 * 1024;
/** Most characters that are looked at for the end of the header. */
const LONGEST_HEADER = 1024 * 1024;

/** Most columns; a spreadsheet has 16,384. */
const MOST_COLUMNS = 16_384;

/** Names of columns and where they stand. */
export type Columns = ReadonlyMap<string, number>;

export interface CsvRecord {
  columns: Columns;
  /** As many as the header has. */
  cells: readonly string[];
}

/** The cell as it is written, so that no spreadsheet runs it. */
export function guardCell(text: string): string {
  return /^'*[=+\-@\t\r]/.test(text) ? `'${text}` : text;
}

/** The inverse of `guardCell`. */
export function unguardCell(text: string): string {
  return /^'+[=+\-@\t\r]/.test(text) ? text.slice(1) : text;
}

/** Lines of CSV with their line ends; cells come as they are, guarded or not. */
export function writeCsv(records: readonly (readonly string[])[]): string {
  return stringify(records as string[][], { record_delimiter: 'windows', quoted_match: /[\r\n;\t]|^\s|\s$/ });
}

function malformed(line: number, column: number, reason: string): Fault {
  const message = `The CSV is malformed at line ${line}, column ${column}: ${reason}`;
  return new Fault('INVALID_REQUEST', message, [{ path: '/content', code: 'MALFORMED', message }]);
}

/** The separator that stands most often in the header, outside of quotes; the comma where none does. */
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

/** Where the first line that is not inside quotes ends; -1 when the text ends before. */
function headerEnd(text: string): number {
  let quoted = false;
  for (let at = 0; at < text.length; at++) {
    const character = text[at];
    if (character === '"') quoted = !quoted;
    else if (!quoted && (character === '\n' || character === '\r')) return at;
  }
  return -1;
}

/** The chunks from their beginning again, and the separator that the first line tells. */
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
    // Blank lines before the header say nothing.
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
  if (header.length > MOST_COLUMNS) throw malformed(line, 1, `the header has more than ${MOST_COLUMNS} columns.`);
  const columns = new Map<string, number>();
  for (const [index, cell] of header.entries()) {
    const name = cell.trim();
    // A spreadsheet leaves columns without a name behind; nothing can be mapped from them.
    if (name === '') continue;
    if (columns.has(name)) throw malformed(line, index + 1, `the column ${JSON.stringify(name)} stands twice.`);
    columns.set(name, index);
  }
  if (columns.size === 0) throw malformed(1, 1, 'the first line names no column.');
  return columns;
}

const REASONS: ReadonlyMap<string, string> = new Map([
  ['CSV_INVALID_CLOSING_QUOTE', 'behind a closing quote stands neither a separator nor the end of the line.'],
  ['INVALID_OPENING_QUOTE', 'a quote stands inside a cell that does not begin with one.'],
  ['CSV_QUOTE_NOT_CLOSED', 'a quoted cell is not closed.'],
  ['CSV_MAX_RECORD_SIZE', 'the record is too long; a quote may not be closed.'],
]);

function asFault(error: unknown): unknown {
  const { code, lines, column, record } = error as CsvError & { lines?: number; column?: number; record?: unknown[] };
  if (typeof code !== 'string' || typeof lines !== 'number') return error;
  if (code === 'CSV_RECORD_INCONSISTENT_FIELDS_LENGTH') {
    const count = record?.length ?? 0;
    return malformed(lines, Math.max(1, count), `the record has ${count} cells, the header another number.`);
  }
  return malformed(lines, (typeof column === 'number' ? column : 0) + 1, REASONS.get(code) ?? 'it cannot be read.');
}

/**
 * The records of a CSV, with guards taken off, read as they are asked for: memory holds a few chunks whatever the size.
 *
 * @throws Fault INVALID_REQUEST with line and column (the number of the cell) of what is malformed
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
  // What goes wrong comes out of the iteration.
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
  if (columns === undefined) throw malformed(1, 1, 'there is no header.');
}
