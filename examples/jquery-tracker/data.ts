/** The rows of the tracker as the files hold them: every cell a string, empty meaning absent. */
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { gunzipSync } from 'node:zlib';
import { parse } from 'csv-parse/sync';

export const REPOSITORY = fileURLToPath(new URL('../..', import.meta.url));

/** Columns of `tickets.csv` that become fields, in order; `id` is among them. */
export const TICKET_COLUMNS = [
  'id',
  'type',
  'status',
  'resolution',
  'priority',
  'component',
  'milestone',
  'version',
  'keywords',
  'reporter',
  'owner',
  'cc',
  'opened_at',
  'closed_at',
  'modified_at',
  'summary',
  'description',
] as const;

export type TicketRow = Record<(typeof TICKET_COLUMNS)[number], string>;

const HISTORY_COLUMNS = ['ticket_id', 'seq', 'author', 'changed_at', 'field', 'old_value', 'new_value'] as const;
export type HistoryRow = Record<(typeof HISTORY_COLUMNS)[number], string>;

const USER_COLUMNS = ['login', 'first_seen', 'last_seen', 'reported', 'comments', 'changes'] as const;
export type UserRow = Record<(typeof USER_COLUMNS)[number], string>;

export interface Tracker {
  tickets: TicketRow[];
  /** By ticket, in the order of the file, which is the order of time. */
  history: Map<string, HistoryRow[]>;
  users: UserRow[];
}

/** The folder of the data set, or undefined where it is not there. `named` is what DOCKET_EXAMPLE_DATA says, if anything. */
export function dataFolder(named: string | undefined): string | undefined {
  const folder = path.join(named ?? path.join(REPOSITORY, '..', 'shared', 'data'), 'trac-jquery');
  return existsSync(path.join(folder, 'tickets.csv.gz')) ? folder : undefined;
}

/** @throws Error when the columns are not the ones named: a column more would be dropped in silence, one less would be empty */
async function readTable<Column extends string>(
  folder: string,
  name: string,
  columns: readonly Column[],
): Promise<Record<Column, string>[]> {
  const text = gunzipSync(await readFile(path.join(folder, `${name}.csv.gz`))).toString('utf8');
  const header = text.slice(0, text.indexOf('\n'));
  if (header !== columns.join(',')) throw new Error(`${name}.csv.gz has other columns than expected: ${header}`);
  return parse<Record<Column, string>>(text, { columns: true });
}

/** Reads the tables; `limit` takes the first tickets and what belongs to them. */
export async function readTracker(folder: string, limit: number): Promise<Tracker> {
  const tickets = (await readTable(folder, 'tickets', TICKET_COLUMNS)).slice(0, limit);
  const history = new Map<string, HistoryRow[]>(tickets.map((ticket) => [ticket.id, []]));
  for (const row of await readTable(folder, 'history', HISTORY_COLUMNS)) history.get(row.ticket_id)?.push(row);
  return { tickets, history, users: await readTable(folder, 'users', USER_COLUMNS) };
}
