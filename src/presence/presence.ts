import type { Clock } from '../lib/clock.ts'

export interface PresenceParts {
  /** User → when this node last got a request with a token of the user, in milliseconds since 1970. */
  seen: ReadonlyMap<number, number>
  clock: Pick<Clock, 'now'>
}

/** How long after the last request a user without a connection counts as active. A rule of the API. */
const activeMs = 5 * 60_000

/** A user who changes pages, or loses the connection for a moment, stays active. */
const graceMs = 5_000

/**
 * Which users are active: users with a realtime connection, and users whose last request is recent. A user who closes
 * the last connection becomes away soon after. In memory only; other nodes repeat what they know (see
 * `gossipPresence`), so it is forgotten when they are gone.
 */
export class Presence {
  readonly #parts: PresenceParts
  /** User → the number of sessions on this node. */
  readonly #here = new Map<number, number>()
  readonly #leftAt = new Map<number, number>()
  /** Node → the users who are active on it. */
  readonly #elsewhere = new Map<string, ReadonlySet<number>>()
  /** When users left who may yet come back, oldest first. */
  readonly #leaving: number[] = []
  #version = 0

  constructor(parts: PresenceParts) {
    this.#parts = parts
  }

  /**
   * Grows when a user has become active or away; not when a user becomes away because the last request is too long ago.
   */
  get version(): number {
    const now = this.#parts.clock.now()
    while (this.#leaving.length > 0 && now - this.#leaving[0]! > graceMs) {
      this.#leaving.shift()
      this.#version++
    }
    return this.#version
  }

  /** Counts a new session of the user. */
  arrive(user: number): void {
    const sessions = this.#here.get(user) ?? 0
    this.#here.set(user, sessions + 1)
    this.#leftAt.delete(user)
    if (sessions === 0) this.#version++
  }

  /** Counts the end of a session of the user. */
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

  /** The users who are active on this node. */
  activeHere(): Set<number> {
    const { seen, clock } = this.#parts
    const now = clock.now()
    const active = new Set(this.#here.keys())
    for (const [user, at] of this.#leftAt) {
      if (now - at > activeMs) this.#leftAt.delete(user)
      else if (now - at <= graceMs) active.add(user)
    }
    for (const [user, at] of seen) {
      // API keys are seen too, and act for no user.
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

  /** Handles the list of a node's active users; null when the node is gone. */
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
