/** Answers of the index in memory to the questions of `SearchBackend`. They are those of `../sql/backend.ts` on the same state. Pure. */
import { hash } from 'node:crypto';
import { variablesOf } from '../../../lib/filter.ts';
import type { BestQuestion, Page, Ranking, RecordRule, Sample, Word, Words } from '../query.ts';
import { bestScores } from '../ranking.ts';
import { columnsOfCondition, isTimed, ruleTest, TYPE_COLUMN } from './conditions.ts';
import { compareBytes } from './dictionary.ts';
import { Bits, DocumentSet } from './document-set.ts';
import type { MemoryIndex } from './memory-index.ts';
import type { MemoryScope } from './messages.ts';
import type { Segment } from './segment.ts';
import { type Found, matchesOf, type SegmentQuestion } from './walk.ts';
import { emptySums, type Occurrences, type RankedWord, rankedWord, SegmentRanks } from './word-ranks.ts';
import { documentsWith, type DocumentTest } from './words.ts';
import { ALL_BUT_TITLE, TITLE_ONLY } from './zones.ts';

const RECORD_STATE = '$state';
const WORKFLOW_STATE = '$workflowStateId';

/** Maximum number of sets of documents that are kept for a segment: about a tenth of the memory of a full one. */
const MAX_SETS = 200;

export class MemorySearch {
  readonly #index: MemoryIndex;
  /** Segment → key of a rule → the documents. Least recently used first. */
  readonly #sets = new WeakMap<Segment, Map<string, DocumentSet>>();

  /** Scope → the keys of its rules, which are the same for all segments. */
  readonly #keys = new WeakMap<MemoryScope, Map<RecordRule, string>>();
  readonly #sums = emptySums();

  constructor(index: MemoryIndex) {
    this.#index = index;
  }

  /** The columns that the scope compares and that are not in `columns`. If there are any, the statement answers. */
  missingColumns({ rights, classes, filter }: MemoryScope, columns: ReadonlySet<string>): string[] {
    const rules = [rights, ...classes.map(({ rule }) => rule), ...(filter === null ? [] : [filter])];
    const conditions = rules.flatMap((rule) => [...rule.values()]).filter((condition) => condition !== null);
    return [...new Set(conditions.flatMap(columnsOfCondition))].filter((name) => !columns.has(name));
  }

