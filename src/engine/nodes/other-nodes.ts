/** For how long it counts what a node said of itself: a few times as long as a node that commits is silent. */
const freshMs = 200

interface Said {
  waiting: number
  atMs: number
}

/**
 * What other nodes said of themselves with their last commits. Empty where there are none, where they do not commit, and
 * where there is no bus.
 */
export class OtherNodes {
  readonly #nowMs: () => number
  readonly #said = new Map<string, Said>()

  constructor(nowMs: () => number) {
    this.#nowMs = nowMs
  }

  /** A node has committed; so many commands waited on it then. */
  said(node: string, waiting: number): void {
    this.#said.set(node, { waiting, atMs: this.#nowMs() })
  }

  /** True while another node commits, so that PostgreSQL is shared with it. */
  get areCommitting(): boolean {
    this.#forget()
    return this.#said.size > 0
  }

  /** Commands that wait on other nodes. */
  get waiting(): number {
    this.#forget()
    let sum = 0
    for (const { waiting } of this.#said.values()) sum += waiting
    return sum
  }

  #forget(): void {
    const earliest = this.#nowMs() - freshMs
    for (const [node, { atMs }] of this.#said) if (atMs < earliest) this.#said.delete(node)
  }
}
