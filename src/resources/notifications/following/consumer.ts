import { performance } from 'node:perf_hooks'
import type { Apps } from '../../../engine/apps.ts'
import type { Write } from '../../../engine/command.ts'
import type { EventTypes } from '../../../engine/catch-up.ts'
import type { AppEvent } from '../../../engine/event.ts'
import type { UserCache } from '../../../auth/user-cache.ts'
import { Watermark } from '../../../log/watermark.ts'
import type { Clock } from '../../../lib/clock.ts'
import type { Log } from '../../../lib/log.ts'
import type { Sql, Tx } from '../../../postgres/sql.ts'
import { auditMember } from '../lists/audits.ts'
import * as backlog from './backlog.ts'
import { FollowUp, type FollowedUp } from './follow-up.ts'
import { telling } from '../making/making.ts'
import { gatherMs, Others, toRestMs } from './pace.ts'
import { settlePlain } from './plain.ts'
import { WholeLooks } from '../rolled/whole-looks.ts'

const nothing: Write[] = []

/** The events that need processing, including those that mark notifications as read. */
export const notifying: ReadonlySet<string> = new Set([...telling, 'app_marked', 'settings_changed'])

/** The row that a commit writes for an event that must be processed by itself; see SameCommitProjection. */
export function toNotifiable(event: AppEvent): Write[] {
  const { type, app_id, entity_id, rev } = event
  if (type === 'member_added') return [{ batch: auditMember as Write['batch'], row: { app_id, user_id: entity_id } }]
  return isTelling(event) ? [{ batch: backlog.saveNotifiable as Write['batch'], row: { app_id, rev } }] : nothing
}

/** True for events that may notify users at once, or undo that: hardly any of a chat's. */
function isTelling({ type, facts }: AppEvent): boolean {
  return type === 'message_created' ? facts?.mentioned !== undefined : isToldOf.has(type)
}

const isToldOf: ReadonlySet<string> = new Set(telling)

export interface NotifierParts {
  sql: Sql
  apps: Apps
  userCache: UserCache
  events: EventTypes
  /** How long a message has to be unread before its readers are notified. */
  patienceMs: number
  /** Called after a commit with notifications to send. */
  told: () => void
  clock: Clock
  log: Log
}

/** The most apps in one transaction. A guess. */
const appLimit = 100

/** The most apps that this node remembers to process. Others are found in the database later. */
const awakeLimit = 1_000

/** Nothing was done: there was nothing to do, or other nodes do it. */
const idle: FollowedUp = { cursors: [], more: [], isFull: false, hasTold: false, telling: 0, told: 0, lateMs: 0 }

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
 * Woken by this node's commits, by `look` about once a second, and by `sweep`. Any number of nodes may run at once: a
 * locked cursor assigns an app to one of them. It cannot be overloaded, because events wait in the database; `stop`
 * waits for the running transaction.
 */
export class Notifier {
  readonly #parts: NotifierParts
  readonly #watermark: Watermark
  readonly #awake = new Set<number>()
  /** Apps that may be recorded in the database. */
  readonly #noted = new Set<number>()
  /** Memory has no room for more apps: others must be found again. */
  #hasOverflown = false
  /** An event that waits is to be sent soon. */
  #isUrgent = false
  readonly #others = new Others()
  readonly #wholeLooks: WholeLooks
  #running: Promise<void> | null = null
  #isStopped = false
  /** The apps of the running transaction, and the age of the last one's oldest event. */
  #underWay = 0
  #lateMs = 0
  #hurry = () => {}
  #endRest = () => {}

  constructor(parts: NotifierParts) {
    this.#parts = parts
    this.#watermark = new Watermark(parts.sql, () => performance.now(), { start: 0 })
    this.#wholeLooks = new WholeLooks(parts.apps, parts.clock)
    parts.apps.onCommit(({ state, events }) => {
      if (events.some(isTelling)) this.#wakeNoted(state.app.id)
      else if (events.some(({ type }) => notifying.has(type))) this.wake(state.app.id)
    })
  }

  /** The number of apps that this node knows to have unprocessed events. */
  get waiting(): number {
    return this.#awake.size + this.#underWay
  }

  /** The age of the oldest unprocessed event at the last transaction; 0 for none. */
  get lagSeconds(): number {
    return this.waiting === 0 ? 0 : this.#lateMs / 1000
  }