  /** The documents with these ids, in their order; those that are not there are left out. */
  byIds(ids: readonly string[]): Found[] {
    return ids.flatMap((id) => this.#index.find(id) ?? []);
  }

  /** The matches of the steps one after the other, each last updated first, without those of earlier steps. */
  find(scope: MemoryScope, steps: readonly Words[], { limit, offset, except }: Page): Found[] {
    const found: Found[] = [];
    if (limit <= 0) return found;
    let skipped = 0;
    const taken = new FoundSet(this.byIds(except));
    const on = onEachSegment((segment) => this.#question(scope, segment));
    for (const words of steps) {
      for (const match of matchesOf(this.#index.segments, { words, on })) {
        if (taken.has(match)) continue;
        if (steps.length > 1) taken.add(match);
        if (skipped++ < offset) continue;
        if (found.push(match) >= limit) return found;
      }
    }
    return found;
  }

  /** The weighted sum of the ranks of the words, for each match, before length normalisation. */
  ranks(scope: MemoryScope, found: readonly Found[], { words, weights, zones }: Ranking): Float64Array {
    const ranks = new Float64Array(found.length);
    this.#eachWord(scope, found, words, (of, word, index, places) => {
      const weight = weights[index] ?? 0;
      const own = of.ranks(word, zones);
      for (let at = 0; at < own.length; at++) (ranks[places[at] as number] as number) += weight * (own[at] as number);
    });
    return ranks;
  }

  /** A page of the last updated matches in the order of their scores, without those that come first. */
  best(scope: MemoryScope, found: readonly Found[], titled: readonly Found[], question: BestQuestion): ScoredPage {
    const { ranked, ranking, page } = question;
    const first = new FoundSet(titled);
    const others = found.filter((one) => !first.has(one)).slice(0, Math.max(0, ranked - titled.length));
    const { places, scores } = bestScores(
      this.ranks(scope, others, ranking),
      others.map(({ segment, doc }) => segment.parts.sizes[doc] as number),
      ranking.b,
      (a, b) => compareIds(others[b] as Found, others[a] as Found),
    );
    const from = Math.max(0, page.offset - titled.length);
    const shown = places.subarray(from, Math.max(from, page.offset + page.limit - titled.length));
    return {
      found: Array.from(shown, (place) => others[place] as Found),
      scores: Float64Array.from(shown, (place) => scores[place] as number),
    };
  }

  /** The rank of each word in the title and in the rest: for each document, one number for each word. */
  occurrences(scope: MemoryScope, found: readonly Found[], words: readonly Word[]): Occurrences {
    const title = new Float64Array(found.length * words.length);
    const rest = new Float64Array(found.length * words.length);
    this.#eachWord(scope, found, words, (of, word, index, places) => {
      for (const [ranks, zones] of [[title, TITLE_ONLY] as const, [rest, ALL_BUT_TITLE] as const]) {
        for (const [at, rank] of of.ranks(word, zones).entries()) {
          ranks[(places[at] as number) * words.length + index] = rank;
        }
      }
    });
    return { words: words.length, title, rest };
  }

  /** Calls `take` with each word in each segment, and the places of the segment's documents in the list. */
  #eachWord(
    scope: MemoryScope,
    found: readonly Found[],
    words: readonly Word[],
    take: (ranks: SegmentRanks, word: RankedWord, index: number, places: readonly number[]) => void,
  ): void {
    const sorted = words.map(rankedWord);
    for (const [segment, places] of bySegment(found)) {
      const docs = places.map((place) => (found[place] as Found).doc);
      const of = new SegmentRanks(segment, docs, this.#classes(scope, segment), this.#sums);
      for (const [index, word] of sorted.entries()) take(of, word, index, places);
    }
  }

  /** On the newest records of the scope, whatever its filter. */
  sample(scope: MemoryScope, words: readonly Word[], size: number): Sample {
    const plain: MemoryScope = { ...scope, state: 'ACTIVE', workflowStateIds: null, filter: null };
    const on = (segment: Segment): SegmentQuestion => this.#question(plain, segment);
    const sampled: Found[] = [];
    for (const match of matchesOf(this.#index.segments, { words: null, on })) {
      if (sampled.push(match) >= size) break;
    }
    const holding = words.map(() => 0);
    let sum = 0;
    for (const [segment, places] of bySegment(sampled)) {
      const docs = places.map((place) => (sampled[place] as Found).doc);
      for (const doc of docs) sum += segment.parts.sizes[doc] as number;
      const classes = this.#classes(scope, segment);
      const few = Uint16Array.from(docs);
      for (const [index, word] of words.entries()) {
        const bits = documentsWith(segment, word, classes, few);
        (holding[index] as number) += docs.filter((doc) => bits.has(doc)).length;
      }
    }
    return { records: sampled.length, holding, average: sum / Math.max(1, sampled.length) };
  }

  #question(scope: MemoryScope, segment: Segment): SegmentQuestion {
    const tests: DocumentTest[] = [];
    const { columns, profileIds } = segment.parts;
    const { state, workflowStateIds, trusted, filter, environment } = scope;
    const has = (name: string, values: ReadonlySet<unknown>): DocumentTest => {
      const column = columns.get(name);
      if (column === undefined) return () => values.has(undefined);
      const isWanted = [undefined, ...column.values].map((one) => values.has(one?.value));
      return (doc) => isWanted[column.numbers[doc] as number] === true;
    };
    tests.push(has(RECORD_STATE, new Set([state])));
    if (workflowStateIds !== null) tests.push(has(WORKFLOW_STATE, new Set(workflowStateIds)));
    const readable = this.#documents(scope, segment, scope.rights);
    tests.push(readable.test);
    if (trusted !== null) {
      const ofType = has(TYPE_COLUMN, trusted.typeIds);
      tests.push((doc) => trusted.profileIds.has(profileIds[doc] as number) || ofType(doc));
    }
    // Filters are asked once, so the documents are tested one by one.
    if (filter !== null) tests.push(ruleTest(segment, filter, environment));
    const visible: DocumentTest = (doc) => tests.every((test) => test(doc));
    return { visible, few: readable.few, classes: this.#classes(scope, segment) };
  }

  #classes(scope: MemoryScope, segment: Segment): DocumentTest[] {
    return scope.classes.map(({ rule }) => this.#documents(scope, segment, rule).test);
  }

  /** The documents of a rule of rights. They are kept with the segment, which never changes, unless they depend on the time. */
  #documents(scope: MemoryScope, segment: Segment, rule: RecordRule): { test: DocumentTest; few: Uint16Array | null } {
    const tested = (): DocumentTest => ruleTest(segment, rule, scope.environment);
    if (isTimed(rule)) return { test: tested(), few: null };
    let sets = this.#sets.get(segment);
    if (sets === undefined) {
      sets = new Map();
      this.#sets.set(segment, sets);
    }
    const key = this.#keyOf(scope, rule);
    let set = sets.get(key);
    if (set === undefined) {
      const bits = new Bits(segment.count);
      const test = tested();
      for (let doc = 0; doc < segment.count; doc++) if (test(doc)) bits.add(doc);
      set = new DocumentSet(bits);
    } else sets.delete(key);
    sets.set(key, set);
    if (sets.size > MAX_SETS) sets.delete(sets.keys().next().value as string);
    const kept = set;
    return { test: (doc) => kept.has(doc), few: kept.few };
  }

  /** Callers with equal rules share their sets. */
  #keyOf(scope: MemoryScope, rule: RecordRule): string {
    const keys = this.#keys.get(scope) ?? new Map<RecordRule, string>();
    this.#keys.set(scope, keys);
    let key = keys.get(rule);
    if (key === undefined) {
      const caller = namesVariables(rule) ? scope.variablesKey : null;
      key = hash('sha256', JSON.stringify([scope.version, caller, ...rule]), 'base64url');
      keys.set(rule, key);
    }
    return key;
  }
}

