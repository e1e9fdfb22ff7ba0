/** Messages between the process and the thread that holds the index. Everything is plain data. */
import type { BestQuestion, Page, Ranking, Scope, Word, Words } from '../query.ts';
import type { ConditionEnvironment } from './conditions.ts';
import type { FollowerState } from './follower.ts';
import type { Occurrences } from './word-ranks.ts';

/** A scope with everything that its rules are evaluated with. */
export interface MemoryScope extends Scope {
  environment: ConditionEnvironment;
  /** Version of the configuration. */
  version: number;
  /** Identifies the caller's variables. Sets of documents of rules that name variables are kept under it. */
  variablesKey: string;
}

/** What the thread is asked: the questions of `SearchBackend`. */
export type Ask = {
  scope: MemoryScope;
  /** Whether changes that were acknowledged before must be found. If not, those before an earlier question are. */
  fresh: boolean;
} & (
  | /** The matches of the steps one after the other, each last updated first, with ranks if a ranking is given. */
  { kind: 'find'; steps: readonly Words[]; page: Page; ranking: Ranking | null }
  | ({ kind: 'best' } & BestQuestion)
  /** The ranks of these records. Records that are not in the index are left out. */
  | { kind: 'rank'; ids: readonly string[]; ranking: Ranking }
  /** How often these records contain each word. Records that are not in the index are left out. */
  | { kind: 'occurrences'; ids: readonly string[]; words: readonly Word[] }
  | { kind: 'sample'; words: readonly Word[]; size: number }
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
