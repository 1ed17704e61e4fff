import { performance } from 'node:perf_hooks'
import type { Apps } from '../../actors/apps.ts'
import type { Write } from '../../actors/command.ts'
import type { EventTypes } from '../../actors/catch-up.ts'
import type { AppEvent } from '../../actors/event.ts'
import type { People } from '../../actors/people.ts'
import type { AppState } from '../../actors/state.ts'
import type { Clock } from '../../lib/clock.ts'
import type { Log } from '../../lib/log.ts'
import type { Sql, Tx } from '../../storage/sql.ts'
import { findUnlessGone } from '../apps/find.ts'
import { keepTerms } from '../content/terms.ts'
import * as backlog from './backlog.ts'
import { Making, notifying } from './making/making.ts'
import { Others, portion, toRestMs } from './pace.ts'

const nothing: Write[] = []

/** The row that a commit writes where one of its events may notify somebody; see Follower. */
export function toNotifiable({ type, app_id, rev }: AppEvent): Write[] {
  if (!notifying.has(type)) return nothing
  return [{ batch: backlog.saveNotifiable as Write['batch'], row: { app_id, rev } }]
}

export interface NotifierParts {
  sql: Sql
  apps: Apps
  people: People
  events: EventTypes
  /** Called when something was committed that people are to be told of. */
  told: () => void
  clock: Clock
  log: Log
}

/** Events in one transaction, at most, and those among them that may tell somebody, where they tell many. Guesses. */
const eventLimit = { most: 200, least: 16 }

/** Apps that this node remembers to look at. The rest is found in the database when these are done. */
const awakeLimit = 1_000

/** Where a transaction has brought an app to. */
interface Reached {
  rev: number
  isMore: boolean
  /** Something is to be told, be it new or changed. */
  hasTold: boolean
  /** Events that it worked through, markers aside, how long the oldest had waited, and how many notifications are new. */
  telling: number
  lateMs: number
  told: number
}

/** Nothing was to be done, or another node does it. */
const idle: Omit<Reached, 'rev'> = { isMore: false, hasTold: false, telling: 0, lateMs: 0, told: 0 }

/**
 * Makes notifications of committed events, and the terms that items are found by, in the background: sending to a room
 * of 500 costs the sender nothing.
 *
 * The commit of an event notes, in one row for each app, that there is something to do. Making reads the app's events
 * after its cursor, and moves the cursor in the transaction that writes what follows from them: each event counts
 * exactly once, crash or not. An app's events are committed in the order of their revs, because each commit moves the rev
 * of its row to a larger one, so no cursor ever passes one that is still to come. A row for each event would do the same,
 * at the price of a write for every message; one position for all apps would have to wait for every transaction.
 *
 * Made by main, woken by what this node hears of and by a look about once a second. Any number of nodes may work at
 * once: the locked cursor gives an app to one of them. It cannot be too busy, what is to be done waits in the
 * database; `stop` waits for the transaction that is running.
 */
export class Notifier {
  readonly #parts: NotifierParts
  readonly #awake = new Set<number>()
  readonly #others = new Others()
  #running: Promise<void> | null = null
  #isStopped = false
  #endRest = () => {}

  constructor(parts: NotifierParts) {
    this.#parts = parts
    parts.apps.listen((state, events) => {
      if (events.some(({ type }) => notifying.has(type))) this.wake(state.app.id)
    })
  }

  wake(app: number): void {
    if (this.#isStopped) return
    if (this.#awake.size < awakeLimit) this.#awake.add(app)
    this.#running ??= this.#run()
  }

  /** Finds what other nodes noted, or left behind. */
  async look(): Promise<void> {
    for (const app of await backlog.listNotifiable(this.#parts.sql, awakeLimit)) this.wake(app)
  }

  async stop(): Promise<void> {
    this.#isStopped = true
    this.#endRest()
    await this.#running
  }

  /** Never rejects. */
  async #run(): Promise<void> {
    for (const app of this.#awake) {
      if (this.#isStopped) break
      this.#awake.delete(app)
      const startedAt = performance.now()
      let reached = idle
      try {
        reached = await this.#advance(app)
        if (reached.isMore) this.#awake.add(app)
      } catch (error) {
        // What is noted stays noted: the next look finds it.
        this.#parts.log.warn({ app, error }, 'Notifications could not be made; they are tried again')
      }
      if (this.#awake.size === 0) break
      const { waiting } = this.#parts.apps
      const restMs = toRestMs({
        ...reached,
        waiting,
        tookMs: performance.now() - startedAt,
        others: this.#others.share,
      })
      if (restMs > 0) await this.#rest(restMs)
    }
    this.#running = null
  }

  /** One transaction for one app. */
  async #advance(app: number): Promise<Omit<Reached, 'rev'>> {
    const { sql, told } = this.#parts
    const state = await this.#findState(app)
    if (state === null) {
      await backlog.forgetApp(sql, app)
      return idle
    }
    const make = () => sql.begin(tx => this.#make(tx as unknown as Tx, state))
    const reached = (await make()) ?? ((await backlog.addCursor(sql, app)) ? await make() : null)
    if (reached === null) return idle
    if (reached.hasTold) told()
    if (!reached.isMore) await backlog.removeNotifiable(sql, { app_id: app, rev: reached.rev })
    return reached
  }

  /** As fresh as the events that are about to be read; null where the app is gone. */
  async #findState(app: number): Promise<AppState | null> {
    const { apps } = this.#parts
    if ((await findUnlessGone(app, apps)) === null) return null
    await apps.look([app])
    return findUnlessGone(app, apps)
  }

  async #make(tx: Tx, state: AppState): Promise<Reached | null> {
    const { people, events: kinds } = this.#parts
    const cursor = await backlog.lockCursor(tx, state.app.id)
    if (cursor === null) return null
    // Where each of them tells all members, more would be read in vain.
    const likely = Math.ceil((2 * portion) / state.memberCount)
    const limit = Math.min(eventLimit.most, Math.max(eventLimit.least, likely))
    const rows = await backlog.listUpcoming(tx, cursor, {
      app: state.app.id,
      most: eventLimit.most,
      mostTelling: limit,
    })
    const now = this.#parts.clock.now()
    const making = new Making({ tx, state, people }, new Date(now))
    let { rev, told_to } = cursor
    let events = 0
    await making.load(rows)
    for (const row of rows) {
      if (making.isFull) break
      const kind = kinds.get(row.type)
      const isTaken = kind !== undefined && notifying.has(row.type)
      const last = isTaken ? await making.take({ ...row, kind, body: null }, told_to) : null
      told_to = last ?? 0
      if (last !== null) break
      rev = row.rev
      events++
    }
    await making.finish()
    const taken = rows.slice(0, events)
    await keepTerms(tx, taken)
    if (rows.length > 0) await backlog.moveCursor(tx, state.app.id, { rev, told_to })
    const isMore = events < rows.length || rows.length >= limit
    const lateMs = rows.length === 0 ? 0 : now - rows[0]!.created_at.getTime()
    const telling = taken.at(-1)?.telling ?? 0
    return { rev, isMore, hasTold: making.hasTold, telling, lateMs, told: making.written }
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
