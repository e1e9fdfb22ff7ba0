/** Messages between the process and the thread that holds the index. Everything is plain data. */
import type { FollowerState } from './follower.ts';
import type { Need } from './need.ts';
import type { TermQuery } from '../terms.ts';
import type { BestQuestion, Page, Ranking, Scope } from './search.ts';
import type { Occurrences } from './word-ranks.ts';

/** What the thread is asked. */
export type Ask = {
  scope: Scope;
  /** Whether changes that were acknowledged before must be found. If not, those before an earlier question are. */
  fresh: boolean;
} & (
  | /** Matches of a page, last updated first, with ranks if a ranking is given. */
  { kind: 'find'; need: Need; page: Page; ranking: Ranking | null }
  /** The matches of a need as far as they are counted, and the last updated ones of them ranked. */
  | ({ kind: 'best' } & BestQuestion)
  /** The first matches of the needs one after the other, each last updated first, without those of earlier needs. */
  | { kind: 'steps'; needs: readonly Need[]; limit: number; except: ReadonlySet<string>; ranking: Ranking }
  /** The ranks of these records. Records that are not in the index are left out. */
  | { kind: 'rank'; ids: readonly string[]; ranking: Ranking }
  /** How often these records contain each word. Records that are not in the index are left out. */
  | { kind: 'occurrences'; ids: readonly string[]; words: readonly TermQuery[] }
  /** How many of the newest records satisfy each need. */
  | { kind: 'sample'; needs: readonly Need[]; size: number }
);

/** Matches in a form that is cheap to send. */
export interface FoundRecords {
  /** One after the other, 36 characters each. */
  ids: string;
  /** Ranks or scores; null without a ranking. */
  ranks: Float64Array | null;
  /** Numbers of words. */
  sizes: Uint32Array;
}

export type Answer =
  | { kind: 'found'; found: FoundRecords }
  | { kind: 'occurrences'; found: FoundRecords; occurrences: Occurrences }
  /** A page of ranked matches. */
  | { kind: 'best'; count: number; titled: FoundRecords; found: FoundRecords }
  | { kind: 'sample'; records: number; holding: readonly number[]; average: number }
  /** The index cannot answer; the statement must. */
  | { kind: 'statement' };

export type ToThread =
  /** @param until when the statement answers instead, in milliseconds since 1970 */
  { kind: 'question'; number: number; ask: Ask; until: number } | { kind: 'stop' };

export interface IndexState {
  state: FollowerState;
  documents: number;
  bytes: number;
}

export type FromThread =
  | { kind: 'reply'; number: number; answer: Answer }
  | ({ kind: 'state' } & IndexState)
  /** Something failed and is tried again. */
  | { kind: 'problem'; message: string };
