/**
 * The sorted lexemes of a segment in one array of UTF-8 bytes. They are ordered by bytes, like those of a `tsvector`. Pure.
 *
 * A `Map` of strings would take ten times as much memory.
 */

const ENCODER = new TextEncoder();
const DECODER = new TextDecoder();

export class Dictionary {
  readonly bytes: Uint8Array;
  /** Where each lexeme starts, and where the last one ends. */
  readonly starts: Uint32Array;

  constructor(bytes: Uint8Array, starts: Uint32Array) {
    this.bytes = bytes;
    this.starts = starts;
  }

  get size(): number {
    return this.starts.length - 1;
  }

  bytesOf(index: number): Uint8Array {
    return this.bytes.subarray(this.starts[index], this.starts[index + 1]);
  }

  lexeme(index: number): string {
    return DECODER.decode(this.bytesOf(index));
  }

  /** The range of the lexeme, or of all lexemes that start with it; the end is exclusive. */
  range(lexeme: string, prefix: boolean): [from: number, to: number] {
    const wanted = ENCODER.encode(lexeme);
    const from = this.#firstNotBelow(wanted, false, 0);
    if (prefix) return [from, this.#firstNotBelow(wanted, true, from)];
    return [from, from < this.size && this.#compare(from, wanted, false) === 0 ? from + 1 : from];
  }

  /** The first lexeme at or after `wanted`; with `behind`, the first one after all lexemes that start with it. */
  #firstNotBelow(wanted: Uint8Array, behind: boolean, least: number): number {
    let [low, high] = [least, this.size];
    while (low < high) {
      const middle = (low + high) >>> 1;
      const compared = this.#compare(middle, wanted, behind);
      if (compared < 0 || (behind && compared === 0)) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /**
   * Like `compareBytes`, without a view for each step of a search.
   *
   * @param start whether a lexeme that starts with `wanted` is equal
   */
  #compare(index: number, wanted: Uint8Array, start: boolean): number {
    const { bytes, starts } = this;
    const from = starts[index] as number;
    const length = (starts[index + 1] as number) - from;
    const common = Math.min(length, wanted.length);
    for (let at = 0; at < common; at++) {
      const difference = (bytes[from + at] as number) - (wanted[at] as number);
      if (difference !== 0) return difference;
    }
    return start && length > wanted.length ? 0 : length - wanted.length;
  }
}

/** Appends lexemes in ascending order. */
export class DictionaryWriter {
  #bytes = new Uint8Array(1024);
  #used = 0;
  readonly #starts: number[] = [0];

  add(lexeme: Uint8Array): void {
    if (this.#used + lexeme.length > this.#bytes.length) {
      const larger = new Uint8Array(2 * (this.#used + lexeme.length));
      larger.set(this.#bytes.subarray(0, this.#used));
      this.#bytes = larger;
    }
    this.#bytes.set(lexeme, this.#used);
    this.#used += lexeme.length;
    this.#starts.push(this.#used);
  }

  finish(): Dictionary {
    return new Dictionary(this.#bytes.slice(0, this.#used), Uint32Array.from(this.#starts));
  }
}

/** Negative, 0 or positive; a text is before the longer texts that start with it. */
export function compareBytes(a: Uint8Array, b: Uint8Array): number {
  const length = Math.min(a.length, b.length);
  for (let at = 0; at < length; at++) {
    const difference = (a[at] as number) - (b[at] as number);
    if (difference !== 0) return difference;
  }
  return a.length - b.length;
}

export function encoded(text: string): Uint8Array {
  return ENCODER.encode(text);
}
