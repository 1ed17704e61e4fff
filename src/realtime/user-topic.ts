import type { Commit } from '../engine/event.ts'
import type { AppState } from '../engine/state.ts'
import type { Clock } from '../lib/clock.ts'
import type { Log } from '../lib/log.ts'
import { Yielder } from '../lib/yielder.ts'
import type { AppPolicy } from './app-policy.ts'
import { present, type Listings } from './listings.ts'
import type { Frame } from './protocols/protocol.ts'
import type { Sessions } from './sessions/sessions.ts'
import { broadcast } from './broadcast.ts'

export interface UserTopicParts {
  sessions: Sessions
  policy: Pick<AppPolicy, 'isListed' | 'isUnread'>
  /** How long changes of unread counts are gathered before they are sent. */
  unreadDelayMs: number
  /** They are sent at most once in this time. */
  unreadPeriodMs: number
  clock: Clock
  log: Log
}

/** The most users that are sent a frame before the event loop is yielded. A guess. */
const usersPerTurn = 25

/** An app whose unread counts may have changed, and for which users. */
interface UnreadChange {
  readonly state: AppState
  readonly users: Set<number> | 'all'
}

/**
 * Sends users what concerns them without a subscription: apps that appear and disappear, and their unread counts. It
 * has no history: a client that was away reads its list of apps. Its cost depends on the users with a session on this
 * node, or on the members of the app where these are fewer.
 */
export class UserTopic {
  readonly #parts: UserTopicParts
  readonly #unreadChanges = new Map<number, UnreadChange>()
  #isDue = false
  #sentAtMs = 0
  #isClosed = false

  constructor(parts: UserTopicParts) {
    this.#parts = parts
  }

  close(): void {
    this.#isClosed = true
  }

  /** Sends a frame to every session of a user on this node. */
  send(user: number, frame: Frame): void {
    broadcast(this.#parts.sessions.of(user), frame, this.#parts.log)
  }

  /** `listings`: the users in whose lists the commit has put the app, or from which it has taken it. */
  onCommit({ before, after, members }: Commit, state: AppState, listings: Listings): void {
    const { sessions, policy } = this.#parts
    if (sessions.users.size === 0) return
    for (const [user, isThere] of listings) {
      this.send(user, { type: isThere ? 'app_added' : 'app_removed', app_id: after.id })
    }
    for (const [user, own] of members) {
      const isMarked = own.before?.marked_id !== own.after?.marked_id
      if (isMarked && sessions.users.has(user) && !listings.has(user) && policy.isListed(after, own.after))
        this.#addUnreadChange(state, new Set([user]))
    }
    if (after.last_id !== before.last_id || after.prior_id !== before.prior_id) this.#addUnreadChange(state, 'all')
  }

  /** Gathers changes for a moment: in a lively app every member would otherwise get two frames for each message. */
  #addUnreadChange(state: AppState, added: UnreadChange['users']): void {
    if (!this.#isDue) this.#scheduleFlush()
    const before = this.#unreadChanges.get(state.app.id)?.users
    const all = before === 'all' || added === 'all' ? 'all' : new Set([...(before ?? []), ...added])
    this.#unreadChanges.set(state.app.id, { state, users: all })
  }

  #scheduleFlush(): void {
    const { clock, unreadDelayMs, unreadPeriodMs } = this.#parts
    this.#isDue = true
    const restMs = this.#sentAtMs + unreadPeriodMs - clock.now()
    // A clock that was set back does not make it longer than a period.
    clock.after(Math.min(Math.max(unreadDelayMs, restMs), unreadPeriodMs), () => void this.#flush())
  }

  /** Handles one batch at a time; later changes are gathered until it is done. Never rejects. */
  async #flush(): Promise<void> {
    this.#sentAtMs = this.#parts.clock.now()
    try {
      await this.#sendUnreadChanges()
    } catch (error) {
      this.#parts.log.error({ error }, 'Changes of what is unread could not be sent')
    }
    this.#isDue = false
    if (this.#unreadChanges.size > 0 && !this.#isClosed) this.#scheduleFlush()
  }

  async #sendUnreadChanges(): Promise<void> {
    const changes = [...this.#unreadChanges.values()]
    this.#unreadChanges.clear()
    let yielder = new Yielder()
    let count = 0
    for (const { state, users } of changes) {
      for (const user of users === 'all' ? present(state, this.#parts.sessions) : users) {
        if (this.#isClosed) return
        this.#sendUnread(state, user)
        if (++count % usersPerTurn > 0) continue
        await yielder.rest()
        yielder = new Yielder()
      }
    }
  }

  #sendUnread(state: AppState, user: number): void {
    const { policy } = this.#parts
    const own = state.member(user)
    const { app } = state
    if (!policy.isListed(app, own)) return
    this.send(user, {
      type: 'unread',
      app_id: app.id,
      is_unread: policy.isUnread(app, user, own),
      last_id: app.last_id,
      marked_id: own?.marked_id ?? null,
    })
  }
}
