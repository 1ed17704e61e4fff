import { LRUCache } from 'lru-cache'

/** For how long it counts that a node has written to an app. A guess: by then it may write to it no more. */
const freshMs = 2_000

/** For how long nothing is sent to a node that did not answer. A guess: longer than it takes to find out again. */
const silentMs = 5_000

/** Apps that are remembered at one time. A guess: a few megabytes, and far more than are written to in that time. */
const capacity = 20_000

/**
 * Which node is to write to an app: a hint where its next command costs least, and nothing that anything hangs on. It is
 * a node that wrote to the app lately. Where several did, all of them prefer the same one, by rank and not by who was
 * last: news of writes is late, and two nodes that each go by it would take turns, at a conflict each time.
 */
export class LastWriters {
  readonly #self: string
  readonly #nowMs: () => number
  /** App → node → when it was last heard to write there. */
  readonly #writers = new LRUCache<number, Map<string, number>>({ max: capacity })
  readonly #silentUntil = new Map<string, number>()
  /** Apps that this node writes to for clients of other nodes → when its own clients last did. */
  readonly #served = new LRUCache<number, number>({ max: capacity })

  /** `self`: the name of this node. */
  constructor(self: string, nowMs: () => number) {
    this.#self = self
    this.#nowMs = nowMs
  }

  /** A node has written to the app. */
  wrote(app: number, node: string): void {
    const writers = this.#writers.get(app) ?? new Map<string, number>()
    writers.set(node, this.#nowMs())
    this.#writers.set(app, writers)
  }

  /** The other node that is to write to the app; null where that is this one. */
  find(app: number): string | null {
    const writers = this.#writers.peek(app)
    if (writers === undefined) return null
    const nowMs = this.#nowMs()
    let preferred: string | null = null
    for (const [node, atMs] of writers) {
      if (nowMs - atMs > freshMs) writers.delete(node)
      else if ((this.#silentUntil.get(node) ?? 0) <= nowMs)
        preferred = preferred === null || rank(node, app) > rank(preferred, app) ? node : preferred
    }
    if (writers.size === 0) this.#writers.delete(app)
    return preferred === this.#self ? null : preferred
  }

  /** A node has written to the app for clients of other nodes alone: these nodes are to write to it themselves. */
  leaves(app: number, node: string): void {
    this.#writers.peek(app)?.delete(node)
  }

  /** A client of this node writes to the app. */
  uses(app: number): void {
    if (this.#served.has(app)) this.#served.set(app, this.#nowMs())
  }

  /** Another node asks this one to write to the app. */
  serves(app: number): void {
    if (this.#served.get(app) === undefined) this.#served.set(app, this.#nowMs())
  }

  /** True where this node writes to the app, and no client of its own has for some time. */
  isForOthers(app: number): boolean {
    const usedAtMs = this.#served.peek(app)
    return usedAtMs !== undefined && this.#nowMs() - usedAtMs > freshMs
  }

  /** The node does not answer, or is leaving. */
  silence(node: string): void {
    const nowMs = this.#nowMs()
    for (const [other, untilMs] of this.#silentUntil) if (untilMs < nowMs) this.#silentUntil.delete(other)
    this.#silentUntil.set(node, nowMs + silentMs)
  }
}

/** Rendezvous hashing: a number for a node and an app, which is the same everywhere. FNV-1a. */
function rank(node: string, app: number): number {
  let hash = 0x811c9dc5
  for (const char of `${app} ${node}`) hash = Math.imul(hash ^ char.charCodeAt(0), 0x01000193)
  return hash >>> 0
}
