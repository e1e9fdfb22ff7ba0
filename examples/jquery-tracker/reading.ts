/** Shared by all comparisons: the reader, the ids of records, and the format of a deviation. */
import { type Client, granted } from './client.ts';
import type { RelationRow } from './data.ts';
import type { Journal } from './journal.ts';

export interface Person {
  id: string;
  displayName: string;
}

export interface Context {
  client: Client;
  journal: Journal;
  /** Of a person who may read every ticket and its history. */
  reader: string;
  userIds: ReadonlyMap<string, string>;
  /** Ticket → the ticket that it duplicates, and who linked it. */
  duplicates: ReadonlyMap<string, { target: string; author: string }>;
  /** Ticket → the tickets that duplicate it. */
  duplicatesOf: ReadonlyMap<string, readonly string[]>;
}

/** Notes a deviation where the two are not deeply equal. */
export type Differ = (what: string, expected: unknown, found: unknown) => void;

/** What a call of the reader's has to find. @throws Error when it is refused */
export async function read<Data>(context: Context, name: string, path: string): Promise<Data> {
  const call = { name, method: 'GET', path, key: context.reader } as const;
  return granted(call, await context.client.call<Data>(call));
}

/** Duplicate links in both directions, according to the data. */
export function linksOf(rows: readonly RelationRow[]): Pick<Context, 'duplicates' | 'duplicatesOf'> {
  const duplicatesOf = new Map<string, string[]>();
  for (const { source_id, target_id } of rows) {
    duplicatesOf.set(target_id, [...(duplicatesOf.get(target_id) ?? []), source_id]);
  }
  const duplicates = rows.map((row) => [row.source_id, { target: row.target_id, author: row.author }] as const);
  return { duplicates: new Map(duplicates), duplicatesOf };
}
