/** The rows of the audit log as in the file; `?` means absent. */
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { gunzipSync } from 'node:zlib';
import { parse } from 'csv-parse/sync';

export const REPOSITORY = fileURLToPath(new URL('../..', import.meta.url));

const COLUMNS = [
  'number',
  'incident_state',
  'made_sla',
  'caller_id',
  'opened_at',
  'sys_updated_at',
  'category',
  'priority',
  'assignment_group',
] as const;

export type EventRow = Record<(typeof COLUMNS)[number], string>;

/** The folder of the data set, or undefined if it does not exist. @param given the value of `DOCKET_EXAMPLE_DATA` */
export function dataFolder(given: string | undefined): string | undefined {
  const base = given ?? path.join(REPOSITORY, '..', 'shared', 'data');
  // Worktrees lie one level deeper.
  const places = [base, ...(given === undefined ? [path.join(REPOSITORY, '..', '..', 'shared', 'data')] : [])];
  return places
    .map((place) => path.join(place, 'servicenow-incidents'))
    .find((folder) => existsSync(path.join(folder, 'incident_events.csv.gz')));
}

/** @throws Error when a column is missing */
export async function readEvents(folder: string): Promise<EventRow[]> {
  const text = gunzipSync(await readFile(path.join(folder, 'incident_events.csv.gz'))).toString('utf8');
  const rows = parse(text, { columns: true, bom: true }) as Record<string, string>[];
  for (const column of COLUMNS) {
    if (rows[0] !== undefined && !Object.hasOwn(rows[0], column)) throw new Error(`the data has no column ${column}`);
  }
  return rows as EventRow[];
}
