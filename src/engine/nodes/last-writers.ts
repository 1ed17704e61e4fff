import { LRUCache } from 'lru-cache'

/** How long a node counts as a writer of an app after a write. A guess. */
const freshMs = 2_000

/** How long no command is sent to a node that did not answer. A guess: longer than a timeout for its next answer. */
const suspendedMs = 5_000

/**
 * So many commands that wait on a node show that it has as much to do as it can. A guess: a node takes a fortieth of a
 * second for them.
 */
const manyWaiting = 500

/** How long such a node counts as loaded. A guess: apps that move back and forth cost their nodes conflicts. */
const loadedMs = 30_000

/**
 * How long nodes may disagree after one has begun to write or was given up. A guess: each tells the others within 50 ms
 * what it has written to.
 */
const unsettledMs = 1_000

/** Apps that are remembered at one time. A guess: a few megabytes, and far more than are written to in `freshMs`. */
const capacity = 20_000

/**
 * The node that should write to an app: a hint where its next command costs least; correctness does not depend on it.
 * It is a node that wrote to the app lately. Of several, all nodes prefer the same one, by rank and not by the last
 * write: messages about writes are late, and two nodes that went by them would alternate, with a conflict each time.
 *
 * Nodes have the same rank for all apps, so that the commands of such apps share commits, and messages between nodes: with
 * a rank for each app, three nodes took an eighth more processor time for a message (measured). A node that has more to
 * do than it can comes last for some time, and loaded nodes have a rank for each app, so that they share the work.
 */
export class LastWriters {
  readonly #self: string
  readonly #nowMs: () => number
  /** App → node → the time of the last message that it has written there. */
  readonly #writers = new LRUCache<number, Map<string, number>>({ max: capacity })
  readonly #suspendedUntil = new Map<string, number>()
  readonly #loadedUntil = new Map<string, number>()
  /** Other node → how long it counts as one that writes. */
  readonly #writingUntil = new Map<string, number>()
  #unsettledUntilMs = 0
  /** App that other nodes forward commands for to this one → when this node's own clients last wrote to it. */
  readonly #served = new LRUCache<number, number>({ max: capacity })

  /** `self`: the name of this node. */
  constructor(self: string, nowMs: () => number) {
    this.#self = self
    this.#nowMs = nowMs
  }

  /** Records that a node has written to the app. */
  recordWrite(app: number, node: string): void {
    const nowMs = this.#nowMs()
    if (node !== this.#self) {
      if ((this.#writingUntil.get(node) ?? -1) < nowMs) this.#unsettle()
      this.#setUntil(this.#writingUntil, node, freshMs)
    }
    const writers = this.#writers.get(app) ?? new Map<string, number>()
    writers.set(node, nowMs)
    this.#writers.set(app, writers)
  }

  /** True for a moment in which nodes may choose different ones for an app. */
  get isUnsettled(): boolean {
    return this.#nowMs() < this.#unsettledUntilMs
  }

  /** The node that should write to the app; null where that is this one. */
  find(app: number): string | null {
    const writers = this.#writers.peek(app)
    if (writers === undefined) return null
    const nowMs = this.#nowMs()
    let preferred: string | null = null
    let highest = -1
    for (const [node, atMs] of writers) {
      if (nowMs - atMs > freshMs) writers.delete(node)
      else if ((this.#suspendedUntil.get(node) ?? 0) <= nowMs) {
        const rank = this.#isLoaded(node, nowMs) ? toRank(`${app} ${node}`) : loadedRanks + toRank(node)
        if (rank > highest) [highest, preferred] = [rank, node]
      }
    }
    if (writers.size === 0) this.#writers.delete(app)
    return preferred === this.#self ? null : preferred
  }

  /** Records that a node writes to the app for clients of other nodes alone: these should write to it themselves. */
  recordHandover(app: number, node: string): void {
    this.#writers.peek(app)?.delete(node)
  }

  /** Records that a client of this node writes to the app. */
  recordOwnUse(app: number): void {
    if (this.#served.has(app)) this.#served.set(app, this.#nowMs())
  }

  /** Records that another node forwards a command for the app to this one. */
  recordForwarded(app: number): void {
    if (this.#served.get(app) === undefined) this.#served.set(app, this.#nowMs())
  }

  /** True where this node writes to the app for clients of other nodes alone. */
  isForOthers(app: number): boolean {
    const usedAtMs = this.#served.peek(app)
    return usedAtMs !== undefined && this.#nowMs() - usedAtMs > freshMs
  }

  /** Sends a node nothing for some time: it does not answer, or is stopping. */
  suspend(node: string): void {
    this.#unsettle()
    this.#setUntil(this.#suspendedUntil, node, suspendedMs)
  }

  /** Records how many commands wait on a node, perhaps this one, as all nodes are told. */
  recordWaiting(node: string, commands: number): void {
    if (commands > manyWaiting) this.#setUntil(this.#loadedUntil, node, loadedMs)
  }

  #isLoaded(node: string, nowMs: number): boolean {
    return (this.#loadedUntil.get(node) ?? 0) > nowMs
  }

  #unsettle(): void {
    this.#unsettledUntilMs = this.#nowMs() + unsettledMs
  }

  #setUntil(untils: Map<string, number>, node: string, durationMs: number): void {
    const nowMs = this.#nowMs()
    for (const [other, untilMs] of untils) if (untilMs < nowMs) untils.delete(other)
    untils.set(node, nowMs + durationMs)
  }
}

/** The ranks of loaded nodes are below this. */
const loadedRanks = 2 ** 32

/** A number by which all nodes choose alike (rendezvous hashing, with FNV-1a). */
function toRank(text: string): number {
  let hash = 0x811c9dc5
  for (const char of text) hash = Math.imul(hash ^ char.charCodeAt(0), 0x01000193)
  return hash >>> 0
}
