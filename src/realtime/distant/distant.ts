import type { Apps } from '../../actors/apps.ts'
import { withBodies, type EventTypes } from '../../actors/catch-up.ts'
import { unfold, type AppEvent } from '../../actors/event.ts'
import { Recent } from '../../actors/recent.ts'
import { AppState, type AppRow, type MemberRow } from '../../actors/state.ts'
import type { Log } from '../../lib/log.ts'
import type { EventRow } from '../../storage/events.ts'
import type { Sql } from '../../storage/sql.ts'
import type { Streams } from '../hub/streams.ts'
import type { Personal } from '../personal.ts'
import type { Sessions } from '../sessions.ts'
import { Moves } from './moves.ts'
import * as store from './store.ts'

export interface DistantParts {
  sql: Sql
  apps: Pick<Apps, 'peek' | 'follows'>
  events: EventTypes
  sessions: Sessions
  personal: Personal
  streams: Streams
  log: Log
}

/** Apps that are looked up at once. A guess: a few hundred kilobytes of rows. */
const appsAtOnce = 200

/** Events of one app that are read at once. A guess. */
const pageSize = 200

/**
 * Tells people who are connected here what concerns them in apps that this node does not follow, as nobody here is
 * subscribed to them: what `Personal` and `Streams` tell of the others. It loads none of these apps: of those that were written to, it reads the new events
 * and the relations of the people who are here.
 *
 * Woken by the bus (`hear`), and by `look` about once a second, which finds what the bus has lost. Each event is
 * told once, in the order of its app, also while that comes into memory or leaves it. If a query fails nothing is lost:
 * the next look finds it again.
 */
export class Distant {
  readonly #parts: DistantParts
  readonly #moves: Moves
  readonly #waiting = new Set<number>()
  /** App → the newest rev that was told here, from memory too; as far back as looks go. */
  readonly #told = new Map<number, number>()
  #running: Promise<void> | null = null
  #hasFailed = false

  constructor(parts: DistantParts) {
    this.#parts = parts
    this.#moves = new Moves(parts.sql, () => performance.now())
  }

  /** Everything so far counts as told. Call once, before anybody can have a session. */
  async start(): Promise<void> {
    await this.#moves.look()
  }

  /**
   * Takes events that are about to be told from memory; returns those that are to be told now: not what was told here
   * while the app was being loaded. Where something before them is missing, all wait for it, and are read with it.
   */
  pass(app: number, events: readonly AppEvent[]): readonly AppEvent[] {
    const [first, last] = [events[0], events.at(-1)]
    if (first === undefined || last === undefined) return events
    const isAnybodyHere = this.#parts.sessions.users.size > 0
    if (isAnybodyHere && first.prev > this.#startOf(app)) {
      this.hear([{ app, rev: last.rev }])
      return []
    }
    const told = this.#told.get(app) ?? 0
    this.#count(app, last.rev)
    return events.filter(({ rev }) => rev > told)
  }

