import type { Clock } from '../lib/clock.ts'

export interface PresenceParts {
  /** When a request with a token of a user last came to this node, in milliseconds. */
  seen: ReadonlyMap<number, number>
  clock: Pick<Clock, 'now'>
}

/** How long after their last request people without a connection count as active. The API's rule. */
const activeMs = 5 * 60_000

/** Who closes a page and opens the next, or loses a connection for a moment, has not gone away. */
const graceMs = 5_000

/**
 * Who is here: users with a realtime connection, and those without one whose last request is not long ago. Whoever
 * closes the last connection goes away soon after. Only in memory; what other nodes know they say again and again
 * (see `gossipPresence`), so that it is forgotten when they are gone.
 */
export class Presence {
  readonly #parts: PresenceParts
  /** User → how many sessions it has on this node. */
  readonly #here = new Map<number, number>()
  readonly #leftAt = new Map<number, number>()
  /** Node → the users who are active there. */
  readonly #elsewhere = new Map<string, ReadonlySet<number>>()
  /** Users who left and may yet come back → when they left, oldest first. */
  readonly #leaving: number[] = []
  #version = 0

  constructor(parts: PresenceParts) {
    this.#parts = parts
  }

  /** Grows when a user comes or has gone away; not when the time since a request runs out. */
  get version(): number {
    const now = this.#parts.clock.now()
    while (this.#leaving.length > 0 && now - this.#leaving[0]! > graceMs) {
      this.#leaving.shift()
      this.#version++
    }
    return this.#version
  }

  /** A session of the user begins. */
  arrive(user: number): void {
    const sessions = this.#here.get(user) ?? 0
    this.#here.set(user, sessions + 1)
    this.#leftAt.delete(user)
    if (sessions === 0) this.#version++
  }

  /** A session of the user has ended. */
  leave(user: number): void {
    const sessions = this.#here.get(user) ?? 0
    if (sessions > 1) return void this.#here.set(user, sessions - 1)
    this.#here.delete(user)
    const now = this.#parts.clock.now()
    this.#leftAt.set(user, now)
    this.#leaving.push(now)
  }

  isActive(user: number): boolean {
    if (this.#isActiveHere(user, this.#parts.clock.now())) return true
    for (const users of this.#elsewhere.values()) if (users.has(user)) return true
    return false
  }

  /** The users who are active, as far as this node alone knows. */
  activeHere(): Set<number> {
    const { seen, clock } = this.#parts
    const now = clock.now()
    const active = new Set(this.#here.keys())
    for (const [user, at] of this.#leftAt) {
      if (now - at > activeMs) this.#leftAt.delete(user)
      else if (now - at <= graceMs) active.add(user)
    }
    for (const [user, at] of seen) {
      // API keys are seen as well, and act for no user.
      if (user <= 0) continue
      if (now - at <= activeMs && !active.has(user) && this.#isActiveHere(user, now)) active.add(user)
    }
    return active
  }

  /** The users who are active on any node. */
  active(): Set<number> {
    const active = this.activeHere()
    for (const users of this.#elsewhere.values()) for (const user of users) active.add(user)
    return active
  }

  /** Another node says who is active there; null when it has fallen silent. */
  onGossip(node: string, users: ReadonlySet<number> | null): void {
    if (users === null) this.#elsewhere.delete(node)
    else this.#elsewhere.set(node, users)
    this.#version++
  }

  #isActiveHere(user: number, now: number): boolean {
    if (this.#here.has(user)) return true
    const leftAt = this.#leftAt.get(user) ?? 0
    if (now - leftAt <= graceMs) return true
    const seenAt = this.#parts.seen.get(user) ?? 0
    return seenAt > leftAt && now - seenAt <= activeMs
  }
}
