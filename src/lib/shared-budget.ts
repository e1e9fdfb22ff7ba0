/**
 * A bounded amount (bytes of memory, places in a queue) that several owners share.
 *
 * An owner may never hold more than what is still free. So one owner holds at most half of the total, two hold at most two
 * thirds, and there is always something left for the next one: no owner can use up what all of them need.
 */
export class SharedBudget {
  readonly total: number;
  readonly #byOwner = new Map<string, number>();
  #held = 0;

  constructor(total: number) {
    this.total = total;
  }

  /** What all owners hold together. */
  get held(): number {
    return this.#held;
  }

  /** Reserves the amount for the owner. @returns false where that would leave less free than the owner holds */
  take(owner: string, amount: number): boolean {
    const own = (this.#byOwner.get(owner) ?? 0) + amount;
    if (own > this.total - this.#held) return false;
    this.add(owner, amount);
    return true;
  }

  /** Reserves the amount without asking: for what must be let through whatever its size. */
  add(owner: string, amount: number): void {
    this.#held += amount;
    this.#byOwner.set(owner, (this.#byOwner.get(owner) ?? 0) + amount);
  }

  /** Gives back what was reserved. */
  release(owner: string, amount: number): void {
    this.#held -= amount;
    const left = (this.#byOwner.get(owner) ?? 0) - amount;
    if (left > 0) this.#byOwner.set(owner, left);
    else this.#byOwner.delete(owner);
  }
}
