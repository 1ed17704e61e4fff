import type { Apps } from '../../../engine/apps.ts'
import type { EventTypes } from '../../../engine/catch-up.ts'
import type { UserCache } from '../../../auth/user-cache.ts'
import type { AppState } from '../../../engine/state.ts'
import type { EventRow } from '../../../log/events.ts'
import type { Tx } from '../../../postgres/sql.ts'
import { findUnlessGone } from '../../apps/find.ts'
import { keepTerms } from '../../content/terms.ts'
import { listProjected, listUpcoming, lockCursors, moveCursors, type Cursor, type Upcoming } from './backlog.ts'
import { NotificationProjection } from '../projection/notification-projection.ts'
import { NotificationWriter } from '../projection/notification-writer.ts'
import { queueMarked } from './outbox.ts'
import { toDueAt } from './pace.ts'
import { draftUnread } from '../rolled/due.ts'
import { markReached, type Reading } from '../rolled/store.ts'

/**
 * The most events of one app and of all apps in a transaction, and of events that are processed one by one. Guesses:
 * with more, urgent events would wait longer.
 */
const limits = { ofApp: 500, events: 2_000, projected: 200 }

export interface FollowUpParts {
  apps: Apps
  userCache: UserCache
  events: EventTypes
  /** How long a message has to be unread before its readers are notified. */
  patienceMs: number
  /** True where all members of this large app are to be checked for unread messages. */
  isWholeDue: (app: number) => boolean
}

/** The result of one transaction. */
export interface BacklogResult {
  /** The cursors of the processed apps; apps with more events are in `more`. */
  cursors: Cursor[]
  more: number[]
  /** There was more than fits into one transaction: events of these apps, or other apps. */
  isFull: boolean
  hasChanges: boolean
  /** Events processed one by one, and new notifications. */
  projected: number
  notifications: number
  /** The age of the oldest event. */
  lateMs: number
}

/** An app's next events, and the cursor before them. */
interface AppBatch {
  cursor: Cursor
  upcoming: Upcoming
  /** As many events as were asked for: the app may have more. */
  isFull: boolean
}

/**
 * Processes events of many apps in one transaction: makes notifications or marks them as read, and the terms by which
 * items are found. Messages without mentions and read markers, nearly all events, are processed in bulk.
 */
export class BacklogTransaction {
  readonly #tx: Tx
  readonly #parts: FollowUpParts
  readonly #now: Date
  readonly #writer: NotificationWriter
  readonly #states = new Map<number, AppState>()
  #projected = 0
  /** There was no room for some of the apps. */
  #isCut = false

  constructor(tx: Tx, parts: FollowUpParts, now: Date) {
    this.#tx = tx
    this.#parts = parts
    this.#now = now
    this.#writer = new NotificationWriter(tx, now)
  }

