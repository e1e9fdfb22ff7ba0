/** Real tickets with as many comments and changes as each really had: the shared set `trac-jquery`. */
import path from 'node:path';
import { readRows } from '../search-quality/test-collections.ts';

export interface Ticket {
  title: string;
  description: string;
  comments: string[];
  /** Number of changes; changes at the same instant count as one. */
  changes: number;
}

/** Longer texts are truncated, so that a few pasted files do not dominate. */
const LONGEST = 4000;

const clean = (text: string): string =>
  text.replaceAll('\u0000', '').toWellFormed().normalize('NFC').trim().slice(0, LONGEST).toWellFormed();

/** Every n-th ticket, `count` in total. */
export async function readTickets(folder: string, count: number): Promise<Ticket[]> {
  const rows = (name: string): ReturnType<typeof readRows> => readRows(path.join(folder, 'trac-jquery', name));
  const comments = Map.groupBy(await rows('comments.csv.gz'), (row) => row['ticket_id']);
  const history = Map.groupBy(await rows('history.csv.gz'), (row) => row['ticket_id']);
  const tickets = (await rows('tickets.csv.gz')).map((row) => ({
    title: clean(row['summary'] ?? '')
      .replaceAll(/\s+/g, ' ')
      .slice(0, 200)
      .toWellFormed(),
    description: clean(row['description'] ?? ''),
    comments: (comments.get(row['id']) ?? []).map((one) => clean(one['body'] ?? '')).filter((body) => body !== ''),
    changes: new Set((history.get(row['id']) ?? []).map((one) => one['changed_at'])).size,
  }));
  const usable = tickets.filter(({ title, description }) => title !== '' && description !== '');
  const step = Math.max(1, usable.length / count);
  return Array.from(
    { length: Math.min(count, usable.length) },
    (_, index) => usable[Math.floor(index * step)] as Ticket,
  );
}
