import { pause, systemClock } from '../lib/clock.ts'
import { NotFound, overloaded } from '../lib/errors.ts'
import type { Log } from '../lib/log.ts'
import type { Tracer } from '../lib/tracer.ts'
import type { Sql } from '../postgres/sql.ts'
import { batchLoads } from '../postgres/batch-loads.ts'
import { isUnavailable } from '../postgres/unavailable.ts'
import { isRefusal, type AppActor, type PendingCommand } from './app-actor.ts'
import { readMissed, type EventTypes, type Missed } from './catch-up.ts'
import type { AnyCommand, Command } from './command.ts'
import type { IdempotencyKey } from '../api/idempotency-key.ts'
import { ReplyQueue, type Reply } from './commit/reply-queue.ts'
import { Committer, type CommitterParts } from './commit/committer.ts'
import { applyEvent, type AppEvent, type CommitListener } from './event.ts'
import type { CreatedApp } from './global/command.ts'
import type { Principal } from '../auth/principal.ts'
import { Registry, type RegistryOptions } from './registry.ts'
import type { AppState } from './state.ts'

/** A few times in the time of a commit. */
const busyMs = 2

export interface AppsOptions
  extends RegistryOptions, Omit<CommitterParts, 'published' | 'committed' | 'discard' | 'replies'> {
  sql: Sql
  events: EventTypes
  /** Commands that may wait for all apps; more are refused with 503. */
  totalLimit: number
  /** Other nodes write as well, and say so: reads then ask PostgreSQL whether they have. */
  isShared: boolean
  log: Log
}

/** Called as clients of this node begin and cease to follow apps, and after each commit of this node. */
export interface AppsWatcher {
  onFollowed(app: number): void
  onUnfollowed(app: number): void
  onCommitted(events: readonly AppEvent[]): void
}

/** Sends commands to other nodes that do them at less cost, and answers them; false for all other commands. */
export interface Forwarder {
  tryForward(app: number, pending: PendingCommand): boolean
}

/**
 * The door to the actors: `run` for writes, `state` for reads. Made at start. Refuses with 503 when too many commands
 * wait.
 */
