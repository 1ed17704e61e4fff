import type { Presence } from '../../actors/presence.ts'
import { every, type Clock } from '../../lib/clock.ts'
import type { Log } from '../../lib/log.ts'
import type { Streams } from './streams.ts'

/** Some users, and all of the active people whom each of them may see. */
export interface Sight {
  readonly users: number[]
  readonly active: number[]
}

/** What each of the users may see of the active people; users who see the same share one `Sight`. */
export type LookAround = (users: number[], active: Set<number>) => Promise<Sight[]>

export interface OnlineParts {
  presence: Presence
  streams: Streams
  lookAround: LookAround
  signal: AbortSignal
  clock: Clock
  log: Log
}

/** How long changes are gathered: a thousand people who come at once are told of in a few frames. */
const gatherMs = 1_000

/** Those who were last seen long ago, and agents that were added, are looked for as often. */
const driftMs = 10_000

/**
 * What lists of who is online may take of this node's bandwidth. Clients want whole lists, so their bytes grow with the
 * square of the people; in large environments the lists come less often instead. A guess.
 */
const bytesPerMs = 4_000

/** An id and its comma. */
const idBytes = 8

/**
 * Tells hub clients who is online: a whole list of ids, because that is what clients take it for. A client that has
 * just subscribed gets its list within a second, the others when it has changed.
 */
export class Online {
  readonly #parts: OnlineParts
  /** Users with a session that has just subscribed. */
  readonly #fresh = new Set<number>()
  /** What each user was told last, so that nobody is told the same twice. */
  #told = new Map<number, string>()
  #version = -1
  #lookedAt = Number.NEGATIVE_INFINITY
  #dueAt = 0

  constructor(parts: OnlineParts) {
    this.#parts = parts
    every(parts.clock, gatherMs, parts.signal, () => this.#look())
  }

  /** A session of the user has subscribed: it needs the list soon, changed or not. */
  welcome(user: number): void {
    this.#fresh.add(user)
  }

  async #look(): Promise<void> {
    const { streams, clock, log } = this.#parts
    const now = clock.now()
    const isDue = this.#isStale(now) && now >= this.#dueAt
    const users = isDue ? streams.users('online') : [...this.#fresh]
    for (const user of this.#fresh) this.#told.delete(user)
    this.#fresh.clear()
    if (users.length === 0) return
    if (isDue) {
      this.#version = this.#parts.presence.version
      this.#lookedAt = now
    }
    try {
      const bytes = await this.#tell(users, isDue)
      if (isDue) this.#dueAt = now + bytes / bytesPerMs
    } catch (error) {
      this.#version = -1
      log.warn({ error }, 'Nobody could be told who is online; it is tried again')
    }
  }

  #isStale(now: number): boolean {
    return this.#parts.presence.version !== this.#version || now - this.#lookedAt >= driftMs
  }

  /** Returns about how many bytes were told. */
  async #tell(users: number[], isEverybody: boolean): Promise<number> {
    const { presence, streams, lookAround } = this.#parts
    const sights = await lookAround(users, presence.active())
    const told = isEverybody ? new Map<number, string>() : this.#told
    let bytes = 0
    for (const { users, active } of sights) {
      const list = active.sort((a, b) => a - b).join()
      const listeners = users.filter(user => this.#told.get(user) !== list)
      for (const user of users) told.set(user, list)
      streams.tell(listeners, 'online', { type: 'online', users: active })
      bytes += listeners.length * active.length * idBytes
    }
    this.#told = told
    return bytes
  }
}
