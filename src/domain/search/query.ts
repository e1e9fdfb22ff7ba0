/**
 * A question to the records, as plain data, and the interface of what answers it. Both back ends, `sql/` and `memory/`, evaluate
 * the same tree and give the same answers. Rights are part of the question: data that is hidden from the caller has no effect.
 */
import type { ItemState } from '../../contract/state.ts';
import type { TypedCondition } from '../../lib/filter.ts';
import type { Operand } from './indexing/lexemes.ts';
import type { RankPlan, RerankHit } from './ranking.ts';

/** Type id → the condition on its records; null for all of them. No record of another type is meant. */
export type RecordRule = ReadonlyMap<string, TypedCondition | null>;

/** What the caller may search. */
export interface Access {
  typeIds: readonly string[];
  /** The records that the caller may read. */
  rights: RecordRule;
  /** Field tokens that may be used on all of them. The first is empty: text that every reader of the record may read. */
  free: readonly string[];
  /** Further field tokens, and the records on which they may be used. */
  classes: readonly { fieldTokens: readonly string[]; rule: RecordRule }[];
  /** Rows of the index whose words may be used: those with one of these profiles, and those of these types. Null for all rows. */
  trusted: { profileIds: ReadonlySet<number>; typeIds: ReadonlySet<string> } | null;
}

export type Order = 'updated_at' | 'created_at';

/** The records among which words are searched, and their order, newest first. */
export interface Scope extends Access {
  state: ItemState;
  /** Null for all workflow states. */
  workflowStateIds: readonly string[] | null;
  /** The filter, with the rights on its fields; null without a filter. */
  filter: RecordRule | null;
  order: Order;
  /** Whether indexes of the database find what rights and filter admit. */
  indexed: boolean;
}

/** Alternatives in a rank. */
export interface Alternatives {
  operands: readonly Operand[];
  /** By how many `ts_rank` divides: those that cannot be stored are counted, too. */
  count: number;
}

/** The lexemes of a word under some field tokens. */
export interface Reading {
  /** The word itself. Its occurrences add up in the rank. */
  exact: Alternatives;
  /** Words that it may be the start of, synonyms, and similar words. However many there are, they count as one occurrence. */
  like: Alternatives;
  /** Any of them makes a match: all of both, without words that a prefix covers. */
  matched: readonly Operand[];
}

/** A word of the question, or the whole question as the title of a record. */
export interface Word {
  kind: 'word' | 'title';
  /** Where every reader of the record may read it. */
  free: Reading;
  /** By class of field tokens of the scope: on the records on which the class may be used. */
  classes: readonly Reading[];
}

/** What a record must contain. */
export type Words =
  | Word
  /** A record number, or the start of one. */
  | { kind: 'number'; operand: Operand }
  /** All or any of the parts. A group without parts matches nothing. A part that occurs several times is one object. */
  | { kind: 'all' | 'any'; parts: readonly Words[] };

export const allOf = (parts: readonly Words[]): Words => ({ kind: 'all', parts });
export const anyOf = (parts: readonly Words[]): Words => ({ kind: 'any', parts });

/** The rank of a record: the weighted sum of the ranks of its words. `bestScores` makes scores of ranks. */
export interface Ranking extends RankPlan {
  words: readonly Word[];
}

export interface Page {
  limit: number;
  offset: number;
  /** Ids to leave out. */
  except: readonly string[];
}

/** A match, with its rank if that was computed with it. */
export interface Matched {
  id: string;
  rank?: number;
  /** Number of words of the record. */
  size?: number;
}

export interface Scored {
  id: string;
  score: number;
}

export function bestFirst(a: Scored, b: Scored): number {
  return b.score - a.score || (a.id < b.id ? 1 : -1);
}

/** How often a record contains each word: the rank with weight 1 in the title and in the rest. */
export type Occurrences = Pick<RerankHit, 'size' | 'titleTf' | 'restTf'>;
export type OccurrencesById = ReadonlyMap<string, Occurrences>;

/** The best matches. */
export interface BestQuestion {
  words: Words;
  /** Matches that come before all others, whatever their ranks. */
  titled: Words;
  /** Maximum number of matches that are counted. */
  counted: number;
  /** Maximum number of matches that are ranked, those that come first included: the last updated ones. */
  ranked: number;
  /** Up to this number of matches, all are returned in order. */
  few: number;
  ranking: Ranking;
  /** The page among all ranked matches. */
  page: { offset: number; limit: number };
}

export type Best =
  /** All matches; how often they contain the words of the ranking, if that is known. */
  | { kind: 'few'; ids: readonly string[]; occurrences: OccurrencesById | undefined }
  /** The matches that come first, last updated first, and those of the others that are on the page, best first. */
  | { kind: 'page'; count: number; titled: readonly string[]; others: readonly Scored[] };

/** How many of the newest records have each word, how many these records are, and their mean size. */
export interface Sample {
  records: number;
  holding: readonly number[];
  average: number;
}

/** Answers the questions about one scope. All answers are of what the caller may read. */
export interface SearchBackend {
  /** Ids of the matches, in the order of the scope. @param words null for all records of the scope */
  find(words: Words | null, page: Page): Promise<string[]>;
  best(question: BestQuestion): Promise<Best>;
  /** The first matches of each of the steps one after the other, without those of earlier steps; perhaps with their ranks. */
  findInSteps(steps: readonly Words[], limit: number, except: readonly string[], ranking: Ranking): Promise<Matched[]>;
  /** The ranks of these records. */
  ranks(ids: readonly string[], ranking: Ranking): Promise<readonly Matched[]>;
  /**
   * What reranking needs of these records.
   *
   * @param comments whether comments that the caller may read count
   * @param known how often the records contain the words, if that is known
   */
  rerankHits(
    ids: readonly string[],
    words: readonly Word[],
    comments: boolean,
    known?: OccurrencesById,
  ): Promise<readonly (RerankHit & { id: string })[]>;
  /** Measures words on the newest active records, whatever the filter. */
  sample(words: readonly Word[], size: number): Promise<Sample>;
}
