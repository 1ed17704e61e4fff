import { setTimeout as delay } from 'node:timers/promises'
import { NotFound, overloaded } from '../lib/errors.ts'
import type { Log } from '../lib/log.ts'
import type { Sql } from '../storage/sql.ts'
import { together } from '../storage/together.ts'
import { isUnavailable } from '../storage/unavailable.ts'
import { isRefusal, type AppActor, type OnceKey, type Task } from './app-actor.ts'
import { catchUp, type EventTypes } from './catch-up.ts'
import type { Command } from './command.ts'
import { Committer, type CommitterParts } from './committer.ts'
import type { AppEvent } from './event.ts'
import type { CommitListener } from './flush.ts'
import type { Principal } from './principal.ts'
import { Registry, type RegistryOptions } from './registry.ts'
import type { AppState } from './state.ts'

/** A few times in the time of a commit. */
const busyMs = 2

export interface AppsOptions extends RegistryOptions, Omit<CommitterParts, 'published' | 'committed' | 'discard'> {
  sql: Sql
  events: EventTypes
  /** Commands that may wait for all apps; more are refused with 503. */
  totalLimit: number
  /** Other nodes write as well, and say so: reads then ask PostgreSQL whether they have. */
  isShared: boolean
  log: Log
}

/** Told which apps this node has in memory, and what it commits to them. */
export interface AppsWatcher {
  onLoaded(app: number): void
  onDropped(app: number): void
  onCommitted(app: number, rev: number): void
}

/**
 * The door to the actors: `run` for writes, `state` for reads. Made at start. Refuses with 503 when too many commands
 * wait.
 */
export class Apps {
  readonly #options: AppsOptions
  readonly #committer: Committer
  readonly #actors: Registry
  readonly #listeners: CommitListener[] = []
  #watcher: AppsWatcher | null = null
  #waiting = 0

