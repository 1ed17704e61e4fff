import type { Apps } from '../../actors/apps.ts'
import type { Write } from '../../actors/command.ts'
import type { EventTypes } from '../../actors/catch-up.ts'
import type { AppEvent } from '../../actors/event.ts'
import type { People } from '../../actors/people.ts'
import type { AppState } from '../../actors/state.ts'
import { Problem } from '../../lib/errors.ts'
import type { Clock } from '../../lib/clock.ts'
import type { Log } from '../../lib/log.ts'
import { listEvents } from '../../storage/events.ts'
import type { Sql, Tx } from '../../storage/sql.ts'
import { keepTerms } from '../content/terms.ts'
import * as backlog from './backlog.ts'
import { Making, notifying } from './making/making.ts'

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

/** Events in one transaction, at most. A guess. */
const eventLimit = 200

/** Apps that this node remembers to look at. The rest is found in the database when these are done. */
const awakeLimit = 1_000

/** While this many commands wait for commits, making notifications rests: people who write come first. A guess. */
const busyCommands = 16

/** It also rests after this many notifications: telling a whole room takes long. A guess. */
const manyTold = 100

/** How long it rests then, in units of the time that its last transaction took: a twentieth of one connection's time. */
const restFactor = 19

/** But no longer than this: people who are told late should still be told. */
const longestRestMs = 5_000

/** Where a transaction has brought an app to. */
interface Reached {
  rev: number
  isMore: boolean
  /** Something is to be told, be it new or changed. */
  hasTold: boolean
  /** How many notifications are new. */
  told: number
}

/**
 * Makes notifications of committed events, and the terms that items are found by, in the background: sending to a room
 * of 500 costs the sender nothing.
 *
 * The commit of an event notes, in one row for each app, that there is something to do. Making reads the app's events
 * after its cursor, and moves the cursor in the transaction that writes what follows from them: each event counts
 * exactly once, crash or not. An app's events are committed in the order of their revs, because its row is locked
 * while they are drawn, so no cursor ever passes one that is still to come. A row for each event would do the same,
 * at the price of a write for every message; one position for all apps would have to wait for every transaction.
 *
 * Made by main, woken by what this node hears of and by a look about once a second. Any number of nodes may work at
 * once: the locked cursor gives an app to one of them. It cannot be too busy, what is to be done waits in the
 * database; `stop` waits for the transaction that is running.
 */
export class Notifier {
  readonly #parts: NotifierParts
  readonly #awake = new Set<number>()
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
      let told = 0
      try {
        const advance = await this.#advance(app)
        if (advance.isMore) this.#awake.add(app)
        told = advance.told
      } catch (error) {
        // What is noted stays noted: the next look finds it.
        this.#parts.log.warn({ app, error }, 'Notifications could not be made; they are tried again')
      }
      if (this.#awake.size === 0) break
      const isBusy = this.#parts.apps.waiting > busyCommands || told >= manyTold
      if (isBusy) await this.#rest((performance.now() - startedAt) * restFactor)
    }
    this.#running = null
  }

  /** One transaction for one app; `told`: how many notifications it made. */
  async #advance(app: number): Promise<{ isMore: boolean; told: number }> {
    const { sql, told } = this.#parts
    const state = await this.#findState(app)
    if (state === null) {
      await backlog.forgetApp(sql, app)
      return { isMore: false, told: 0 }
    }
    await backlog.ensureCursor(sql, app)
    const reached = await sql.begin(tx => this.#make(tx as unknown as Tx, state))
    if (reached === null) return { isMore: false, told: 0 }
    if (reached.hasTold) told()
    if (!reached.isMore) await backlog.removeNotifiable(sql, { app_id: app, rev: reached.rev })
    return { isMore: reached.isMore, told: reached.told }
  }

  /** As fresh as the events that are about to be read; null where the app is gone. */
  async #findState(app: number): Promise<AppState | null> {
    const { apps } = this.#parts
    try {
      await apps.state(app)
      await apps.look([app])
      const state = await apps.state(app)
      return state.app.deleted_at === null ? state : null
    } catch (error) {
      if (error instanceof Problem && error.status === 404) return null
      throw error
    }
  }

  async #make(tx: Tx, state: AppState): Promise<Reached | null> {
    const { people, events: kinds } = this.#parts
    const cursor = await backlog.lockCursor(tx, state.app.id)
    if (cursor === null) return null
    const rows = await listEvents(tx, state.app.id, cursor, eventLimit)
    const making = new Making({ tx, state, people }, new Date(this.#parts.clock.now()))
    let rev = cursor
    let taken = 0
    await making.load(rows)
    for (const row of rows) {
      if (making.isFull) break
      const kind = kinds.get(row.type)
      if (kind !== undefined && notifying.has(row.type)) await making.take({ ...row, kind, body: null })
      rev = row.rev
      taken++
    }
    await making.finish()
    await keepTerms(tx, rows.slice(0, taken))
    if (rev > cursor) await backlog.moveCursor(tx, { app_id: state.app.id, rev })
    const isMore = taken < rows.length || rows.length === eventLimit
    return { rev, isMore, hasTold: making.hasTold, told: making.written }
  }

  #rest(delayMs: number): Promise<void> {
    return new Promise(resolve => {
      const cancel = this.#parts.clock.after(Math.min(delayMs, longestRestMs), resolve)
      this.#endRest = () => {
        cancel()
        resolve()
      }
    })
  }
}
