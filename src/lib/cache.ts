/** Values by key, as many as their sizes leave room for: those that were not asked for longest go first. */
export class Cache<Value> {
  readonly #budget: number
  readonly #sizeOf: (value: Value) => number
  readonly #values = new Map<string, Value>()
  #size = 0

  /** `sizeOf` counts in the unit of `budget`, and says the same of a value each time. */
  constructor(budget: number, sizeOf: (value: Value) => number) {
    this.#budget = budget
    this.#sizeOf = sizeOf
  }

  get(key: string): Value | undefined {
    const value = this.#values.get(key)
    if (value === undefined) return undefined
    this.#values.delete(key)
    this.#values.set(key, value)
    return value
  }

  set(key: string, value: Value): void {
    this.delete(key)
    this.#values.set(key, value)
    this.#size += this.#sizeOf(value)
    for (const oldest of this.#values.keys()) {
      if (this.#size <= this.#budget) break
      this.delete(oldest)
    }
  }

  delete(key: string): void {
    const value = this.#values.get(key)
    if (value === undefined) return
    this.#values.delete(key)
    this.#size -= this.#sizeOf(value)
  }
}
