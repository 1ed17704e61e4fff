/** A read that several subscriptions share: it begins when the first of them has its turn. */
export class SharedRead<Value> {
  /** Subscriptions whose turn is still to come. */
  waiting = 0
  readonly #read: () => Promise<Value>
  readonly #found = Promise.withResolvers<Value>()
  #hasBegun = false

  constructor(read: () => Promise<Value>) {
    this.#read = read
  }

  /** Settles for all of them together; never where `start` is not called. */
  get result(): Promise<Value> {
    return this.#found.promise
  }

  /** Reads, unless the read has begun. Never rejects: a failure rejects `result`. */
  async start(): Promise<void> {
    if (this.#hasBegun) return
    this.#hasBegun = true
    try {
      this.#found.resolve(await this.#read())
    } catch (error) {
      this.#found.reject(error)
    }
  }
}
