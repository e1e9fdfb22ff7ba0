/** What the index in memory reads. */
import type { IndexedDocument, StoredVersion } from './segment.ts';

/** Which transactions a reader has seen. */
export interface Seen {
  /** `NOW` of the journal's positions, as text. */
  snapshot: string;
  /**
   * Identifies the storage and the start of the server. If it changes, changes that were read may be lost, and transaction ids
   * may mean others: everything must be read again.
   */
  epoch: string;
  /** Identifies the storage and its history, also after a start of the server. */
  storage: string;
}

/** A place in the order of a load. */
export interface LoadMark {
  at: string;
  id: string;
}

/** Where committed records are read; `store.ts` reads them from the database. */
export interface RecordSource {
  /** What a statement that begins now sees. */
  seenNow(): Promise<Seen>;
  /**
   * The next active records, last updated first. Records that change during the load may be missed or read twice; they are among
   * the changes since its beginning.
   *
   * @param columns names of the columns whose values are read
   */
  load(
    columns: ReadonlySet<string>,
    after: LoadMark | null,
    limit: number,
  ): Promise<{ documents: IndexedDocument[]; next: LoadMark | null }>;
  /** The states of the active records by id, after `after`. */
  versions(after: string | null, limit: number): Promise<StoredVersion[]>;
  /** Ids of the records that changed since, at most `limit`, and what has been seen with them. */
  changesSince(seen: Seen, limit: number): Promise<Seen & { ids: string[] }>;
  /** The records with these ids as they are now, those that are active. */
  read(columns: ReadonlySet<string>, ids: readonly string[]): Promise<IndexedDocument[]>;
}
