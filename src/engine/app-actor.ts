import type { Span } from '../lib/tracer.ts'
import { applyMissed, type Missed } from './catch-up.ts'
import type { Command } from './command.ts'
import type { IdempotencyKey } from '../api/idempotency-key.ts'
import type { AppEvent, CommitListener } from './event.ts'
import { Mailbox } from './commit/mailbox.ts'
import type { Principal } from '../auth/principal.ts'
import type { AppState } from './state.ts'

/** A command in a mailbox, or in the commit that has taken it from there. */
export interface PendingCommand {
  command: Command<unknown, unknown, unknown>
  input: unknown
  by: Principal
  idempotencyKey: IdempotencyKey | undefined
  /** The span of the request that sent the command. Null or absent where requests are not traced. */
  span?: Span | null
  /** Called by ReplyQueue alone, which answers each command once. */
  resolve: (result: unknown) => void
  reject: (reason: unknown) => void
}

/**
 * After so many commits that had to leave an app out, it is committed apart, which waits for its lock. A guess: mostly the
 * next commit finds it free.
 */
const missLimit = 2

/**
 * So long after its last commit, another node counts as one that does not write to the app. A guess. Until then a state
 * that nothing is read from is not brought up to date, as commands that commute do not need it.
 */
const movingMs = 1_000

/** The most events that wait for others before them. A guess: a fraction of a second of a busy room. */
const heldLimit = 1_000

/**
 * One app in the memory of this node: its state, and a mailbox of commands. `Apps` creates an actor on the first use of
 * an app. It drops an actor with an empty mailbox when memory runs short, and any actor whose state may be wrong; the
 * next use of the app loads it again. In the mailbox, callers take turns. The mailbox is bounded: beyond its limit, commands are refused with 503. When the
 * process dies, the commands in the mailbox are lost; none of them was acknowledged.
 */
export class AppActor {
  readonly state: AppState
  /** True while a commit or a catch-up works on the state. At most one does at a time. */
  isBusy = false
  /** True once another actor has replaced this one, or is about to: a commit made here would bypass its state. */
  isDiscarded = false
  /** The newest rev of the app that this node knows of, from its own commits or from other nodes. */
  knownRev: number
  /** How often in succession a commit has missed the app. */
  #misses = 0
  /** When this node last learned of a commit of another one. */
  #movedAtMs = 0
  /** Committed events that the state cannot take yet, as it lacks others before them. In rev order. */
  #held: AppEvent[] = []
  /** The sequence number of its last use. The actor with the lowest is dropped first. */
  lastUse = 0
  readonly #mailbox = new Mailbox()
  readonly #limit: number

  constructor(state: AppState, mailboxLimit: number) {
    this.state = state
    this.knownRev = state.app.head_rev
    this.#limit = mailboxLimit
  }

  get id(): number {
    return this.state.app.id
  }

  get waiting(): number {
    return this.#mailbox.size
  }

  /** True where every waiting command may wait a moment longer for a commit to share. */
  get isPatient(): boolean {
    return this.#mailbox.every(({ command }) => command.isPatient)
  }

  /** Adds a command to the mailbox. Returns false where the mailbox is full. */
  put(pending: PendingCommand): boolean {
    if (this.#mailbox.size >= this.#limit) return false
    this.#mailbox.add(pending)
    return true
  }

  /** True where another node has written to the app, and the state lacks its commit. */
  get isBehind(): boolean {
    return this.knownRev > this.state.app.head_rev
  }

  /** True where the next commit must be made apart from the commits of other apps: it could delay or fail them. */
  get isApart(): boolean {
    const next = this.#mailbox.next?.command
    return this.needsLoad || this.#misses >= missLimit || (this.isBehind && next?.commutes !== true)
  }

  /** True where the next command has to load rows before it decides, so that it commits alone. */
  get needsLoad(): boolean {
    return this.#mailbox.next?.command.load !== undefined
  }

  /**
   * Removes the next commands from the mailbox, in order: up to `most`, or one alone if it has to load rows first. Of a
   * state that is behind, commands that commute are not joined by others.
   */
  takeNext(most: number): PendingCommand[] {
    if (this.needsLoad) return this.#mailbox.take(1, () => true)
    const isAppending = this.isBehind && !this.isApart
    const mayJoin = ({ load, commutes }: PendingCommand['command']) =>
      load === undefined && (!isAppending || commutes === true)
    return this.#mailbox.take(most, ({ command }) => mayJoin(command))
  }

  /** Records a commit that had to leave the app out. */
  miss(): void {
    this.#misses++
  }

  /** Records a commit of this node: its last rev, and the head rev before it. True where that was news. */
  placed(prev: number, rev: number): boolean {
    this.#misses = 0
    const isNews = this.note(prev)
    this.knownRev = rev
    return isNews
  }

  /** Records that the app has reached a rev by a commit of another node. False where this node knew. */
  note(rev: number): boolean {
    if (rev <= this.knownRev) return false
    this.knownRev = rev
    this.#movedAtMs = performance.now()
    return true
  }

  /** True where the state is behind, and other nodes write to the app no longer. */
  get isLeftBehind(): boolean {
    return this.isBehind && performance.now() - this.#movedAtMs > movingMs
  }

  /** Keeps committed events until the state has those before them. Beyond a limit they are left to the event log. */
  hold(events: readonly AppEvent[]): void {
    const { head_rev } = this.state.app
    for (const event of events) {
      if (event.rev <= head_rev) continue
      let at = this.#held.length
      while (at > 0 && this.#held[at - 1]!.rev > event.rev) at--
      if (this.#held[at - 1]?.rev !== event.rev) this.#held.splice(at, 0, event)
    }
    if (this.#held.length > heldLimit) this.#held = []
  }

  /** Removes the held events that follow the state without a gap, and returns them. */
  takeFollowing(): AppEvent[] {
    let { head_rev } = this.state.app
    const following: AppEvent[] = []
    let at = 0
    for (; at < this.#held.length; at++) {
      const event = this.#held[at]!
      if (event.rev <= head_rev) continue
      if (event.prev !== head_rev) break
      following.push(event)
      head_rev = event.rev
    }
    this.#held.splice(0, at)
    return following
  }

  /**
   * Applies the events that other nodes have committed, and calls `publish` where there are any. A newer rev that this node knew
   * of is forgotten: after a failover, or in a database that was restored from a backup, it may not exist.
   */
  catchUp(missed: Missed, publish: CommitListener): void {
    // What was held is as it was at its commit; what was read is as it is now.
    const held = new Map(this.#held.map(event => [event.rev, event]))
    const events = missed.events.map(event => held.get(event.rev) ?? event)
    const commit = applyMissed(this.state, { ...missed, events })
    this.knownRev = this.state.app.head_rev
    if (events.length > 0) publish(commit, this.state)
  }

  /** Returns commands that were taken and not run to the front of the mailbox, beyond its limit if need be. */
  putBack(commands: readonly PendingCommand[]): void {
    this.#mailbox.putBack(commands)
  }

  /** Empties the mailbox of an actor that is being replaced or stopped. */
  drain(): PendingCommand[] {
    return this.#mailbox.take(Number.POSITIVE_INFINITY, () => true)
  }
}
