import { NotFound, overloaded } from '../lib/errors.ts'
import type { AppActor, PendingCommand } from './app-actor.ts'
import type { Clock } from '../lib/clock.ts'
import type { Command } from './command.ts'
import type { IdempotencyKey } from '../api/idempotency-key.ts'
import { ReplyQueue } from './commit/reply-queue.ts'
import { Committer, type CommitterParts } from './commit/committer.ts'
import type { AppEvent, Commit, CommitListener } from './event.ts'
import type { CreatedApp } from './global/command.ts'
import type { Principal } from '../auth/principal.ts'
import { Registry, type RegistryOptions } from './registry.ts'
import { RemoteCommits } from './remote-commits.ts'
import type { AppRow, AppState } from './state.ts'

export interface AppsOptions
  extends
    RegistryOptions,
    Omit<CommitterParts, 'published' | 'committed' | 'isFollowed' | 'settle' | 'discard' | 'replies'> {
  /** Commands that may wait in all mailboxes together; more are refused with 503. */
  totalLimit: number
  clock: Clock
  /** True where other nodes may write to the same database: each read of an app then asks PostgreSQL for its head rev. */
  isShared(): boolean
}

/** Called with the events of one commit of this node to an app. */
export type WrittenListener = (app: number, events: readonly AppEvent[]) => void

/** Called when an app gets its first pin or loses its last, and after each commit of this node. */
export interface AppsWatcher {
  onFollowed(app: number): void
  onUnfollowed(app: number): void
  onCommitted(events: readonly AppEvent[]): void
}

/**
 * The apps of this node: `run` writes to an app, and `state` reads it. Made at start. Commands beyond the limits of the
 * mailboxes are refused with 503. When the process dies, waiting commands are lost; none of them was acknowledged.
 */
export class Apps {
  readonly #options: AppsOptions
  readonly #replies = new ReplyQueue()
  readonly #committer: Committer
  readonly #actors: Registry
  readonly #listeners: CommitListener[] = []
  readonly #writtenListeners: WrittenListener[] = []
  /** Brings states in memory up to the commits of other nodes. */
  readonly remoteCommits: RemoteCommits
  #watcher: AppsWatcher | null = null

