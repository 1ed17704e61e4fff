import { pause, systemClock, type Clock } from '../lib/clock.ts'
import { Problem } from '../lib/errors.ts'
import type { Log } from '../lib/log.ts'
import { batchLoads } from '../postgres/batch-loads.ts'
import type { Sql } from '../postgres/sql.ts'
import { isUnavailable } from '../postgres/unavailable.ts'
import type { AppActor } from './app-actor.ts'
import { applyMissed, readMissed, type EventTypes, type Missed } from './catch-up.ts'
import type { AppEvent, CommitListener } from './event.ts'
import type { Registry } from './registry.ts'
import type { AppState } from './state.ts'
import { listHeads } from './store.ts'

/** The pause between two looks at a busy actor: a fraction of the time of a commit. */
const busyMs = 2

/** How long to wait for the bus to bring missing events. A guess: many times what a message takes. */
const gapMs = 20

interface RemoteCommitsParts {
  clock: Clock
  sql: Sql
  events: EventTypes
  actors: Registry
  log: Log
  publish: CommitListener
  /** Called with an actor whose state is wrong. */
  discard(actor: AppActor): void
  /** Called with the actor of an app that is gone. */
  forget(actor: AppActor): void
  /** Called with an actor that is no longer busy. */
  wake(actor: AppActor): void
}

