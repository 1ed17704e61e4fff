/** Numbers that look random and follow from a seed: the same seed chooses the same faults, targets and times. */
export class Random {
  #state: number

  constructor(seed: number) {
    this.#state = seed >>> 0
  }

  /** From 0 up to 1, which it never is. Mulberry32, by Tommy Ettinger: 32 bits of state are enough to choose by. */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), this.#state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }

  /** A whole number from `least` to `most`, both included. */
  integer(least: number, most: number): number {
    return least + Math.floor(this.next() * (most - least + 1))
  }

  pick<Item>(items: readonly Item[]): Item {
    if (items.length === 0) throw new Error('There is nothing to pick from')
    return items[this.integer(0, items.length - 1)]!
  }

  isLikely(probability: number): boolean {
    return this.next() < probability
  }

  /** A source of its own for a part, so that what one part draws does not change what another one gets. */
  fork(): Random {
    return new Random(this.integer(0, 2 ** 32 - 1))
  }
}
