import { NotFound } from '../lib/errors.ts'
import type { Db, Sql } from '../postgres/sql.ts'
import { AppActor } from './app-actor.ts'
import { Recent, recentLimit, type Item } from './recent.ts'
import { AppState, copyOf, type AppRow, type MemberRow } from './state.ts'
import { findApp, listMembers } from './store.ts'

/** The newest visible items of an app, newest first, as its type keeps them. */
export type RecentItems = (db: Db, app: AppRow, limit: number) => Promise<Item[]>

export interface RegistryOptions {
  sql: Sql
  recent: RecentItems
  /** Commands that may wait for one app; more are refused with 503. */
  mailboxLimit: number
  /** Memory that states may occupy, by their own estimate. */
  memoryBytes: number
}

interface RegistryParts extends RegistryOptions {
  /** Called with each actor that is kept from now on. */
  loaded(actor: AppActor): void
  /** Called with an app's first pin, and with the end of its last. */
  pinned(app: number): void
  unpinned(app: number): void
}

/**
 * The actors that this node has in memory, one for an app: made on first use, dropped when the memory budget needs it,
 * the longest unused first.
 */
export class Registry {
  readonly #parts: RegistryParts
  readonly #actors = new Map<number, AppActor>()
  readonly #loading = new Map<number, Promise<AppActor>>()
  /** App → how many subscribers need its every event; such an app is not dropped. */
  readonly #pins = new Map<number, number>()
  #uses = 0
  #cost = 0

  constructor(parts: RegistryParts) {
    this.#parts = parts
  }

  get size(): number {
    return this.#actors.size
  }

  apps(): Iterable<number> {
    return this.#actors.keys()
  }

  /** The actor if it is in memory; this counts as no use. */
  peek(app: number): AppActor | undefined {
    return this.#actors.get(app)
  }

  /** The actor if it is in memory. */
  find(app: number): AppActor | undefined {
    const actor = this.#actors.get(app)
    if (actor !== undefined) actor.lastUse = ++this.#uses
    return actor
  }

  /**
   * Reads the app into memory; one that is in memory is not asked for here. 404 for an app that does not exist. A
   * caller that awaits anything after it must `find` again: an actor in which nothing waits may be dropped.
   */
  load(app: number): Promise<AppActor> {
    const loading = this.#loading.get(app) ?? this.#read(app).finally(() => this.#loading.delete(app))
    this.#loading.set(app, loading)
    return loading
  }

  /**
   * Keeps an app in memory that was made just now, as it was made. One that was read since is in memory already, and no
   * older.
   */
  adopt(app: AppRow, members: MemberRow[]): void {
    if (this.#actors.has(app.id) || this.#loading.has(app.id)) return
    this.#keep(new AppState(copyOf(app), members, new Recent([], true)))
  }

  /** Drops this actor, whatever waits in it; false if another has taken its place. */
  drop(actor: AppActor): boolean {
    if (this.#actors.get(actor.id) !== actor) return false
    this.#actors.delete(actor.id)
    return true
  }

  /** Keeps the app's actor from being dropped for memory, until the returned function is called. */
  pin(app: number): () => void {
    const before = this.#pins.get(app) ?? 0
    this.#pins.set(app, before + 1)
    if (before === 0) this.#parts.pinned(app)
    let isPinned = true
    return () => {
      if (!isPinned) return
      isPinned = false
      const left = this.#pins.get(app)! - 1
      if (left > 0) return void this.#pins.set(app, left)
      this.#pins.delete(app)
      this.#parts.unpinned(app)
    }
  }

  isPinned(app: number): boolean {
    return this.#pins.has(app)
  }

  /** Pinned apps that are not in memory, because their actor was dropped as wrong and could not be read again yet. */
  missing(): number[] {
    return [...this.#pins.keys()].filter(app => !this.#actors.has(app))
  }

  async #read(app: number): Promise<AppActor> {
    const { sql, recent } = this.#parts
    // One snapshot: members and items must be as old as the rev of the app's row.
    const state = await sql.begin('isolation level repeatable read read only', async tx => {
      const row = await findApp(tx, app)
      if (row === null || row.deleted_at !== null) throw NotFound()
      const [members, items] = await Promise.all([listMembers(tx, app), recent(tx, row, recentLimit)])
      return new AppState(row, members, new Recent(items.reverse(), items.length < recentLimit))
    })
    return this.#keep(state)
  }

  #keep(state: AppState): AppActor {
    const actor = new AppActor(state, this.#parts.mailboxLimit)
    actor.lastUse = ++this.#uses
    this.#actors.set(actor.id, actor)
    this.#cost += state.cost()
    this.#makeRoomFor(actor)
    this.#parts.loaded(actor)
    return actor
  }

  /** Until the budget holds; never the one that was just loaded, though nothing waits in it yet. */
  #makeRoomFor(loaded: AppActor): void {
    const { memoryBytes } = this.#parts
    if (this.#cost <= memoryBytes) return
    // Costs change with use; before anything is dropped they are taken anew.
    this.#cost = 0
    for (const actor of this.#actors.values()) this.#cost += actor.state.cost()
    for (const actor of [...this.#actors.values()].sort((a, b) => a.lastUse - b.lastUse)) {
      if (this.#cost <= memoryBytes * 0.9) break
      if (actor === loaded || this.#pins.has(actor.id) || actor.isBusy || actor.waiting > 0) continue
      this.drop(actor)
      this.#cost -= actor.state.cost()
    }
  }
}
