import { Problem } from '../lib/errors.ts'
import type { Span } from '../lib/tracer.ts'
import { applyMissed, type Missed } from './catch-up.ts'
import type { Command } from './command.ts'
import { Contention } from './commit/contention.ts'
import type { IdempotencyKey } from '../api/idempotency-key.ts'
import type { AppEvent } from './event.ts'
import type { Principal } from '../auth/principal.ts'
import type { AppState } from './state.ts'

/** A command waiting for its commit. */
export interface PendingCommand {
  command: Command<unknown, unknown, unknown>
  input: unknown
  by: Principal
  idempotencyKey: IdempotencyKey | undefined
  /** The span of the request that it came with, where that is traced. */
  span?: Span | null
  /** For ReplyQueue alone: it answers each command once. */
  resolve: (result: unknown) => void
  reject: (reason: unknown) => void
}

/**
 * One app on this node: its mailbox and its state. Made on first use by `Apps`; dropped when memory is needed and
 * nothing waits in it, or when its memory may be wrong, after which the next use loads it anew. When too many
 * commands wait it refuses with 503. If the process dies, what waits here was never acknowledged, and is lost.
 */
export class AppActor {
  readonly state: AppState
  /** True while a commit or a catch-up works on the state: no other one may begin. */
  isBusy = false
  /** Another actor has this app, or will: what is done here from now on would be unknown to it. */
  isDiscarded = false
  /** The newest rev that this node knows of, from its own commits or from other nodes: the state may be behind it. */
  knownRev: number
  readonly contention = new Contention()
  /** Which of all uses of actors was its last; the longest unused goes first. */
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

  /** All that waits may wait a moment longer. */
  get isPatient(): boolean {
    return this.#mailbox.every(({ command }) => command.isPatient)
  }

  /** False where the mailbox is full. */
  put(pending: PendingCommand): boolean {
    if (this.#mailbox.length >= this.#limit) return false
    this.#mailbox.push(pending)
    return true
  }

  /** Another node has written to the app, and the state has not caught up with that yet. */
  get isBehind(): boolean {
    return this.knownRev > this.state.app.head_rev
  }

  /** The next commit of this app must not be made with those of other apps: it would hold them up, or fail them. */
  get isApart(): boolean {
    return this.needsLoad || this.isBehind || this.contention.isCareful
  }

  /** The next command has to load rows first, so it commits alone. */
  get needsLoad(): boolean {
    return this.#mailbox[0]?.command.load !== undefined
  }

  /**
   * Removes the next commands to commit together, in order: up to `most`, or one alone if it has to load rows first.
   */
  takeNext(most: number): PendingCommand[] {
    const first = this.#mailbox[0]
    if (first === undefined) return []
    if (first.command.load !== undefined) return this.#mailbox.splice(0, 1)
    let count = 1
    while (count < most && this.#mailbox[count]?.command.load === undefined && count < this.#mailbox.length) count++
    return this.#mailbox.splice(0, count)
  }

  /**
   * Applies what other nodes have committed, and publishes it. Newer revs that this node knew of are forgotten: after a
   * failover, or in a database that was restored from a backup, they may not exist.
   */
  bringForward(missed: Missed, published: (state: AppState, events: readonly AppEvent[]) => void): void {
    applyMissed(this.state, missed)
    this.knownRev = this.state.app.head_rev
    if (missed.events.length > 0) published(this.state, missed.events)
  }

  /** Puts commands that were taken and not done before all others. */
  putBack(commands: readonly PendingCommand[]): void {
    this.#mailbox.unshift(...commands)
  }

  /** Empties the mailbox, for an actor that is being replaced or stopped. */
  drain(): PendingCommand[] {
    return this.#mailbox.splice(0)
  }
}

/** True for what a caller did wrong; such a command fails alone, without any doubt about the state. */
export function isRefusal(error: unknown): error is Problem {
  return error instanceof Problem
}
