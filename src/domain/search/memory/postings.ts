/**
 * Which documents of a segment contain each lexeme, and in which zones. Pure.
 *
 * The postings of all lexemes follow each other in two arrays: the document (16 bits) and the number of its pattern of zones
 * (8 bits; patterns beyond the 255 most frequent ones are in a list beside them). Lexemes that start alike are neighbours, so the
 * postings of a prefix are one stretch.
 */
import type { ZoneWeights } from '../ranking.ts';
import { type Bits, indexIn } from './document-set.ts';
import { rankOfPattern } from './zones.ts';

/** The number of a pattern that does not fit into 8 bits. */
const RARE = 255;
/** Maximum number of patterns of a segment. */
export const MAX_PATTERNS = 65_535;

export interface PostingArrays {
  /** Where the postings of each lexeme start, and where the last ones end. */
  starts: Uint32Array;
  docs: Uint16Array;
  zones: Uint8Array;
  /** The postings with rare patterns, and the numbers of these. */
  rareAt: Uint32Array;
  rareZones: Uint16Array;
  /** The most frequent ones first. */
  patterns: readonly string[];
}

/** A posting as one number that sorts by document. */
export function postingOf(doc: number, pattern: number): number {
  return doc * 65_536 + pattern;
}

export class Postings {
  readonly arrays: PostingArrays;
  readonly #ranks = new Map<string, Float64Array>();

  constructor(arrays: PostingArrays) {
    this.arrays = arrays;
  }

  /** Number of postings of a range of lexemes. */
  count(from: number, to: number): number {
    return from === to ? 0 : (this.arrays.starts[to] as number) - (this.arrays.starts[from] as number);
  }

  addTo(bits: Bits, from: number, to: number): void {
    const { docs, starts } = this.arrays;
    const end = starts[to] as number;
    for (let at = starts[from] as number; at < end; at++) bits.add(docs[at] as number);
  }

  /** Whether the document contains one of the lexemes. */
  has(doc: number, from: number, to: number): boolean {
    const { docs, starts } = this.arrays;
    for (let lexeme = from; lexeme < to; lexeme++) {
      if (indexIn(docs, starts[lexeme] as number, starts[lexeme + 1] as number, doc) >= 0) return true;
    }
    return false;
  }

  /**
   * Adds the ranks of a range of lexemes to the sums of the documents in `wanted`. The lexemes are added in the order of their
   * bytes and rounded to 32 bits, like `ts_rank` does.
   *
   * @param ranks by pattern (`ranksOf`)
   */
  addRanks(sums: Float32Array, wanted: Bits, from: number, to: number, ranks: Float64Array): void {
    const { docs, starts } = this.arrays;
    const end = starts[to] as number;
    for (let at = starts[from] as number; at < end; at++) {
      const doc = docs[at] as number;
      if (wanted.has(doc)) sums[doc] = (sums[doc] as number) + (ranks[this.patternAt(at)] as number);
    }
  }

  /** The same for few documents, which are looked up. */
  addRanksOf(sums: Float32Array, few: Uint16Array, from: number, to: number, ranks: Float64Array): void {
    const { docs, starts } = this.arrays;
    for (let lexeme = from; lexeme < to; lexeme++) {
      const [first, end] = [starts[lexeme] as number, starts[lexeme + 1] as number];
      for (const doc of few) {
        const at = indexIn(docs, first, end, doc);
        if (at >= 0) sums[doc] = (sums[doc] as number) + (ranks[this.patternAt(at)] as number);
      }
    }
  }

  patternAt(posting: number): number {
    const { zones, rareAt, rareZones } = this.arrays;
    const pattern = zones[posting] as number;
    if (pattern !== RARE) return pattern;
    let [low, high] = [0, rareAt.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((rareAt[middle] as number) < posting) low = middle + 1;
      else high = middle;
    }
    return rareZones[low] as number;
  }

  /** The rank of one occurrence of a word, by pattern. */
  ranksOf(weights: ZoneWeights): Float64Array {
    const key = weights.join();
    let ranks = this.#ranks.get(key);
    if (ranks === undefined) {
      ranks = Float64Array.from(this.arrays.patterns, (pattern) => rankOfPattern(pattern, weights));
      this.#ranks.set(key, ranks);
    }
    return ranks;
  }

  get bytes(): number {
    const { starts, docs, zones, rareAt, rareZones, patterns } = this.arrays;
    const text = patterns.reduce((sum, pattern) => sum + pattern.length + 32, 0);
    return starts.byteLength + docs.byteLength + zones.byteLength + rareAt.byteLength + rareZones.byteLength + text;
  }
}

/** Numbers for patterns, the most frequent first. */
export class Patterns {
  readonly list: readonly string[];
  readonly #numbers: ReadonlyMap<string, number>;

  constructor(counts: ReadonlyMap<string, number>) {
    const byCount = [...counts].sort(([a, n], [b, m]) => m - n || (a < b ? -1 : 1));
    this.list = byCount.slice(0, MAX_PATTERNS).map(([pattern]) => pattern);
    this.#numbers = new Map(this.list.map((pattern, number) => [pattern, number]));
  }

  /** A pattern that has no number is counted like the most frequent one that starts as it does. */
  of(pattern: string): number {
    for (let length = pattern.length; length > 0; length--) {
      const number = this.#numbers.get(pattern.slice(0, length));
      if (number !== undefined) return number;
    }
    return 0;
  }
}

export class PostingWriter {
  readonly #starts: number[] = [0];
  readonly #docs: Uint16Array;
  readonly #zones: Uint8Array;
  readonly #rareAt: number[] = [];
  readonly #rareZones: number[] = [];
  readonly #patterns: Patterns;
  #used = 0;

  /** @param most at least the number of postings that will be added */
  constructor(most: number, patterns: Patterns) {
    this.#docs = new Uint16Array(most);
    this.#zones = new Uint8Array(most);
    this.#patterns = patterns;
  }

  /** Adds the postings (`postingOf`) of the next lexeme, by document. */
  add(postings: Iterable<number>): void {
    for (const posting of postings) {
      const pattern = posting % 65_536;
      this.#docs[this.#used] = Math.floor(posting / 65_536);
      this.#zones[this.#used] = Math.min(pattern, RARE);
      if (pattern >= RARE) {
        this.#rareAt.push(this.#used);
        this.#rareZones.push(pattern);
      }
      this.#used++;
    }
    this.#starts.push(this.#used);
  }

  finish(): Postings {
    return new Postings({
      starts: Uint32Array.from(this.#starts),
      docs: this.#docs.slice(0, this.#used),
      zones: this.#zones.slice(0, this.#used),
      rareAt: Uint32Array.from(this.#rareAt),
      rareZones: Uint16Array.from(this.#rareZones),
      patterns: this.#patterns.list,
    });
  }
}
