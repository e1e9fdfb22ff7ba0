/** Which external ids of a content come more than once, in little memory for any number of rows. */
import { canonicalUuid } from '../../lib/data-types/index.ts';

const BITS = 24;

export class RepeatedIds {
  readonly #seen = new Uint8Array(2 ** (BITS - 3));
  readonly #repeated = new Uint8Array(2 ** (BITS - 3));
  #ids = false;
  #texts = false;
  #any = false;

  add(externalId: string): void {
    const bit = bitOf(externalId);
    if (isSet(this.#seen, bit)) {
      set(this.#repeated, bit);
      this.#any = true;
    }
    set(this.#seen, bit);
    if (canonicalUuid(externalId) === undefined) this.#texts = true;
    else this.#ids = true;
  }

  /** A record has an id of this service beside its external id: if the content has both kinds, any two rows may mean one. */
  get mayAllRepeat(): boolean {
    return this.#ids && this.#texts;
  }

  get any(): boolean {
    return this.#any || this.mayAllRepeat;
  }

  /** Whether the id may come more than once. Says so of few ids that come once, never the other way round. */
  has(externalId: string): boolean {
    return this.mayAllRepeat || isSet(this.#repeated, bitOf(externalId));
  }
}

/** FNV-1a, cut to the number of bits. */
function bitOf(text: string): number {
  let hash = 0x811c9dc5;
  for (let index = 0; index < text.length; index++) hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
  return (hash ^ (hash >>> BITS)) & (2 ** BITS - 1);
}

function isSet(bits: Uint8Array, bit: number): boolean {
  return ((bits[bit >> 3] ?? 0) & (1 << (bit & 7))) !== 0;
}

function set(bits: Uint8Array, bit: number): void {
  bits[bit >> 3] = (bits[bit >> 3] ?? 0) | (1 << (bit & 7));
}
