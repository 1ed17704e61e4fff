/** A read that several subscriptions share: it begins when the first of them reaches the head of the queue. */
export class SharedRead<Value> {
  /** The number of subscriptions that are still queued. */
  waiting = 0
  readonly #read: () => Promise<Value>
  readonly #found = Promise.withResolvers<Value>()
  #hasBegun = false

  constructor(read: () => Promise<Value>) {
    this.#read = read
  }

  /** The result for all subscriptions; pending until `start` is called. */
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
