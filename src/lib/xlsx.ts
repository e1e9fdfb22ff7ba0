/**
 * Writes a table as an XLSX workbook (Office Open XML, ECMA-376) with one sheet. The file is made piece by piece: memory holds a
 * few hundred kilobytes, regardless of the number of rows. Texts are written into their cells and not into a shared table, which
 * would have to be kept until the end.
 *
 * A text is never a formula, because its cell has the type of a text. Texts that look like a formula also get the mark
 * `quotePrefix`, so that they stay texts when somebody edits the cell.
 */
import { Zip, ZipDeflate } from 'fflate';
import { looksLikeFormula } from './csv.ts';
import { Yielder } from './yielding.ts';

/** Maximum number of rows of a sheet, including the header. */
export const SHEET_ROWS = 1_048_576;
/** Maximum number of characters of a cell. */
export const CELL_CHARACTERS = 32_767;

/** A value of a cell. `day` is YYYY-MM-DD and `moment` YYYY-MM-DDTHH:mm:ss, both without a time zone, as spreadsheets have it. */
export type TableCell = null | string | number | { day: string } | { moment: string };

export interface TableColumn {
  name: string;
  /** In characters. */
  width: number;
}

/** Number of characters of XML that are compressed at once. */
const PIECE = 65_536;
/** From 0 to 9. Sheets are repetitive: higher levels cost time and save little. */
const LEVEL = 3;

const HEAD = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n';
const MAIN = 'http://schemas.openxmlformats.org/spreadsheetml/2006/main';
const PACKAGE = 'http://schemas.openxmlformats.org/package/2006';
const OFFICE = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships';
const SHEET_TYPE = 'application/vnd.openxmlformats-officedocument.spreadsheetml';

/** Indexes of the cell formats in `STYLES`. */
const STYLE = { header: 1, day: 2, moment: 3, quoted: 4 } as const;

const STYLES = `${HEAD}<styleSheet xmlns="${MAIN}"><numFmts count="2"><numFmt numFmtId="164" formatCode="yyyy\\-mm\\-dd"/><numFmt numFmtId="165" formatCode="yyyy\\-mm\\-dd\\ hh:mm"/></numFmts><fonts count="2"><font><sz val="11"/><name val="Calibri"/></font><font><b/><sz val="11"/><name val="Calibri"/></font></fonts><fills count="2"><fill><patternFill patternType="none"/></fill><fill><patternFill patternType="gray125"/></fill></fills><borders count="1"><border><left/><right/><top/><bottom/><diagonal/></border></borders><cellStyleXfs count="1"><xf numFmtId="0" fontId="0" fillId="0" borderId="0"/></cellStyleXfs><cellXfs count="5"><xf numFmtId="0" fontId="0" fillId="0" borderId="0" xfId="0"/><xf numFmtId="0" fontId="1" fillId="0" borderId="0" xfId="0" applyFont="1"/><xf numFmtId="164" fontId="0" fillId="0" borderId="0" xfId="0" applyNumberFormat="1"/><xf numFmtId="165" fontId="0" fillId="0" borderId="0" xfId="0" applyNumberFormat="1"/><xf numFmtId="0" fontId="0" fillId="0" borderId="0" xfId="0" quotePrefix="1"/></cellXfs></styleSheet>`;

const parts = (sheetName: string): [path: string, content: string][] => [
  [
    '[Content_Types].xml',
    `${HEAD}<Types xmlns="${PACKAGE}/content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Default Extension="xml" ContentType="application/xml"/><Override PartName="/xl/workbook.xml" ContentType="${SHEET_TYPE}.sheet.main+xml"/><Override PartName="/xl/worksheets/sheet1.xml" ContentType="${SHEET_TYPE}.worksheet+xml"/><Override PartName="/xl/styles.xml" ContentType="${SHEET_TYPE}.styles+xml"/></Types>`,
  ],
  [
    '_rels/.rels',
    `${HEAD}<Relationships xmlns="${PACKAGE}/relationships"><Relationship Id="rId1" Type="${OFFICE}/officeDocument" Target="xl/workbook.xml"/></Relationships>`,
  ],
  [
    'xl/workbook.xml',
    `${HEAD}<workbook xmlns="${MAIN}" xmlns:r="${OFFICE}"><sheets><sheet name="${escapeXml(sheetName)}" sheetId="1" r:id="rId1"/></sheets></workbook>`,
  ],
  [
    'xl/_rels/workbook.xml.rels',
    `${HEAD}<Relationships xmlns="${PACKAGE}/relationships"><Relationship Id="rId1" Type="${OFFICE}/worksheet" Target="worksheets/sheet1.xml"/><Relationship Id="rId2" Type="${OFFICE}/styles" Target="styles.xml"/></Relationships>`,
  ],
  ['xl/styles.xml', STYLES],
];

/** What XML 1.0 does not allow, even escaped. */
const UNWRITABLE = /[^\t\n\r\u0020-\ufffd\u{10000}-\u{10ffff}]/gu;

function escapeXml(text: string): string {
  return text
    .replace(UNWRITABLE, '\ufffd')
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;');
}

