import type { Span } from '../lib/tracer.ts'
import { applyMissed, type Missed } from './catch-up.ts'
import type { Command } from './command.ts'
import type { IdempotencyKey } from '../api/idempotency-key.ts'
import type { AppEvent } from './event.ts'
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
 * One app in the memory of this node: its state, and a mailbox of commands. `Apps` creates an actor on the first use of
 * an app. It drops an actor with an empty mailbox when memory runs short, and any actor whose state may be wrong; the
 * next use of the app loads it again. The mailbox is bounded: beyond its limit, commands are refused with 503. When the
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
  readonly contention = new Contention()
  /** The sequence number of its last use. The actor with the lowest is dropped first. */
  lastUse = 0
  readonly #mailbox: PendingCommand[] = []
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
    return this.#mailbox.length
  }

  /** True where every waiting command may wait a moment longer for a commit to share. */
  get isPatient(): boolean {
    return this.#mailbox.every(({ command }) => command.isPatient)
  }

  /** Adds a command to the mailbox. Returns false where the mailbox is full. */
  put(pending: PendingCommand): boolean {
    if (this.#mailbox.length >= this.#limit) return false
    this.#mailbox.push(pending)
    return true
  }

  /** True where another node has written to the app, and the state lacks its commit. */
  get isBehind(): boolean {
    return this.knownRev > this.state.app.head_rev
  }

  /** True where the next commit must be made apart from the commits of other apps: it could delay or fail them. */
  get isApart(): boolean {
    return this.needsLoad || this.isBehind || this.contention.isCareful
  }

  /** True where the next command has to load rows before it decides, so that it commits alone. */
  get needsLoad(): boolean {
    return this.#mailbox[0]?.command.load !== undefined
  }

  /** Removes the next commands from the mailbox, in order: up to `most`, or one alone if it has to load rows first. */
  takeNext(most: number): PendingCommand[] {
    const first = this.#mailbox[0]
    if (first === undefined) return []
    if (first.command.load !== undefined) return this.#mailbox.splice(0, 1)
    let count = 1
    while (count < most && this.#mailbox[count]?.command.load === undefined && count < this.#mailbox.length) count++
    return this.#mailbox.splice(0, count)
  }

  /**
   * Applies the events that other nodes have committed, and calls `publish` with them. A newer rev that this node knew
   * of is forgotten: after a failover, or in a database that was restored from a backup, it may not exist.
   */
  catchUp(missed: Missed, publish: (state: AppState, events: readonly AppEvent[]) => void): void {
    applyMissed(this.state, missed)
    this.knownRev = this.state.app.head_rev
    if (missed.events.length > 0) publish(this.state, missed.events)
  }

  /** Returns commands that were taken and not run to the front of the mailbox, beyond its limit if need be. */
  putBack(commands: readonly PendingCommand[]): void {
    this.#mailbox.unshift(...commands)
  }

  /** Empties the mailbox of an actor that is being replaced or stopped. */
  drain(): PendingCommand[] {
    return this.#mailbox.splice(0)
  }
}

/** The careful commits after the first conflict, and the most after any. Guesses. */
const firstCareful = 1
const mostCareful = 64

/**
 * Exponential back-off from optimistic commits, for one app. An optimistic commit that meets a conflict is work done
 * twice, so after each conflict the next commits of the app are careful: they lock it before they decide. Each conflict
 * doubles their number. Counted in commits and not in time, which would pass between two commits of a node that writes
 * rarely.
 */
export class Contention {
  #careful = 0
  #next = firstCareful

  /** True where the next commit should lock the app first. */
  get isCareful(): boolean {
    return this.#careful > 0
  }

  /** Records a commit that found the app changed by another node. */
  conflicted(): void {
    this.#careful = this.#next
    this.#next = Math.min(this.#next * 2, mostCareful)
  }

  /** Records a commit that found the app unchanged. */
  succeeded(): void {
    if (this.#careful > 0) this.#careful--
    else this.#next = firstCareful
  }
}
