/** For how long it counts that a node has written to an app. A guess: by then it may write to it no more. */
const freshMs = 2_000

/** For how long nothing is sent to a node that did not answer. A guess: longer than it takes to find out again. */
const silentMs = 5_000

/** Apps that are remembered at one time. A guess: a few megabytes, and far more than are written to in that time. */
const capacity = 20_000

interface LastWrite {
  /** Null where it was this node. */
  node: string | null
  rev: number
  atMs: number
}

/**
 * Which node wrote to an app last: a hint where its next command costs least, and nothing that anything hangs on. The
 * largest rev counts, so that all nodes arrive at one answer, in whatever order the messages come.
 */
export class LastWriters {
  readonly #nowMs: () => number
  /** In the order of the last news. */
  readonly #writings = new Map<number, LastWrite>()
  readonly #silentUntil = new Map<string, number>()

  constructor(nowMs: () => number) {
    this.#nowMs = nowMs
  }

  /** A node has brought the app to this rev; null for this one. */
  wrote(app: number, rev: number, node: string | null): void {
    const before = this.#writings.get(app)
    // Of what only this node writes to nothing needs to be known.
    if (before === undefined && node === null) return
    if (before !== undefined && before.rev > rev) return
    this.#writings.delete(app)
    this.#writings.set(app, { node, rev, atMs: this.#nowMs() })
    if (this.#writings.size > capacity) this.#writings.delete(this.#writings.keys().next().value!)
  }

  /** The other node that wrote to the app just now; null where there is none, or it is silent. */
  find(app: number): string | null {
    const writing = this.#writings.get(app)
    if (writing === undefined || writing.node === null) return null
    const nowMs = this.#nowMs()
    if (nowMs - writing.atMs <= freshMs && (this.#silentUntil.get(writing.node) ?? 0) <= nowMs) return writing.node
    this.#writings.delete(app)
    return null
  }

  /** The node does not answer, or is leaving. */
  silence(node: string): void {
    const nowMs = this.#nowMs()
    for (const [other, untilMs] of this.#silentUntil) if (untilMs < nowMs) this.#silentUntil.delete(other)
    this.#silentUntil.set(node, nowMs + silentMs)
  }
}
