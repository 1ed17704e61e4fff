import type { AppEvent, Commit } from '../engine/event.ts'
import type { AppRow, AppState } from '../engine/state.ts'
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

type Audience = ReadonlySet<number> | 'all'

const nobody: Audience = new Set()

/** An app that has changed in lists of apps, and for which users: what of it is unread, and what else is shown. */
interface Change {
  readonly state: AppState
  readonly unread: Audience
  readonly shown: Audience
}

/**
 * Sends users what concerns them without a subscription: apps that appear, change and disappear, and their unread
 * counts. It has no history: a client that was away reads its list of apps. Its cost depends on the users with a session
 * on this node, or on the members of the app where these are fewer.
 */
export class UserTopic {
  readonly #parts: UserTopicParts
  readonly #changes = new Map<number, Change>()
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
  onCommit({ before, after, members, events }: Commit, state: AppState, listings: Listings): void {
    const { sessions } = this.#parts
    if (sessions.users.size === 0) return
    for (const [user, isThere] of listings) {
      this.send(user, { type: isThere ? 'app_added' : 'app_removed', app_id: after.id })
    }
    for (const [user, own] of members) {
      const isMarked = own.before?.marked_id !== own.after?.marked_id
      if (isMarked && sessions.users.has(user) && !listings.has(user)) this.#add(state, { unread: new Set([user]) })
    }
    if (after.last_id !== before.last_id || after.prior_id !== before.prior_id) this.#add(state, { unread: 'all' })
    for (const event of events) {
      const shown = viewersOf(event, before)
      if (shown !== nobody) this.#add(state, { shown })
    }
  }

  /** Gathers changes for a moment: in a lively app every member would otherwise get two frames for each message. */
  #add(state: AppState, { unread = nobody, shown = nobody }: Partial<Omit<Change, 'state'>>): void {
    if (!this.#isDue) this.#scheduleFlush()
    const before = this.#changes.get(state.app.id)
    this.#changes.set(state.app.id, {
      state,
      unread: union(before?.unread, unread),
      shown: union(before?.shown, shown),
    })
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
      await this.#sendChanges()
    } catch (error) {
      this.#parts.log.error({ error }, 'Changes of lists of apps could not be sent')
    }
    this.#isDue = false
    if (this.#changes.size > 0 && !this.#isClosed) this.#scheduleFlush()
  }

  async #sendChanges(): Promise<void> {
    const changes = [...this.#changes.values()]
    this.#changes.clear()
    let yielder = new Yielder()
    let count = 0
    for (const { state, unread, shown } of changes) {
      const { app } = state
      const isIn = (audience: Audience, user: number) => audience === 'all' || audience.has(user)
      const users = union(unread, shown)
      for (const user of users === 'all' ? present(state, this.#parts.sessions) : users) {
        if (this.#isClosed) return
        if (!this.#parts.policy.isListed(app, state.member(user))) continue
        if (isIn(unread, user)) this.#sendUnread(state, user)
        if (isIn(shown, user)) this.send(user, { type: 'app_changed', app_id: app.id, rev: app.head_rev })
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
    this.send(user, {
      type: 'unread',
      app_id: app.id,
      is_unread: policy.isUnread(app, user, own),
      last_id: app.last_id,
      marked_id: own?.marked_id ?? null,
    })
  }
}

/** Of these, `app_added` and `app_removed` tell. */
const isOfExistence = new Set(['app_created', 'app_trashed', 'app_restored', 'app_deleted'])

/** The users in whose lists an event changes what is shown of its app, beside what frames of what is unread tell. */
function viewersOf({ kind, type, actor_id, entity_id }: AppEvent, { last_id }: AppRow): Audience {
  if (type === 'message_created' || type === 'app_marked' || isOfExistence.has(type)) return nobody
  if (type === 'settings_changed') return new Set([actor_id])
  const { entity, isActivity } = kind
  const isOfLast = entity === 'option' || entity_id === last_id
  return isActivity || isOfLast || entity === 'app' || entity === 'user' || entity === 'file' ? 'all' : nobody
}

function union(one: Audience | undefined, other: Audience): Audience {
  if (one === undefined || one === nobody) return other
  return one === 'all' || other === 'all' ? 'all' : new Set([...one, ...other])
}