  /** Takes the first event of an app that was made here, about to be told; false where it was told by now. */
  passFirst({ app_id, rev }: AppEvent): boolean {
    if (rev <= this.#startOf(app_id)) return false
    this.#count(app_id, rev)
    return true
  }

  /** These apps were brought to these revs, by some node. Never rejects. */
  hear(moved: Iterable<{ app: number; rev: number }>): void {
    if (this.#parts.sessions.users.size === 0) return
    for (const { app, rev } of moved) if (this.#isBehind(app, rev)) this.#waiting.add(app)
    this.#running ??= this.#run().finally(() => {
      this.#running = null
    })
  }

  /** Finds what nobody told this node of. False where it could not be told on: the next look tries again. */
  async look(): Promise<boolean> {
    const moved = await this.#moves.look()
    this.#hasFailed = false
    this.hear(moved.map(({ app_id, rev }) => ({ app: app_id, rev })))
    await this.#running
    if (this.#hasFailed) return false
    this.#moves.settle()
    for (const [app, rev] of this.#told) if (rev <= this.#moves.from) this.#told.delete(app)
    return true
  }

  /** Everything up to this rev counts as told. */
  #count(app: number, rev: number): void {
    if (rev > (this.#told.get(app) ?? 0)) this.#told.set(app, rev)
  }

  /** What follows this rev was not told yet. */
  #startOf(app: number): number {
    return Math.max(this.#moves.from, this.#told.get(app) ?? 0)
  }

  /** False where all up to the rev was told; and where memory follows the app and has nothing else: it will be told. */
  #isBehind(app: number, rev: number): boolean {
    const { apps } = this.#parts
    if (rev <= this.#startOf(app)) return false
    return !apps.follows(app) || apps.peek(app)!.app.head_rev > this.#startOf(app)
  }

  async #run(): Promise<void> {
    try {
      while (this.#waiting.size > 0) {
        const apps = [...this.#waiting].slice(0, appsAtOnce)
        for (const app of apps) this.#waiting.delete(app)
        await this.#read(apps)
      }
    } catch (error) {
      this.#hasFailed = true
      this.#parts.log.warn(
        { error },
        'People could not be told of apps that are not in memory; the next look tries again',
      )
    }
  }

  async #read(apps: number[]): Promise<void> {
    const { sql, sessions } = this.#parts
    const users = [...sessions.users.keys()]
    const heads = apps.map(app => [app, this.#parts.apps.peek(app)?.app.head_rev ?? 0] as const)
    const concerned = await store.listConcerned(sql, apps, users, this.#moves.from)
    const isConcerned = new Set(concerned)
    // Of what memory has of the others there is nobody to tell: what follows need not wait for it.
    for (const [app, head] of heads) if (!isConcerned.has(app)) this.#count(app, head)
    if (concerned.length === 0) return
    const starts = concerned.map(app => ({ app, rev: this.#startOf(app) }))
    // Before the rows: what these are ahead of the events is told with the next ones.
    const events = Map.groupBy(await store.listEventsOf(sql, starts, pageSize), ({ app_id }) => app_id)
    const rows = await store.listApps(sql, [...events.keys()])
    const relations = Map.groupBy(await store.listRelations(sql, [...events.keys()], users), ({ app_id }) => app_id)
    for (const row of rows) {
      const found = events.get(row.id)!
      if (found.length === pageSize) this.#waiting.add(row.id)
      await this.#tell(row, relations.get(row.id) ?? [], found)
    }
  }

  async #tell(row: AppRow, relations: MemberRow[], found: EventRow[]): Promise<void> {
    const { sql, events: kinds, personal, streams } = this.#parts
    const known = found.filter(({ type }) => kinds.has(type))
    const wanted = known.filter(({ type }) => streams.isWanted(type))
    // Before anything counts as told: if this fails, the next look finds all of it again.
    const shown = await withBodies(sql, wanted, kinds)
    const start = this.#startOf(row.id)
    const isNew = ({ rev }: { rev: number }) => rev > start
    this.#count(row.id, found.at(-1)!.rev)
    const rows = known.filter(isNew)
    if (rows.length === 0) return
    const state = toState(
      row,
      relations,
      rows.map(event => ({ ...event, kind: kinds.get(event.type)!, body: null })),
    )
    personal.hear(state)
    streams.hear(state, shown.filter(isNew))
  }
}

/** An app with some of its members, as if it had been in memory before the events. */
function toState(row: AppRow, relations: MemberRow[], events: AppEvent[]): AppState {
  const state = new AppState(row, relations, new Recent([], false))
  for (const event of events.toReversed()) unfold(state, event)
  const changed = [...state.changed.keys()]
  state.settle()
  state.app = row
  for (const user of changed) {
    const own = relations.find(({ user_id }) => user_id === user)
    if (own === undefined) state.dropMember(user)
    else state.putMember(own)
  }
  return state
}