  constructor(options: AppsOptions) {
    this.#options = options
    this.#actors = new Registry({
      ...options,
      loaded: actor => this.#loaded(actor),
      dropped: app => this.#watcher?.onDropped(app),
    })
    this.#committer = new Committer({
      ...options,
      published: (state, events) => this.#publish(state, events),
      committed: (app, rev) => this.#watcher?.onCommitted(app, rev),
      discard: (actor, taken) => this.#discard(actor, taken),
    })
  }

  /**
   * Hears of every committed event of every active app, in rev order for each app; after a pinned app had to be
   * loaded anew, of its state with no events. `state.changed` and `state.told` say what the events did.
   */
  listen(listener: CommitListener): void {
    this.#listeners.push(listener)
  }

  /**
   * Runs a command in the app's mailbox and resolves when PostgreSQL has committed it. Rejects with the Problem that
   * the command throws, with 404 for an unknown app, with 503 when the server is too busy or the database is away.
   */
  run<Input, Result, Loaded>(
    command: Command<Input, Result, Loaded>,
    app: number,
    by: Principal,
    input: Input,
    once?: OnceKey,
  ): Promise<Result> {
    if (this.#waiting >= this.#options.totalLimit) return Promise.reject(overloaded())
    this.#waiting++
    // Every write goes through here: with `await` each would take two more promises.
    return new Promise<Result>((resolve, reject) => {
      let isWaiting = true
      // A task may be answered more than once: where its app is gone and the flush fails, it is looked at again.
      const leave = () => {
        if (isWaiting) this.#waiting--
        isWaiting = false
      }
      const task = {
        command,
        input,
        by,
        once,
        resolve: (result: Result) => {
          leave()
          resolve(result)
        },
        reject: (reason: unknown) => {
          leave()
          reject(reason)
        },
      } as unknown as Task
      // Where an app is open to all, or to a directory, the command decides by who the caller is.
      const { people } = this.#options
      if (by.kind !== 'user' || people.find(by.user) !== undefined) this.#enter(app, task)
      else people.get(by.user).then(() => this.#enter(app, task), task.reject)
    })
  }

  /**
   * The app's state with all that was committed before, on any node: at once where this is the only one and has it in
   * memory. 404 for an app that does not exist.
   */
  state(app: number): AppState | Promise<AppState> {
    if (this.#options.isShared) return this.confirm(app)
    return this.#actors.find(app)?.state ?? this.#actors.load(app).then(({ state }) => state)
  }

  /** The state if it is in memory. */
  peek(app: number): AppState | undefined {
    return this.#actors.peek(app)?.state
  }

  /**
   * Keeps the app in memory and its events coming until the returned function is called, also when its actor is
   * replaced in between. 404 for an app that does not exist.
   */
  async pin(app: number): Promise<() => void> {
    const unpin = this.#actors.pin(app)
    try {
      await this.state(app)
      return unpin
    } catch (error) {
      unpin()
      throw error
    }
  }

  /** One watcher at most; it hears of what comes after. */
  watch(watcher: AppsWatcher): void {
    this.#watcher = watcher
  }

  /** Commands that wait or are being committed. */
  get waiting(): number {
    return this.#waiting
  }

  get size(): number {
    return this.#actors.size
  }

  /**
   * Looks for events that other nodes committed to these apps, or to all in memory, and for apps that are gone. One
   * query for all that have nothing new.
   */
  async look(apps: Iterable<number> = this.#actors.apps()): Promise<void> {
    const { sql, events } = this.#options
    const failures: unknown[] = []
    const missing = new Map([...apps].map(app => [app, this.#actors.peek(app)]))
    const heads = await listHeads(sql, [...missing.keys()])
    for (const id of heads.keys()) missing.delete(id)
    for (const actor of missing.values()) if (actor !== undefined && !actor.isBusy) this.#forget(actor)
    for (const [id, head_rev] of heads) {
      const actor = this.#actors.peek(id)
      // A busy actor finds out by itself, under the lock.
      if (actor === undefined || actor.isBusy || actor.state.app.head_rev >= head_rev) continue
      actor.isBusy = true
      try {
        const missed = await catchUp(sql, actor.state, events)
        if (missed === null) this.#discard(actor)
        else this.#publish(actor.state, missed)
      } catch (error) {
        // The apps behind this one have news as well.
        failures.push(error)
        if (!isUnavailable(error)) this.#discard(actor)
      } finally {
        actor.isBusy = false
        this.#committer.wake(actor)
      }
    }
    // Subscribers of an app whose loading failed would never hear of it again.
    for (const app of this.#actors.missing()) {
      // While those before it were loaded, somebody else may have: a second actor would be behind what the first commits.
      if (this.#actors.peek(app) === undefined) await this.#actors.load(app).catch(ignoreRefusal)
    }
    if (failures.length > 0) throw failures[0]
  }

  /** Resolves when the mailboxes are empty. */
  async idle(): Promise<void> {
    await this.#committer.idle()
  }

  /**
   * The app's state with all that PostgreSQL has committed, though news of it may still be on their way: from another
   * node, or from this one's own commit, which others may find in the database before its actor has heard of it.
   */
  async confirm(app: number): Promise<AppState> {
    const head = (await findHeads(this.#options.sql, [app])).get(app)
    for (;;) {
      const { state, isBusy } = this.#actors.find(app) ?? (await this.#actors.load(app))
      if (head !== undefined && state.app.head_rev >= head) return state
      // Somebody is bringing it forward, or committing to it.
      if (isBusy) await delay(busyMs)
      else await this.look([app])
    }
  }

  #loaded({ id, state }: AppActor): void {
    this.#watcher?.onLoaded(id)
    if (this.#actors.isPinned(id)) this.#publish(state, [])
  }

  /** Takes an actor whose memory may be wrong out of use; those who wait in it, or are subscribed, get a new one. */
  #discard(actor: AppActor, taken: Task[] = []): void {
    actor.isDiscarded = true
    this.#actors.drop(actor)
    const tasks = [...taken, ...actor.drain()]
    if (tasks.length > 0 || this.#actors.isPinned(actor.id)) void this.#load(actor.id, tasks)
  }

  /** Brings the app into memory, and the tasks into its mailbox. Never rejects. */
  async #load(app: number, tasks: Task[]): Promise<void> {
    try {
      let actor = this.#actors.find(app)
      for (; actor === undefined; actor = this.#actors.find(app)) await this.#actors.load(app)
      // Nothing is awaited in between: an actor in which nothing waits may be dropped, and then be another's.
      this.#put(actor, tasks)
    } catch (error) {
      for (const task of tasks) task.reject(error)
    }
  }

  #enter(app: number, task: Task): void {
    const actor = this.#actors.find(app)
    if (actor === undefined) void this.#load(app, [task])
    else this.#put(actor, [task])
  }

  #put(actor: AppActor, tasks: Task[]): void {
    for (const task of tasks) put(actor, task)
    this.#committer.wake(actor)
  }

  /** The app was deleted, and what told of it is gone as well: those who wait, or are subscribed, are told of that. */
  #forget(actor: AppActor): void {
    if (!this.#actors.drop(actor)) return
    const { state } = actor
    for (const task of actor.drain()) task.reject(NotFound())
    state.app = { ...state.app, deleted_at: this.#options.now() }
    this.#publish(state, [])
  }

  #publish(state: AppState, events: AppEvent[]): void {
    for (const listener of this.#listeners) {
      try {
        listener(state, events)
      } catch (error) {
        // One listener's bug must not keep the others, or the answers, from what was committed.
        this.#options.log.error({ app: state.app.id, error }, 'A listener failed on committed events')
      }
    }
    state.settle()
  }
}

/** A full mailbox is the caller's to hear of. */
function put(actor: AppActor, task: Task): void {
  try {
    actor.put(task)
  } catch (error) {
    task.reject(error)
  }
}

/** The newest revs of those apps that are there. Served by the primary key. */
async function listHeads(sql: Sql, apps: number[]): Promise<Map<number, number>> {
  const rows = await sql<{ id: number; head_rev: number }[]>`
    select id, head_rev from apps where id = any(${apps}::bigint[])`
  return new Map(rows.map(({ id, head_rev }) => [id, head_rev]))
}

/** Together, because every read asks. */
const findHeads = together(listHeads)

/** An app that is gone is no failure of whoever looks. */
function ignoreRefusal(error: unknown): void {
  if (!isRefusal(error)) throw error
}
