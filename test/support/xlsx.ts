/** Reads workbooks of `src/lib/xlsx.ts` for tests: unpacks the ZIP and parses every part as XML. */
import assert from 'node:assert/strict';
import { unzipSync } from 'fflate';
import { Parser } from 'htmlparser2';

/** A text is a string. A number has the index of its format, because dates are numbers. */
export type ReadCell = string | { number: number; style: number } | null;

export interface ReadSheet {
  /** Name of the sheet. */
  name: string;
  header: string[];
  rows: ReadCell[][];
  /** The range of the filter. */
  range: string;
}

/** Calls `open` for every element; fails if an element is not closed. */
function parseXml(
  xml: string,
  handler: {
    open?(name: string, of: Record<string, string>): void;
    text?(text: string): void;
    close?(name: string): void;
  },
): void {
  const opened: string[] = [];
  const parser = new Parser(
    {
      onopentag: (name, of) => {
        opened.push(name);
        handler.open?.(name, of);
      },
      ontext: (text) => handler.text?.(text),
      onclosetag: (name, implied) => {
        assert.equal(opened.pop(), name);
        assert.ok(!implied || xml.includes(`<${name}/>`) || xml.includes(`<${name} `), `${name} is not closed`);
        handler.close?.(name);
      },
    },
    { xmlMode: true, decodeEntities: true },
  );
  parser.end(xml);
  assert.deepEqual(opened, []);
}

/** The texts of cells in `_xHHHH_` form, decoded. */
const decoded = (text: string): string =>
  text.replaceAll(/_x([0-9A-Fa-f]{4})_/g, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)));

export function readXlsx(file: Uint8Array): ReadSheet {
  const parts = Object.entries(unzipSync(file)).map(
    ([path, bytes]) => [path, Buffer.from(bytes).toString('utf8')] as const,
  );
  const found = new Map(parts);
  for (const [, xml] of parts) parseXml(xml, {});
  const sheet: ReadSheet = { name: '', header: [], rows: [], range: '' };
  parseXml(found.get('xl/workbook.xml') ?? '', {
    open: (name, of) => {
      if (name === 'sheet') sheet.name = of['name'] ?? '';
    },
  });
  const rows: ReadCell[][] = [];
  let cell: { text: string; kind: string | undefined; style: number } | undefined;
  parseXml(found.get('xl/worksheets/sheet1.xml') ?? '', {
    open: (name, of) => {
      if (name === 'row') rows.push([]);
      if (name === 'c') cell = { text: '', kind: of['t'], style: Number(of['s'] ?? 0) };
      if (name === 'autoFilter') sheet.range = of['ref'] ?? '';
    },
    text: (text) => {
      if (cell !== undefined) cell.text += text;
    },
    close: (name) => {
      if (name !== 'c' || cell === undefined) return;
      const { text, kind, style } = cell;
      const value = kind === 'inlineStr' ? decoded(text) : { number: Number(text), style };
      rows.at(-1)?.push(kind === undefined && text === '' ? null : value);
      cell = undefined;
    },
  });
  const [header = [], ...rest] = rows;
  return { ...sheet, header: header.map(String), rows: rest };
}
