/**
 * A bounded amount (bytes of memory, places in a queue) shared by several owners.
 *
 * An owner may never hold more than what is still free. One owner therefore holds at most half of the total, two hold at most
 * two thirds, and some always remains for the next owner: none can exhaust what all of them need.
 */
export class SharedBudget {
  readonly total: number;
  readonly #byOwner = new Map<string, number>();
  #held = 0;

  constructor(total: number) {
    this.total = total;
  }

  /** The amount held by all owners together. */
  get held(): number {
    return this.#held;
  }

  /** Reserves the amount for the owner. @returns false if that would leave less free than the owner holds */
  take(owner: string, amount: number): boolean {
    const own = (this.#byOwner.get(owner) ?? 0) + amount;
    if (own > this.total - this.#held) return false;
    this.add(owner, amount);
    return true;
  }

  /** Reserves the amount unconditionally, for requests that must be admitted regardless of their size. */
  add(owner: string, amount: number): void {
    this.#held += amount;
    this.#byOwner.set(owner, (this.#byOwner.get(owner) ?? 0) + amount);
  }

  /** Releases a reserved amount. */
  release(owner: string, amount: number): void {
    this.#held -= amount;
    const left = (this.#byOwner.get(owner) ?? 0) - amount;
    if (left > 0) this.#byOwner.set(owner, left);
    else this.#byOwner.delete(owner);
  }
}