/** Brings the states in the memory of this node up to the commits of other nodes. Made by `Apps`, and lives as long. */
export class RemoteCommits {
  readonly #parts: RemoteCommitsParts
  /** Apps whose state lacks events that the bus may still bring. */
  readonly #gaps = new Set<number>()
  /** Reads of one tick that find their apps behind share the queries. */
  readonly #readTogether = batchLoads(async (_, apps: number[]) => {
    await this.#read(apps)
    return new Map<number, never>()
  })

  constructor(parts: RemoteCommitsParts) {
    this.#parts = parts
  }

  /** Records that the app has reached a rev. True where the app is in memory, and its state is older. */
  note(app: number, rev: number): boolean {
    const actor = this.#parts.actors.peek(app)
    if (actor === undefined) return false
    actor.note(rev)
    return actor.isBehind
  }

  /** Takes over events that another node has committed to an app; those that the state cannot take yet wait. */
  receive(app: number, events: readonly AppEvent[]): void {
    const actor = this.#parts.actors.peek(app)
    if (actor === undefined || events.length === 0) return
    actor.note(events.at(-1)!.rev)
    actor.hold(events)
    // The commit that is at work decides on the present state.
    if (!actor.isBusy) this.settle(actor)
  }

  /**
   * Applies the committed events that wait, as far as they follow the state. If some are missing and the app is pinned,
   * they are read a moment later, unless the bus brings them.
   */
  settle(actor: AppActor): void {
    const { actors, log, publish, discard } = this.#parts
    const events = actor.takeFollowing()
    try {
      if (events.length > 0) publish(applyMissed(actor.state, { events }), actor.state)
    } catch (error) {
      log.error({ app: actor.id, error }, 'An event of another node could not be applied; the app is loaded anew')
      return discard(actor)
    }
    if (actor.isBehind && actors.isPinned(actor.id)) this.catchUpSoon(actor.id)
  }

  /** Brings an app up to date in a moment, together with others, unless the bus does before. */
  catchUpSoon(app: number): void {
    const { actors, clock, log } = this.#parts
    this.#gaps.add(app)
    if (this.#gaps.size > 1) return
    clock.after(gapMs, () => {
      const behind = [...this.#gaps].filter(app => actors.peek(app)?.isBehind !== false)
      this.#gaps.clear()
      if (behind.length > 0)
        void this.catchUp(behind).catch((error: unknown) => {
          log.warn({ error }, 'Changes of other nodes could not be read; the next poll will')
        })
    })
  }

  /**
   * Brings apps that are in memory up to the commits of all nodes, and drops apps that are gone. The number of queries
   * does not depend on the number of apps. Rejects with the first error after all apps that can be read were read.
   */
  async catchUp(apps: Iterable<number>): Promise<void> {
    const behind = await this.#findBehind([...apps])
    await this.#read(behind.map(({ id }) => id))
  }

  /**
   * Finds the commits of other nodes to all apps in memory; called about once a second. Pinned apps are brought up to
   * date; of the others the rev is recorded, and their next use
   * reads the events; this also reads those that nodes have ceased to write to.
   */
  async poll(): Promise<void> {
    const { actors } = this.#parts
    const behind = await this.#findBehind([...actors.apps()])
    // Without this, subscribers of an app whose loading failed would get no more events of it.
    const missing = actors.missing()
    await this.#read(behind.flatMap(actor => (actors.isPinned(actor.id) || actor.isLeftBehind ? [actor.id] : [])))
    for (const app of missing) {
      // Another caller may have loaded it meanwhile: a second actor would lack the commits of the first.
      if (actors.peek(app) === undefined) await actors.load(app).catch(ignoreRefusal)
    }
  }

  /** The head rev of an app in the database; 0 for an app that is gone. Calls of one tick share a query. */
  async head(app: number): Promise<number> {
    const head = (await findHeads(this.#parts.sql, [app])).get(app) ?? 0
    this.note(app, head)
    return head
  }

  /** The state with all that PostgreSQL has committed by now. Rejects with 404 for an app that does not exist. */
  async confirm(app: number): Promise<AppState> {
    const head = await this.head(app)
    if (head === 0) await this.catchUp([app])
    return this.reach(app, head)
  }

  /** The state once it has reached a rev; or the newest state there is, should PostgreSQL have lost that rev. */
  async reach(app: number, rev: number): Promise<AppState> {
    const { actors, sql } = this.#parts
    for (;;) {
      const actor = actors.find(app) ?? (await actors.load(app))
      if (!actor.isBehind || (rev > 0 && actor.state.app.head_rev >= rev)) return actor.state
      if (actor.isBusy) await pause(systemClock, busyMs)
      else await this.#readTogether(sql, [app])
    }
  }

  /** Records the head revs of apps. Returns the actors that are behind, and drops actors of apps that are gone. */
  async #findBehind(apps: number[]): Promise<AppActor[]> {
    const { actors, sql, forget } = this.#parts
    const before = new Map(apps.map(app => [app, actors.peek(app)]))
    const heads = await listHeads(sql, [...before.keys()])
    const behind: AppActor[] = []
    for (const [app, actor] of before) {
      const head = heads.get(app)
      // The commit of a busy actor finds out by itself, under the lock.
      if (head === undefined && actor !== undefined && !actor.isBusy) forget(actor)
      if (head === undefined) continue
      this.note(app, head)
      const present = actors.peek(app)
      if (present?.isBehind) behind.push(present)
    }
    return behind
  }

  /** Reads and applies what the states of apps have missed. An app that cannot be read does not keep others from it. */
  async #read(apps: readonly number[]): Promise<void> {
    const { sql, events, discard, wake } = this.#parts
    const actors = apps.flatMap(app => this.#parts.actors.peek(app) ?? []).filter(({ isBusy }) => !isBusy)
    if (actors.length === 0) return
    const isFollowed = (app: number) => this.#parts.actors.isPinned(app)
    for (const actor of actors) actor.isBusy = true
    const failures: unknown[] = []
    const read = async (some: AppActor[]) => {
      try {
        const states = some.map(({ state }) => state)
        const found = await readMissed(sql, states, { types: events, isFollowed })
        for (const actor of some) this.#apply(actor, found.get(actor.id) ?? null, failures)
      } catch (error) {
        if (isUnavailable(error)) failures.push(error)
        else if (some.length > 1) for (const actor of some) await read([actor])
        else {
          failures.push(error)
          discard(some[0]!)
        }
      }
    }
    await read(actors)
    for (const actor of actors) {
      actor.isBusy = false
      this.settle(actor)
      wake(actor)
    }
    if (failures.length > 0) throw failures[0]
  }

  #apply(actor: AppActor, missed: Missed | null, failures: unknown[]): void {
    const { publish, discard } = this.#parts
    try {
      if (missed === null) discard(actor)
      else actor.catchUp(missed, publish)
    } catch (error) {
      failures.push(error)
      discard(actor)
    }
  }
}

/** As `listHeads`; calls of one tick share a query, since every read of an app calls it. */
const findHeads = batchLoads(listHeads)

/** Lets a poll go on where an app is gone. */
function ignoreRefusal(error: unknown): void {
  if (!(error instanceof Problem)) throw error
}
