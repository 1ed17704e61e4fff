import { NotFound } from '../lib/errors.ts'
import type { Db, Sql, Tx } from '../postgres/sql.ts'
import { AppActor } from './app-actor.ts'
import { Recent, recentLimit, type Item } from './recent.ts'
import { AppState, copyOf, type AppRow, type MemberRow } from './state.ts'
import { findApp, listMembers } from './store.ts'

/** Reads the newest visible items of an app, newest first. */
export type RecentItems = (db: Db, app: AppRow, limit: number) => Promise<Item[]>

export interface RegistryOptions {
  sql: Sql
  recent: RecentItems
  /** Commands that may wait in one mailbox; more are refused with 503. */
  mailboxLimit: number
  /** Memory that all states may occupy, by `AppState.cost`. */
  memoryBytes: number
}

interface RegistryParts extends RegistryOptions {
  /** Called with each new actor. */
  loaded(actor: AppActor): void
  /** Called when an app gets its first pin, and when it loses its last. */
  pinned(app: number): void
  unpinned(app: number): void
}

/**
 * The actors in the memory of this node, at most one for each app. Beyond the memory budget the least recently used are
 * dropped, unless they are pinned or busy or have commands waiting.
 */
export class Registry {
  readonly #parts: RegistryParts
  readonly #actors = new Map<number, AppActor>()
  readonly #loading = new Map<number, Promise<AppActor>>()
  /** App → the number of its pins. */
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

  /** The actor if it is in memory. Does not count as a use. */
  peek(app: number): AppActor | undefined {
    return this.#actors.get(app)
  }

  /** The actor if it is in memory. Counts as a use. */
  find(app: number): AppActor | undefined {
    const actor = this.#actors.get(app)
    if (actor !== undefined) actor.lastUse = ++this.#uses
    return actor
  }

  /**
   * Reads an app that is not in memory. Rejects with 404 for an app that does not exist. A caller that awaits anything
   * afterwards must `find` again: an actor without waiting commands may be dropped at any time.
   */
  load(app: number): Promise<AppActor> {
    const loading = this.#loading.get(app) ?? this.#read(app).finally(() => this.#loading.delete(app))
    this.#loading.set(app, loading)
    return loading
  }

  /** Keeps an app in memory that was created just now. Without effect where it was read since: that is no older. */
  adopt(app: AppRow, members: MemberRow[]): void {
    if (this.#actors.has(app.id) || this.#loading.has(app.id)) return
    this.#keep(new AppState(copyOf(app), members, new Recent([], true)))
  }

  /** Drops an actor with its mailbox. Returns false if it was replaced before. */
  drop(actor: AppActor): boolean {
    if (this.#actors.get(actor.id) !== actor) return false
    this.#actors.delete(actor.id)
    return true
  }

  /** Keeps the app's actor from being dropped for memory until the returned function is called. */
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

  /** Pinned apps that are not in memory: their actor was dropped as wrong, and could not be read again yet. */
  missing(): number[] {
    return [...this.#pins.keys()].filter(app => !this.#actors.has(app))
  }

  async #read(app: number): Promise<AppActor> {
    const { sql, recent } = this.#parts
    // One snapshot: the members and items must be as of the rev of the app's row.
    const read = (tx: Tx) => readState(tx, app, recent)
    return this.#keep(await sql.begin('isolation level repeatable read read only', read))
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

  /** Drops actors until the budget holds; never the one that was just loaded, though nothing waits in it yet. */
  #makeRoomFor(loaded: AppActor): void {
    const { memoryBytes } = this.#parts
    if (this.#cost <= memoryBytes) return
    // Costs change with use, so they are summed again before anything is dropped.
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

/** The state of an app as a transaction sees it, which no later commit changes. 404 where there is no such app. */
export async function readState(tx: Tx, app: number, recent: RecentItems = async () => []): Promise<AppState> {
  const row = await findApp(tx, app)
  if (row === null || row.deleted_at !== null) throw NotFound()
  const [members, items] = await Promise.all([listMembers(tx, app), recent(tx, row, recentLimit)])
  return new AppState(row, members, new Recent(items.reverse(), items.length < recentLimit))
}
