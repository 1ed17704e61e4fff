import { performance } from 'node:perf_hooks'
import type { Write } from '../../../engine/command.ts'
import type { AppEvent } from '../../../engine/event.ts'
import { Watermark } from '../../../log/watermark.ts'
import type { Clock } from '../../../lib/clock.ts'
import type { Log } from '../../../lib/log.ts'
import type { Sql } from '../../../postgres/sql.ts'
import * as backlog from './backlog.ts'
import { BacklogTransaction, type BacklogResult, type FollowUpParts } from './backlog-transaction.ts'
import { projectedEvents } from '../projection/notification-projection.ts'
import { gatherMs, EventLoopLoad, toPauseMs } from './pace.ts'
import { wholeAppChecks } from '../rolled/whole-app-checks.ts'

const nothing: Write[] = []

/** The types of events that need processing, including events that mark notifications as read. */
export const consumedEvents: ReadonlySet<string> = new Set([...projectedEvents, 'app_marked', 'settings_changed'])

/** The row that a commit writes for an event that must be processed by itself; see SameCommitProjection. */
export function toBacklog(event: AppEvent): Write[] {
  const { app_id, rev } = event
  return isProjected(event) ? [{ batch: backlog.saveBacklog as Write['batch'], row: { app_id, rev } }] : nothing
}

/** True for events that may notify users at once, or undo that: hardly any of a chat's. */
function isProjected({ type, facts }: AppEvent): boolean {
  return type === 'message_created' ? facts?.mentioned !== undefined : projectedTypes.has(type)
}

const projectedTypes: ReadonlySet<string> = new Set(projectedEvents)

export interface NotifierParts extends Omit<FollowUpParts, 'isWholeDue'> {
  sql: Sql
  /** Called after a commit with notifications to send. */
  onNotifications: () => void
  clock: Clock
  log: Log
}

/** The most apps in one transaction. A guess. */
const appLimit = 100

/** The most apps that this node remembers to process. Others are found in the database later. */
const pendingLimit = 1_000

/** Nothing was done: there was nothing to do, or other nodes do it. */
const nothingDone: BacklogResult = {
  cursors: [],
  more: [],
  isFull: false,
  hasChanges: false,
  projected: 0,
  notifications: 0,
  lateMs: 0,
}

/**
 * Processes events after their commit, in the background: makes notifications, and the terms by which items are found.
 * Posting to a room of 500 costs the author nothing, and many messages in many rooms cost little more than one, because
 * they are gathered for a while.
 *
 * A transaction reads the events of many apps after their cursors, and moves the cursors together with its writes: each
 * event counts exactly once, crash or not. An app's events are committed in the order of their revs, because each
 * commit raises the rev of the app's row, so no cursor passes an event that is still to come.
 *
 * Each node processes its own commits. What a stopped or killed node leaves behind, others find: mentions and reactions
 * within a second, because their commit records the app in a row of its own; messages and read markers some seconds
 * later, among the events after a position of the whole deployment. So these cost no further write.
 *
 * Woken by this node's commits, by `poll` about once a second, and by `sweep`. Any number of nodes may run at once: a
 * locked cursor assigns an app to one of them. It cannot be overloaded, because events wait in the database; `stop`
 * waits for the running transaction.
 */
export class Notifier {
  readonly #parts: NotifierParts
  readonly #watermark: Watermark
  readonly #pending = new Set<number>()
  /** Apps that may be recorded in the database. */
  readonly #recorded = new Set<number>()
  /** Memory has no room for more apps: others must be found again. */
  #hasOverflowed = false
  /** An event that waits is to be sent soon. */
  #isUrgent = false
  readonly #load = new EventLoopLoad()
  readonly #isWholeDue: (app: number) => boolean
  #running: Promise<void> | null = null
  #isStopped = false
  /** The apps of the running transaction, and the age of the last one's oldest event. */
  #processing = 0
  #lateMs = 0
  #expedite = () => {}
  #endPause = () => {}

  constructor(parts: NotifierParts) {
    this.#parts = parts
    this.#watermark = new Watermark(parts.sql, () => performance.now(), { start: 0 })
    this.#isWholeDue = wholeAppChecks(parts.apps, parts.clock)
    parts.apps.onWritten((app, events) => {
      if (events.some(isProjected)) this.#wakeRecorded(app)
      else if (events.some(({ type }) => consumedEvents.has(type))) this.wake(app)
    })
  }

  /** The number of apps that this node knows to have unprocessed events. */
  get waiting(): number {
    return this.#pending.size + this.#processing
  }

  /** The age of the oldest unprocessed event at the last transaction; 0 for none. */
  get lagSeconds(): number {
    return this.waiting === 0 ? 0 : this.#lateMs / 1000
  }