  constructor(options: AppsOptions) {
    this.#options = options
    this.#actors = new Registry({
      ...options,
      loaded: ({ id, state }) => {
        if (this.#actors.isPinned(id)) this.#publish(unchanged(state.app), state)
      },
      pinned: app => this.#watcher?.onFollowed(app),
      unpinned: app => this.#watcher?.onUnfollowed(app),
    })
    this.#committer = new Committer({
      ...options,
      published: (commit, state) => this.#publish(commit, state),
      committed: events => this.#announce(events),
      isFollowed: app => this.#actors.isPinned(app),
      settle: actor => this.remoteCommits.settle(actor),
      discard: (actor, taken) => this.#discard(actor, taken),
      replies: this.#replies,
    })
    this.remoteCommits = new RemoteCommits({
      ...options,
      actors: this.#actors,
      publish: (commit, state) => this.#publish(commit, state),
      discard: actor => this.#discard(actor),
      forget: actor => this.#forget(actor),
      wake: actor => this.#committer.wake(actor),
    })
  }

  /**
   * Calls the listener with each commit to an app in memory, in rev order for each app. The commit has no events where
   * a pinned app was loaded again, or is gone.
   */
  onCommit(listener: CommitListener): void {
    this.#listeners.push(listener)
  }

  /**
   * Runs a command in the app's mailbox, and resolves with its result after the commit. Rejects with the Problem that
   * the command throws; with 404 for an app that does not exist; and with 503 where too many commands wait or the
   * database is not reachable.
   */
  run<Input, Result, Loaded>(
    command: Command<Input, Result, Loaded>,
    app: number,
    by: Principal,
    input: Input,
    idempotencyKey?: IdempotencyKey,
  ): Promise<Result> {
    if (this.waiting >= this.#options.totalLimit) return Promise.reject(overloaded())
    this.#replies.expect()
    // Not `async`: every write passes here, and each would take two more promises.
    return new Promise<Result>((resolve, reject) => {
      const pending = { command, input, by, idempotencyKey, resolve, reject } as unknown as PendingCommand
      const { tracer, userCache } = this.#options
      if (tracer) pending.span = tracer.current()
      // A command reads the caller from memory, for apps that are open to everyone or to a directory.
      if (by.kind !== 'user' || userCache.find(by.user) !== undefined) this.#putHere(app, pending)
      else
        userCache.get(by.user).then(
          () => this.#putHere(app, pending),
          (reason: unknown) => this.#replies.refuse([pending], reason),
        )
    })
  }

  /**
   * The state of an app with all commits of any node before the call. Returned at once where this is the only node and
   * has the app in memory. Rejects with 404 for an app that does not exist.
   */
  state(app: number): AppState | Promise<AppState> {
    if (this.#options.isShared()) return this.confirm(app)
    const actor = this.#actors.find(app)
    if (actor === undefined) return this.#actors.load(app).then(({ state }) => state)
    return actor.isBehind ? this.remoteCommits.reach(app, actor.knownRev) : actor.state
  }

  /**
   * As `state`, and never older than what a query shows: a commit of this node is in the database a moment before its
   * actor has it.
   */
  confirm(app: number): Promise<AppState> {
    return this.remoteCommits.confirm(app)
  }

  /** The state of an app with all commits up to a rev that was read from the database before: it is not asked again. */
  stateAt(app: number, rev: number): Promise<AppState> {
    this.remoteCommits.note(app, rev)
    return this.remoteCommits.reach(app, rev)
  }

  /** Keeps an app in memory that this node has just created. */
  adopt({ app, members }: CreatedApp): void {
    this.#actors.adopt(app, members)
  }

  /** The state of an app in memory. Other nodes may have written to the app since. */
  peek(app: number): AppState | undefined {
    return this.#actors.peek(app)?.state
  }

  /** The state of an app in memory, unless this node knows of a newer rev. */
  current(app: number): AppState | undefined {
    const actor = this.#actors.peek(app)
    return actor?.isBehind === false ? actor.state : undefined
  }

  /**
   * Keeps the app in memory, and calls listeners with each of its commits, until the returned function is called.
   * Rejects with 404 for an app that does not exist.
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

  /** Calls the listener after each commit of this node, whether or not the state in memory has its events already. */
  onWritten(listener: WrittenListener): void {
    this.#writtenListeners.push(listener)
  }

  /** Sets the one watcher. */
  watch(watcher: AppsWatcher): void {
    this.#watcher = watcher
  }

  /** The number of commands that wait or are being committed. */
  get waiting(): number {
    return this.#replies.unanswered
  }

  /** As `waiting`, for all nodes, by their last messages. */
  get waitingAnywhere(): number {
    return this.waiting + this.#options.otherNodes.waiting
  }

  /** Nodes that commit now, this one included: they share a database. */
  get committingNodes(): number {
    return 1 + this.#options.otherNodes.committing
  }

  get size(): number {
    return this.#actors.size
  }

  /** True for an app that is pinned and in memory: listeners get each of its commits, of any node. */
  follows(app: number): boolean {
    return this.#actors.isPinned(app) && this.#actors.peek(app) !== undefined
  }

  /** Resolves when no command waits or is being committed. */
  async idle(): Promise<void> {
    await this.#committer.idle()
  }

  /** Drops an actor whose state may be wrong. If it has commands, or the app is pinned, a new actor is loaded. */
  #discard(actor: AppActor, taken: PendingCommand[] = []): void {
    actor.isDiscarded = true
    this.#actors.drop(actor)
    const commands = [...taken, ...actor.drain()]
    if (commands.length > 0 || this.#actors.isPinned(actor.id)) void this.#load(actor.id, commands)
  }

  /** Loads an app and puts commands into its mailbox. Never rejects. */
  async #load(app: number, commands: PendingCommand[]): Promise<void> {
    try {
      let actor = this.#actors.find(app)
      for (; actor === undefined; actor = this.#actors.find(app)) await this.#actors.load(app)
      // Nothing is awaited before `#put`: an actor with an empty mailbox may be dropped at any time.
      this.#put(actor, commands)
    } catch (error) {
      this.#replies.refuse(commands, error)
    }
  }

  #putHere(app: number, pending: PendingCommand): void {
    const actor = this.#actors.find(app)
    if (actor === undefined) void this.#load(app, [pending])
    else this.#put(actor, [pending])
  }

  #put(actor: AppActor, commands: PendingCommand[]): void {
    for (const pending of commands) if (!actor.put(pending)) this.#replies.refuse([pending], overloaded())
    this.#committer.wake(actor)
  }

  /** Drops an app that is no longer in the database. Its commands are refused, and listeners get it as deleted. */
  #forget(actor: AppActor): void {
    if (!this.#actors.drop(actor)) return
    const { state } = actor
    this.#replies.refuse(actor.drain(), NotFound())
    const before = state.app
    state.app = { ...before, deleted_at: this.#options.now() }
    this.#publish({ ...unchanged(state.app), before }, state)
  }

  #announce(events: readonly AppEvent[]): void {
    this.#watcher?.onCommitted(events)
    const app = events[0]!.app_id
    for (const listener of this.#writtenListeners) this.#guard(app, () => listener(app, events))
  }

  #publish(commit: Commit, state: AppState): void {
    for (const listener of this.#listeners) this.#guard(commit.after.id, () => listener(commit, state))
  }

  /** A bug of one listener must keep neither the others nor the callers from a commit. */
  #guard(app: number, call: () => void): void {
    try {
      call()
    } catch (error) {
      this.#options.log.error({ app, error }, 'A listener failed on committed events')
    }
  }
}

/** A commit that has changed nothing, so that listeners look at the app again. */
function unchanged(app: AppRow): Commit {
  return { before: app, after: app, events: [], members: new Map() }
}
