import { pause, withTimeout, type Clock } from '../../../lib/clock.ts'
import type { Tracer } from '../../../lib/tracer.ts'
import type { Vault } from '../../../lib/vault.ts'
import type { Sql } from '../../../postgres/sql.ts'
import { attempt } from './attempt.ts'
import type { Egress } from '../../../egress/egress.ts'
import { AttemptsInFlight } from './attempts-in-flight.ts'
import type { ReceiverPacer } from './receiver-pacer.ts'
import { retryDelayMs } from './retry.ts'
import * as store from './store.ts'
import { openSecret } from './webhook-secret.ts'

/** Makes the payload. Null where there is nothing left to send; rejects where a later attempt may work. */
export type Compose = (delivery: store.QueuedDelivery) => Promise<string | null>

export interface QueueParts {
  sql: Sql
  egress: Egress
  /** Decrypts the signing secrets. */
  vault: Vault
  limiter: ReceiverPacer
  compose: Compose
  userAgent: string
  /** The limit of one attempt. The API gives receivers 10 seconds. */
  deadlineMs: number
  /** Concurrent attempts at a webhook's receiver, of different lanes, which usually are apps. */
  parallel: number
  /** Null where attempts are not traced. */
  tracer?: Tracer | null
  clock: Clock
}

interface QueueOptions extends QueueParts {
  webhook: number
  /** The node that holds the lease. */
  node: string
  /** Aborts: no further attempts. */
  stopping: AbortSignal
  /** Aborts running attempts, too. */
  cutting: AbortSignal
  /** Called with each outcome. */
  observe: (outcome: store.Outcome) => void
}

/** Beyond an attempt's deadline: how long one lease allows new attempts, including the margin. */
const leaseSlackMs = 5_000

/** The longest time between reading the clock and sending: generous even for a machine that swaps. */
const leaseMarginMs = 1_000

/** How long to wait for transactions that may still add older events. They take milliseconds, unless one hangs. */
const patienceMs = 2_000

/** How often to look for deliveries of other nodes while all known ones wait for running attempts. */
const lookMs = 1_000

/** Surplus records are removed after this many attempts. */
const trimEvery = 100

/**
 * The queue of one webhook as this node sends it: a lease in the database excludes other nodes, and no attempt begins
 * that might outlive the lease. Created by the Deliverer whenever there are deliveries.
 */
export class Queue {
  readonly #options: QueueOptions
  readonly #flights = new AttemptsInFlight()
  #attempts = 0
  #leasedUntilMs = 0

  constructor(options: QueueOptions) {
    this.#options = options
  }

  /** A delivery was queued. */
  wake(): void {
    this.#flights.wake()
  }

  /**
   * Sends queued deliveries in event order, of each app one after the other, until none is left (`empty`), the node
   * stops (`stopped`), or the queue is not this node's (`elsewhere`): leased by another node, disabled, or deleted.
   * Rejects when the database fails; deliveries without a stored outcome are then sent again.
   */
  async drain(): Promise<'empty' | 'stopped' | 'elsewhere'> {
    const { sql, webhook, node, stopping } = this.#options
    let isHeld = false
    try {
      while (!stopping.aborted) {
        const lease = await this.#lease()
        if (lease.state !== 'held') return lease.state
        isHeld = true
        await this.#settle(lease.horizon)
        await this.#send(lease.newest, lease.payload_url)
      }
      return 'stopped'
    } finally {
      await this.#flights.settled()
      if (isHeld) await store.releaseLease(sql, webhook, node)
    }
  }