  wake(app: number): void {
    if (this.#isStopped) return
    if (this.#pending.size < pendingLimit) this.#pending.add(app)
    else this.#hasOverflowed = true
    this.#running ??= this.#run()
  }

  #wakeRecorded(app: number): void {
    if (this.#recorded.size < pendingLimit) this.#recorded.add(app)
    if (!this.#isUrgent) {
      this.#isUrgent = true
      this.#expedite()
    }
    this.wake(app)
  }

  /**
   * Finds apps recorded or left behind by other nodes, and messages that may have been unread for long enough. False
   * where some will be only later, without a further commit.
   */
  async poll(): Promise<boolean> {
    const { sql, clock } = this.#parts
    const { recorded, due } = await backlog.findWaiting(sql, new Date(clock.now()), pendingLimit)
    for (const app of recorded) this.#wakeRecorded(app)
    for (const app of due) this.wake(app)
    return false
  }

  /**
   * Finds apps with unprocessed events, and moves the position up to the first of them. Called every few seconds. True
   * where none is left, and the position is that of the newest event.
   */
  async sweep(): Promise<boolean> {
    const { sql, clock } = this.#parts
    const now = new Date(clock.now())
    const newest = await this.#watermark.advance()
    const position = await backlog.findPosition(sql)
    const left =
      newest > position.rev ? await backlog.listUnprocessed(sql, position, [...consumedEvents], pendingLimit) : []
    for (const { app_id } of left) this.wake(app_id)
    this.#watermark.confirm()
    const first = left[0] ?? { rev: Infinity, created_at: now }
    const rev = Math.min(this.#watermark.from, first.rev - 1)
    const at = first.created_at < now ? first.created_at : now
    if (rev > position.rev) await backlog.movePosition(sql, { rev, at })
    return Math.max(rev, position.rev) >= newest
  }

  /** Resumes what was left when the last node stopped. Never rejects. */
  async start(): Promise<void> {
    try {
      await this.sweep()
    } catch (error) {
      this.#parts.log.warn(
        { error },
        'Events that stopped nodes have left could not be listed; the next sweep tries again',
      )
    }
  }

  async stop(): Promise<void> {
    this.#isStopped = true
    this.#endPause()
    await this.#running
  }

  /** Never rejects. */
  async #run(): Promise<void> {
    await this.#gather()
    while (this.#pending.size > 0 && !this.#isStopped) {
      const apps = Array.from(this.#pending).slice(0, appLimit)
      for (const app of apps) this.#pending.delete(app)
      if (this.#pending.size === 0) this.#isUrgent = false
      const startedAt = performance.now()
      this.#processing = apps.length
      const done = await this.#process(apps)
      this.#processing = 0
      this.#lateMs = done.lateMs
      if (this.#pending.size === 0 && this.#hasOverflowed) {
        this.#hasOverflowed = false
        await this.start()
      }
      if (this.#pending.size === 0) break
      const { waitingAnywhere: waiting, committingNodes: nodes } = this.#parts.apps
      const tookMs = performance.now() - startedAt
      const pauseMs = toPauseMs({ ...done, waiting, nodes, tookMs, otherLoad: this.#load.share })
      await (pauseMs > 0 ? this.#pause(pauseMs) : this.#gather())
    }
    this.#running = null
  }

  /** One transaction for some apps. After a failure, the next poll or sweep finds them again. */
  async #process(apps: number[]): Promise<BacklogResult> {
    try {
      const done = await this.#commit(apps)
      for (const app of done.more) this.#pending.add(app)
      return done
    } catch (error) {
      this.#parts.log.warn({ apps: apps.length, error }, 'Notifications could not be made; they are tried again')
      return nothingDone
    }
  }

  async #commit(apps: number[]): Promise<BacklogResult> {
    const { sql, clock, onNotifications } = this.#parts
    const parts = { ...this.#parts, isWholeDue: this.#isWholeDue }
    const now = new Date(clock.now())
    const done = await sql.begin(tx => new BacklogTransaction(tx, parts, now).run(apps))
    if (done.hasChanges) onNotifications()
    const [more, there] = [new Set(done.more), new Set(done.cursors.map(({ app_id }) => app_id))]
    const finished = done.cursors.filter(({ app_id }) => !more.has(app_id))
    const recorded = finished.filter(({ app_id }) => this.#recorded.delete(app_id))
    if (recorded.length > 0) await backlog.removeFromBacklog(sql, recorded)
    if (there.size === apps.length) return done
    // Apps without room, on other nodes, or deleted.
    const others = apps.filter(app => !there.has(app))
    const gone = new Set(done.isFull ? [] : await backlog.forgetGone(sql, others))
    for (const app of gone) this.#recorded.delete(app)
    return { ...done, more: [...done.more, ...others.filter(app => !gone.has(app))] }
  }

  /** Waits for more events to process together. */
  async #gather(): Promise<void> {
    const { clock } = this.#parts
    await new Promise<void>(resolve => {
      let cancel = clock.after(this.#isUrgent ? gatherMs.urgent : gatherMs.plain, resolve)
      this.#expedite = () => {
        cancel()
        cancel = clock.after(gatherMs.urgent, resolve)
      }
      this.#endPause = () => {
        cancel()
        resolve()
      }
    })
    this.#expedite = () => {}
  }

  async #pause(delayMs: number): Promise<void> {
    const before = performance.eventLoopUtilization()
    await new Promise<void>(resolve => {
      const cancel = this.#parts.clock.after(delayMs, resolve)
      this.#endPause = () => {
        cancel()
        resolve()
      }
    })
    this.#load.record(performance.eventLoopUtilization(before).utilization, delayMs)
  }
}
