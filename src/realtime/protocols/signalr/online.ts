import type { Presence } from '../../../presence/presence.ts'
import { everyWhile, type Clock } from '../../../lib/clock.ts'
import type { Log } from '../../../lib/log.ts'
import type { Session } from '../../sessions/session.ts'
import type { SignalRUserStreams } from './user-streams.ts'

/** Some users, and the ids of all active users that each of them may see. */
export interface VisiblePresence {
  readonly users: number[]
  readonly active: number[]
}

/** Finds which of the active users each of `users` may see; users who may see equal sets share one entry. */
export type FindVisible = (users: number[], active: Set<number>) => Promise<VisiblePresence[]>

export interface OnlineParts {
  presence: Presence
  userStreams: SignalRUserStreams
  findVisible: FindVisible
  signal: AbortSignal
  clock: Clock
  log: Log
}

/** How long changes are gathered: a thousand users who arrive at once cause only a few frames. */
const gatherMs = 1_000

/** How often changes without an event are looked for: users whose last request is too long ago, and new agents. */
const driftMs = 10_000

/**
 * The share of this node's bandwidth for lists of who is online. Clients want whole lists, so their bytes grow with the
 * square of the users; in large environments the lists come less often instead. A guess.
 */
const bytesPerMs = 4_000

/** An id and its comma. */
const idBytes = 8

/**
 * Sends clients that ask for it the ids of all users that are online and visible to them, because clients of the hub
 * expect whole lists. A client that has just subscribed gets its list within a second, others when it has changed.
 */
export class Online {
  readonly #parts: OnlineParts
  /** Users with a session that has just subscribed. */
  readonly #fresh = new Set<number>()
  /** User → the list that was sent last, so that an unchanged one is not sent again. */
  #sent = new Map<number, string>()
  #version = -1
  #checkedAt = Number.NEGATIVE_INFINITY
  #dueAt = 0
  readonly #begin: () => void

  constructor(parts: OnlineParts) {
    this.#parts = parts
    this.#begin = everyWhile(parts.clock, gatherMs, parts.signal, async () => {
      await this.#poll()
      return parts.userStreams.users('online').length > 0
    })
  }

  /** From now on, the session gets its user's list: soon, and when it has changed. False where it has no user. */
  subscribe(session: Session): boolean {
    if (session.user === undefined) return false
    this.#fresh.add(session.user)
    this.#begin()
    return this.#parts.userStreams.subscribe(session, 'online')
  }

  unsubscribe(session: Session): void {
    this.#parts.userStreams.unsubscribe(session, 'online')
  }

  async #poll(): Promise<void> {
    const { userStreams, clock, log } = this.#parts
    const now = clock.now()
    const isDue = this.#isStale(now) && now >= this.#dueAt
    const users = isDue ? userStreams.users('online') : [...this.#fresh]
    for (const user of this.#fresh) this.#sent.delete(user)
    this.#fresh.clear()
    if (users.length === 0) return
    if (isDue) {
      this.#version = this.#parts.presence.version
      this.#checkedAt = now
    }
    try {
      const bytes = await this.#send(users, isDue)
      if (isDue) this.#dueAt = now + bytes / bytesPerMs
    } catch (error) {
      this.#version = -1
      log.warn({ error }, 'The lists of who is online could not be sent and are tried again')
    }
  }

  #isStale(now: number): boolean {
    return this.#parts.presence.version !== this.#version || now - this.#checkedAt >= driftMs
  }

  /** Sends lists that have changed; returns roughly how many bytes. */
  async #send(users: number[], isEverybody: boolean): Promise<number> {
    const { presence, userStreams, findVisible } = this.#parts
    const visible = await findVisible(users, presence.active())
    const sent = isEverybody ? new Map<number, string>() : this.#sent
    let bytes = 0
    for (const { users, active } of visible) {
      const list = active.sort((a, b) => a - b).join()
      const listeners = users.filter(user => this.#sent.get(user) !== list)
      for (const user of users) sent.set(user, list)
      userStreams.send(listeners, 'online', { type: 'online', users: active })
      bytes += listeners.length * active.length * idBytes
    }
    this.#sent = sent
    return bytes
  }
}
