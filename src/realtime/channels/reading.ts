/** Something that is read once for all who wait for it, as soon as the first of them has their turn. */
export class Reading<Value> {
  /** Those whose turn is still to come. */
  waiting = 0
  readonly #read: () => Promise<Value>
  readonly #found = Promise.withResolvers<Value>()
  #hasBegun = false

  constructor(read: () => Promise<Value>) {
    this.#read = read
  }

  /** For all at the same time, whoever has read. Never settles where nobody does. */
  get found(): Promise<Value> {
    return this.#found.promise
  }

  /** Reads, unless somebody else does or has. Never rejects: that it failed is told to those who wait. */
  async begin(): Promise<void> {
    if (this.#hasBegun) return
    this.#hasBegun = true
    try {
      this.#found.resolve(await this.#read())
    } catch (error) {
      this.#found.reject(error)
    }
  }
}
