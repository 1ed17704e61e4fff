/**
 * The time between two messages of a node that commits. A guess: other nodes read an app that it has written to on their
 * next use of it anyway.
 */
export const movedEveryMs = 50

interface NodeLoad {
  waiting: number
  atMs: number
}

/**
 * The load of other nodes that commit, from their last messages. Empty where no other node commits, or without a bus.
 */
export class OtherNodes {
  readonly #nowMs: () => number
  readonly #loads = new Map<string, NodeLoad>()

  constructor(nowMs: () => number) {
    this.#nowMs = nowMs
  }

  /** Records that a node has committed. `waiting`: the commands that waited on it then. */
  committed(node: string, waiting: number): void {
    this.#loads.set(node, { waiting, atMs: this.#nowMs() })
  }

  /** How many other nodes commit now: PostgreSQL is shared with them. */
  get committing(): number {
    this.#forget()
    return this.#loads.size
  }

  /** Commands that wait on other nodes. */
  get waiting(): number {
    this.#forget()
    let sum = 0
    for (const { waiting } of this.#loads.values()) sum += waiting
    return sum
  }

  /** Forgets nodes of which several messages in succession are missing. */
  #forget(): void {
    const earliest = this.#nowMs() - 4 * movedEveryMs
    for (const [node, { atMs }] of this.#loads) if (atMs < earliest) this.#loads.delete(node)
  }
}
