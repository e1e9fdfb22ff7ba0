/** Sets of the documents of one segment. Pure. */

/** Maximum number of documents of a segment, so that numbers of documents and of their values fit into 16 bits. */
export const MAX_DOCUMENTS = 65_535;

/** A mutable set, one bit for each document. */
export class Bits {
  readonly words: Uint32Array;

  constructor(size: number) {
    this.words = new Uint32Array((size + 31) >>> 5);
  }

  add(doc: number): void {
    (this.words[doc >>> 5] as number) |= 1 << (doc & 31);
  }

  has(doc: number): boolean {
    return (((this.words[doc >>> 5] ?? 0) >>> (doc & 31)) & 1) === 1;
  }

  /** Removes everything that `other` lacks. */
  intersect(other: Bits): void {
    for (let at = 0; at < this.words.length; at++) (this.words[at] as number) &= other.words[at] as number;
  }

  unite(other: Bits): void {
    for (let at = 0; at < this.words.length; at++) (this.words[at] as number) |= other.words[at] as number;
  }

  count(): number {
    let count = 0;
    for (let word of this.words) {
      word -= (word >>> 1) & 0x55555555;
      word = (word & 0x33333333) + ((word >>> 2) & 0x33333333);
      count += Math.imul((word + (word >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24;
    }
    return count;
  }

  /** The last document below `before`, or -1. */
  lastBelow(before: number): number {
    for (let at = (before - 1) >> 5; at >= 0; at--) {
      let word = this.words[at] as number;
      if (at === before >> 5) word &= (1 << (before & 31)) - 1;
      if (word !== 0) return (at << 5) + 31 - Math.clz32(word);
    }
    return -1;
  }

  /** Calls `take` with each document, highest first. Much cheaper than `backwards`, but it cannot be stopped. */
  each(take: (doc: number) => void): void {
    for (let at = this.words.length - 1; at >= 0; at--) {
      for (let word = this.words[at] as number; word !== 0; ) {
        const bit = 31 - Math.clz32(word);
        take((at << 5) + bit);
        word &= ~(1 << bit);
      }
    }
  }

  /** The documents, highest first. */
  *backwards(): Generator<number> {
    for (let doc = this.lastBelow(this.words.length << 5); doc >= 0; doc = this.lastBelow(doc)) yield doc;
  }
}

/** An immutable set that takes as little memory as its contents permit: a list of documents, or bits. */
export class DocumentSet {
  readonly #list: Uint16Array | null;
  readonly #bits: Bits | null;
  readonly size: number;

  constructor(bits: Bits) {
    this.size = bits.count();
    const isSparse = 2 * this.size < bits.words.byteLength;
    this.#list = isSparse ? Uint16Array.from([...bits.backwards()].reverse()) : null;
    this.#bits = isSparse ? null : bits;
  }

  get bytes(): number {
    return this.#list?.byteLength ?? this.#bits?.words.byteLength ?? 0;
  }

  /** The documents in ascending order if they are few; null otherwise. */
  get few(): Uint16Array | null {
    return this.#list;
  }

  has(doc: number): boolean {
    if (this.#bits !== null) return this.#bits.has(doc);
    const list = this.#list as Uint16Array;
    return indexIn(list, 0, list.length, doc) >= 0;
  }
}

/** The place of `wanted` in the sorted part of a list, or -1. */
export function indexIn(list: Uint16Array, from: number, to: number, wanted: number): number {
  let [low, high] = [from, to];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((list[middle] as number) < wanted) low = middle + 1;
    else high = middle;
  }
  return low < to && list[low] === wanted ? low : -1;
}
