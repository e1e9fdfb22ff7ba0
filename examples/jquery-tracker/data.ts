/** The rows of the tracker files: every cell is a string; empty means absent. */
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

const COMMENT_COLUMNS = ['ticket_id', 'seq', 'author', 'created_at', 'body'] as const;
export type CommentRow = Record<(typeof COMMENT_COLUMNS)[number], string>;

const RELATION_COLUMNS = ['source_id', 'relation', 'target_id', 'created_at', 'author'] as const;
export type RelationRow = Record<(typeof RELATION_COLUMNS)[number], string>;

const ATTACHMENT_COLUMNS = ['ticket_id', 'filename', 'size', 'author', 'added_at', 'description'] as const;
export type AttachmentRow = Record<(typeof ATTACHMENT_COLUMNS)[number], string>;

export interface Tracker {
  tickets: TicketRow[];
  /** By ticket, in the order of the file, which is the order of time. */
  history: Map<string, HistoryRow[]>;
  /** The history of all tickets, those beyond the limit included: the workflow is the whole tracker's. */
  wholeHistory: HistoryRow[];
  /** By ticket, in the order in which they were written. */
  comments: Map<string, CommentRow[]>;
  /** By ticket, in the order of the file. */
  attachments: Map<string, AttachmentRow[]>;
  /** Those with both ends among the tickets. */
  relations: RelationRow[];
  users: UserRow[];
}

/** The folder of the data set, or undefined if it does not exist. `named` is the value of DOCKET_EXAMPLE_DATA, if any. */
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

/** Rows by ticket, for the given tickets only. */
function byTicket<Row extends { ticket_id: string }>(
  tickets: readonly TicketRow[],
  rows: readonly Row[],
): Map<string, Row[]> {
  const groups = new Map<string, Row[]>(tickets.map((ticket) => [ticket.id, []]));
  for (const row of rows) groups.get(row.ticket_id)?.push(row);
  return groups;
}

/** Reads the tables; `limit` takes the first tickets and their rows. */
export async function readTracker(folder: string, limit: number): Promise<Tracker> {
  const tickets = (await readTable(folder, 'tickets', TICKET_COLUMNS)).slice(0, limit);
  const ids = new Set(tickets.map((ticket) => ticket.id));
  const wholeHistory = await readTable(folder, 'history', HISTORY_COLUMNS);
  const relations = await readTable(folder, 'relations', RELATION_COLUMNS);
  return {
    tickets,
    history: byTicket(tickets, wholeHistory),
    wholeHistory,
    comments: byTicket(tickets, await readTable(folder, 'comments', COMMENT_COLUMNS)),
    attachments: byTicket(tickets, await readTable(folder, 'attachments', ATTACHMENT_COLUMNS)),
    relations: relations.filter((row) => ids.has(row.source_id) && ids.has(row.target_id)),
    users: await readTable(folder, 'users', USER_COLUMNS),
  };
}
