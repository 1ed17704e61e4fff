import type { GlobalCommands } from '../../../engine/global/global-commands.ts'
import type { UserCache } from '../../../auth/user-cache.ts'
import type { Log } from '../../../lib/log.ts'
import { Yielder } from '../../../lib/yielder.ts'
import type { Sql } from '../../../postgres/sql.ts'
import { Watermark } from '../../../log/watermark.ts'
import { notifyingCommands } from '../commands.ts'
import { namesOf, showNotification } from '../represent.ts'
import type { NotificationRow } from '../schema.ts'
import { findNewestChange, listByIds, listChanges, type ChangeKey } from '../store.ts'

/** A frame for the sessions of one user. */
interface Frame {
  readonly type: string
  readonly [member: string]: unknown
}

export interface FeedParts {
  sql: Sql
  globalCommands: Pick<GlobalCommands, 'onCommit'>
  userCache: UserCache
  /** The ids of the users with a session on this node. */
  localUsers: () => Iterable<number>
  /** Sends a frame to a user's sessions; `change` is the number of the change. */
  send: (user: number, frame: Frame, change: number) => void
  origin: () => string
  /** A monotonic clock. */
  nowMs: () => number
  log: Log
}

/** Changes per query. Polls read most changes more than once, so they read the keys alone. */
const changesLimit = 5_000

/** Notifications read at once, and notifications sent before the event loop is yielded. Guesses. */
const portion = { read: 96, sent: 16 }

/**
 * Sends the sessions of this node the changes of their users' notifications, made on any node: immediately after this
 * node's commits (`wake`), otherwise by `poll`. It has no history: a client that was away reads its list. A change may
 * be committed after one with a larger number, so a poll begins where no transaction was open at the last one. Nothing
 * is lost if the process dies; memory is bounded by the changes of a minute.
 */
export class Feed {
  readonly #parts: FeedParts
  /** Changes up to this number were read at least once. */
  #newest: number | null = null
  readonly #watermark: Watermark
  /** The numbers of changes that were sent. */
  readonly #sent = new Set<number>()
  #reading: Promise<void> | null = null
  #isAwake = false
  #isStopped = false

  constructor(parts: FeedParts) {
    this.#parts = parts
    const numbers = { findNewest: findNewestChange, drawnAheadMs: 0 }
    this.#watermark = new Watermark(parts.sql, parts.nowMs, { numbers })
    parts.globalCommands.onCommit(command => {
      if (notifyingCommands.has(command)) this.wake()
    })
  }

  /** Counts existing changes as sent. Call once, before there are sessions. */
  async start(): Promise<void> {
    await this.poll()
  }

  /** Sends this node's latest changes. Never rejects. */
  wake(): void {
    if (this.#isStopped || !this.#hasLocalUsers()) return
    this.#isAwake = true
    this.#reading ??= this.#readNew().finally(() => {
      this.#reading = null
    })
  }

  /** Sends changes of other nodes, and late commits. False while some may still be to come. */
  async poll(): Promise<boolean> {
    await this.#reading
    const newest = await this.#watermark.advance()
    await this.#read(this.#watermark.from, newest)
    this.#watermark.confirm()
    for (const change of this.#sent) if (change <= this.#watermark.from) this.#sent.delete(change)
    return this.#watermark.from >= newest
  }

  /** Waits for the current read, and reads no more. */
  async stop(): Promise<void> {
    this.#isStopped = true
    await this.#reading
  }

  /** False where no user has a session here: the next poll then counts all changes as sent. */
  #hasLocalUsers(): boolean {
    for (const _ of this.#parts.localUsers()) return true
    return false
  }

  async #readNew(): Promise<void> {
    try {
      while (this.#isAwake) {
        this.#isAwake = false
        if (this.#newest !== null) await this.#read(this.#newest, await findNewestChange(this.#parts.sql))
      }
    } catch (error) {
      this.#parts.log.warn({ error }, 'Notifications could not be sent; the next poll tries again')
    }
  }

  /** Sends changes after `from`. `newest` was drawn before, and counts as read. */
  async #read(from: number, newest: number): Promise<void> {
    const { sql, localUsers } = this.#parts
    const users = [...localUsers()]
    if (users.length > 0) {
      for (let after = from; ;) {
        const changes = await listChanges(sql, users, after, changesLimit)
        await this.#send(changes.filter(({ changed_id }) => !this.#sent.has(changed_id)))
        if (changes.length < changesLimit) break
        after = changes.at(-1)!.changed_id
      }
    }
    this.#newest = newest
  }

  async #send(fresh: ChangeKey[]): Promise<void> {
    for (let first = 0; first < fresh.length; first += portion.read) {
      const changes = fresh.slice(first, first + portion.read)
      const ids = changes.flatMap(({ id, change }) => (change === 'notifications_marked' ? [] : [id]))
      const rows = ids.length === 0 ? [] : await listByIds(this.#parts.sql, ids)
      const byChange = new Map(rows.map(row => [row.changed_id, row]))
      for (let at = 0; at < changes.length; at += portion.sent) {
        const yielder = new Yielder()
        await this.#sendPortion(changes.slice(at, at + portion.sent), byChange)
        await yielder.rest()
      }
    }
  }

  /** Leaves out notifications that have changed again, which is a change of its own, or are gone. */
  async #sendPortion(changes: ChangeKey[], rows: ReadonlyMap<number, NotificationRow>): Promise<void> {
    const { userCache, send, origin } = this.#parts
    const named = changes.flatMap(({ changed_id }) => rows.get(changed_id) ?? [])
    await userCache.load(named.flatMap(namesOf))
    for (const { user_id, changed_id, change } of changes) {
      const row = rows.get(changed_id)
      const isMarked = change === 'notifications_marked'
      if (this.#sent.has(changed_id) || (row === undefined && !isMarked)) continue
      this.#sent.add(changed_id)
      const shown = row && { notification: showNotification(row, { userCache, origin: origin() }) }
      send(user_id, { type: change, ...shown }, changed_id)
    }
  }
}