/** The text within the limit of a cell. A text that is cut says so at its end. */
function fitted(text: string): string {
  if (text.length <= CELL_CHARACTERS) return text;
  const end = `… [${text.length}]`;
  const cut = text.slice(0, CELL_CHARACTERS - end.length);
  // A surrogate pair is not split.
  return (/[\ud800-\udbff]$/.test(cut) ? cut.slice(0, -1) : cut) + end;
}

function textCell(text: string, style: number | undefined): string {
  // Spreadsheets read _xHHHH_ as the character with this number, so the underscore itself is written this way.
  const written = escapeXml(
    fitted(text)
      .replaceAll(/\r\n?/g, '\n')
      .replaceAll(/_(?=x[0-9A-Fa-f]{4}_)/g, '_x005F_'),
  );
  const attribute = style === undefined ? '' : ` s="${style}"`;
  return `<c${attribute} t="inlineStr"><is><t xml:space="preserve">${written}</t></is></c>`;
}

/** Days between 1899-12-30 and 1970-01-01: day 0 of spreadsheets, apart from the 29 February 1900 that they know. */
const EPOCH = 25_569;
const DAY_MS = 86_400_000;
const FIRST_DAY = '1900-03-01';

/** A date as the number of days, or as text where spreadsheets have no such date. */
function timeCell(text: string, style: number): string {
  const at = text < FIRST_DAY ? Number.NaN : Date.parse(text.length === 10 ? text : `${text}Z`);
  return Number.isNaN(at) ? textCell(text, undefined) : `<c s="${style}"><v>${at / DAY_MS + EPOCH}</v></c>`;
}

function cellXml(cell: TableCell): string {
  if (cell === null || cell === '') return '<c/>';
  if (typeof cell === 'number') return `<c><v>${cell}</v></c>`;
  if (typeof cell === 'string') return textCell(cell, looksLikeFormula(cell) ? STYLE.quoted : undefined);
  return 'day' in cell ? timeCell(cell.day, STYLE.day) : timeCell(cell.moment, STYLE.moment);
}

/** The letters of a column; 0 is A. */
function lettersOf(index: number): string {
  const rest = Math.floor(index / 26);
  return (rest === 0 ? '' : lettersOf(rest - 1)) + String.fromCharCode(65 + (index % 26));
}

/** A name that spreadsheets accept for a sheet. */
function sheetNameOf(title: string): string {
  const name = title
    .replaceAll(/[[\]:*?/\\]/g, ' ')
    .slice(0, 31)
    .replaceAll(/^['\s]+|['\s\ud800-\udbff]+$/g, '');
  return name === '' ? 'Docket' : name;
}

async function* sheetXml(
  columns: readonly TableColumn[],
  rows: AsyncIterable<readonly TableCell[]>,
): AsyncGenerator<string> {
  const widths = columns.map(
    ({ width }, index) => `<col min="${index + 1}" max="${index + 1}" width="${width}" customWidth="1"/>`,
  );
  const header = columns.map(({ name }) => textCell(name, STYLE.header)).join('');
  yield `${HEAD}<worksheet xmlns="${MAIN}"><sheetViews><sheetView workbookViewId="0"><pane ySplit="1" topLeftCell="A2" activePane="bottomLeft" state="frozen"/></sheetView></sheetViews><cols>${widths.join('')}</cols><sheetData><row>${header}</row>`;
  let count = 1;
  for await (const row of rows) {
    count += 1;
    if (count > SHEET_ROWS) throw new RangeError(`a sheet has at most ${SHEET_ROWS} rows`);
    yield `<row>${row.map(cellXml).join('')}</row>`;
  }
  yield `</sheetData><autoFilter ref="A1:${lettersOf(Math.max(0, columns.length - 1))}${count}"/></worksheet>`;
}

/**
 * The bytes of a workbook.
 *
 * @param title becomes the name of the sheet
 * @param rows the cells of each row, in the order of the columns
 * @throws RangeError if there are more rows than a sheet can have
 */
export async function* writeXlsx(
  title: string,
  columns: readonly TableColumn[],
  rows: AsyncIterable<readonly TableCell[]>,
): AsyncGenerator<Buffer> {
  let ready: Uint8Array[] = [];
  const zip = new Zip((error, chunk) => {
    if (error !== null) throw error;
    ready.push(chunk);
  });
  const take = (): Buffer => {
    const taken = Buffer.concat(ready);
    ready = [];
    return taken;
  };
  for (const [path, content] of parts(sheetNameOf(title))) {
    const part = new ZipDeflate(path, { level: LEVEL });
    zip.add(part);
    part.push(Buffer.from(content), true);
  }
  const sheet = new ZipDeflate('xl/worksheets/sheet1.xml', { level: LEVEL });
  zip.add(sheet);
  const yielder = new Yielder();
  let text = '';
  for await (const xml of sheetXml(columns, rows)) {
    text += xml;
    if (text.length < PIECE) continue;
    const bytes = Buffer.from(text);
    text = '';
    for (let from = 0; from < bytes.length; from += PIECE) {
      sheet.push(bytes.subarray(from, from + PIECE));
      await yielder.next();
    }
    if (ready.length > 0) yield take();
  }
  sheet.push(Buffer.from(text), true);
  zip.end();
  yield take();
}