/** A part of the ranked documents, with their scores. */
export interface ScoredPage {
  found: Found[];
  scores: Float64Array;
}

function compareIds(a: Found, b: Found): number {
  return compareBytes(a.segment.idBytes(a.doc), b.segment.idBytes(b.doc));
}

/** Asks once for each segment, so that what was found out about it serves all needs of a question. */
function onEachSegment(ask: (segment: Segment) => SegmentQuestion): (segment: Segment) => SegmentQuestion {
  const asked = new Map<Segment, SegmentQuestion>();
  return (segment) => {
    let known = asked.get(segment);
    if (known === undefined) asked.set(segment, (known = { ...ask(segment), known: new Map() }));
    return known;
  };
}

/** A set of documents. */
class FoundSet {
  readonly #docs = new Map<Segment, Set<number>>();

  constructor(found: readonly Found[]) {
    for (const one of found) this.add(one);
  }

  has({ segment, doc }: Found): boolean {
    return this.#docs.get(segment)?.has(doc) === true;
  }

  add({ segment, doc }: Found): void {
    const docs = this.#docs.get(segment);
    if (docs === undefined) this.#docs.set(segment, new Set([doc]));
    else docs.add(doc);
  }
}

/** Whether the documents of the rule depend on the caller, besides the rule itself. */
function namesVariables(rule: RecordRule): boolean {
  return [...rule.values()].some((condition) => condition !== null && variablesOf(condition).size > 0);
}

/** Segment → places in the list. */
function bySegment(found: readonly Found[]): Map<Segment, number[]> {
  const places = new Map<Segment, number[]>();
  for (const [place, { segment }] of found.entries()) {
    const known = places.get(segment);
    if (known === undefined) places.set(segment, [place]);
    else known.push(place);
  }
  return places;
}
