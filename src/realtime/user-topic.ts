import type { Commit } from '../engine/event.ts'
import type { AppRow, AppState, MemberRow } from '../engine/state.ts'
import type { Clock } from '../lib/clock.ts'
import type { Log } from '../lib/log.ts'
import { Yielder } from '../lib/yielder.ts'
import type { AppPolicy } from './app-policy.ts'
import type { Frame } from './protocols/protocol.ts'
import type { Sessions } from './sessions/sessions.ts'
import { broadcast } from './broadcast.ts'

export interface UserTopicParts {
  sessions: Sessions
  policy: Pick<AppPolicy, 'isListed' | 'isUnread' | 'isRemovable'>
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

  onCommit({ state, before, members }: Omit<Commit, 'events'>): void {
    const { sessions } = this.#parts
    if (sessions.users.size === 0) return
    const { app } = state
    for (const [user, own] of members) if (sessions.users.has(user)) this.#compare(state, user, { app: before, own })
    if (this.#mayMoveForAll(app, before)) {
      for (const user of this.#present(state)) {
        if (!members.has(user)) this.#compare(state, user, { app: before, own: state.member(user) })
      }
    }
    if (app.last_id !== before.last_id || app.prior_id !== before.prior_id) this.#addUnreadChange(state, 'all')
  }

  /** Handles an app that was created on this node. */
  onAppCreated(state: AppState): void {
    for (const user of this.#present(state)) this.#compare(state, user, { app: state.app, own: undefined })
  }

  /** True where the app may have entered or left lists of users whose own relation to it has not changed. */
  #mayMoveForAll(app: AppRow, before: AppRow): boolean {
    if (app.trashed_at !== before.trashed_at || app.deleted_at !== before.deleted_at) return true
    return app.last_id !== before.last_id && this.#parts.policy.isRemovable(app)
  }

  #compare(state: AppState, user: number, before: { app: AppRow; own: MemberRow | undefined }): void {
    const { policy } = this.#parts
    const { app } = state
    const own = state.member(user)
    const isThere = policy.isListed(app, own)
    if (isThere !== policy.isListed(before.app, before.own)) {
      if (isThere) this.send(user, { type: 'app_added', app_id: app.id })
      else this.send(user, { type: 'app_removed', app_id: app.id })
    } else if (isThere && own?.marked_id !== before.own?.marked_id) this.#addUnreadChange(state, new Set([user]))
  }

  /** The users with a session on this node and a relation to the app. */
  *#present(state: AppState): Iterable<number> {
    const { users } = this.#parts.sessions
    if (users.size < state.memberCount) {
      for (const user of users.keys()) if (state.member(user) !== undefined) yield user
    } else {
      for (const { user_id } of state.members()) if (users.has(user_id)) yield user_id
    }
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
      for (const user of users === 'all' ? this.#present(state) : users) {
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