  /** Processes the next events of apps that no other node works on, and moves their cursors. */
  async run(apps: number[]): Promise<BacklogResult> {
    const parts = await this.#listBatches(apps)
    const projectedRows = await this.#listProjected(parts)
    await this.#loadStates([...projectedRows.keys(), ...parts.filter(part => this.#isDue(part)).map(appOf)])
    const done: EventRow[] = []
    const cursors: Cursor[] = []
    for (const part of parts) {
      const rows = projectedRows.get(appOf(part)) ?? []
      const { cursor, count } = await this.#project(part, rows)
      done.push(...rows.slice(0, count))
      cursors.push({ ...cursor, due_at: this.#dueAt(part) })
    }
    await this.#writer.write()
    const messages = parts.flatMap(({ upcoming }) => upcoming.messages)
    await keepTerms(this.#tx, done, messages)
    const hasMarked = await this.#markRead(parts)
    const moved = await this.#draftUnread(cursors)
    await moveCursors(this.#tx, moved)
    return this.#toResult(parts, moved, hasMarked)
  }

  /** As many events as fit into one transaction: at least the first. */
  async #listBatches(apps: number[]): Promise<AppBatch[]> {
    const cursors = new Map((await lockCursors(this.#tx, apps)).map(cursor => [cursor.app_id, cursor]))
    if (cursors.size === 0) return []
    // Of many apps, no more is read than there is room for.
    const most = Math.min(limits.ofApp, Math.ceil(limits.events / cursors.size))
    const upcoming = await listUpcoming(this.#tx, [...cursors.values()], most)
    const parts: AppBatch[] = []
    let [events, projected] = [0, 0]
    for (const next of upcoming) {
      events += next.events
      projected += next.projected
      if (parts.length > 0 && (events > limits.events || projected > limits.projected)) {
        this.#isCut = true
        break
      }
      parts.push({ upcoming: next, cursor: cursors.get(next.app_id)!, isFull: next.events >= most })
    }
    return parts
  }

  async #listProjected(parts: AppBatch[]): Promise<Map<number, EventRow[]>> {
    const some = parts.filter(({ upcoming }) => upcoming.projected > 0)
    const rows = some.length === 0 ? [] : await listProjected(this.#tx, some)
    return Map.groupBy(rows, ({ app_id }) => app_id)
  }

  /** Loads the states at least as new as the events. */
  async #loadStates(apps: number[]): Promise<void> {
    const { apps: actors } = this.#parts
    if (apps.length === 0) return
    await Promise.all(apps.map(app => findUnlessGone(app, actors)))
    await actors.remoteCommits.catchUp(apps)
    for (const state of await Promise.all(apps.map(app => findUnlessGone(app, actors)))) {
      if (state !== null) this.#states.set(state.app.id, state)
    }
  }

  /** Makes the notifications of an app's events; returns the new cursor and the number of processed events. */
  async #project({ cursor, upcoming }: AppBatch, rows: EventRow[]): Promise<{ cursor: Cursor; count: number }> {
    const state = this.#states.get(cursor.app_id)
    if (rows.length === 0 || state === undefined)
      return { cursor: { ...cursor, rev: upcoming.rev }, count: rows.length }
    const context = { tx: this.#tx, state, userCache: this.#parts.userCache }
    const projection = new NotificationProjection(context, this.#writer)
    await projection.load(rows)
    for (const [count, row] of rows.entries()) {
      // Before the event: some of its recipients are left.
      const before = { ...cursor, rev: Math.max(cursor.rev, row.rev - 1) }
      if (this.#writer.isFull) return { cursor: { ...before, told_to: count === 0 ? cursor.told_to : 0 }, count }
      const kind = this.#parts.events.get(row.type)
      if (kind === undefined) continue
      this.#projected++
      const last = await projection.apply({ ...row, kind, body: null }, count === 0 ? cursor.told_to : 0)
      if (last !== null) return { cursor: { ...before, told_to: last }, count }
    }
    return { cursor: { ...cursor, rev: upcoming.rev, told_to: 0 }, count: rows.length }
  }

  /** Marks notifications of messages as read that their users have read. True where there were any. */
  async #markRead(parts: AppBatch[]): Promise<boolean> {
    const readings = new Map<string, Reading>()
    for (const { cursor, upcoming } of parts) {
      const { readers, reached, reached_revs: revs } = upcoming
      for (const [at, user] of readers.entries()) {
        const reading = { app: cursor.app_id, user, message: reached[at]!, rev: revs[at]! }
        const key = `${reading.app}:${user}`
        if (user > 0 && reading.message >= (readings.get(key)?.message ?? 0)) readings.set(key, reading)
      }
    }
    const marked = readings.size === 0 ? [] : await markReached(this.#tx, [...readings.values()])
    await queueMarked(this.#tx, marked, this.#now)
    return marked.length > 0
  }

  /** Checks apps in which messages may have been unread for long enough, as far as there is room. */
  async #draftUnread(cursors: Cursor[]): Promise<Cursor[]> {
    const { userCache, patienceMs, isWholeDue } = this.#parts
    const parts = { tx: this.#tx, userCache, before: new Date(this.#now.getTime() - patienceMs), now: this.#now }
    const moved = new Map(cursors.map(cursor => [cursor.app_id, cursor]))
    let due = cursors.flatMap(cursor => {
      const state = this.#states.get(cursor.app_id)
      if (state === undefined || cursor.due_at === null || cursor.due_at > this.#now) return []
      return { state, cursor, isWhole: () => cursor.rolled_to > 0 || isWholeDue(cursor.app_id) }
    })
    while (due.length > 0 && !this.#writer.isFull) {
      const checked = await draftUnread(due, parts)
      due = due.slice(checked.length)
      for (const { cursor, drafts } of checked) {
        this.#writer.push(...drafts)
        moved.set(cursor.app_id, cursor)
      }
    }
    await this.#writer.write()
    return [...moved.values()]
  }

  /** When to check for users who have not read the messages: some time after the first one. */
  #dueAt({ cursor, upcoming }: AppBatch): Date | null {
    if (cursor.due_at !== null || upcoming.message_at === null) return cursor.due_at
    return toDueAt(upcoming.message_at, this.#parts.patienceMs)
  }

  #isDue(part: AppBatch): boolean {
    const dueAt = this.#dueAt(part)
    return dueAt !== null && dueAt <= this.#now
  }

  #toResult(parts: AppBatch[], cursors: Cursor[], hasMarked: boolean): BacklogResult {
    const times = parts.flatMap(({ upcoming }) => upcoming.first_at?.getTime() ?? [])
    const isLeft = ({ rev, due_at }: Cursor, { upcoming, isFull }: AppBatch) =>
      rev < upcoming.rev || isFull || (due_at !== null && due_at <= this.#now)
    return {
      cursors,
      isFull: this.#isCut || parts.some(({ isFull }) => isFull),
      more: cursors.filter((cursor, at) => isLeft(cursor, parts[at]!)).map(({ app_id }) => app_id),
      hasChanges: this.#writer.hasChanges || hasMarked,
      projected: this.#projected,
      notifications: this.#writer.written,
      lateMs: times.length === 0 ? 0 : Math.max(0, this.#now.getTime() - Math.min(...times)),
    }
  }
}

const appOf = ({ cursor }: AppBatch) => cursor.app_id