export class Apps {
  readonly #options: AppsOptions
  readonly #replies = new ReplyQueue()
  readonly #committer: Committer
  readonly #tracer: Tracer | null
  readonly #actors: Registry
  readonly #listeners: CommitListener[] = []
  /** Together, because whatever reads an app that has moved asks for it. */
  readonly #readTogether = batchLoads(async (_, apps: number[]) => {
    await this.#bringForward(apps)
    return new Map<number, never>()
  })
  #watcher: AppsWatcher | null = null
  #forwarder: Forwarder | null = null

  constructor(options: AppsOptions) {
    this.#options = options
    this.#tracer = options.tracer ?? null
    this.#actors = new Registry({
      ...options,
      loaded: actor => this.#loaded(actor),
      pinned: app => this.#watcher?.onFollowed(app),
      unpinned: app => this.#watcher?.onUnfollowed(app),
    })
    this.#committer = new Committer({
      ...options,
      published: (state, events) => this.#publish(state, events),
      committed: events => this.#watcher?.onCommitted(events),
      discard: (actor, taken) => this.#discard(actor, taken),
      replies: this.#replies,
    })
  }

  /**
   * Calls the listener for each commit to an app in memory, in rev order for each app; with no events after a pinned
   * app had to be loaded anew, or is gone.
   */
  onCommit(listener: CommitListener): void {
    this.#listeners.push(listener)
  }

  /**
   * Runs a command in the app's mailbox, here or on the node that wrote to the app last, and resolves when PostgreSQL
   * has committed it. Rejects with the Problem that the command throws, with 404 for an unknown app, with 503 when the
   * server is too busy or the database is away.
   */
  run<Input, Result, Loaded>(
    command: Command<Input, Result, Loaded>,
    app: number,
    by: Principal,
    input: Input,
    idempotencyKey?: IdempotencyKey,
  ): Promise<Result> {
    return this.#run(command, app, by, input, idempotencyKey, pending => {
      if (this.#forwarder?.tryForward(app, pending) !== true) this.putHere(app, pending)
    })
  }

  /** As `run`, for a command that another node has sent: it is not sent on. */
  runHere(
    command: AnyCommand,
    app: number,
    by: Principal,
    input: unknown,
    idempotencyKey: IdempotencyKey,
  ): Promise<unknown> {
    return this.#run(command, app, by, input, idempotencyKey, pending => this.putHere(app, pending))
  }

  #run<Input, Result, Loaded>(
    command: Command<Input, Result, Loaded>,
    app: number,
    by: Principal,
    input: Input,
    idempotencyKey: IdempotencyKey | undefined,
    put: (pending: PendingCommand) => void,
  ): Promise<Result> {
    if (this.waiting >= this.#options.totalLimit) return Promise.reject(overloaded())
    this.#replies.expect()
    // Every write goes through here: with `await` each would take two more promises.
    return new Promise<Result>((resolve, reject) => {
      const pending = { command, input, by, idempotencyKey, resolve, reject } as unknown as PendingCommand
      if (this.#tracer !== null) pending.span = this.#tracer.current()
      // Where an app is open to all, or to a directory, the command decides by who the caller is.
      const { userCache } = this.#options
      if (by.kind !== 'user' || userCache.find(by.user) !== undefined) put(pending)
      else
        userCache.get(by.user).then(
          () => put(pending),
          (reason: unknown) => this.#replies.refuse([pending], reason),
        )
    })
  }

  /**
   * The app's state with all that was committed before, on any node: at once where this is the only one and has it in
   * memory. 404 for an app that does not exist.
   */
  state(app: number): AppState | Promise<AppState> {
    if (this.#options.isShared) return this.confirm(app)
    const actor = this.#actors.find(app)
    if (actor === undefined) return this.#actors.load(app).then(({ state }) => state)
    return actor.isBehind ? this.#reach(app, actor.knownRev) : actor.state
  }

  /** The state with all that was committed up to a rev which PostgreSQL has shown: it need not be asked again. */
  stateAt(app: number, rev: number): Promise<AppState> {
    this.note(app, rev)
    return this.#reach(app, rev)
  }

  /** Keeps an app in memory that this node has just made. */
  adopt({ app, members }: CreatedApp): void {
    this.#actors.adopt(app, members)
  }

  /** The state if it is in memory; other nodes may have written to the app since. */
  peek(app: number): AppState | undefined {
    return this.#actors.peek(app)?.state
  }

  /** The state if it is in memory, and nothing that is newer is known of. */
  current(app: number): AppState | undefined {
    const actor = this.#actors.peek(app)
    return actor?.isBehind === false ? actor.state : undefined
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

  /** Commands are offered to it before they are done here. */
  forwardTo(forwarder: Forwarder): void {
    this.#forwarder = forwarder
  }

  /** Sets the one watcher, which is called for what happens from now on. */
  watch(watcher: AppsWatcher): void {
    this.#watcher = watcher
  }

  /** Commands that wait or are being committed. */
  get waiting(): number {
    return this.#replies.unanswered
  }

  /** As `waiting`, on all nodes, as far as this one has heard lately. */
  get waitingAnywhere(): number {
    return this.waiting + this.#options.otherNodes.waiting
  }

  get size(): number {
    return this.#actors.size
  }

  /**
   * Brings these apps, as far as they are in memory, to what any node has committed, and notices which are gone. A
   * fixed number of queries for all of them.
   */
  async catchUp(apps: Iterable<number>): Promise<void> {
    const behind = await this.#note([...apps])
    await this.#bringForward(behind.map(({ id }) => id))
  }

  /**
   * Looks for what other nodes have committed to the apps in memory; call it about once a second. Pinned apps are
   * brought to it; of the others it is noted, and their next use reads it.
   */
  async poll(): Promise<void> {
    const behind = await this.#note([...this.#actors.apps()])
    // Without this, subscribers of an app whose loading failed would get nothing of it any more.
    const lost = this.#actors.missing()
    await this.#bringForward(behind.flatMap(({ id }) => (this.#actors.isPinned(id) ? [id] : [])))
    for (const app of lost) {
      // Another caller may have loaded it meanwhile: a second actor would be behind what the first commits.
      if (this.#actors.peek(app) === undefined) await this.#actors.load(app).catch(ignoreRefusal)
    }
  }

  /** Another node has brought the app to this rev. True where the app is in memory, and behind. */
  note(app: number, rev: number): boolean {
    const actor = this.#actors.peek(app)
    if (actor === undefined) return false
    if (rev > actor.knownRev) actor.knownRev = rev
    return actor.isBehind
  }

  /**
   * Applies events that another node has committed to an app, as that node knew them. False where events before them
   * are missing in memory: then all of them are to be read from the log.
   */
  receive(app: number, events: readonly AppEvent[]): boolean {
    const actor = this.#actors.peek(app)
    if (actor === undefined || events.length === 0) return true
    this.note(app, events.at(-1)!.rev)
    // What is being committed or read finds out by itself.
    if (actor.isBusy) return true
    const news = events.filter(({ rev }) => rev > actor.state.app.head_rev)
    if (news.length === 0) return true
    if (news[0]!.prev !== actor.state.app.head_rev) return false
    try {
      for (const event of news) applyEvent(actor.state, event)
    } catch (error) {
      this.#options.log.error({ app, error }, 'An event of another node could not be applied; the app is loaded anew')
      this.#discard(actor)
      return true
    }
    this.#publish(actor.state, news)
    return !actor.isBehind
  }

  /** True for an app that is in memory, and pinned: all that happens in it comes by, whoever writes it. */
  follows(app: number): boolean {
    return this.#actors.isPinned(app) && this.#actors.peek(app) !== undefined
  }

  /** Resolves when the mailboxes are empty. */
  async idle(): Promise<void> {
    await this.#committer.idle()
  }

  /** Where the app's history ends in the database; 0 for an app that is gone. One query for all who ask at one time. */
  async head(app: number): Promise<number> {
    const head = (await findHeads(this.#options.sql, [app])).get(app) ?? 0
    this.note(app, head)
    return head
  }

  /**
   * The app's state with all that PostgreSQL has committed, though news of it may still be on their way: from another
   * node, or from this one's own commit, which others may find in the database before its actor has heard of it.
   */
  async confirm(app: number): Promise<AppState> {
    const head = (await findHeads(this.#options.sql, [app])).get(app)
    if (head === undefined) await this.catchUp([app])
    else this.note(app, head)
    return this.#reach(app, head)
  }

  /** The state once it has reached a rev; or the newest there is, should PostgreSQL have lost that one. */
  async #reach(app: number, rev = 0): Promise<AppState> {
    for (;;) {
      const actor = this.#actors.find(app) ?? (await this.#actors.load(app))
      if (!actor.isBehind || (rev > 0 && actor.state.app.head_rev >= rev)) return actor.state
      // A catch-up or a commit is at work on it.
      if (actor.isBusy) await pause(systemClock, busyMs)
      else await this.#readTogether(this.#options.sql, [app])
    }
  }

  /** Notes the newest revs of these apps. Returns the actors that are behind, and forgets apps that are gone. */
  async #note(apps: number[]): Promise<AppActor[]> {
    const actors = new Map(apps.map(app => [app, this.#actors.peek(app)]))
    const heads = await listHeads(this.#options.sql, [...actors.keys()])
    const behind: AppActor[] = []
    for (const [app, actor] of actors) {
      const head = heads.get(app)
      // A busy actor finds out by itself, under the lock.
      if (head === undefined && actor !== undefined && !actor.isBusy) this.#forget(actor)
      if (head === undefined) continue
      this.note(app, head)
      const present = this.#actors.peek(app)
      if (present?.isBehind) behind.push(present)
    }
    return behind
  }

  /** Reads what these apps have missed, together. One that cannot be read keeps no other from it. */
  async #bringForward(apps: readonly number[]): Promise<void> {
    const { sql, events } = this.#options
    const actors = apps.flatMap(app => this.#actors.peek(app) ?? []).filter(({ isBusy }) => !isBusy)
    if (actors.length === 0) return
    for (const actor of actors) actor.isBusy = true
    const failures: unknown[] = []
    const read = async (some: AppActor[]) => {
      try {
        const states = some.map(({ state }) => state)
        const found = await readMissed(sql, states, events)
        for (const actor of some) this.#takeIn(actor, found.get(actor.id) ?? null, failures)
      } catch (error) {
        if (isUnavailable(error)) failures.push(error)
        else if (some.length > 1) for (const actor of some) await read([actor])
        else {
          failures.push(error)
          this.#discard(some[0]!)
        }
      }
    }
    await read(actors)
    for (const actor of actors) {
      actor.isBusy = false
      this.#committer.wake(actor)
    }
    if (failures.length > 0) throw failures[0]
  }

  #takeIn(actor: AppActor, missed: Missed | null, failures: unknown[]): void {
    try {
      if (missed === null) this.#discard(actor)
      else actor.catchUp(missed, (state, events) => this.#publish(state, events))
    } catch (error) {
      failures.push(error)
      this.#discard(actor)
    }
  }

  #loaded({ id, state }: AppActor): void {
    if (this.#actors.isPinned(id)) this.#publish(state, [])
  }

  /** Drops an actor whose memory may be wrong. Its commands, and subscribers of the app, get a new one. */
  #discard(actor: AppActor, taken: PendingCommand[] = []): void {
    actor.isDiscarded = true
    this.#actors.drop(actor)
    const commands = [...taken, ...actor.drain()]
    if (commands.length > 0 || this.#actors.isPinned(actor.id)) void this.#load(actor.id, commands)
  }

  /** Brings the app into memory, and the commands into its mailbox. Never rejects. */
  async #load(app: number, commands: PendingCommand[]): Promise<void> {
    try {
      let actor = this.#actors.find(app)
      for (; actor === undefined; actor = this.#actors.find(app)) await this.#actors.load(app)
      // Nothing is awaited in between: an actor in which nothing waits may be dropped, and then be another's.
      this.#put(actor, commands)
    } catch (error) {
      this.#replies.refuse(commands, error)
    }
  }

  /** Answers a command that another node has done, or refused. */
  reply(reply: Reply): void {
    this.#replies.send(reply)
  }

  /** Puts a command into the app's mailbox on this node. */
  putHere(app: number, pending: PendingCommand): void {
    const actor = this.#actors.find(app)
    if (actor === undefined) void this.#load(app, [pending])
    else this.#put(actor, [pending])
  }

  #put(actor: AppActor, commands: PendingCommand[]): void {
    for (const pending of commands) if (!actor.put(pending)) this.#replies.refuse([pending], overloaded())
    this.#committer.wake(actor)
  }

  /**
   * Drops an app that was deleted with its events. Its commands are refused, and subscribers get the end of the app.
   */
  #forget(actor: AppActor): void {
    if (!this.#actors.drop(actor)) return
    const { state } = actor
    this.#replies.refuse(actor.drain(), NotFound())
    state.app = { ...state.app, deleted_at: this.#options.now() }
    this.#publish(state, [])
  }

  #publish(state: AppState, events: readonly AppEvent[]): void {
    const { before, members } = state.takeChanges()
    const commit = { state, before, events, members }
    for (const listener of this.#listeners) {
      try {
        listener(commit)
      } catch (error) {
        // One listener's bug must not keep the others, or the answers, from what was committed.
        this.#options.log.error({ app: state.app.id, error }, 'A listener failed on committed events')
      }
    }
  }
}

/** The newest revs of the apps that exist. Served by the primary key. */
async function listHeads(sql: Sql, apps: number[]): Promise<Map<number, number>> {
  const rows = await sql<{ id: number; head_rev: number }[]>`
    select id, head_rev from apps where id = any(${apps}::bigint[])`
  return new Map(rows.map(({ id, head_rev }) => [id, head_rev]))
}

/** Together, because every read asks. */
const findHeads = batchLoads(listHeads)

/** Lets a poll go on where an app is gone. */
function ignoreRefusal(error: unknown): void {
  if (!isRefusal(error)) throw error
}