  /** Takes or extends the lease. */
  async #lease(): Promise<store.Lease> {
    const { sql, webhook, node, deadlineMs } = this.#options
    const leaseMs = deadlineMs + leaseSlackMs
    // Before the query, so that the lease may seem to end too early, but never too late.
    const askedAtMs = performance.now()
    const lease = await store.takeLease(sql, { webhook, node, seconds: leaseMs / 1000 })
    this.#leasedUntilMs = askedAtMs + leaseMs
    return lease
  }

  /** An attempt that begins later might outlive the lease. */
  get #startBeforeMs(): number {
    return this.#leasedUntilMs - this.#options.deadlineMs - leaseMarginMs
  }

  /**
   * Waits until no older event can appear before the known ones: numbers are drawn before the commit, so a larger one
   * may be committed first. A long transaction of others does not delay deliveries for ever; then the order between
   * apps is that of the commits.
   */
  async #settle(horizon: string): Promise<void> {
    const giveUpAtMs = performance.now() + patienceMs
    for (let pauseMs = 2; !(await store.isSettled(this.#options.sql, horizon)); pauseMs = Math.min(pauseMs * 2, 100)) {
      if (performance.now() > giveUpAtMs) return
      await this.#pause(pauseMs)
    }
  }

  /** Sends deliveries up to an event, while the lease can be extended; returns with attempts running. */
  async #send(newest: number, url: string): Promise<void> {
    const { sql, webhook, node, parallel, stopping } = this.#options
    for (;;) {
      if (this.#flights.takeCut()) return
      if (this.#flights.size >= parallel) {
        await this.#flights.change()
        continue
      }
      const [inFlight, change] = [this.#flights.lanes, this.#flights.change()]
      const wanted = { webhook, node, upTo: newest, except: inFlight }
      // Before acquiring the receiver's pacer: an unused slot would be lost to other queues.
      if (!(await store.hasNext(sql, wanted))) {
        if (inFlight.length === 0 || (await this.#within(lookMs, change)) !== 'ended') return
        continue
      }
      if (!(await this.#takeTurn(url))) return
      // Read only now, to respect changes, disabling and deletion during the wait.
      const delivery = await store.findNext(sql, wanted)
      if (delivery === null) return
      // The receiver has changed, and a different one has its own pace.
      if (delivery.payload_url !== url) return
      if (stopping.aborted || performance.now() > this.#startBeforeMs || this.#flights.takeCut()) return
      this.#flights.start(delivery.lane, this.#deliver(delivery))
    }
  }

  /** False where the delivery has to be repeated. */
  async #deliver(delivery: store.QueuedDelivery): Promise<boolean> {
    const { compose, stopping } = this.#options
    const body = delivery.body ?? (await compose(delivery))
    if (stopping.aborted || performance.now() > this.#startBeforeMs) return false
    const outcome = body === null ? this.#untellable() : await this.#attempt(delivery, body)
    if (outcome === null) return false
    await this.#file(delivery, outcome)
    return true
  }

  /**
   * Waits for the receiver's pacer, with a lease that afterwards still covers an attempt: giving the slot back would
   * mean queueing behind all other webhooks. False when the node stops or the lease is lost.
   */
  async #takeTurn(url: string): Promise<boolean> {
    const turn = this.#options.limiter.acquire(url, this.#options.stopping)
    for (;;) {
      const isAdmitted = await this.#within(this.#startBeforeMs - performance.now(), turn)
      if (isAdmitted === false) return false
      if (isAdmitted && performance.now() <= this.#startBeforeMs) return true
      if ((await this.#lease()).state !== 'held') return false
    }
  }

  async #attempt({ webhook_id, payload_url: url, guid, trigger, ...stored }: store.QueuedDelivery, body: string) {
    const { egress, vault, deadlineMs, userAgent, cutting: signal, tracer = null } = this.#options
    const secret = openSecret(vault, stored.secret, webhook_id)
    const oldSecret = openSecret(vault, stored.old_secret, webhook_id, 'old_secret')
    const shipment = { url, secret, oldSecret, guid, trigger, body }
    const outcome = await attempt(egress, shipment, { deadlineMs, userAgent, signal, startedAt: this.#now(), tracer })
    if (outcome !== null) this.#options.observe(outcome)
    return outcome
  }

  #untellable(): store.Outcome {
    const response = { error: 'What the event was about is gone, so there was nothing to send' }
    const nothing = { status_code: null, body: null, request: null, duration_ms: 0 }
    return { status: 'failure', delivered_at: this.#now(), ...nothing, response }
  }

  /** Stores an outcome, repeatedly while the lease lasts: without it, the delivery is sent again. */
  async #file(delivery: store.QueuedDelivery, outcome: store.Outcome): Promise<void> {
    const dueAt = this.#dueAgain(delivery, outcome)
    const { sql, webhook } = this.#options
    for (;;) {
      try {
        await store.recordOutcome(sql, delivery.id, outcome, dueAt)
        break
      } catch (error) {
        if (performance.now() > this.#leasedUntilMs) throw error
        await this.#pause(500)
      }
    }
    this.#attempts++
    if (this.#attempts % trimEvery === 0) await store.removeSurplus(sql, webhook)
  }

  /** When a failed delivery is attempted again; null where it is not. */
  #dueAgain({ attempts, retries }: store.QueuedDelivery, { status, request }: store.Outcome): Date | null {
    // Without a request there was nothing to send, and there never will be.
    if (status === 'success' || request === null || attempts >= retries) return null
    return new Date(this.#options.clock.now() + retryDelayMs(attempts + 1, Math.random()))
  }

  #now(): Date {
    return new Date(this.#options.clock.now())
  }

  /** The result of `work`, or null where it takes longer. */
  async #within<T>(delayMs: number, work: Promise<T>): Promise<T | null> {
    return withTimeout(work, { clock: this.#options.clock, timeoutMs: delayMs, onTimeout: () => null })
  }

  #pause(delayMs: number): Promise<void> {
    return pause(this.#options.clock, delayMs)
  }
}