  wake(app: number): void {
    if (this.#isStopped) return
    if (this.#awake.size < awakeLimit) this.#awake.add(app)
    else this.#hasOverflown = true
    this.#running ??= this.#run()
  }

  #wakeNoted(app: number): void {
    if (this.#noted.size < awakeLimit) this.#noted.add(app)
    if (!this.#isUrgent) {
      this.#isUrgent = true
      this.#hurry()
    }
    this.wake(app)
  }

  /**
   * Finds apps recorded or left behind by other nodes, and messages that may have been unread for long enough. False
   * where some will be only later, without a further commit.
   */
  async look(): Promise<boolean> {
    const { sql, clock } = this.#parts
    const { noted, due } = await backlog.findWaiting(sql, new Date(clock.now()), awakeLimit)
    for (const app of noted) this.#wakeNoted(app)
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
    const left = newest > position.rev ? await backlog.listUnfollowed(sql, position, [...notifying], awakeLimit) : []
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
      this.#parts.log.warn({ error }, 'What is left to do could not be looked for; it is looked for again')
    }
  }

  async stop(): Promise<void> {
    this.#isStopped = true
    this.#endRest()
    await this.#running
  }

  /** Never rejects. */
  async #run(): Promise<void> {
    await this.#gather()
    while (this.#awake.size > 0 && !this.#isStopped) {
      const apps = Array.from(this.#awake).slice(0, appLimit)
      for (const app of apps) this.#awake.delete(app)
      if (this.#awake.size === 0) this.#isUrgent = false
      const startedAt = performance.now()
      this.#underWay = apps.length
      const done = await this.#followUp(apps)
      this.#underWay = 0
      this.#lateMs = done.lateMs
      if (this.#awake.size === 0 && this.#hasOverflown) {
        this.#hasOverflown = false
        await this.start()
      }
      if (this.#awake.size === 0) break
      const waiting = this.#parts.apps.waitingAnywhere
      const tookMs = performance.now() - startedAt
      const restMs = toRestMs({ ...done, waiting, tookMs, others: this.#others.share })
      await (restMs > 0 ? this.#rest(restMs) : this.#gather())
    }
    this.#running = null
  }

  /** One transaction for some apps. After a failure, the next look or sweep finds them again. */
  async #followUp(apps: number[]): Promise<FollowedUp> {
    try {
      const done = await this.#commit(apps)
      for (const app of done.more) this.#awake.add(app)
      return done
    } catch (error) {
      this.#parts.log.warn({ apps: apps.length, error }, 'Notifications could not be made; they are tried again')
      return idle
    }
  }

  async #commit(apps: number[]): Promise<FollowedUp> {
    const noted = apps.filter(app => this.#noted.has(app))
    const plain = await this.#settlePlain(apps.filter(app => !this.#noted.has(app)))
    const others = [...noted, ...plain.others]
    const done = others.length === 0 ? idle : await this.#followSingly(others)
    const [isFull, lateMs] = [done.isFull || plain.more.length > 0, Math.max(plain.lateMs, done.lateMs)]
    return { ...done, more: [...plain.more, ...done.more], isFull, lateMs }
  }

  /** Does what is done without a look at single events; the apps with more of it, and those that it is not for. */
  async #settlePlain(apps: number[]): Promise<{ more: number[]; others: number[]; lateMs: number }> {
    const { sql, clock, patienceMs, told } = this.#parts
    const now = new Date(clock.now())
    const { settled, hasMarked } = await settlePlain(sql, apps, { telling, patienceMs, now })
    if (hasMarked) told()
    const ids = new Set(settled.map(({ app_id }) => app_id))
    return {
      more: settled.filter(({ is_left }) => is_left).map(({ app_id }) => app_id),
      others: apps.filter(app => !ids.has(app)),
      lateMs: settled.reduce((most, { first_at }) => Math.max(most, now.getTime() - first_at.getTime()), 0),
    }
  }

  async #followSingly(apps: number[]): Promise<FollowedUp> {
    const { sql, clock, told } = this.#parts
    const parts = { ...this.#parts, isWholeDue: (app: number) => this.#wholeLooks.isDue(app) }
    const now = new Date(clock.now())
    const done = (await sql.begin(tx => new FollowUp(tx as unknown as Tx, parts, now).run(apps))) as FollowedUp
    if (done.hasTold) told()
    const [more, there] = [new Set(done.more), new Set(done.cursors.map(({ app_id }) => app_id))]
    const finished = done.cursors.filter(({ app_id }) => !more.has(app_id))
    const noted = finished.filter(({ app_id }) => this.#noted.delete(app_id))
    if (noted.length > 0) await backlog.removeNotifiable(sql, noted)
    if (there.size === apps.length) return done
    // Apps without room, on other nodes, or deleted.
    const others = apps.filter(app => !there.has(app))
    const gone = new Set(done.isFull ? [] : await backlog.forgetGone(sql, others))
    for (const app of gone) this.#noted.delete(app)
    return { ...done, more: [...done.more, ...others.filter(app => !gone.has(app))] }
  }

  /** Waits for more events to process together. */
  async #gather(): Promise<void> {
    const { clock } = this.#parts
    await new Promise<void>(resolve => {
      let cancel = clock.after(this.#isUrgent ? gatherMs.telling : gatherMs.plain, resolve)
      this.#hurry = () => {
        cancel()
        cancel = clock.after(gatherMs.telling, resolve)
      }
      this.#endRest = () => {
        cancel()
        resolve()
      }
    })
    this.#hurry = () => {}
  }

  async #rest(delayMs: number): Promise<void> {
    const before = performance.eventLoopUtilization()
    await new Promise<void>(resolve => {
      const cancel = this.#parts.clock.after(delayMs, resolve)
      this.#endRest = () => {
        cancel()
        resolve()
      }
    })
    this.#others.used(performance.eventLoopUtilization(before).utilization, delayMs)
  }
}
