import { pause, withTimeout, type Clock } from '../../../lib/clock.ts'
import type { Tracer } from '../../../lib/tracer.ts'
import type { Vault } from '../../../lib/vault.ts'
import type { Sql } from '../../../postgres/sql.ts'
import { attempt } from './attempt.ts'
import type { Egress } from '../../../egress/egress.ts'
import { AttemptsInFlight } from './attempts-in-flight.ts'
import type { ReceiverPacer } from './receiver-pacer.ts'
import { keepRecords } from './retention.ts'
import { retryDelayMs } from './retry.ts'
import * as store from './store.ts'
import { openOldSecret, openSecret } from './webhook-secret.ts'

/** Makes the text to send. Null where the event can no longer be told; rejects where that may work later. */
export type Compose = (delivery: store.QueuedDelivery) => Promise<string | null>

export interface QueueParts {
  sql: Sql
  egress: Egress
  /** Opens the secrets that deliveries are signed with. */
  vault: Vault
  limiter: ReceiverPacer
  compose: Compose
  userAgent: string
  /** For one attempt. The API gives receivers 10 seconds. */
  deadlineMs: number
  /** Attempts that a webhook's receiver gets side by side: of different lanes, which are those of apps as a rule. */
  parallel: number
  /** Null where attempts are not traced. */
  tracer?: Tracer | null
  clock: Clock
}

interface QueueOptions extends QueueParts {
  webhook: number
  /** Who holds the lease. */
  node: string
  /** Starts nothing more. */
  stopping: AbortSignal
  /** Ends what is in flight, too. */
  cutting: AbortSignal
  /** Called with each outcome. */
  observe: (outcome: store.Outcome) => void
}

/** Beyond an attempt's deadline: how long one lease allows new attempts, with the margin. */
const leaseSlackMs = 5_000

/** Time that may pass between the last look at the clock and the request: generous even for a machine that swaps. */
const leaseMarginMs = 1_000

/** How long to wait for transactions that may still add older events. They take milliseconds, unless one hangs. */
const patienceMs = 2_000

/** While everything that waits is of apps in flight, how long before what other nodes queued is looked for. */
const lookMs = 1_000

/** Records beyond those to keep are removed after this many attempts. */
const trimEvery = 100

/**
 * The queue of one webhook, as this node works on it: a lease in the database keeps other nodes away, and no attempt
 * begins that the lease might not outlive. Made by the Deliverer for each time that there is something to send.
 */
export class Queue {
  readonly #options: QueueOptions
  readonly #flights = new AttemptsInFlight()
  #attempts = 0
  #leasedUntilMs = 0

  constructor(options: QueueOptions) {
    this.#options = options
  }

  /** Something was queued. */
  wake(): void {
    this.#flights.wake()
  }

  /**
   * Sends what is queued, in event order, of each app one after the other, until nothing is left, the node stops, or the
   * queue is not this node's to work on: then the webhook is another node's, disabled, or gone. Rejects when the database
   * fails; what was not filed by then is sent again.
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

  /** Takes the lease, or extends it. */
  async #lease(): Promise<store.Lease> {
    const { sql, webhook, node, deadlineMs } = this.#options
    const leaseMs = deadlineMs + leaseSlackMs
    // Before the question: so the lease may seem to end too early, but never too late.
    const askedAtMs = performance.now()
    const lease = await store.takeLease(sql, { webhook, node, seconds: leaseMs / 1000 })
    this.#leasedUntilMs = askedAtMs + leaseMs
    return lease
  }

  /** An attempt that began later might outlive the lease. */
  get #startBeforeMs(): number {
    return this.#leasedUntilMs - this.#options.deadlineMs - leaseMarginMs
  }

  /**
   * Waits until no older event can turn up before those that were seen: their numbers are drawn before they are
   * committed, so the commit of a larger number may come first. Somebody else's long transaction does not hold up
   * deliveries for ever; the order between apps then is that of the commits.
   */
  async #settle(horizon: string): Promise<void> {
    const giveUpAtMs = performance.now() + patienceMs
    for (let pauseMs = 2; !(await store.isSettled(this.#options.sql, horizon)); pauseMs = Math.min(pauseMs * 2, 100)) {
      if (performance.now() > giveUpAtMs) return
      await this.#pause(pauseMs)
    }
  }

  /** Sends what is queued up to an event, as long as the lease can be held; returns with attempts in flight. */
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
      // Before the turn: one that is not used would be missing to others who wait for the same receiver.
      if (!(await store.hasNext(sql, wanted))) {
        if (inFlight.length === 0 || (await this.#within(lookMs, change)) !== 'ended') return
        continue
      }
      if (!(await this.#takeTurn(url))) return
      // Read only now, so that what was changed, disabled or deleted while we waited is respected.
      const delivery = await store.findNext(sql, wanted)
      if (delivery === null) return
      // Another receiver by now has a pace of its own.
      if (delivery.payload_url !== url) return
      if (stopping.aborted || performance.now() > this.#startBeforeMs || this.#flights.takeCut()) return
      this.#flights.start(delivery.lane, this.#deliver(delivery))
    }
  }

  /** False where the delivery is to be made once more. */
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
   * Waits for the pace of the receiver, with a lease that lasts for an attempt when it is over: whoever gave the turn
   * back would stand behind all other webhooks there again. False when the node stops or the lease cannot be held.
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
    const oldSecret = openOldSecret(vault, stored.old_secret, webhook_id)
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

  /** Tried again while the lease lasts: what is not filed is sent once more. */
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
    if (this.#attempts % trimEvery === 0) await store.removeSurplus(sql, webhook, keepRecords)
  }

  /** When a delivery that failed is to be attempted once more; null where it is not. */
  #dueAgain({ attempts, retries }: store.QueuedDelivery, { status, request }: store.Outcome): Date | null {
    // Without a request there was nothing to send, and there will be nothing.
    if (status === 'success' || request === null || attempts >= retries) return null
    return new Date(this.#options.clock.now() + retryDelayMs(attempts + 1, Math.random()))
  }

  #now(): Date {
    return new Date(this.#options.clock.now())
  }

  /** What comes of `work`, or null where that takes longer. */
  async #within<T>(delayMs: number, work: Promise<T>): Promise<T | null> {
    return withTimeout(work, { clock: this.#options.clock, timeoutMs: delayMs, onTimeout: () => null })
  }

  #pause(delayMs: number): Promise<void> {
    return pause(this.#options.clock, delayMs)
  }
}
