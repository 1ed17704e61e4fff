import { performance } from 'node:perf_hooks'
import type { Apps } from '../../actors/apps.ts'
import type { Write } from '../../actors/command.ts'
import type { EventTypes } from '../../actors/catch-up.ts'
import type { AppEvent } from '../../actors/event.ts'
import type { People } from '../../actors/people.ts'
import type { Clock } from '../../lib/clock.ts'
import type { Log } from '../../lib/log.ts'
import type { Sql, Tx } from '../../storage/sql.ts'
import { auditMember } from './audits.ts'
import * as backlog from './backlog.ts'
import { FollowUp, type FollowedUp } from './follow-up.ts'
import { telling } from './making/making.ts'
import { gatherMs, Others, toRestMs } from './pace.ts'
import { WholeLooks } from './rolled/whole-looks.ts'

const nothing: Write[] = []

/** The events that something follows from: also those by which what was told is read. */
const notifying: ReadonlySet<string> = new Set([...telling, 'app_marked', 'settings_changed'])

/** The row that a commit writes where something follows from one of its events; see Follower. */
export function toNotifiable({ type, app_id, entity_id, rev }: AppEvent): Write[] {
  if (type === 'member_added') return [{ batch: auditMember as Write['batch'], row: { app_id, user_id: entity_id } }]
  if (!notifying.has(type)) return nothing
  return [{ batch: backlog.saveNotifiable as Write['batch'], row: { app_id, rev } }]
}

export interface NotifierParts {
  sql: Sql
  apps: Apps
  people: People
  events: EventTypes
  /** How long a message has to be unread before its readers are told. */
  patienceMs: number
  /** Called when something was committed that people are to be told of. */
  told: () => void
  clock: Clock
  log: Log
}

/** Apps in one transaction. A guess. */
const appLimit = 100

/** Apps that this node remembers to look at. The rest is found in the database when these are done. */
const awakeLimit = 1_000

/** Nothing was to be done, or other nodes do it. */
const idle: FollowedUp = { cursors: [], more: [], hasTold: false, telling: 0, told: 0, lateMs: 0 }

/**
 * Does what follows from commits in the background: notifications, and the terms that items are found by. Sending to a
 * room of 500 costs the sender nothing, and what follows from many messages in many rooms costs little more than what
 * follows from one, because it is gathered for a while.
 *
 * The commit of an event notes, in one row for each app, that there is something to do. A transaction takes the events of
 * many apps after their cursors, and moves the cursors with what follows: each event counts exactly once, crash or not.
 * An app's events are committed in the order of their revs, because each commit moves the rev of its row to a larger one,
 * so no cursor ever passes one that is still to come. A row for each event would do the same, at the price of a write for
 * every message; one position for all apps would have to wait for every transaction.
 *
 * Made by main, woken by what this node hears of and by a look about once a second. Any number of nodes may work at
 * once: the locked cursor gives an app to one of them. It cannot be too busy, what is to be done waits in the
 * database; `stop` waits for the transaction that is running.
 */
export class Notifier {
  readonly #parts: NotifierParts
  readonly #awake = new Set<number>()
  readonly #others = new Others()
  readonly #wholeLooks: WholeLooks
  #running: Promise<void> | null = null
  #isStopped = false
  /** Apps in the transaction that is running, and how long the oldest event of the last one had waited. */
  #underWay = 0
  #lateMs = 0
  #endRest = () => {}

  constructor(parts: NotifierParts) {
    this.#parts = parts
    this.#wholeLooks = new WholeLooks(parts.apps, parts.clock)
    parts.apps.listen((state, events) => {
      if (events.some(({ type }) => notifying.has(type))) this.wake(state.app.id)
    })
  }

  /** Apps that this node knows to have events from which something is still to follow. */
  get waiting(): number {
    return this.#awake.size + this.#underWay
  }

  /** How long the oldest of these events has waited, as of the last transaction; 0 where none waits. */
  get lagSeconds(): number {
    return this.waiting === 0 ? 0 : this.#lateMs / 1000
  }

  wake(app: number): void {
    if (this.#isStopped) return
    if (this.#awake.size < awakeLimit) this.#awake.add(app)
    this.#running ??= this.#run()
  }

  /** Finds what other nodes noted, or left behind, and where messages may have been unread for long enough. */
  async look(): Promise<void> {
    const { sql, clock } = this.#parts
    for (const app of await backlog.listWaiting(sql, new Date(clock.now()), awakeLimit)) this.wake(app)
  }

  async stop(): Promise<void> {
    this.#isStopped = true
    this.#endRest()
    await this.#running
  }

  /** Never rejects. */
  async #run(): Promise<void> {
    await this.#rest(gatherMs)
    while (this.#awake.size > 0 && !this.#isStopped) {
      const apps = Array.from(this.#awake).slice(0, appLimit)
      for (const app of apps) this.#awake.delete(app)
      const startedAt = performance.now()
      this.#underWay = apps.length
      const done = await this.#followUp(apps)
      this.#underWay = 0
      this.#lateMs = done.lateMs
      if (this.#awake.size === 0) break
      const { waiting } = this.#parts.apps
      await this.#rest(
        toRestMs({ ...done, waiting, tookMs: performance.now() - startedAt, others: this.#others.share }),
      )
    }
    this.#running = null
  }

  /** One transaction for some apps. What is noted stays noted where it fails: the next look finds it. */
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
    const { sql, clock, told } = this.#parts
    const parts = { ...this.#parts, isWholeDue: (app: number) => this.#wholeLooks.isDue(app) }
    const now = new Date(clock.now())
    const done = (await sql.begin(tx => new FollowUp(tx as unknown as Tx, parts, now).run(apps))) as FollowedUp
    if (done.hasTold) told()
    const [more, there] = [new Set(done.more), new Set(done.cursors.map(({ app_id }) => app_id))]
    const finished = done.cursors.filter(({ app_id }) => !more.has(app_id))
    if (finished.length > 0) await backlog.removeNotifiable(sql, finished)
    if (there.size < apps.length) {
      await backlog.forgetGone(
        sql,
        apps.filter(app => !there.has(app)),
      )
    }
    return done
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
