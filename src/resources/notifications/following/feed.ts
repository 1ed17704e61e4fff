import type { GlobalCommands } from '../../../engine/global-commands.ts'
import type { UserCache } from '../../../auth/user-cache.ts'
import type { Log } from '../../../lib/log.ts'
import { Yielder } from '../../../lib/yielder.ts'
import type { Sql } from '../../../postgres/sql.ts'
import { Watermark } from '../../../log/watermark.ts'
import { telling } from '../commands.ts'
import { namesOf, showNotification } from '../represent.ts'
import type { NotificationRow } from '../schema.ts'
import { findNewestChange, listByIds, listChanges, type ChangeKey } from '../store.ts'

/** A frame for a user's personal sessions. */
interface Told {
  readonly type: string
  readonly [member: string]: unknown
}

export interface FeedParts {
  sql: Sql
  globalCommands: Pick<GlobalCommands, 'onCommit'>
  userCache: UserCache
  /** Ids of the users with a session on this node. */
  here: () => Iterable<number>
  /** `change` is the number of what happened. */
  tell: (user: number, frame: Told, change: number) => void
  origin: () => string
  /** A clock that is never set. */
  nowMs: () => number
  log: Log
}

/** Changes in one query; a look repeats what others have seen, so it reads no more than their keys. */
const lookLimit = 5_000

/** Notifications that are read at once, and those that are told before others have their turn. Guesses. */
const portion = { read: 96, told: 16 }

/**
 * Tells the sessions on this node what became of their users' notifications, whichever node did it: at once after
 * what this node did (`wake`), otherwise within the period of `look`. It has no history: what a client missed while
 * it was away it finds in its list. A change may be committed after one with a larger number, so a look begins where
 * no transaction was open any more at the last one. Nothing is lost if the process dies; memory is bounded by what
 * changes in a minute.
 */
export class Feed {
  readonly #parts: FeedParts
  /** Everything up to here was read at least once. */
  #newest: number | null = null
  readonly #watermark: Watermark
  /** The changes that were told, and their numbers. */
  readonly #told = new Map<string, number>()
  #reading: Promise<void> | null = null
  #isAwake = false
  #isStopped = false

  constructor(parts: FeedParts) {
    this.#parts = parts
    const numbers = { findNewest: findNewestChange, drawnAheadMs: 0 }
    this.#watermark = new Watermark(parts.sql, parts.nowMs, { numbers })
    parts.globalCommands.onCommit(command => {
      if (telling.has(command)) this.wake()
    })
  }

  /** Takes what there is as told. Call once, before anybody can have a session. */
  async start(): Promise<void> {
    await this.look()
  }

  /** Something was committed on this node. Never rejects. */
  wake(): void {
    if (this.#isStopped) return
    this.#isAwake = true
    this.#reading ??= this.#follow().finally(() => {
      this.#reading = null
    })
  }

  /** Finds what other nodes did, and what was committed late. False while some of it may still be to come. */
  async look(): Promise<boolean> {
    await this.#reading
    const newest = await this.#watermark.advance()
    await this.#read(this.#watermark.from, newest)
    this.#watermark.confirm()
    for (const [key, change] of this.#told) if (change <= this.#watermark.from) this.#told.delete(key)
    return this.#watermark.from >= newest
  }

  /** Waits for what is being read; nothing is read after it. */
  async stop(): Promise<void> {
    this.#isStopped = true
    await this.#reading
  }

  async #follow(): Promise<void> {
    try {
      while (this.#isAwake) {
        this.#isAwake = false
        if (this.#newest !== null) await this.#read(this.#newest, await findNewestChange(this.#parts.sql))
      }
    } catch (error) {
      this.#parts.log.warn({ error }, 'Notifications could not be told; the next look tries again')
    }
  }

  /** Tells what changed after `from`. `newest` had been drawn before, and counts as read. */
  async #read(from: number, newest: number): Promise<void> {
    const { sql, here } = this.#parts
    const users = [...here()]
    if (users.length > 0) {
      for (let after = from; ;) {
        const changes = await listChanges(sql, users, after, lookLimit)
        await this.#tell(changes.filter(change => !this.#told.has(keyOf(change))))
        if (changes.length < lookLimit) break
        // All rows of one change must have been seen before it is passed.
        const [first, last] = [changes[0]!.changed_id, changes.at(-1)!.changed_id]
        after = last - (first === last ? 0 : 1)
      }
    }
    this.#newest = newest
  }

  async #tell(fresh: ChangeKey[]): Promise<void> {
    for (let first = 0; first < fresh.length; first += portion.read) {
      const ids = fresh.slice(first, first + portion.read).map(({ id }) => id)
      const rows = await listByIds(this.#parts.sql, ids)
      for (let at = 0; at < rows.length; at += portion.told) {
        const turn = new Yielder()
        await this.#tellPortion(rows.slice(at, at + portion.told))
        await turn.rest()
      }
    }
  }

  async #tellPortion(rows: NotificationRow[]): Promise<void> {
    const { userCache, tell, origin } = this.#parts
    await userCache.load(rows.flatMap(namesOf))
    for (const row of rows) {
      if (this.#told.has(keyOf(row))) continue
      this.#told.set(keyOf(row), row.changed_id)
      const isOne = row.change !== 'notifications_marked'
      const shown = isOne && { notification: showNotification(row, { userCache, origin: origin() }) }
      tell(row.user_id, { type: row.change, ...shown }, row.changed_id)
    }
  }
}

/** Marking several is one change, told once. */
function keyOf({ user_id, changed_id }: Pick<ChangeKey, 'user_id' | 'changed_id'>): string {
  return `${changed_id}:${user_id}`
}
