/** Messages between the process and the thread that holds the index. Everything is plain data. */
import type { Need } from './need.ts';
import type { Page, Ranking, Scope } from './search.ts';

/** What the thread is asked. */
export type Ask =
  /** Matches of a page, last updated first, with ranks if a ranking is given. */
  | { kind: 'find'; scope: Scope; need: Need; page: Page; ranking: Ranking | null }
  /** How many of the newest records satisfy each need. */
  | { kind: 'sample'; scope: Scope; needs: readonly Need[]; size: number };

export interface FoundRecord {
  id: string;
  /** Null without a ranking. */
  rank: number | null;
  /** Number of words of the record. */
  size: number;
}

export type Answer =
  | { kind: 'found'; found: readonly FoundRecord[] }
  | { kind: 'sample'; records: number; holding: readonly number[]; average: number }
  /** The index cannot answer; the statement must. */
  | { kind: 'statement' };

export interface Question {
  number: number;
  ask: Ask;
}

export interface Reply {
  number: number;
  answer: Answer;
}
