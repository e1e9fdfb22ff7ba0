/** Exports everything in both formats and compares it with the source data. */
import { parse } from 'csv-parse/sync';
import type { Docket } from '../../client/src/index.ts';
import { COLUMNS, expectedCells, fieldOf } from './incidents.ts';

export type Values = Readonly<Record<string, unknown>>;

export interface Export {
  format: 'CSV' | 'JSON';
  /** The files, one for each part. */
  texts: string[];
  ms: number;
}

/** An export gives at most 10,000 records, so that there are two: those opened before an instant, and the others. */
export async function exportIncidents(docket: Docket, border: string, format: 'CSV' | 'JSON'): Promise<Export> {
  const started = performance.now();
  const texts: string[] = [];
  for (const filter of [
    { field: 'opened_at', operator: 'before', value: border },
    { field: 'opened_at', operator: 'range', value: [border, '2100-01-01T00:00:00.000Z'] },
  ]) {
    const file = await docket.exports.create({
      typeDefinitionId: 'sn-incident',
      format,
      limit: 10_000,
      query: { filter },
    });
    texts.push(await file.text());
  }
  return { format, texts, ms: performance.now() - started };
}

interface Exported {
  values?: Values;
}

/** Number of the incident → exported cells or values. */
function recordsOf({ format, texts }: Export): Map<string, unknown> {
  const found = new Map<string, unknown>();
  for (const text of texts) {
    if (format === 'JSON') {
      for (const { values = {} } of JSON.parse(text) as Exported[]) found.set(String(values['sn_number']), values);
    } else {
      for (const row of parse(text, { columns: true }) as Record<string, string>[]) {
        const cells = Object.fromEntries(COLUMNS.map((column) => [fieldOf(column), row[fieldOf(column)] ?? '']));
        found.set(cells['sn_number'] ?? '', cells);
      }
    }
  }
  return found;
}

function sorted(value: unknown): string {
  return JSON.stringify(Object.entries(value as object).sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** What differs from the data, in words; nothing when all is equal. */
export function differences(exported: Export, expected: ReadonlyMap<string, Values>): string[] {
  const found = recordsOf(exported);
  const problems: string[] = [];
  if (found.size !== expected.size) problems.push(`${exported.format}: ${found.size} records, not ${expected.size}`);
  for (const [number, values] of expected) {
    const wanted = exported.format === 'CSV' ? expectedCells(values) : values;
    const record = found.get(number);
    if (record === undefined) problems.push(`${exported.format}: ${number} is missing`);
    else if (sorted(record) !== sorted(wanted)) {
      problems.push(`${exported.format}: ${number} is ${sorted(record)}, not ${sorted(wanted)}`);
    }
    if (problems.length >= 20) break;
  }
  return problems;
}
